"""Who loses access by a change of ACLs: the warnings of a plan.

Kafka does not report the principals of members. That a principal may belong to an active group is
derived: the ACLs allow it to read the group, and a member reads the topic.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct, field

from kafka_shell.admin.acls import authorizer
from kafka_shell.admin.acls.authorizer import ANYONE, STANDARD, Rules
from kafka_shell.admin.acls.lost_access import (
    Bindings,
    Loss,
    is_pattern,
    losses,
    sample_name,
    suspects,
)
from kafka_shell.admin.acls.model import (
    Access,
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
    target_text,
    word,
)
from kafka_shell.admin.acls.read import EVERYTHING, describe_each, invalid_in_topic
from kafka_shell.admin.facts import Budget, attempt, in_batches, not_checked, not_checked_of
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import Group, GroupListing
from kafka_shell.base.plans import NotChecked
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted, some
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.rounds import MANY

_NAMED = 3  # resources, and groups, of a principal
_PRINCIPALS = 5  # that are shown before the rest is counted
_GROUPS_AT_ONCE = 500
_MOST_PAIRS = 100_000  # of principals and active groups
_TOPIC, _GROUP = AclResourceType.TOPIC, AclResourceType.GROUP

Target = tuple[AclResourceType, str, PatternType]


class Consequences(Struct):
    """The warnings and notes of a plan that changes ACLs, what could not be read for them, and
    whether a principal has `lost` access, as far as it was read."""

    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    not_checked: list[NotChecked] = field(default_factory=list)
    lost: bool = False

    def miss(self, what: str, why: Failure) -> None:
        self.not_checked.append(not_checked(what, why))


def find(
    cluster: Cluster, deleted: Collection[AclBinding], created: Collection[AclBinding]
) -> Consequences:
    """What principals lose when these bindings are deleted and created."""
    found = Consequences()
    created = [each for each in created if not invalid_in_topic(each)]
    changed = suspects(deleted, created)
    budget = Budget(cluster)
    if created:
        with budget.until(0.4):
            _find_first(cluster, created, found)
    if not changed and not deleted:
        return found
    with budget.until(0.5):
        rules = attempt(lambda: _rules(cluster, [*changed, *deleted]))
    if isinstance(rules, Failure):
        found.miss("who loses access", rules)
        return found
    with budget.until(0.8):
        names, active = _existing(cluster, changed, found)
    lost, left_out = losses(rules, deleted, created, names, lambda: budget.over(0.9))
    if left_out:
        about = f"who loses access by {counted(left_out, 'more ACL')}"
        found.not_checked.append(NotChecked(about, "there are too many"))
    found.lost = found.lost or bool(lost)
    with budget.until(1):
        readers = _readers(cluster, rules, lost, active, found, budget)
    found.warnings += _texts(lost, readers)
    if lost:
        found.notes += _notes(rules, lost, readers)
    elif changed and not left_out:
        found.notes += _no_loss(deleted, created)
    found.warnings += _unprotected(rules, deleted, created)
    if rules.authorizer not in ("", STANDARD):
        reason = f"the brokers' authorizer is {rules.authorizer}: its rules may differ"
        found.not_checked.append(NotChecked("who loses access", reason))
    return found


# -- what is read ----------------------------------------------------------------------------------


def _rules(cluster: Cluster, changed: Iterable[AclBinding]) -> Rules:
    """The bindings that decide on the same principals and resources, and the brokers' rules."""
    wanted: dict[AclFilter, None] = {}
    for each in changed:
        kinds = (
            {each.resource_type, _GROUP} if each.resource_type is _TOPIC else {each.resource_type}
        )
        for kind in kinds:
            # One that denies everyone takes away what others have.
            every = each.principal == ANYONE and each.permission is AclPermission.DENY
            for principal in (None,) if every else (each.principal, ANYONE):
                wanted[AclFilter(principal, resource_type=kind)] = None
        wanted[
            AclFilter(
                resource_type=each.resource_type, name=each.name, pattern_type=PatternType.MATCH
            )
        ] = None
    filters = list(wanted) if len(wanted) <= MANY else [EVERYTHING]
    found = describe_each(cluster, filters)
    bindings = tuple(dict.fromkeys(each for part in found for each in part))
    return replace(authorizer.configured(cluster), bindings=bindings)


