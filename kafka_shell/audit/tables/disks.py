"""What is on the brokers' disks, and what is being moved."""

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
    """The log dirs of these brokers (DescribeLogDirs, API key 35)."""
    from kafka_shell.admin.partitions import log_dirs

    found = log_dirs.describe(cluster, [int(name) for name in part.names])
    for dirs in found:
        yield from dirs
    for broker, why in found.failures.items():
        yield Trouble(f"broker {broker}", why.name, why.message)


def read_log_dirs(cluster: Cluster, part: Slice) -> Rows:
    """A row a log dir of a broker."""
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
    """A row a replica on a disk."""
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
    """A row a partition that is being moved (ListPartitionReassignments, API key 46)."""
    from kafka_shell.admin.partitions.progress import under_way

    for each in under_way(cluster):
        yield (
            each.topic, each.partition, list(each.replicas), list(each.adding),
            list(each.removing),
        )  # fmt: skip


_BROKER = Column("broker_id", "int", "The broker.")
_PATH = Column("path", "string", "The dir.")

TABLES = (
    Table(
        "log_dirs",
        "One row a log dir of a broker.",
        (
            _BROKER,
            _PATH,
            Column("error", "string", "Why it is offline, by Kafka's name of the error.",
                   required=False),
            Column("cordoned", "boolean", "Whether it takes no new replicas (Kafka 4.3)."),
            Column("replicas", "int", "How many replicas are in it."),
            Column("incoming", "int", "How many are being copied to it from another dir."),
            Column("size", "long", "The bytes of its replicas."),
            Column("total", "long", "The bytes of its volume (Kafka 3.3).", required=False),
            Column("usable", "long", "The bytes that are free on it.", required=False),
        ),
        read_log_dirs,
        by="brokers",
    ),
    Table(
        "disk_replicas",
        "One row a replica on a disk.",
        (
            _BROKER,
            _PATH,
            Column("topic", "string", "The topic."),
            Column("partition", "int", "The partition."),
            Column("size", "long", "Its bytes."),
            Column("offset_lag", "long", "How many offsets it is behind."),
            Column("future", "boolean", "Whether it will replace the one in another dir."),
            Column("word", "string", "The path as one word of a line."),
        ),
        read_disk_replicas,
        by="brokers",
    ),
    Table(
        "reassignments",
        "One row a partition that is being moved.",
        (
            Column("topic", "string", "The topic."),
            Column("partition", "int", "The partition."),
            Column("replicas", "ints", "All replicas that it has now."),
            Column("adding", "ints", "Those that it gets."),
            Column("removing", "ints", "Those that it loses."),
        ),
        read_reassignments,
    ),
)  # fmt: skip
