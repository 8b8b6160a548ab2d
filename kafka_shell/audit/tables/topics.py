"""Topics, their partitions, replicas and configs, and log directories."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING

from kafka_shell.audit.table import (
    Names,
    ReadFailure,
    Rows,
    config_entries,
    read_failure,
    readable,
    table,
)
from kafka_shell.base.structs import replace

if TYPE_CHECKING:
    from kafka_shell.admin.configs.model import ConfigSynonym
    from kafka_shell.admin.partitions.model import LogDir
    from kafka_shell.wire.cluster import Cluster
    from kafka_shell.wire.model import Topic

_GONE = "UNKNOWN_TOPIC_OR_PARTITION"


def _described(cluster: Cluster, names: Names) -> Generator[ReadFailure, None, Iterable[Topic]]:
    """Yield what could not be read, and return the topics (Metadata, API key 3)."""
    from kafka_shell.admin.topics import read as topics

    found = yield from readable(topics.describe(cluster, names), "topic", besides=_GONE)
    return found.values()


@table(
    "topics",
    "One row per topic.",
    """
    topic       string   The topic.
    topic_id    string?  The topic ID.
    internal    boolean  Whether it is an internal topic of Kafka or kafka.sh.
    partitions  int      Number of partitions.
    min_factor  int      The lowest replication factor of the partitions.
    max_factor  int      The highest replication factor of the partitions.
    """,
    by="topics",
)
def read_topics(cluster: Cluster, names: Names) -> Rows:
    for topic in (yield from _described(cluster, names)):
        partitions, factors = len(topic.partitions), topic.replication_factors
        yield topic.name, topic.id or None, topic.internal, partitions, *factors


@table(
    "partitions",
    "One row per partition.",
    """
    topic             string  The topic.
    partition         int     The partition.
    leader            int?    The broker ID of the leader; null if there is none.
    leader_epoch      int     The leader epoch.
    preferred_leader  int?    The preferred leader: the first replica.
    replicas          ints    The replicas in order.
    isr               ints    The in-sync replicas.
    offline           ints    The offline replicas.
    """,
    by="topics",
)
def read_partitions(cluster: Cluster, names: Names) -> Rows:
    for topic in (yield from _described(cluster, names)):
        for p in topic.partitions:
            preferred = p.replicas[0] if p.replicas else None
            yield (
                p.topic, p.partition, p.leader, p.leader_epoch, preferred,
                list(p.replicas), list(p.isr), list(p.offline),
            )  # fmt: skip


@table(
    "replicas",
    "One row per replica.",
    """
    topic      string   The topic.
    partition  int      The partition.
    broker_id  int      The broker ID.
    position   int      The position in the replica list; 0 is the preferred leader.
    leader     boolean  Whether the replica is the leader.
    in_sync    boolean  Whether the replica is in sync.
    offline    boolean  Whether the replica is offline.
    """,
    by="topics",
)
def read_replicas(cluster: Cluster, names: Names) -> Rows:
    for topic in (yield from _described(cluster, names)):
        for p in topic.partitions:
            for position, broker in enumerate(p.replicas):
                yield (
                    p.topic, p.partition, broker, position, broker == p.leader,
                    broker in p.isr, broker in p.offline,
                )  # fmt: skip


@table(
    "topic_configs",
    "One row per config of a topic.",
    """
    topic       string   The topic.
    key         string   The config name.
    value       string?  The effective value; null if sensitive.
    source      string   The source of the value: dynamic_topic, static_broker ...
    overridden  boolean  Whether the topic overrides the default.
    inherited   string?  The value without the override.
    """,
    by="topics",
)
def read_topic_configs(cluster: Cluster, names: Names) -> Rows:
    from kafka_shell.admin.configs.read import broker_retention
    from kafka_shell.admin.configs.read import inherited as inherited_value

    found = yield from config_entries(cluster, "TOPIC", names, synonyms=True, besides=_GONE)
    retention: tuple[ConfigSynonym, ...] | None = None
    for topic, entries in found:
        for entry in entries:
            inherited = inherited_value(entry) if entry.overridden else entry.value
            if inherited is None and entry.name == "retention.ms":
                # Brokers leave it out of the synonyms if it is set in hours or minutes.
                retention = broker_retention(cluster) if retention is None else retention
                inherited = inherited_value(replace(entry, synonyms=retention))
            yield (
                topic, entry.name, None if entry.sensitive else entry.value,
                entry.source.name.lower(), entry.overridden, inherited,
            )  # fmt: skip


@table(
    "partition_offsets",
    "One row per partition with a leader: its earliest and latest offset.",
    """
    topic          string  The topic.
    partition      int     The partition.
    earliest       long    The first offset.
    latest         long    The high watermark: the offset of the next record.
    records        long    The difference; fewer records remain after compaction.
    newest_record  time?   The largest timestamp; null if empty or if the broker is older than 3.0.
    """,
    by="topics",
)
def read_partition_offsets(cluster: Cluster, names: Names) -> Rows:
    """ListOffsets, API key 2."""
    from kafka_shell.admin.partitions.model import MAX_TIMESTAMP, TopicPartition
    from kafka_shell.admin.records.offsets import list_offsets, ranges

    described = yield from _described(cluster, names)
    wanted = [TopicPartition(p.topic, p.partition) for topic in described for p in topic.partitions]
    spans = yield from readable(ranges(cluster, wanted), "partition")
    last_of = list_offsets(cluster, dict.fromkeys(spans, MAX_TIMESTAMP))
    newest = yield from readable(last_of, "partition", besides="unsupported-version")
    for each, span in spans.items():
        last = newest[each].timestamp if each in newest else None
        yield each.topic, each.partition, span.earliest, span.latest, span.max_records, last


# -- Log directories, replicas on disk, and partition reassignments --------------------------------


def _dirs(cluster: Cluster, names: Names) -> Generator[ReadFailure, None, list[LogDir]]:
    """Yield what could not be read, and return the log directories of these brokers
    (DescribeLogDirs, API key 35)."""
    from kafka_shell.admin.partitions import log_dirs

    found = yield from readable(log_dirs.describe(cluster, list(map(int, names))), "broker")
    return [each for dirs in found.values() for each in dirs]


@table(
    "log_dirs",
    "One row per log directory of a broker.",
    """
    broker_id  int      The broker ID.
    path       string   The log directory.
    error      string?  The Kafka error if the log directory is offline.
    cordoned   boolean  Whether it accepts no new replicas (Kafka 4.3).
    replicas   int?     Number of replicas; null if the log directory is offline.
    incoming   int?     Number of replicas being moved to it.
    size       long?    Size of the replicas in bytes.
    total      long?    Size of the volume in bytes (Kafka 3.3).
    usable     long?    Free bytes of the volume.
    """,
    by="brokers",
)
def read_log_dirs(cluster: Cluster, names: Names) -> Rows:
    for each in (yield from _dirs(cluster, names)):
        use = each.use
        yield (
            each.broker, each.path, each.error.name if each.error else None, each.cordoned,
            use.replicas, use.incoming, use.size, each.total, each.usable,
        )  # fmt: skip


@table(
    "disk_replicas",
    "One row per replica on a disk.",
    """
    broker_id   int      The broker ID.
    path        string   The log directory.
    topic       string   The topic.
    partition   int      The partition.
    size        long     Size in bytes.
    offset_lag  long     Number of offsets behind the end of the log.
    future      boolean  Whether it will replace the replica in another log directory.
    """,
    by="brokers",
)
def read_disk_replicas(cluster: Cluster, names: Names) -> Rows:
    for each in (yield from _dirs(cluster, names)):
        if each.error:
            yield read_failure(f"log directory {each.path} of broker {each.broker}", each.error)
        for replica in each.replicas:
            yield (
                each.broker, each.path, replica.topic, replica.partition, replica.size,
                replica.offset_lag, replica.future,
            )  # fmt: skip


@table(
    "reassignments",
    "One row per partition reassignment.",
    """
    topic      string  The topic.
    partition  int     The partition.
    replicas   ints    The current replicas.
    adding     ints    The replicas being added.
    removing   ints    The replicas being removed.
    """,
)
def read_reassignments(cluster: Cluster, names: Names) -> Rows:
    """ListPartitionReassignments, API key 46."""
    from kafka_shell.admin.partitions.in_progress import under_way

    for each in under_way(cluster):
        replicas, adding, removing = map(list, (each.replicas, each.adding, each.removing))
        yield each.topic, each.partition, replicas, adding, removing
