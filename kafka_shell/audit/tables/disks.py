"""Log directories, replicas on disk, and partition reassignments."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from kafka_shell.audit.table import Names, ReadFailure, Rows, read_failure, readable, table
from kafka_shell.base.text import quote

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import LogDir
    from kafka_shell.wire.connection import Cluster


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
    word        string   The path, quoted for a command.
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
                replica.offset_lag, replica.future, quote(each.path),
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
    from kafka_shell.admin.partitions.progress import under_way

    for each in under_way(cluster):
        replicas, adding, removing = map(list, (each.replicas, each.adding, each.removing))
        yield each.topic, each.partition, replicas, adding, removing
