"""Who uses what is deleted: the readers, producers and ACLs of topics, and the groups that have not
read records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import AclBinding, AclFilter, AclResourceType, PatternType
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import TopicReader
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.delete import Cut, DeleteRecords
from kafka_shell.admin.records.offsets import ranges
from kafka_shell.admin.topics.model import TopicsUse, TopicUse
from kafka_shell.admin.topics.steps import DeleteTopics
from kafka_shell.admin.transactions import producers
from kafka_shell.admin.transactions.model import ProducerState
from kafka_shell.advice.key_order import INTERNAL_STATE
from kafka_shell.advice.reads import Reads
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Advice
from kafka_shell.base.structs import replace
from kafka_shell.base.units import approximate_bytes, counted, some
from kafka_shell.wire.model import Topic
from kafka_shell.wire.rounds import MANY

_NAMED = 5  # groups that a warning names
_OTHER_STATE = "Kafka stores its own state in it"


class Facts(Struct, frozen=True):
    """Who uses the topics and records that a plan deletes."""

    topics: Sequence[TopicUse] = ()
    internal: Sequence[str] = ()  # topics of these
    cuts: Sequence[Cut] = ()  # records that are deleted
    unread: Mapping[str, int] = {}  # how many of these records each group has not read, at most


# -- what is read ----------------------------------------------------------------------------------


def read(reads: Reads) -> Facts | None:
    """Read the use of the topics and records that are deleted, the records first."""
    steps = reads.plan.steps
    topics = [topic for step in steps if isinstance(step, DeleteTopics) for topic in step.items]
    cuts = [cut for step in steps if isinstance(step, DeleteRecords) for cut in step.cuts]
    if not topics and not cuts:
        return None
    internal = [topic.name for topic in topics if topic.internal]
    return Facts(_use(reads, topics) if topics else (), internal, cuts, _unread(reads, cuts))


def _use(reads: Reads, topics: Sequence[Topic]) -> list[TopicUse]:
    use = {topic.name: TopicUse(topic.name) for topic in topics}
    partitions = [
        TopicPartition(topic.name, partition.partition)
        for topic in topics
        for partition in topic.partitions
    ]
    for facts in (
        _records(reads, partitions, use),
        _sizes(reads, topics, partitions),
        _readers(reads, use),
        _acls(reads, use),
        _producers(reads, partitions),
    ):
        for topic, values in facts.items():
            if topic in use:
                use[topic] = replace(use[topic], **values)
    return list(use.values())


_ByTopic = dict[str, dict[str, object]]  # the fields of each TopicUse


def _records(
    reads: Reads, partitions: Sequence[TopicPartition], topics: Mapping[str, object]
) -> _ByTopic:
    rows = reads.attempt_all(
        "the records of", "partition", partitions, lambda part: ranges(reads.cluster, part)
    )
    counts: dict[str, int] = {}
    for row in rows.values():
        counts[row.topic] = counts.get(row.topic, 0) + row.max_records
    missing = Counter(partition.topic for partition in partitions if partition not in rows)
    return {
        topic: {"max_records": counts.get(topic), "unread_partitions": missing[topic]}
        for topic in topics
    }


def _sizes(reads: Reads, topics: Sequence[Topic], partitions: Sequence[TopicPartition]) -> _ByTopic:
    brokers = {broker for topic in topics for row in topic.partitions for broker in row.replicas}
    known = reads.sizes("the size", partitions, brokers)
    if known is None:
        return {}
    sizes, complete = known
    totals: Counter[str] = Counter()
    for partition, of_replicas in sizes.items():
        totals[partition.topic] += sum(of_replicas)
    use: _ByTopic = {}
    for topic in topics:
        held_by = [broker for row in topic.partitions for broker in row.replicas]
        missing = sum(broker not in complete for broker in held_by)
        size = totals[topic.name] if missing < len(held_by) else None
        use[topic.name] = {"bytes": size, "unread_replicas": missing}
    return use


def _readers(reads: Reads, topics: Mapping[str, object]) -> _ByTopic:
    if reads.groups is None:
        return {}
    by_group = reads.attempt_all(
        "members and offsets of", "group", reads.groups,
        lambda part: groups.readers(reads.cluster, part, topics),
    )  # fmt: skip
    by_topic: dict[str, list[TopicReader]] = {topic: [] for topic in topics}
    for reader in (reader for of in by_group.values() for reader in of):
        by_topic[reader.topic].append(reader)
    return {
        topic: {"readers": tuple(sorted(of, key=lambda reader: (-reader.members, reader.group)))}
        for topic, of in by_topic.items()
    }


def _acls(reads: Reads, topics: Mapping[str, object]) -> _ByTopic:
    every = AclFilter(resource_type=AclResourceType.TOPIC, pattern_type=PatternType.LITERAL)
    few = [replace(every, name=topic) for topic in topics]

    def describe() -> list[AclBinding]:
        try:
            parts = acls.describe_each(reads.cluster, few if len(few) <= MANY else [every])
        except ShellError as error:
            if error.code == "SECURITY_DISABLED":
                return []
            raise
        return [binding for part in parts for binding in part]

    bindings = reads.attempt("ACLs", describe)
    if bindings is None:
        return {}
    by_topic: dict[str, list[str]] = {topic: [] for topic in topics}
    for binding in bindings:
        if binding.name in by_topic:
            by_topic[binding.name].append(str(binding))
    return {topic: {"acls": tuple(of)} for topic, of in by_topic.items()}


def _producers(reads: Reads, partitions: Sequence[TopicPartition]) -> _ByTopic:
    known = reads.attempt_all(
        "the producers of", "partition", partitions,
        lambda part: producers.describe(reads.cluster, part),
    )  # fmt: skip
    states: dict[str, list[ProducerState]] = {}
    for partition, of in known.items():
        states.setdefault(partition.topic, []).extend(of)
    return {
        topic: {
            "producers": len({state.producer_id for state in of}),
            "last_written": max((state.last_timestamp or 0 for state in of), default=0) or None,
        }
        for topic, of in states.items()
    }


def _unread(reads: Reads, cuts: Sequence[Cut]) -> dict[str, int]:
    """How many records each group has not read whose committed offsets are before the cuts."""
    if not cuts or reads.groups is None:
        return {}
    offsets = reads.attempt_all(
        "the offsets of", "group", reads.groups,
        lambda part: groups.committed_offsets(reads.cluster, part),
    )  # fmt: skip
    unread = {
        name: sum(
            max(0, cut.to - max(cut.first, committed[cut.partition]))
            for cut in cuts
            if cut.partition in committed
        )
        for name, committed in offsets.items()
    }
    return {name: count for name, count in unread.items() if count}


# -- what is said ----------------------------------------------------------------------------------


def say(facts: Facts) -> Advice:
    """Say what is lost, and for whom."""
    internal = [
        f"{name} is an internal topic: {state.deleted if state else _OTHER_STATE}"
        for name in facts.internal
        for state in (INTERNAL_STATE.get(name),)
    ]
    return Advice(
        warnings=(*internal, *_deleted(facts.cuts), *_behind(facts.unread)),
        figures=(TopicsUse(tuple(facts.topics)),) if facts.topics else (),
        stakes=", ".join((*_lost(facts.topics), *_lost_records(facts))),
    )


def _lost(topics: Sequence[TopicUse]) -> Iterator[str]:
    """`up to 1,200 records`, `36 MiB`, `3 groups`, `1 partition not checked`."""
    if not topics:
        return
    records = sum(topic.max_records or 0 for topic in topics)
    size = sum(topic.bytes or 0 for topic in topics)
    names = {reader.group for topic in topics for reader in topic.readers or ()}
    unread = sum(topic.unread_partitions for topic in topics)
    more = "+" if any(topic.unread_replicas for topic in topics) else ""
    if records or not unread:
        yield f"up to {counted(records, 'record')}" if records else "no records"
    if size:
        yield f"{approximate_bytes(size)}{more}"
    if names:
        yield counted(len(names), "group")
    if unread:
        yield f"{counted(unread, 'partition')} not checked"


def _up_to(cuts: Sequence[Cut]) -> str:
    return f"up to {counted(sum(cut.to - cut.first for cut in cuts), 'record')}"


def _deleted(cuts: Sequence[Cut]) -> Iterator[str]:
    if cuts:
        where = f"{len(cuts):,} partitions" if len(cuts) > 1 else f"partition {cuts[0].partition}"
        yield f"{_up_to(cuts)} in {where} will be deleted; deleted records cannot be restored"


def _behind(unread: Mapping[str, int]) -> Iterator[str]:
    """`2 groups have not read all of these records: ...`, the largest number first."""
    if not unread:
        return
    ordered = sorted(unread.items(), key=lambda item: (-item[1], item[0]))
    named = some([f"{name} (up to {counted(count, 'record')})" for name, count in ordered], _NAMED)
    have = "has" if len(ordered) == 1 else "have"
    lead = f"{counted(len(ordered), 'group')} {have} not read all of these records"
    yield f"{lead}: {named}"


def _lost_records(facts: Facts) -> Iterator[str]:
    if facts.cuts:
        yield _up_to(facts.cuts)
    if facts.unread:
        yield f"unread by {counted(len(facts.unread), 'group')}"
