"""Topics, their partitions, replicas and configs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafka_shell.admin.client_configs.format import CONFIGS_TOPIC, REGISTRATIONS_TOPIC
from kafka_shell.audit.table import Column, Slice, Table, Trouble
from kafka_shell.quoting import quote

if TYPE_CHECKING:
    from kafka_shell.admin.configs.model import ConfigEntry
    from kafka_shell.admin.topics.model import Topic
    from kafka_shell.admin.wire.connection import Cluster

Rows = Iterator[tuple[Any, ...] | Trouble]

OURS = (CONFIGS_TOPIC, REGISTRATIONS_TOPIC)  # as it has to be, whatever a control thinks of it

_TOPIC = Column("topic", "string", "The topic.")
_PARTITION = Column("partition", "int", "The partition.")


def _described(cluster: Cluster, part: Slice) -> Iterator[Topic | Trouble]:
    from kafka_shell.admin.topics import read as topics

    found = topics.describe(cluster, part.names)
    yield from found
    for name, why in found.failures.items():
        if why.name != "UNKNOWN_TOPIC_OR_PARTITION":  # deleted since it was listed
            yield Trouble(f"topic {name}", why.name, why.message)


def read_topics(cluster: Cluster, part: Slice) -> Rows:
    """A row a topic."""
    for topic in _described(cluster, part):
        if isinstance(topic, Trouble):
            yield topic
        else:
            factors = {len(partition.replicas) for partition in topic.partitions}
            yield (
                topic.name, topic.id or None, topic.internal or topic.name in OURS,
                len(topic.partitions), min(factors, default=0), max(factors, default=0),
            )  # fmt: skip


def read_partitions(cluster: Cluster, part: Slice) -> Rows:
    """A row a partition."""
    for topic in _described(cluster, part):
        if isinstance(topic, Trouble):
            yield topic
            continue
        for p in topic.partitions:
            preferred = p.replicas[0] if p.replicas else None
            yield (
                p.topic, p.partition, p.leader, p.leader_epoch, preferred,
                list(p.replicas), list(p.isr), list(p.offline),
            )  # fmt: skip


def read_replicas(cluster: Cluster, part: Slice) -> Rows:
    """A row a replica of a partition."""
    for topic in _described(cluster, part):
        if isinstance(topic, Trouble):
            yield topic
            continue
        for p in topic.partitions:
            for position, broker in enumerate(p.replicas):
                yield (
                    p.topic, p.partition, broker, position, broker == p.leader,
                    broker in p.isr, broker in p.offline,
                )  # fmt: skip


def _pair(entry: ConfigEntry) -> str:
    """What sets it to what it is, as one word of a line."""
    return quote(f"{entry.name}={entry.value or ''}")


def read_topic_configs(cluster: Cluster, part: Slice) -> Rows:
    """A row a config of a topic: what holds, and what it inherits (DescribeConfigs, API key 32)."""
    from kafka_shell.admin.configs import read as configs
    from kafka_shell.admin.configs.model import ConfigResource, ResourceType

    resources = [ConfigResource(ResourceType.TOPIC, name) for name in part.names]
    found = configs.describe(cluster, resources, synonyms=True)
    for resource, entries in found.values.items():
        for entry in entries:
            inherited = configs.inherited(entry) if entry.overridden else entry.value
            yield (
                resource.name, entry.name, None if entry.sensitive else entry.value,
                entry.source.name.lower(), entry.overridden, inherited,
                _pair(entry) if entry.overridden and not entry.sensitive else None,
            )  # fmt: skip
    for resource, why in found.failures.items():
        if why.name != "UNKNOWN_TOPIC_OR_PARTITION":
            yield Trouble(str(resource), why.name, why.message)


def read_partition_offsets(cluster: Cluster, part: Slice) -> Rows:
    """A row a partition: what its log spans (ListOffsets, API key 2)."""
    from kafka_shell.admin.partitions.model import EARLIEST, LATEST, MAX_TIMESTAMP, TopicPartition
    from kafka_shell.admin.records.offsets import list_offsets

    wanted = []
    for topic in _described(cluster, part):
        if isinstance(topic, Trouble):
            yield topic
        else:
            wanted += [TopicPartition(p.topic, p.partition) for p in topic.partitions]
    found = [
        list_offsets(cluster, dict.fromkeys(wanted, kind))
        for kind in (EARLIEST, LATEST, MAX_TIMESTAMP)
    ]
    starts, ends, newest = found
    for each in wanted:
        why = starts.failures.get(each) or ends.failures.get(each)
        if why is not None:
            yield Trouble(f"partition {each}", why.name, why.message)
            continue
        start, end = starts[each].offset or 0, ends[each].offset or 0
        last = newest.values.get(each)
        yield (
            each.topic, each.partition, start, end, end - start,
            last.timestamp if last else None,
        )  # fmt: skip


TABLES = (
    Table(
        "topics",
        "One row a topic.",
        (
            _TOPIC,
            Column("topic_id", "string", "Its id.", required=False),
            Column("internal", "boolean", "Whether it is Kafka's own, or holds client configs."),
            Column("partitions", "int", "How many partitions."),
            Column("min_factor", "int", "The smallest replication factor of its partitions."),
            Column("max_factor", "int", "The largest."),
        ),
        read_topics,
        by="topics",
    ),
    Table(
        "partitions",
        "One row a partition.",
        (
            _TOPIC,
            _PARTITION,
            Column("leader", "int", "The leader; null while there is none.", required=False),
            Column("leader_epoch", "int", "How often the leader has changed."),
            Column("preferred_leader", "int", "The first replica.", required=False),
            Column("replicas", "ints", "Brokers, in their order."),
            Column("isr", "ints", "In-sync replicas."),
            Column("offline", "ints", "Replicas that are offline."),
        ),
        read_partitions,
        by="topics",
    ),
    Table(
        "replicas",
        "One row a replica.",
        (
            _TOPIC,
            _PARTITION,
            Column("broker_id", "int", "Where it is."),
            Column("position", "int", "Its place among the replicas; 0 is preferred."),
            Column("leader", "boolean", "Whether it leads."),
            Column("in_sync", "boolean", "Whether it is in sync."),
            Column("offline", "boolean", "Whether it is offline."),
        ),
        read_replicas,
        by="topics",
    ),
    Table(
        "topic_configs",
        "One row a config of a topic.",
        (
            _TOPIC,
            Column("key", "string", "The config."),
            Column("value", "string", "What holds; null for sensitive ones.", required=False),
            Column("source", "string", "Whose it is: dynamic_topic, static_broker, default ..."),
            Column("overridden", "boolean", "Whether the topic sets it itself."),
            Column("inherited", "string", "What would hold without.", required=False),
            Column("pair", "string", "key=value as one word of a line, where the topic sets it.",
                   required=False),
        ),
        read_topic_configs,
        by="topics",
    ),
    Table(
        "partition_offsets",
        "One row a partition: what its log spans. A partition without a leader has none.",
        (
            _TOPIC,
            _PARTITION,
            Column("earliest", "long", "Where the log starts."),
            Column("latest", "long", "The high watermark: where the next record goes."),
            Column("records", "long", "The difference; compaction leaves fewer."),
            Column("newest_record", "time", "The largest timestamp; null where empty or where "
                   "the broker cannot tell (before Kafka 3.0).", required=False),
        ),
        read_partition_offsets,
        by="topics",
    ),
)  # fmt: skip
