"""Plans that delete groups and remove members (KIP-229, 345, 571; API keys 42, 13)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from msgspec import Struct

from kafka_shell.admin.groups import offsets as group_offsets
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import (
    Group,
    GroupListing,
    GroupOffset,
    GroupType,
    Member,
    Reset,
)
from kafka_shell.admin.groups.resets import active, of_groups
from kafka_shell.admin.groups.steps import offset_change
from kafka_shell.admin.steps import BaseStep, changed, read_again, row_failure
from kafka_shell.base.errors import ShellError, did_you_mean
from kafka_shell.base.plans import Advice, Change, Effect, NotChecked, Outcomes, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.text import named
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.coordinators import GroupApi, ask
from kafka_shell.wire.error_codes import GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID
from kafka_shell.wire.failures import failure
from kafka_shell.wire.requests import Coordinator, CoordinatorKind

_BY_MEMBER = 3  # LeaveGroup supports several members, and static ones, since v3 (Kafka 2.4)
_REASON = "removed by an administrator"
_REJOINS = "a running client joins again"
_LEAVES_ALONE = (GroupType.SHARE, GroupType.STREAMS)


# -- delete groups ---------------------------------------------------------------------------------


_DELETE = GroupApi(lambda ids: messages.DeleteGroupsRequest(groups_names=ids), "results", "DELETE")


class DeleteGroups(Struct, BaseStep, frozen=True):
    """Groups and their offsets: one DeleteGroups request per coordinator (API key 42)."""

    groups: tuple[Group, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(change for group in self.groups for change in _changes(group))

    def reread(self, cluster: Cluster) -> DeleteGroups:
        """The groups with their current offsets. Raises ShellError if one has members now, was
        deleted, or has offsets of other partitions."""
        deleted, refused = _deletable(cluster, [group.name for group in self.groups])
        for resource, reason in refused.items():
            what = f"group {named(resource.name)}"
            message = f"{what} changed while waiting for confirmation: {reason.message}"
            raise ShellError(message, hint=reason.hint, code="changed-meanwhile", see=reason.see)
        for before, now in zip(self.groups, deleted, strict=True):
            if _deleted(before) != _deleted(now):
                offsets = Resource("group-offsets", now.name)
                raise changed(f"the committed offsets of group {named(now.name)} changed", offsets)
        return DeleteGroups(deleted)

    def shown(self, cluster: Cluster) -> Set[Change]:
        """The changes of the groups that do not exist any more."""
        failures = groups.describe(cluster, [group.name for group in self.groups]).failures
        gone = {name for name, why in failures.items() if why.code == GROUP_ID_NOT_FOUND}
        return {change for change in self.changes if change.resource.name in gone}

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        responses = ask(cluster, {group.name: [_DELETE] for group in self.groups})
        failures: list[Failure | None] = []
        for group in self.groups:
            row = responses[group.name].rows[_DELETE]
            failure = row_failure(row, f"group {named(group.name)}")
            failures += [failure for _ in _changes(group)]
        return Results.of(self.changes, failures)


def _changes(group: Group) -> Iterator[Change]:
    kind = group.type.value
    yield Change(group.resource, "delete", note=f"{kind}, {group.state}")
    for row in group.offsets or ():
        if row.offset is not None:
            gone = Reset(row.topic_partition, row.offset, None)
            yield offset_change(group.name, gone, group.type)


def _deleted(group: Group) -> list[tuple[Resource, str]]:
    """What is deleted with the group: its own resource, and the partitions of its offsets."""
    return [(change.resource, change.field) for change in _changes(group)]


def plan_delete(cluster: Cluster, names: Sequence[str]) -> Plan:
    """Delete groups with their offsets (API key 42). A group with members is rejected, as is one
    that does not exist. Not checked: offsets in topics without DESCRIBE permission."""
    deleted, refused = _deletable(cluster, names)
    unseen = group_offsets.hidden(cluster) if deleted else None
    return Plan(
        Effect.DESTROY,
        (DeleteGroups(deleted),) if deleted else (),
        refused=Results({}, refused),
        advice=Advice(
            warnings=groups.warnings(
                cluster, [group.name for group in deleted], "deleting the group"
            ),
            not_checked=()
            if unseen is None
            else (NotChecked(f"{unseen.what}, which are deleted as well", unseen.reason),),
        ),
    )


def _deletable(
    cluster: Cluster, names: Sequence[str]
) -> tuple[tuple[Group, ...], dict[Resource, Failure]]:
    """The groups that can be deleted, with their offsets, and why the others cannot be."""
    described = groups.describe(cluster, names)
    inactive = [group for group in described if not groups.is_active(group) and not group.members]
    offsets = _offsets(cluster, inactive)
    refused: dict[Resource, Failure] = {}
    for name in dict.fromkeys(names):
        why = described.failures.get(name) or offsets.failures.get(name)
        if why is None and name not in offsets.values:
            why = active(described[name])
        if why is not None:
            refused[Resource("group", name)] = why
    deleted = tuple(
        replace(group, offsets=offsets[group.name])
        for group in inactive
        if group.name in offsets.values
    )
    return deleted, refused


def _offsets(cluster: Cluster, read: Sequence[Group]) -> Results[str, tuple[GroupOffset, ...]]:
    """The committed offsets of these groups, without lag: the leaders of the partitions, of which
    some may be down, are not asked."""
    listed = [
        GroupListing(group.name, group.type, group.state, group.protocol, group.coordinator)
        for group in read
    ]
    committed = groups.committed_offsets(cluster, listed)
    rows = {
        group.name: tuple(
            GroupOffset(group.name, at.topic, at.partition, offset)
            for at, offset in committed.values.get(group.name, {}).items()
        )
        for group in read
        if group.name not in committed.failures
    }
    return Results(rows, committed.failures)


# -- remove members --------------------------------------------------------------------------------


class RemoveMembers(Struct, BaseStep, frozen=True):
    """One LeaveGroup request (API key 13). Static members are named by group.instance.id."""

    group: str
    members: tuple[Member, ...]
    reason: str

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(Resource("group-member", member.id), "delete",
                   note=f"of group {named(self.group)}: {member.label}; {_REJOINS}")
            for member in self.members
        )  # fmt: skip

    def reread(self, cluster: Cluster) -> RemoveMembers:
        """The same members. Raises ShellError if one has left, or if that is unknown."""
        group = read_again(groups.describe(cluster, [self.group]), "the members of group")
        there = {each.id for each in group[self.group].members}
        for member in self.members:
            if member.id not in there:
                raise changed(f"member {member.id} left group {named(self.group)}")
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        reason = f"{_REASON}: {self.reason}" if self.reason else _REASON
        request = messages.LeaveGroupRequest(
            group_id=self.group,
            members=[
                messages.LeaveGroupRequest.MemberIdentity(
                    member_id="" if member.instance_id else member.id,
                    group_instance_id=member.instance_id,
                    reason=reason,
                )
                for member in self.members
            ],
        )
        to = Coordinator(CoordinatorKind.GROUP, self.group)
        requires = f"READ on group {named(self.group)}"
        response = cluster.send(request, to=to, lowest=_BY_MEMBER, requires=requires)
        codes = {row.group_instance_id or row.member_id: row.error_code for row in response.members}
        return Results.of(
            self.changes,
            (
                row_failure(codes.get(member.instance_id or member.id), f"member {member.id}")
                for member in self.members
            ),
        )


def plan_remove(
    cluster: Cluster,
    names: Sequence[str],
    *,
    members: Sequence[str] = (),
    instances: Sequence[str] = (),
    reason: str = "",
) -> Plan:
    """Remove members from groups (API key 13): these, by ID or group.instance.id, or all. Unknown
    members are rejected, as are share and streams groups, whose members cannot be removed."""
    described = groups.describe(cluster, names)
    steps, refused = [], {}
    for name in names:
        why = described.failures.get(name) or _cannot_be_removed(described[name])
        if why is not None:
            refused[name] = {Resource("group", name): why}
            continue
        chosen, refused[name] = _chosen(described[name], members, instances)
        steps += [RemoveMembers(name, chosen, reason)] if chosen else []
    return Plan(Effect.DESTROY, tuple(steps), refused=of_groups(refused))


def _cannot_be_removed(group: Group) -> Failure | None:
    if group.type not in _LEAVES_ALONE:
        return None
    kind = f"group {named(group.name)} is a {group.type.value} group"
    message = f"{kind}: only members of consumer groups can be removed"
    return Failure("UNSUPPORTED_VERSION", message, hint="Stop its clients instead.")


def _chosen(
    group: Group, ids: Sequence[str], instances: Sequence[str]
) -> tuple[tuple[Member, ...], dict[Resource, Failure]]:
    if not ids and not instances:
        return group.members, {}
    by_id = {member.id: member for member in group.members}
    by_instance = {m.instance_id: m for m in group.members if m.instance_id}
    chosen: dict[str, Member] = {}
    refused: dict[Resource, Failure] = {}
    for wanted, known in ((ids, by_id), (instances, by_instance)):
        for each in wanted:
            if each in known:
                chosen[known[each].id] = known[each]
            else:
                refused[Resource("group-member", each)] = _no_member(group, each, list(known))
    return tuple(chosen.values()), refused


def _no_member(group: Group, wanted: str, known: Sequence[str]) -> Failure:
    return failure(
        UNKNOWN_MEMBER_ID,
        text=f"group {named(group.name)} has no member {wanted}",
        hint=did_you_mean(wanted, known),
        see=Resource("group-members", group.name),
    )
