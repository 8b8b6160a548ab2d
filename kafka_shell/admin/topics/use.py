"""What topics contain and who uses them: what deleting them would affect.

Everything is read within a time budget, the records first. What could not be read is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct, field

from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import AclBinding, AclFilter, AclResourceType, PatternType
from kafka_shell.admin.facts import Budget, attempt, in_batches, not_checked, not_checked_of
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import TopicReader
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.offsets import ranges
from kafka_shell.admin.topics.model import TopicsUse, TopicUse
from kafka_shell.admin.transactions import producers
from kafka_shell.admin.transactions.model import ProducerState
from kafka_shell.base.plans import NotChecked
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.base.units import approximate_bytes, counted
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.error_codes import SECURITY_DISABLED
from kafka_shell.wire.model import Topic
from kafka_shell.wire.rounds import MANY

_PARTITIONS_AT_ONCE = 2_000
_GROUPS_AT_ONCE = 500


class _Found(Struct):
    """What was read so far, by topic, and what could not be read."""

    use: dict[str, TopicUse]
    missing: list[NotChecked] = field(default_factory=list)

    def set(self, topic: str, **facts: object) -> None:
        if topic in self.use:
            self.use[topic] = replace(self.use[topic], **facts)

    def add_not_checked(self, what: str, why: Failure) -> None:
        self.missing.append(not_checked(what, why))

    def add_all_not_checked(self, failures: Sequence[Failure], noun: str, of: str) -> None:
        """`the records of 3 partitions`: one line for all of them."""
        self.missing += not_checked_of(of, failures, noun)


def read(cluster: Cluster, topics: Sequence[Topic]) -> tuple[TopicsUse, tuple[NotChecked, ...]]:
    """The use of these topics, and what could not be read of it."""
    found = _Found({topic.name: TopicUse(topic.name) for topic in topics})
    partitions = [
        TopicPartition(topic.name, partition.partition)
        for topic in topics
        for partition in topic.partitions
    ]
    if not topics:
        return TopicsUse(()), ()
    budget = Budget(cluster)
    with budget.until(0.4):
        _records(cluster, partitions, found)
    with budget.until(0.6):
        _sizes(cluster, topics, partitions, found)
    with budget.until(0.8):
        _readers(cluster, found)
    with budget.until(0.9):
        _acls(cluster, found)
    with budget.until(1):
        _producers(cluster, partitions, found)
    return TopicsUse(tuple(found.use.values())), tuple(found.missing)


def stakes(use: TopicsUse) -> str:
    """What is lost: `up to 1,200 records, 36 MiB, 3 groups, 1 partition not checked`."""
    records = sum(topic.max_records or 0 for topic in use.topics)
    size = sum(topic.bytes or 0 for topic in use.topics)
    names = {reader.group for topic in use.topics for reader in topic.readers or ()}
    unread = sum(topic.unread_partitions for topic in use.topics)
    more = "+" if any(topic.unread_replicas for topic in use.topics) else ""
    parts = [
        f"up to {counted(records, 'record')}" if records else "" if unread else "no records",
        f"{approximate_bytes(size)}{more}" if size else "",
        counted(len(names), "group") if names else "",
        f"{counted(unread, 'partition')} not checked" if unread else "",
    ]
    return ", ".join(filter(None, parts))


def _records(cluster: Cluster, partitions: Sequence[TopicPartition], found: _Found) -> None:
    parts, unread = in_batches(
        partitions, _PARTITIONS_AT_ONCE, lambda batch: ranges(cluster, batch)
    )
    counts: dict[str, int] = {}
    for part in parts:
        for row in part:
            counts[row.topic] = counts.get(row.topic, 0) + row.max_records
    read = {each for part in parts for each in part.values}
    missing = Counter(each.topic for each in partitions if each not in read)
    for topic in found.use:
        found.set(topic, max_records=counts.get(topic), unread_partitions=missing[topic])
    failures = [failure for part in parts for failure in part.failures.values()] + unread
    found.add_all_not_checked(failures, "partition", "the records of")


def _sizes(
    cluster: Cluster,
    topics: Sequence[Topic],
    partitions: Sequence[TopicPartition],
    found: _Found,
) -> None:
    brokers = {broker for topic in topics for each in topic.partitions for broker in each.replicas}
    few = partitions if len(partitions) <= _PARTITIONS_AT_ONCE else None
    read = attempt(lambda: log_dirs.describe(cluster, sorted(brokers), few))
    if isinstance(read, Failure):
        found.add_not_checked("the size", read)
        return
    read = log_dirs.without_offline(read)
    sizes: Counter[str] = Counter()
    for replica in (replica for dirs in read for dir in dirs for replica in dir.replicas):
        sizes[replica.topic] += replica.size
    for topic in topics:
        held_by = [broker for each in topic.partitions for broker in each.replicas]
        missing = sum(broker not in read.values for broker in held_by)
        known = sizes[topic.name] if missing < len(held_by) else None
        found.set(topic.name, bytes=known, unread_replicas=missing)
    found.add_all_not_checked(list(read.failures.values()), "broker", "the size of replicas on")


def _readers(cluster: Cluster, found: _Found) -> None:
    listed = attempt(lambda: groups.list_groups(cluster))
    if isinstance(listed, Failure):
        found.add_not_checked("groups", listed)
        return
    found.add_all_not_checked(list(listed.failures.values()), "coordinator", "the groups of")
    if hidden := attempt(lambda: groups.hidden(cluster)):
        found.add_not_checked("other groups", hidden)
    parts, unread = in_batches(
        list(listed), _GROUPS_AT_ONCE, lambda batch: groups.readers(cluster, batch, found.use)
    )
    by_topic: dict[str, list[TopicReader]] = {topic: [] for topic in found.use}
    for reader in (reader for part in parts for readers in part for reader in readers):
        by_topic[reader.topic].append(reader)
    for topic, readers in by_topic.items():
        readers.sort(key=lambda reader: (-reader.members, reader.group))
        found.set(topic, readers=tuple(readers))
    failures = [failure for part in parts for failure in part.failures.values()] + unread
    found.add_all_not_checked(failures, "group", "members and offsets of")


def _acls(cluster: Cluster, found: _Found) -> None:
    every = AclFilter(resource_type=AclResourceType.TOPIC, pattern_type=PatternType.LITERAL)
    few = [replace(every, name=topic) for topic in found.use]
    read = attempt(lambda: acls.describe_each(cluster, few if len(few) <= MANY else [every]))
    if isinstance(read, Failure):
        if read.code != SECURITY_DISABLED:
            found.add_not_checked("ACLs", read)
        return
    by_topic: dict[str, list[AclBinding]] = {topic: [] for topic in found.use}
    for binding in (binding for bindings in read for binding in bindings):
        if binding.name in by_topic:
            by_topic[binding.name].append(binding)
    for topic, bindings in by_topic.items():
        found.set(topic, acls=tuple(map(str, bindings)))


def _producers(cluster: Cluster, partitions: Sequence[TopicPartition], found: _Found) -> None:
    parts, unread = in_batches(
        partitions, _PARTITIONS_AT_ONCE, lambda batch: producers.describe(cluster, batch)
    )
    states: dict[str, list[ProducerState]] = {}
    for each, of_partition in (item for part in parts for item in part.values.items()):
        states.setdefault(each.topic, []).extend(of_partition)
    for topic, known in states.items():
        found.set(
            topic,
            producers=len({state.producer_id for state in known}),
            last_written=max((state.last_timestamp or 0 for state in known), default=0) or None,
        )
    failures = [failure for part in parts for failure in part.failures.values()] + unread
    found.add_all_not_checked(failures, "partition", "the producers of")
