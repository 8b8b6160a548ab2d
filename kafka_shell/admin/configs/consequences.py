"""What altered configs mean for topics: the warnings of a plan.

The values that topics inherit, the records that lower limits delete and the replicas that acks=all
producers need are read within a time budget; what could not be read is reported.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from kafka_shell.admin.configs import losses as lost_records
from kafka_shell.admin.configs import unclean
from kafka_shell.admin.configs.inheritance import TOPIC_KEYS, TopicValues
from kafka_shell.admin.configs.inheritance import read as read_topics
from kafka_shell.admin.configs.losses import (
    DELETED_BY,
    OF_BROKER,
    POLICY,
    REMOTE,
    DataLoss,
    RetentionLimits,
    is_tiered,
    policies,
)
from kafka_shell.admin.configs.read import own_values
from kafka_shell.admin.facts import Budget, attempt, not_checked
from kafka_shell.admin.topics import min_isr
from kafka_shell.admin.topics.min_isr import Requirement
from kafka_shell.admin.topics.model import named_topics
from kafka_shell.admin.topics.reassigned import scan_reassigned
from kafka_shell.base.plans import Change, NotChecked, Resource
from kafka_shell.base.results import Failure
from kafka_shell.base.units import counted, format_limit, some
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.metadata_scan import MetadataScan
from kafka_shell.wire.model import Partition

_DEFAULT = "broker-default"
_LARGEST = "max.message.bytes"
_NAMED = 5  # brokers that a warning names


class Altered(Struct, frozen=True):
    """One altered config: its change, the value that applies afterwards (None: unknown), and what
    it deletes. `tiered`: it is a config of a topic with records in remote storage."""

    change: Change
    value: str | None
    loss: DataLoss | None = None
    tiered: bool = False

    @property
    def key(self) -> str:
        """The altered key."""
        return self.change.field

    @property
    def topic_key(self) -> str:
        """The key of topics that it alters, or that inherits it; empty if none does."""
        if self.change.resource.kind == "topic":
            return self.key
        return TOPIC_KEYS.get(self.key, "")


class Consequences(Struct):
    """The warnings and notes of a plan that alters configs, what could not be read for them, and
    what is lost in a few words. `unclean`: leaders that lack records are elected at once.
    `fails_producers`: those with acks=all fail at once."""

    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    not_checked: list[NotChecked] = field(default_factory=list)
    stakes: str = ""
    unclean: bool = False
    fails_producers: bool = False


def find(cluster: Cluster, altered: Sequence[Altered]) -> Consequences:
    """What these alterations mean."""
    found = Consequences()
    defaults = [each for each in altered if each.change.resource.kind == _DEFAULT]
    budget = Budget(cluster)
    if defaults:
        with budget.until(0.25):
            _overrides(cluster, [each.key for each in defaults], found)
    with budget.until(0.5):
        topics = _topics(cluster, altered, found)
    found.warnings += _inheriting(defaults, topics)
    found.warnings += _refused_batches(altered)
    with budget.until(0.9):
        _losses(cluster, altered, topics, found)
    with budget.until(1):
        _unclean_elections(cluster, altered, topics, found)
        _required_replicas(cluster, altered, topics, found)
    return found


def _overrides(cluster: Cluster, keys: Sequence[str], found: Consequences) -> None:
    """Warnings of brokers whose own value overrides the cluster-wide default."""
    read = attempt(lambda: own_values(cluster, keys))
    if isinstance(read, Failure):
        found.not_checked.append(not_checked("brokers that override the default", read))
        return
    own, unread = read
    by_value: dict[str, list[str]] = {}
    for broker, entry in own:
        value = "" if entry.sensitive else f"={entry.value}"
        by_value.setdefault(f"{entry.name}{value}", []).append(broker)
    found.warnings += [
        f"{_brokers(brokers)} override{'s' if len(brokers) == 1 else ''} {what}"
        for what, brokers in by_value.items()
    ]
    if unread:
        why = next(iter(unread.values())).message
        its = "its" if len(unread) == 1 else "their"
        found.warnings.append(
            f"{_brokers(list(unread))} may override the cluster-wide default: {its} configs could"
            f" not be read: {why}"
        )


def _brokers(ids: Sequence[str]) -> str:
    return f"broker {ids[0]}" if len(ids) == 1 else f"brokers {some(ids, _NAMED)}"


# -- topics that inherit ---------------------------------------------------------------------------


def _topics(
    cluster: Cluster, altered: Sequence[Altered], found: Consequences
) -> TopicValues | None:
    """The values of all topics for the altered keys of brokers, if topics inherit one of them."""
    inherited = [
        each
        for each in altered
        if each.topic_key
        and (each.change.resource.kind == _DEFAULT or (each.loss and _of_broker(each)))
    ]
    if not inherited:
        return None
    keys = {each.topic_key for each in inherited}
    if any(each.loss for each in inherited):
        keys |= {POLICY, REMOTE}
    read = attempt(lambda: read_topics(cluster, keys))
    names = ", ".join(sorted({each.key for each in inherited}))
    if isinstance(read, Failure):
        found.not_checked.append(not_checked(f"the topics that inherit {names}", read))
        return None
    if read.failures:
        about = f"whether {counted(len(read.failures), 'topic')} inherit {names}"
        found.not_checked.append(not_checked(about, read.failures[0]))
    return read


def _inheriting(defaults: Iterable[Altered], topics: TopicValues | None) -> list[str]:
    """How many topics inherit each default that deletes nothing; the others say so themselves."""
    if topics is None:
        return []
    counts = {
        each.key: len(topics.inheriting(each.topic_key))
        for each in defaults
        if each.topic_key and not each.loss
    }
    every = counted(len(topics.values), "topic")
    return [
        f"{count:,} of {every} {'inherits' if count == 1 else 'inherit'} {key}"
        for key, count in counts.items()
    ]


def _affected(topics: TopicValues, each: Altered) -> list[str]:
    """The topics that inherit a broker's key that deletes records, and whose cleanup policy lets it
    do so."""
    wanted = DELETED_BY.get(each.topic_key)
    return [
        name
        for name in topics.inheriting(each.topic_key)
        if not wanted
        or (policy := topics.values[name].get(POLICY)) is None
        or wanted in policies(policy.value or "")
    ]


# -- records that are deleted ----------------------------------------------------------------------


def _losses(
    cluster: Cluster,
    altered: Sequence[Altered],
    topics: TopicValues | None,
    found: Consequences,
) -> None:
    """One warning for each key and limit, in how many topics; and how many records that is."""
    groups: dict[tuple[str, str, DataLoss], list[Altered]] = {}
    for each in altered:
        if each.loss is not None:
            groups.setdefault((_verb(each), each.key, each.loss), []).append(each)
    limits: dict[str, RetentionLimits] = {}
    tiered = {each.change.resource.name for each in altered if each.tiered}
    if topics:
        tiered |= {name for name, entries in topics.values.items() if is_tiered(entries)}
    for (verb, key, loss), group in groups.items():
        if _of_broker(group[0]):
            names = _affected(topics, group[0]) if topics else []
            own = "its own" if len(names) == 1 else "their own"
            inherit = f"{counted(len(names), 'topic')} without {own} {group[0].topic_key}"
            where = f" in the {inherit}" if topics and topics.values else ""
        else:
            names = [each.change.resource.name for each in group]
            where = ""
        of = _owners(each.change.resource for each in group)
        found.warnings.append(f"{verb} {key}{of} deletes {loss.what}{where}")
        if loss.limits != RetentionLimits():
            for name in names:
                limits[name] = limits.get(name, RetentionLimits()).lower(loss.limits)
    if groups:
        found.stakes = f"deletes {some(list(dict.fromkeys(each.what for *_, each in groups)), 2)}"
    if not limits:
        return
    lost, missing = lost_records.count(cluster, limits, round(time.time() * 1000), tiered)
    found.not_checked += missing
    if lost.partitions:
        found.warnings.append(lost.text)
    deletes = "" if lost.partitions else found.stakes  # the number of records is more exact
    found.stakes = ", ".join(filter(None, (deletes, lost.stakes)))


def _owners(resources: Iterable[Resource]) -> str:
    """` of topic a`, ` of brokers 1, 2`: whose configs they are; empty for the default of all.

    In a merged plan, nothing else tells which of the changes a warning is about.
    """
    by_kind: dict[str, list[str]] = {}
    for resource in resources:
        by_kind.setdefault(resource.kind, []).append(resource.name)
    parts = [
        named_topics(names) if kind == "topic" else _brokers(names)
        for kind, names in by_kind.items()
        if kind != _DEFAULT
    ]
    return f" of {' and '.join(parts)}" if parts else ""


def _verb(each: Altered) -> str:
    if each.change.after is None:
        return "removing"
    limited = OF_BROKER.get(each.key, each.key) in DELETED_BY or each.topic_key == _LARGEST
    return "lowering" if limited else "changing"


def _of_broker(each: Altered) -> bool:
    return each.change.resource.kind in (_DEFAULT, "broker")


# -- records that are refused ----------------------------------------------------------------------


def _refused_batches(altered: Sequence[Altered]) -> list[str]:
    """A warning for each lower limit of the size of record batches."""
    groups: dict[tuple[str, str, str], list[Resource]] = {}
    for each in altered:
        change = each.change
        before = change.replaced
        if each.topic_key == _LARGEST and _is_lower(each.value, before):
            key = (_verb(each), each.key, format_limit(each.key, str(each.value)))
            groups.setdefault(key, []).append(change.resource)
    return [
        f"{verb} {key}{_owners(resources)} makes brokers reject record batches larger than {limit}:"
        " producers get MESSAGE_TOO_LARGE"
        for (verb, key, limit), resources in groups.items()
    ]


def _is_lower(after: str | None, before: object) -> bool:
    """Whether a number is lower than the previous one; not if one of them is unknown."""
    old = str(before)
    return after is not None and after.isdecimal() and old.isdecimal() and int(after) < int(old)


# -- unclean leader elections ----------------------------------------------------------------------


def _unclean_elections(
    cluster: Cluster,
    altered: Sequence[Altered],
    topics: TopicValues | None,
    found: Consequences,
) -> None:
    """A warning if unclean leader elections become possible, and which are to be expected now."""
    enabled = [each for each in altered if each.topic_key == unclean.KEY and _is_enabled(each)]
    names = [each.change.resource.name for each in enabled if not _of_broker(each)]
    if topics and len(names) < len(enabled):
        names += topics.inheriting(unclean.KEY)
    if not enabled:
        return
    metadata = topics.found if topics else None
    read = attempt(lambda: unclean.read(cluster, list(dict.fromkeys(names)), metadata))
    if isinstance(read, Failure):
        found.not_checked.append(not_checked("partitions without a leader", read))
        read = unclean.UncleanElections()
    found.warnings.append(read.warning)
    found.stakes = ", ".join(filter(None, (found.stakes, read.stakes)))
    found.unclean = bool(read.partitions)


def _is_enabled(each: Altered) -> bool:
    change = each.change
    before = change.replaced
    return str(each.value).lower() == "true" and str(before).lower() != "true"


# -- in-sync replicas ------------------------------------------------------------------------------


def _required_replicas(
    cluster: Cluster,
    altered: Sequence[Altered],
    topics: TopicValues | None,
    found: Consequences,
) -> None:
    """Warnings where a topic has no more replicas, or in-sync replicas now, than are required."""
    wanted: dict[str, Altered] = {}
    for each in altered:
        if each.topic_key == min_isr.KEY and each.change.resource.kind == "topic":
            wanted[each.change.resource.name] = each
        elif each.topic_key == min_isr.KEY and each.change.resource.kind == _DEFAULT and topics:
            wanted |= dict.fromkeys(topics.inheriting(min_isr.KEY), each)
    if not wanted:
        return
    names = list(wanted)
    seen = topics.found if topics else None
    read = attempt(lambda: scan_reassigned(cluster, names, seen=seen))
    if isinstance(read, Failure):
        found.not_checked.append(not_checked("replication factors", read))
        return
    unknown = sum(each.value is None for each in wanted.values())
    if unknown:
        about = f"{min_isr.KEY} of {counted(unknown, 'topic')}"
        found.not_checked.append(NotChecked(about, "its default is not known"))
    after = {
        name: int(each.value)
        for name, each in wanted.items()
        if each.value is not None and each.value.isdecimal() and name in read
    }
    requirements = [
        Requirement(name, minimum, read.summary(name).replication_factor)
        for name, minimum in after.items()
    ]
    before = {name: _number(wanted[name].change.replaced) for name in after}
    checked = attempt(
        lambda: (min_isr.warnings(cluster, requirements), _failing(cluster, read, before, after))
    )
    if isinstance(checked, Failure):
        about = f"{min_isr.KEY} of {counted(len(after), 'topic')}"
        found.not_checked.append(not_checked(about, checked))
        return
    warnings, failing = checked
    found.warnings += warnings
    if failing:
        partitions = counted(len(failing), "partition")
        of = named_topics(sorted({each.topic for each in failing}))
        have = "has" if len(failing) == 1 else "have"
        found.warnings.append(
            f"{partitions} of {of} {have} too few in-sync replicas for the new {min_isr.KEY}:"
            " acks=all producers fail immediately"
        )
        stops = f"acks=all producers fail in {partitions}"
        found.stakes = ", ".join(filter(None, (found.stakes, stops)))
        found.fails_producers = True


def _failing(
    cluster: Cluster, read: MetadataScan, before: Mapping[str, int], after: Mapping[str, int]
) -> set[Partition]:
    """The partitions whose in-sync replicas are enough for acks=all before, but not after."""
    topics = [
        read.topic(name)
        for name, minimum in after.items()
        if minimum > before[name]
        and (read.summary(name).under_replicated or name in read.reassigned)
    ]
    if not topics:
        return set()
    capped = min_isr.is_capped(cluster)
    already = {*min_isr.below(topics, before, capped=capped)}
    return {*min_isr.below(topics, after, capped=capped)} - already


def _number(value: object) -> int:
    """The number in a config value; 0 if unknown."""
    return int(str(value)) if str(value).isdecimal() else 0
