"""Plans that set and delete the committed offsets of inactive groups (KIP-122)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import Group, GroupType, Member, Reset, ResetTarget, ResetTo
from kafka_shell.admin.groups.offsets import Offsets, committed, hidden
from kafka_shell.admin.groups.steps import (
    AlterShareOffsets,
    CommitOffsets,
    DeleteOffsets,
    DeleteShareOffsets,
    offset_change,
)
from kafka_shell.admin.partitions.model import Offset, OffsetRange, TopicPartition
from kafka_shell.admin.records.offsets import by_topic, list_offsets, ranges
from kafka_shell.base.plans import Advice, Effect, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.text import named
from kafka_shell.base.units import counted, format_time, some
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.error_codes import GROUP_SUBSCRIBED_TO_TOPIC, INVALID_REQUEST, NON_EMPTY_GROUP
from kafka_shell.wire.failures import as_error, failure

_SHOWN = 5  # members that a message names
_UNCHANGED = "no change: already set"

Refused = dict[Resource, Failure]


def plan_reset(
    cluster: Cluster,
    name: str,
    where: ResetTo,
    partitions: Sequence[TopicPartition] | None = None,
    kind: GroupType = GroupType.UNKNOWN,
) -> Plan:
    """Reset a group's offsets in these partitions, or in all with committed offsets (API key 8; of
    share groups 91).

    Refused if the group has members, or if it does not exist and no partitions are given; with
    partitions it is created with this `kind`. Offsets outside of the range of a partition become
    its first or end offset, as in Kafka's tool. Without partitions, warns if offsets may be hidden.
    """
    found = _Found.of(cluster, name, kind, may_be_missing=partitions is not None)
    if found.why is not None:
        return refused_group(name, found.why)
    requested = list(found.now) if partitions is None else list(dict.fromkeys(partitions))
    if partitions is None and not requested:
        hint = "Name the partitions whose offsets to set."
        return refused_group(name, replace(_no_offsets(cluster, name), hint=hint))
    resets, refused = _targets(cluster, found.now, where, requested)
    plan = _plan(cluster, found, resets, refused)
    return plan if partitions is not None else with_hidden_offsets(cluster, plan)


def with_hidden_offsets(cluster: Cluster, plan: Plan) -> Plan:
    """The plan for all offsets of a group, with a warning if some may be hidden from the login."""
    unseen = hidden(cluster)
    if unseen is None:
        return plan
    warning = f"{unseen.what} are not reset: {unseen.reason}"
    return plan.advised(Advice(warnings=(warning,)))


def _no_offsets(cluster: Cluster, name: str) -> Failure:
    where = "" if hidden(cluster) is None else " in visible topics"
    return Failure("NO_OFFSETS", f"group {named(name)} has no committed offsets{where}")


def plan_offsets(
    cluster: Cluster,
    name: str,
    wanted: Mapping[TopicPartition, int | None],
    kind: GroupType = GroupType.UNKNOWN,
    *,
    exact: bool = False,
) -> Plan:
    """Set a group's offsets to these; None deletes one (API keys 8, 47). Refused as in
    `plan_reset`.

    `exact` also sets offsets outside of the range of the partition, to restore previous ones.
    """
    found = _Found.of(cluster, name, kind, may_be_missing=True)
    if found.why is not None:
        return refused_group(name, found.why)
    current = ranges(cluster, [each for each, offset in wanted.items() if offset is not None])
    refused: Refused = {each.resource: failure for each, failure in current.failures.items()}
    resets = []
    put = _exactly if exact else _within
    for each, offset in wanted.items():
        before = _offset(found.now, each)
        if offset is None:
            resets.append(Reset(each, before, None))
        elif each not in current.failures:
            resets.append(put(each, before, offset, current[each]))
    return _plan(cluster, found, resets, refused)


def plan_delete_offsets(cluster: Cluster, name: str, partitions: Sequence[TopicPartition]) -> Plan:
    """Delete a group's offsets (API key 47; of share groups 92). Topics that its members are
    subscribed to are refused."""
    found = _Found.of(cluster, name, may_be_active=True)
    if found.why is not None:
        return refused_group(name, found.why)
    refused: Refused = {}
    resets = []
    for partition in dict.fromkeys(partitions):
        readers = [member for member in found.members if partition.topic in _topics(member)]
        if readers:
            refused[Resource("topic", partition.topic)] = _subscribed(
                name, partition.topic, readers
            )
        elif partition in found.now:
            resets.append(Reset(partition, _offset(found.now, partition), None))
        else:
            message = f"group {named(name)} has no committed offset for partition {partition}"
            see = Resource("group-offsets", name)
            refused[partition.resource] = Failure("NO_OFFSETS", message, see=see)
    return _plan(cluster, found, resets, refused)


# -- the group as it is ----------------------------------------------------------------------------


class _Found(Struct):
    """The group, its offsets, and why it is refused (or None).

    `kind` is its type; of a new group, the type to create: committing creates a classic group.
    """

    name: str
    kind: GroupType
    now: Offsets = field(default_factory=dict)
    why: Failure | None = None
    members: tuple[Member, ...] = ()
    warnings: tuple[str, ...] = ()

    @staticmethod
    def of(
        cluster: Cluster,
        name: str,
        kind: GroupType = GroupType.UNKNOWN,
        *,
        may_be_missing: bool = False,
        may_be_active: bool = False,
    ) -> _Found:
        described = groups.describe(cluster, [name])
        if name in described.values:
            return _found(cluster, described[name], kind, may_be_active)
        failure = described.failures[name]
        if failure.name != "GROUP_ID_NOT_FOUND" or not may_be_missing:
            return _Found(name, kind, why=failure)
        near = f" ({failure.hint})" if failure.hint else ""
        warning = f"group {named(name)} does not exist and will be created{near}"
        made = GroupType.CLASSIC if kind is GroupType.UNKNOWN else kind
        return _Found(name, made, warnings=(warning,))


def _found(cluster: Cluster, group: Group, kind: GroupType, may_be_active: bool) -> _Found:
    if kind not in (GroupType.UNKNOWN, group.type):
        message = (
            f"group {named(group.name)} is a {group.type.value} group, not a {kind.value} group"
        )
        return _Found(group.name, group.type, why=Failure("INCONSISTENT_GROUP_TYPE", message))
    if group.state != "Empty" and not may_be_active:
        return _Found(group.name, group.type, why=active(group))
    now = committed(cluster, group.name, group.type)
    return _Found(group.name, group.type, now, members=group.members)


def active(group: Group) -> Failure:
    """The failure of a group with members: they would commit their own offsets again."""
    count = len(group.members)
    who = f": {_labels(group.members)}" if count else ""
    members = counted(count, "member")
    return failure(
        NON_EMPTY_GROUP,
        text=f"group {named(group.name)} is {group.state} and has {members}{who}",
        hint="Stop its members first.",
        see=Resource("group-members", group.name),
    )


def _labels(members: Sequence[Member]) -> str:
    return some([member.label for member in members], _SHOWN)


def _topics(member: Member) -> set[str]:
    """The topics that a member is subscribed or assigned to."""
    return {*member.subscription, *(each.topic for each in member.assignment)}


def _subscribed(name: str, topic: str, readers: Sequence[Member]) -> Failure:
    return failure(
        GROUP_SUBSCRIBED_TO_TOPIC,
        text=f"group {named(name)} is subscribed to topic {topic}: {_labels(readers)}",
        hint="Stop these members first.",
        see=Resource("group-members", name),
    )


def refused_group(name: str, why: Failure) -> Plan:
    """The plan that refuses a whole group."""
    return Plan(Effect.DESTROY, (), refused=Results({}, {Resource("group", name): why}))


# -- where to --------------------------------------------------------------------------------------


def _targets(
    cluster: Cluster, now: Offsets, where: ResetTo, requested: Sequence[TopicPartition]
) -> tuple[list[Reset], Refused]:
    current = ranges(cluster, requested)
    failures = dict(current.failures)
    at: Mapping[TopicPartition, Offset] = {}
    if where.to is ResetTarget.TIME:
        found = list_offsets(cluster, dict.fromkeys(current.values, where.number))
        failures |= found.failures
        at = found.values
    refused: Refused = {each.resource: failure for each, failure in failures.items()}
    resets = []
    for each, range_ in current.values.items():
        if each in failures:
            continue
        before = _offset(now, each)
        if where.to is ResetTarget.TIME:
            resets.append(_at_time(each, before, at[each], range_, where.number))
        elif where.to is ResetTarget.CURRENT and before is not None:
            resets.append(Reset(each, before, before, span=range_))
        elif where.to is ResetTarget.SHIFT and before is None:
            message = f"{each} cannot be shifted: it has no committed offset"
            refused[each.resource] = Failure("NO_OFFSETS", message)
        else:
            resets.append(_within(each, before, _target(where, before, range_), range_))
    return resets, refused


def _target(where: ResetTo, before: int | None, range_: OffsetRange) -> int:
    """The target offset, inside the range of the partition or not."""
    if where.to is ResetTarget.EARLIEST:
        return range_.earliest
    if where.to is ResetTarget.OFFSET:
        return where.number
    if where.to is ResetTarget.SHIFT and before is not None:
        return before + where.number
    return range_.latest


def _at_time(
    each: TopicPartition, before: int | None, found: Offset, range_: OffsetRange, time: int
) -> Reset:
    """The first record of that time or later, else the end. Notes show the time zone."""
    if found.offset is None:
        note = f"latest offset: no record since {format_time(time)}"
        return Reset(each, before, range_.latest, note, range_)
    when = time if found.timestamp is None else found.timestamp
    return Reset(each, before, found.offset, f"record of {format_time(when)}", range_)


def _within(each: TopicPartition, before: int | None, target: int, range_: OffsetRange) -> Reset:
    """The offset, or the first or end offset of the partition if it is out of range."""
    if target < range_.earliest:
        note = f"earliest offset: {target} is out of range"
        return Reset(each, before, range_.earliest, note, range_)
    if target > range_.latest:
        note = f"latest offset: {target} is out of range"
        return Reset(each, before, range_.latest, note, range_)
    return Reset(each, before, target, span=range_)


def _exactly(each: TopicPartition, before: int | None, target: int, range_: OffsetRange) -> Reset:
    """Exactly this offset, with a note if it is out of range."""
    note = _within(each, before, target, range_).note
    outside = f"out of range {range_.earliest} to {range_.latest}"
    return Reset(each, before, target, note and outside, range_)


def _offset(now: Offsets, each: TopicPartition) -> int | None:
    return now[each].offset if each in now else None


# -- the plan --------------------------------------------------------------------------------------


def _plan(cluster: Cluster, found: _Found, resets: Sequence[Reset], refused: Refused) -> Plan:
    name, kind = found.name, found.kind
    moved = tuple(reset for reset in resets if reset.before != reset.after)
    steps: list[Any] = []
    if kind is GroupType.SHARE:
        steps, refused = _share_steps(found, moved, refused)
    else:
        to_set = tuple(each for each in moved if each.after is not None)
        gone = tuple(each for each in moved if each.after is None)
        steps += [CommitOffsets(name, to_set)] if to_set else []
        steps += [DeleteOffsets(name, gone)] if gone else []
    skipped, again = _moved_past(moved)
    return Plan(
        Effect.DESTROY,
        tuple(steps),
        refused=Results({}, refused),
        unchanged=tuple(
            replace(offset_change(name, each, kind), note=_UNCHANGED)
            for each in resets
            if each.before == each.after
        ),
        advice=Advice(
            warnings=(
                *([f"group {named(name)} will skip up to {skipped}"] if skipped else ()),
                *found.warnings,
                *groups.warnings(cluster, [name], "changing its offsets"),
            )
            if steps
            else (),
            notes=(f"group {named(name)} will read up to {again} again",) if again else (),
            stakes=f"skips up to {skipped}" if skipped else "",
        ),
    )


def _moved_past(moved: Sequence[Reset]) -> tuple[str, str]:
    """The records that are skipped, and those that are read again: `34 records`, empty if none.

    Offsets outside the range of a partition are not counted. These are upper bounds: not every
    offset in the range has a record."""
    shifts = [
        each.span.nearest(each.after) - each.span.nearest(each.before)
        for each in moved
        if each.before is not None and each.after is not None and each.span is not None
    ]
    ahead = sum(shift for shift in shifts if shift > 0)
    back = -sum(shift for shift in shifts if shift < 0)
    return counted(ahead, "record") if ahead else "", counted(back, "record") if back else ""


def _share_steps(
    found: _Found, moved: Sequence[Reset], refused: Refused
) -> tuple[list[Any], Refused]:
    """The steps for a share group: offsets are set by partition, and deleted by topic (KIP-932)."""
    name = found.name
    gone = {each.partition: each for each in moved if each.after is None}
    steps: list[Any] = []
    whole: list[Reset] = []
    # A partition without a start offset, of which nothing was read yet, has none to lose.
    held = by_topic(each for each, now in found.now.items() if now.offset is not None or now.error)
    for topic in by_topic(gone):
        there = held[topic]
        if gone.keys() >= set(there):
            whole += [gone[each] for each in sorted(there)]
        else:
            refused = refused | {Resource("topic", topic): _by_topic_only(name, topic)}
    to_set = tuple(each for each in moved if each.after is not None)
    steps += [AlterShareOffsets(name, to_set)] if to_set else []
    steps += [DeleteShareOffsets(name, tuple(whole))] if whole else []
    return steps, refused


def _by_topic_only(name: str, topic: str) -> Failure:
    return failure(
        INVALID_REQUEST,
        text=f"offsets of share group {named(name)} in topic {topic} can only be deleted for the"
        " whole topic",
        hint="Delete its offsets in all partitions of the topic.",
    )


def offsets_of(cluster: Cluster, name: str) -> dict[TopicPartition, int]:
    """The offsets of a group by partition. Raises ShellError if it has none."""
    found = {
        each: committed.offset
        for each, committed in _committed(cluster, name).items()
        if committed.offset is not None
    }
    if not found:
        raise as_error(_no_offsets(cluster, name))
    return found


def topics_of(cluster: Cluster, name: str) -> frozenset[str]:
    """The topics in which a group has offsets. Raises ShellError if it does not exist."""
    return frozenset(each.topic for each in _committed(cluster, name))


def _committed(cluster: Cluster, name: str) -> Offsets:
    described = groups.describe(cluster, [name])
    if name in described.failures:
        raise as_error(described.failures[name])
    return committed(cluster, name, described[name].type)
