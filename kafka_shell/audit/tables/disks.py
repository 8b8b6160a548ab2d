"""Log directories, replicas on disk, and partition reassignments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafka_shell.audit.table import Column, Slice, Table, Trouble
from kafka_shell.quoting import quote

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import LogDir
    from kafka_shell.admin.wire.connection import Cluster

Rows = Iterator[tuple[Any, ...] | Trouble]


def _dirs(cluster: Cluster, part: Slice) -> Iterator[LogDir | Trouble]:
    """Yield the log directories of these brokers (DescribeLogDirs, API key 35)."""
    from kafka_shell.admin.partitions import log_dirs

    found = log_dirs.describe(cluster, [int(name) for name in part.names])
    for dirs in found:
        yield from dirs
    for broker, why in found.failures.items():
        yield Trouble(f"broker {broker}", why.name, why.message)


def read_log_dirs(cluster: Cluster, part: Slice) -> Rows:
    """Yield a row per log directory of a broker."""
    for each in _dirs(cluster, part):
        if isinstance(each, Trouble):
            yield each
            continue
        use = each.use
        yield (
            each.broker, each.path, each.error.name if each.error else None, each.cordoned,
            use.replicas, use.incoming, each.size, each.total, each.usable,
        )  # fmt: skip


def read_disk_replicas(cluster: Cluster, part: Slice) -> Rows:
    """Yield a row per replica on a disk."""
    for each in _dirs(cluster, part):
        if isinstance(each, Trouble):
            yield each
            continue
        for replica in each.replicas:
            yield (
                each.broker, each.path, replica.topic, replica.partition, replica.size,
                replica.offset_lag, replica.future, quote(each.path),
            )  # fmt: skip


def read_reassignments(cluster: Cluster, part: Slice) -> Rows:
    """Yield a row per partition reassignment (ListPartitionReassignments, API key 46)."""
    from kafka_shell.admin.partitions.progress import under_way

    for each in under_way(cluster):
        yield (
            each.topic, each.partition, list(each.replicas), list(each.adding),
            list(each.removing),
        )  # fmt: skip


_BROKER = Column("broker_id", "int", "The broker ID.")
_PATH = Column("path", "string", "The log directory.")

TABLES = (
    Table(
        "log_dirs",
        "One row per log directory of a broker.",
        (
            _BROKER,
            _PATH,
            Column(
                "error",
                "string",
                "The Kafka error if the log directory is offline.",
                required=False,
            ),
            Column("cordoned", "boolean", "Whether it accepts no new replicas (Kafka 4.3)."),
            Column("replicas", "int", "Number of replicas."),
            Column("incoming", "int", "Number of replicas being moved to it."),
            Column("size", "long", "Size of the replicas in bytes."),
            Column("total", "long", "Size of the volume in bytes (Kafka 3.3).", required=False),
            Column("usable", "long", "Free bytes of the volume.", required=False),
        ),
        read_log_dirs,
        by="brokers",
    ),
    Table(
        "disk_replicas",
        "One row per replica on a disk.",
        (
            _BROKER,
            _PATH,
            Column("topic", "string", "The topic."),
            Column("partition", "int", "The partition."),
            Column("size", "long", "Size in bytes."),
            Column("offset_lag", "long", "Number of offsets behind the end of the log."),
            Column(
                "future", "boolean", "Whether it will replace the replica in another log directory."
            ),
            Column("word", "string", "The path, quoted for a command."),
        ),
        read_disk_replicas,
        by="brokers",
    ),
    Table(
        "reassignments",
        "One row per partition reassignment.",
        (
            Column("topic", "string", "The topic."),
            Column("partition", "int", "The partition."),
            Column("replicas", "ints", "The current replicas."),
            Column("adding", "ints", "The replicas being added."),
            Column("removing", "ints", "The replicas being removed."),
        ),
        read_reassignments,
    ),
)
