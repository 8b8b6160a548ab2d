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

OURS = (CONFIGS_TOPIC, REGISTRATIONS_TOPIC)  # their configs are required, so controls do not apply

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
    """Yield a row per topic."""
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
    """Yield a row per partition."""
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
    """Yield a row per replica of a partition."""
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
    """Return key=value, quoted for a command."""
    return quote(f"{entry.name}={entry.value or ''}")


def read_topic_configs(cluster: Cluster, part: Slice) -> Rows:
    """Yield a row per config of a topic, with its inherited value (DescribeConfigs, API key 32)."""
    from kafka_shell.admin.configs import read as configs
    from kafka_shell.admin.configs.known import inherited as inherited_value
    from kafka_shell.admin.configs.model import ConfigResource, ResourceType

    resources = [ConfigResource(ResourceType.TOPIC, name) for name in part.names]
    found = configs.describe(cluster, resources, synonyms=True)
    for resource, entries in found.values.items():
        for entry in entries:
            inherited = inherited_value(entry) if entry.overridden else entry.value
            yield (
                resource.name, entry.name, None if entry.sensitive else entry.value,
                entry.source.name.lower(), entry.overridden, inherited,
                _pair(entry) if entry.overridden and not entry.sensitive else None,
            )  # fmt: skip
    for resource, why in found.failures.items():
        if why.name != "UNKNOWN_TOPIC_OR_PARTITION":
            yield Trouble(str(resource), why.name, why.message)


def read_partition_offsets(cluster: Cluster, part: Slice) -> Rows:
    """Yield a row per partition: its earliest and latest offset (ListOffsets, API key 2)."""
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
        "One row per topic.",
        (
            _TOPIC,
            Column("topic_id", "string", "The topic ID.", required=False),
            Column("internal", "boolean", "Whether it is an internal topic of Kafka or kafka.sh."),
            Column("partitions", "int", "Number of partitions."),
            Column("min_factor", "int", "The lowest replication factor of the partitions."),
            Column("max_factor", "int", "The highest replication factor of the partitions."),
        ),
        read_topics,
        by="topics",
    ),
    Table(
        "partitions",
        "One row per partition.",
        (
            _TOPIC,
            _PARTITION,
            Column(
                "leader",
                "int",
                "The broker ID of the leader; null if there is none.",
                required=False,
            ),
            Column("leader_epoch", "int", "The leader epoch."),
            Column(
                "preferred_leader",
                "int",
                "The preferred leader: the first replica.",
                required=False,
            ),
            Column("replicas", "ints", "The replicas in order."),
            Column("isr", "ints", "The in-sync replicas."),
            Column("offline", "ints", "The offline replicas."),
        ),
        read_partitions,
        by="topics",
    ),
    Table(
        "replicas",
        "One row per replica.",
        (
            _TOPIC,
            _PARTITION,
            Column("broker_id", "int", "The broker ID."),
            Column(
                "position", "int", "The position in the replica list; 0 is the preferred leader."
            ),
            Column("leader", "boolean", "Whether the replica is the leader."),
            Column("in_sync", "boolean", "Whether the replica is in sync."),
            Column("offline", "boolean", "Whether the replica is offline."),
        ),
        read_replicas,
        by="topics",
    ),
    Table(
        "topic_configs",
        "One row per config of a topic.",
        (
            _TOPIC,
            Column("key", "string", "The config name."),
            Column("value", "string", "The effective value; null if sensitive.", required=False),
            Column("source", "string", "The source of the value: dynamic_topic, static_broker ..."),
            Column("overridden", "boolean", "Whether the topic overrides the default."),
            Column("inherited", "string", "The value without the override.", required=False),
            Column(
                "pair", "string", "key=value, quoted for a command, if overridden.", required=False
            ),
        ),
        read_topic_configs,
        by="topics",
    ),
    Table(
        "partition_offsets",
        "One row per partition with a leader: its earliest and latest offset.",
        (
            _TOPIC,
            _PARTITION,
            Column("earliest", "long", "The first offset."),
            Column("latest", "long", "The high watermark: the offset of the next record."),
            Column("records", "long", "The difference; fewer records remain after compaction."),
            Column(
                "newest_record",
                "time",
                "The largest timestamp; null if empty or if the broker is older than 3.0.",
                required=False,
            ),
        ),
        read_partition_offsets,
        by="topics",
    ),
)
