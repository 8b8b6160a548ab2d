"""Who loses access, by a change of ACLs or of passwords.

Kafka does not report the principals of members. That a principal may belong to an active group is
derived: the ACLs allow it to read the group, and a member reads the topic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from kafka_shell.admin.acls import authorizer
from kafka_shell.admin.acls.authorizer import ANYONE, STANDARD, Rules
from kafka_shell.admin.acls.change import CreateAcls, DeleteAcls
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
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import Group, GroupListing
from kafka_shell.admin.topics.steps import CreateTopics
from kafka_shell.admin.users.scram import AlterScramCredentials
from kafka_shell.advice.reads import Reads
from kafka_shell.base.plans import Advice, NotChecked
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted, some
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.rounds import MANY

_NAMED = 3  # resources, and groups, of a principal
_PRINCIPALS = 5  # that are shown before the rest is counted
_MOST_PAIRS = 100_000  # of principals and active groups
_TOPIC, _GROUP = AclResourceType.TOPIC, AclResourceType.GROUP

Target = tuple[AclResourceType, str, PatternType]


class Facts(Struct, frozen=True):
    """The ACLs that a plan deletes and creates, and what principals lose by that."""

    deleted: Sequence[AclBinding] = ()
    created: Sequence[AclBinding] = ()
    passwords: int = 0  # that are replaced
    first: Sequence[Target] = ()  # what no ACL matched before
    rules: Rules = Rules(())  # of the brokers, with the ACLs before the change
    compared: bool = False  # whether these were read
    lost: Sequence[Loss] = ()
    readers: Mapping[str, Sequence[str]] = {}  # active groups that may be of each principal
    complete: bool = True  # whether all of it could be read


# -- what is read ----------------------------------------------------------------------------------


def read(reads: Reads) -> Facts | None:
    """Read the ACLs of the same resources, and the active groups of principals that lose access."""
    steps = reads.plan.steps
    deleted = [acl for step in steps if isinstance(step, DeleteAcls) for acl in step.items]
    created = [acl for acl in _created(reads) if not invalid_in_topic(acl)]
    passwords = sum(
        change.before is not None and change.after is not None
        for step in steps
        if isinstance(step, AlterScramCredentials)
        for change in step.changes
    )
    if not deleted and not created and not passwords:
        return None
    if not deleted and not created:
        return Facts(passwords=passwords)
    missing, about = len(reads.not_checked), "who loses access"
    rules = reads.attempt(about, lambda: authorizer.configured(reads.cluster)) or Rules(())
    facts = Facts(deleted, created, passwords, _first(reads, rules, created), rules)
    changed = [*suspects(deleted, created), *deleted]
    bindings = reads.attempt(about, lambda: _bindings(reads.cluster, changed)) if changed else None
    if bindings is not None:
        rules = replace(rules, bindings=bindings)
        facts = _with_losses(reads, replace(facts, rules=rules, compared=True))
    return replace(facts, complete=len(reads.not_checked) == missing)


def _created(reads: Reads) -> Iterator[AclBinding]:
    """The created ACLs, without those of topics that the same plan creates."""
    steps = reads.plan.steps
    new = {topic.name for step in steps if isinstance(step, CreateTopics) for topic in step.items}
    for acl in (acl for step in steps if isinstance(step, CreateAcls) for acl in step.items):
        if acl.resource_type is not _TOPIC or is_pattern(acl) or acl.name not in new:
            yield acl


def _bindings(cluster: Cluster, changed: Sequence[AclBinding]) -> tuple[AclBinding, ...]:
    """The bindings that decide on the same principals and resources."""
    wanted: dict[AclFilter, None] = {}
    for acl in changed:
        kind = acl.resource_type
        # One that denies everyone takes away what others have.
        every = acl.principal == ANYONE and acl.permission is AclPermission.DENY
        for principal in (None,) if every else (acl.principal, ANYONE):
            wanted[AclFilter(principal, resource_type=kind)] = None
            if kind is _TOPIC:
                wanted[AclFilter(principal, resource_type=_GROUP)] = None
        wanted[_matching(kind, acl.name)] = None
    return _described(cluster, list(wanted))


def _matching(kind: AclResourceType, name: str) -> AclFilter:
    return AclFilter(resource_type=kind, name=name, pattern_type=PatternType.MATCH)


def _described(cluster: Cluster, wanted: Sequence[AclFilter]) -> tuple[AclBinding, ...]:
    parts = describe_each(cluster, wanted if len(wanted) <= MANY else [EVERYTHING])
    return tuple(dict.fromkeys(acl for part in parts for acl in part))


def _first(reads: Reads, rules: Rules, created: Sequence[AclBinding]) -> list[Target]:
    """What no ACL matches until now: with one, everyone else loses access if the brokers allow
    everyone until then."""
    if not created or rules.no_acl_allows is False:
        return []
    targets = dict.fromkeys((acl.resource_type, acl.name, acl.pattern_type) for acl in created)
    wanted = list(dict.fromkeys(_matching(kind, name) for kind, name, _ in targets))
    about = "whether these are the first ACLs of their resources"
    there = reads.attempt(about, lambda: _described(reads.cluster, wanted))
    if there is None:
        return []
    existing = Bindings(there)
    return [
        target
        for target in targets
        if not any(_covers(acl, target) for acl in existing.matching(*target[:2]))
    ]


def _covers(existing: AclBinding, target: Target) -> bool:
    """Whether an ACL that matches the name of a pattern matches all that the pattern does."""
    _, name, pattern = target
    literal = pattern is PatternType.LITERAL and name != "*"
    return literal or existing.pattern_type is PatternType.PREFIXED or existing.name == "*"


def _with_losses(reads: Reads, facts: Facts) -> Facts:
    """The facts with what principals lose on the topics and groups that exist."""
    rules, changed = facts.rules, suspects(facts.deleted, facts.created)
    kinds = {acl.resource_type for acl in changed}
    names: dict[AclResourceType, Sequence[str]] = {}
    if any(acl.resource_type is _TOPIC and is_pattern(acl) for acl in changed):
        topics = reads.attempt("the topics that the ACLs match", lambda: scan(reads.cluster).names)
        names |= {} if topics is None else {_TOPIC: topics}
    listed = reads.groups if kinds & {_TOPIC, _GROUP} else None
    names |= {} if listed is None else {_GROUP: [group.name for group in listed]}
    lost, left_out = losses(rules, facts.deleted, facts.created, names, reads.is_over)
    if left_out:
        about = f"who loses access because of {counted(left_out, 'more ACL')}"
        reads.not_checked.append(NotChecked(about, "there are too many"))
    active = list(filter(groups.is_active, listed or ()))
    if rules.authorizer not in ("", STANDARD):
        reason = f"the brokers' authorizer is {rules.authorizer}: its rules may differ"
        reads.not_checked.append(NotChecked("who loses access", reason))
    return replace(facts, lost=lost, readers=_readers(reads, rules, lost, active))


def _readers(
    reads: Reads, rules: Rules, lost: Sequence[Loss], active: Sequence[GroupListing]
) -> dict[str, list[str]]:
    """The active groups that may be of each principal that loses READ, as texts."""
    by_principal: dict[str, list[Loss]] = {}
    for loss in lost:
        if AclOperation.READ in loss.operations and loss.binding.resource_type in (_TOPIC, _GROUP):
            by_principal.setdefault(loss.binding.principal, []).append(loss)
    bindings = Bindings(rules.bindings)
    candidates: dict[str, list[GroupListing]] = {}
    for principal in list(by_principal)[: _MOST_PAIRS // max(1, len(active))]:
        if reads.is_over():
            break
        candidates[principal] = [
            group for group in active if _may_read(rules, bindings, principal, group.name)
        ]
    if left_out := len(by_principal) - len(candidates):
        about = f"active groups of {counted(left_out, 'principal')}"
        reads.not_checked.append(NotChecked(about, "there are too many"))
    types = {
        group.name: group.type
        for principal, listings in candidates.items()
        if any(loss.binding.resource_type is _TOPIC for loss in by_principal[principal])
        for group in listings
    }
    members = reads.attempt_all(
        "the members of", "group", list(types),
        lambda part: groups.describe(reads.cluster, part, types=types),
    )  # fmt: skip
    readers: dict[str, list[str]] = {}
    for principal, listings in candidates.items():
        for name in (group.name for group in listings):
            group = members.get(name)
            if any(_concerns(loss, name, group) for loss in by_principal[principal]):
                count = f" ({counted(len(group.members), 'member')})" if group else ""
                readers.setdefault(principal, []).append(f"{name}{count}")
    return readers


def _concerns(loss: Loss, name: str, group: Group | None) -> bool:
    """Whether a group, or a topic that its members read, is lost."""
    if loss.binding.resource_type is _GROUP:
        return loss.covers(name)
    members = group.members if group else ()
    subscribed = {topic for member in members for topic in member.subscription}
    assigned = {partition.topic for member in members for partition in member.assignment}
    return any(map(loss.covers, subscribed | assigned))


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
    return any(authorizer.verdict(there, access).allowed is not False for access in accesses)


# -- what is said ----------------------------------------------------------------------------------


def say(facts: Facts) -> Advice:
    """Say who loses access. It is confirmed if somebody does, or may."""
    replaced = f"replaces {counted(facts.passwords, 'password')}"
    return Advice(
        warnings=(*_of_first(facts), *_of_principals(facts), *_of_unprotected(facts)),
        notes=tuple(_notes(facts)),
        stakes=replaced if facts.passwords else "",
        confirm=bool(facts.lost or facts.first or facts.passwords or not facts.complete),
    )


def _of_first(facts: Facts) -> Iterator[str]:
    """The first ACLs on single resources, and those on what patterns match."""
    everyone = facts.rules.no_acl_allows
    lose = "lose" if everyone else "may lose"
    why = "=true" if everyone else " cannot be read"
    single = [loss for loss in facts.first if loss[2] is PatternType.LITERAL and loss[1] != "*"]
    patterns = [loss for loss in facts.first if loss not in single]
    for targets, which in (
        (single, "{}"),
        (patterns, "resources matched only by {}"),
    ):
        if targets:
            what = which.format(some([target_text(*target) for target in targets], _NAMED))
            yield (
                f"this adds the first ACL on {what}: all others except super users {lose} access"
                f" (allow.everyone.if.no.acl.found{why})"
            )


def _of_principals(facts: Facts) -> Iterator[str]:
    """A line for each principal, those of active groups first; of very many only a count."""
    by_principal: dict[str, list[Loss]] = {}
    for loss in facts.lost:
        by_principal.setdefault(loss.binding.principal, []).append(loss)
    order = sorted(by_principal, key=lambda principal: (principal not in facts.readers, principal))
    for principal in order[:_PRINCIPALS]:
        what = some([loss.text for loss in by_principal[principal]], _NAMED)
        who = "everyone without an ACL of their own" if principal == ANYONE else word(principal)
        names = facts.readers.get(principal, ())
        noun = "group" if len(names) == 1 else "groups"
        may = f"; it may be the principal of active {noun} {some(names, _NAMED)}" if names else ""
        yield f"{who} loses {what}{may}"
    rest = order[_PRINCIPALS:]
    if rest:
        active = sum(principal in facts.readers for principal in rest)
        about = f", {active:,} of them with active groups" if active else ""
        yield f"{counted(len(rest), 'more principal')} lose access{about}"


def _of_unprotected(facts: Facts) -> Iterator[str]:
    """Resources without any ACL afterwards, where that may allow everyone."""
    if not facts.compared or facts.rules.no_acl_allows is False:
        return
    gone = frozenset(facts.deleted)
    left = [acl for acl in facts.rules.bindings if acl not in gone]
    after = Bindings([*left, *facts.created])
    bare = dict.fromkeys(
        acl.target for acl in facts.deleted if not after.matching(acl.resource_type,
                                                                  sample_name(acl))
    )  # fmt: skip
    if bare:
        effect = (
            "everyone gains access (allow.everyone.if.no.acl.found=true)"
            if facts.rules.no_acl_allows
            else "access depends on allow.everyone.if.no.acl.found, which cannot be read"
        )
        yield f"this removes the last ACL on {some(list(bare), _NAMED)}: {effect}"


def _notes(facts: Facts) -> Iterator[str]:
    """How sure it is, or why no principal loses access. That names the ACL, as plans are merged."""
    if not facts.compared:
        return
    if facts.lost:
        if facts.rules.super_users is None:
            yield "super users among them keep access (super.users is not visible to clients)"
        if facts.readers:
            yield "the principals of groups are derived from ACLs: Kafka does not report them"
    elif facts.complete and suspects(facts.deleted, facts.created):
        named = [str(acl) for acl in facts.deleted or facts.created]
        which = f"acl {named[0]}" if len(named) == 1 else counted(len(named), "ACL")
        yield (
            f"all principals keep access without {which}: other ACLs or super.users allow the same"
            " operations"
            if facts.deleted
            else f"all principals keep access with {which}: the operations were not allowed before"
        )