def _find_first(cluster: Cluster, created: Sequence[AclBinding], found: Consequences) -> None:
    """Warn of the first ACL on a resource: with it, everyone else loses access if the brokers allow
    everyone until then."""
    everyone = authorizer.configured(cluster).no_acl_allows
    if everyone is False:
        return
    targets = dict.fromkeys((each.resource_type, each.name, each.pattern_type) for each in created)
    wanted = [
        AclFilter(resource_type=kind, name=name, pattern_type=PatternType.MATCH)
        for kind, name in dict.fromkeys((kind, name) for kind, name, _ in targets)
    ]
    there = attempt(lambda: describe_each(cluster, wanted if len(wanted) <= MANY else [EVERYTHING]))
    if isinstance(there, Failure):
        found.miss("whether these are the first ACLs of their resources", there)
        return
    existing = Bindings(dict.fromkeys(each for part in there for each in part))
    first = [
        each
        for each in targets
        if not any(_covers(by, each) for by in existing.matching(*each[:2]))
    ]
    if first:
        found.lost = True
        found.warnings += _first_texts(first, everyone)


def _covers(existing: AclBinding, target: Target) -> bool:
    """Whether an ACL that matches the name of a pattern matches all that the pattern does."""
    _, name, pattern = target
    literal = pattern is PatternType.LITERAL and name != "*"
    return literal or existing.pattern_type is PatternType.PREFIXED or existing.name == "*"


def _existing(
    cluster: Cluster, changed: Iterable[AclBinding], found: Consequences
) -> tuple[dict[AclResourceType, Sequence[str]], list[GroupListing]]:
    """The existing topics and groups that the bindings may match, and the active groups."""
    kinds = {each.resource_type for each in changed}
    patterns = {each.resource_type for each in changed if is_pattern(each)}
    names: dict[AclResourceType, Sequence[str]] = {}
    if _TOPIC in patterns:
        topics = attempt(lambda: scan(cluster).names)
        if isinstance(topics, Failure):
            found.miss("the topics that the ACLs match", topics)
        else:
            names[_TOPIC] = topics
    if not kinds & {_TOPIC, _GROUP}:
        return names, []
    listed = attempt(lambda: groups.list_groups(cluster))
    if isinstance(listed, Failure):
        found.miss("active groups", listed)
        return names, []
    found.not_checked += not_checked_of("active groups of", listed.failures.values(), "coordinator")
    if hidden := attempt(lambda: groups.hidden(cluster)):
        found.miss("other groups", hidden)
    names[_GROUP] = list(listed.values)
    return names, list(filter(groups.is_active, listed))


# -- groups that may be of a principal -------------------------------------------------------------


def _readers(
    cluster: Cluster,
    rules: Rules,
    lost: Sequence[Loss],
    active: Sequence[GroupListing],
    found: Consequences,
    budget: Budget,
) -> dict[str, list[str]]:
    """The active groups that may be of each principal that loses READ, as texts."""
    by_principal: dict[str, list[Loss]] = {}
    for each in lost:
        if AclOperation.READ in each.operations and each.binding.resource_type in (_TOPIC, _GROUP):
            by_principal.setdefault(each.binding.principal, []).append(each)
    most = _MOST_PAIRS // max(1, len(active))
    bindings = Bindings(rules.bindings)
    candidates: dict[str, list[GroupListing]] = {}
    for principal in list(by_principal)[:most]:
        if budget.over():
            break
        candidates[principal] = [
            each for each in active if _may_read(rules, bindings, principal, each.name)
        ]
    if left_out := len(by_principal) - len(candidates):
        about = f"active groups of {counted(left_out, 'principal')}"
        found.not_checked.append(NotChecked(about, "there are too many"))
    wanted = {
        each.name: each
        for principal, listings in candidates.items()
        if any(loss.binding.resource_type is _TOPIC for loss in by_principal[principal])
        for each in listings
    }
    members = {group.name: group for group in _described(cluster, list(wanted.values()), found)}
    readers: dict[str, list[str]] = {}
    for principal, listings in candidates.items():
        for listing in listings:
            group = members.get(listing.name)
            if any(_concerns(loss, listing.name, group) for loss in by_principal[principal]):
                count = f" ({counted(len(group.members), 'member')})" if group else ""
                readers.setdefault(principal, []).append(f"{listing.name}{count}")
    return readers


def _concerns(loss: Loss, name: str, group: Group | None) -> bool:
    """Whether a group, or a topic that its members read, is lost."""
    if loss.binding.resource_type is _GROUP:
        return loss.covers(name)
    return group is not None and any(map(loss.covers, _topics_of(group)))


def _may_read(rules: Rules, bindings: Bindings, principal: str, group: str) -> bool:
    """Whether a principal may read a group, from whatever host."""
    if principal == ANYONE:
        return True
    patterns = bindings.patterns(_GROUP, group)
    there = replace(rules, bindings=bindings.deciding(principal, patterns))
    accesses = (
        Access(principal, AclOperation.READ, _GROUP, group, host)
        for host in authorizer.hosts_of(there.bindings)
    )
    return any(authorizer.verdict(there, each).allowed is not False for each in accesses)


def _described(
    cluster: Cluster, listings: Sequence[GroupListing], found: Consequences
) -> list[Group]:
    types = {each.name: each.type for each in listings}
    parts, unread = in_batches(
        list(types), _GROUPS_AT_ONCE, lambda batch: groups.describe(cluster, batch, types=types)
    )
    failures = [failure for part in parts for failure in part.failures.values()] + unread
    found.not_checked += not_checked_of("the members of", failures, "group")
    return [group for part in parts for group in part]


def _topics_of(group: Group) -> set[str]:
    """The topics that the members of a group read."""
    subscribed = {topic for member in group.members for topic in member.subscription}
    return subscribed | {each.topic for member in group.members for each in member.assignment}


# -- texts -----------------------------------------------------------------------------------------


def _no_loss(deleted: Collection[AclBinding], created: Collection[AclBinding]) -> list[str]:
    """Why no principal loses access. The note names the ACL, as plans are merged."""
    named = [str(each) for each in deleted or created]
    which = f"acl {named[0]}" if len(named) == 1 else counted(len(named), "ACL")
    if deleted:
        reason = "other ACLs or super.users still allow or deny the same operations"
        return [f"no principal loses access without {which}: {reason}"]
    return [f"no principal loses access by {which}: what is denied was not allowed before"]


def _notes(rules: Rules, lost: Sequence[Loss], readers: dict[str, list[str]]) -> Iterator[str]:
    if rules.super_users is None:
        yield "super users keep access: super.users is not visible to clients"
    if readers:
        reason = "Kafka does not report those of members"
        yield f"principals of groups are derived from the ACLs: {reason}"


def _texts(lost: Sequence[Loss], readers: dict[str, list[str]]) -> list[str]:
    """A line for each principal, those of active groups first; of very many only a count."""
    by_principal: dict[str, list[Loss]] = {}
    for each in lost:
        by_principal.setdefault(each.binding.principal, []).append(each)
    order = sorted(by_principal, key=lambda principal: (principal not in readers, principal))
    lines = []
    for principal in order[:_PRINCIPALS]:
        what = some([each.text for each in by_principal[principal]], _NAMED)
        who = "everyone without an ACL of their own" if principal == ANYONE else word(principal)
        groups_of = readers.get(principal)
        may = f"; it may be the principal of active {_groups(groups_of)}" if groups_of else ""
        lines.append(f"{who} loses {what}{may}")
    rest = order[_PRINCIPALS:]
    if rest:
        active = sum(principal in readers for principal in rest)
        about = f", {active:,} of them with active groups" if active else ""
        lines.append(f"{counted(len(rest), 'more principal')} lose access{about}")
    return lines


def _groups(names: Sequence[str]) -> str:
    noun = "group" if len(names) == 1 else "groups"
    return f"{noun} {some(names, _NAMED)}"


def _first_texts(first: Sequence[Target], everyone: bool | None) -> Iterator[str]:
    """The first ACLs on single resources, and those on what patterns match."""
    who = "everyone has" if everyone else "everyone may have"
    why = "is true" if everyone else "cannot be read"
    rule = f"allow.everyone.if.no.acl.found {why}"
    single = [each for each in first if each[2] is PatternType.LITERAL and each[1] != "*"]
    for targets, which in (
        (single, "{}, which no ACL matches"),
        ([each for each in first if each not in single], "what {} matches and no other ACL does"),
    ):
        if targets:
            what = which.format(some([target_text(*each) for each in targets], _NAMED))
            yield (
                f"until now {who} access to {what} ({rule}); then only super users and principals"
                " with an ACL"
            )


def _unprotected(
    rules: Rules, deleted: Collection[AclBinding], created: Collection[AclBinding]
) -> list[str]:
    """Resources without any ACL afterwards, where that may allow everyone."""
    if rules.no_acl_allows is False or not deleted:
        return []
    gone = frozenset(deleted)
    after = Bindings([each for each in rules.bindings if each not in gone] + list(created))
    bare = [
        each.target for each in deleted if not after.matching(each.resource_type, sample_name(each))
    ]
    if not bare:
        return []
    effect = (
        "allow.everyone.if.no.acl.found=true allows everyone"
        if rules.no_acl_allows
        else "access depends on allow.everyone.if.no.acl.found, which cannot be read"
    )
    return [f"no ACL is left on {some(list(dict.fromkeys(bare)), _NAMED)}: {effect}"]
