"""Transactions of the coordinators, and open transactions of partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.audit.table import Names, Rows, read_failure, readable, table

if TYPE_CHECKING:
    from kafka_shell.wire.cluster import Cluster


@table(
    "transactions",
    "One row per transactional ID, as its coordinator reports it.",
    """
    transactional_id  string   The transactional ID.
    coordinator       int?     The broker ID of the coordinator.
    state             string   Ongoing, CompleteCommit ...
    producer_id       long     The producer ID.
    producer_epoch    int      The producer epoch.
    timeout_ms        long     The transaction timeout.
    started           time?    When the most recent transaction started.
    duration_ms       long?    The age of the open transaction; null if none is open.
    partitions        strings  Partitions of the open transaction: orders:0.
    """,
)
def read_transactions(cluster: Cluster, names: Names) -> Rows:
    """ListTransactions and DescribeTransactions (API keys 66, 65)."""
    from kafka_shell.admin.transactions import read as transactions

    listed = yield from readable(transactions.list_transactions(cluster), "broker")
    if missing := transactions.without_coordinator(cluster):
        yield read_failure("", missing)
    ids = [each.transactional_id for rows in listed.values() for each in rows]
    described = transactions.describe(cluster, ids)
    found = yield from readable(described, "transactional ID", besides="TRANSACTIONAL_ID_NOT_FOUND")
    for each in found.values():
        yield (
            each.transactional_id, each.coordinator, each.state, each.producer_id,
            each.producer_epoch, each.timeout_ms, each.started, each.duration_ms,
            sorted(map(str, each.partitions)),
        )  # fmt: skip


@table(
    "open_transactions",
    "One row per open transaction of a partition, as its leader reports it.",
    """
    topic           string  The topic.
    partition       int     The partition.
    producer_id     long    The producer ID.
    producer_epoch  int     The producer epoch.
    start_offset    long    The first offset; read_committed consumers stop here.
    last_written    time?   The timestamp of the producer's last record in the partition.
    """,
    by="topics",
)
def read_open_transactions(cluster: Cluster, names: Names) -> Rows:
    """DescribeProducers, API key 61."""
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.admin.transactions import producers
    from kafka_shell.wire import metadata_scan as scan

    found = scan.scan(cluster, list(names))
    wanted = [
        TopicPartition(each.topic, each.partition)
        for name in found.names
        for each in found.topic(name).partitions
    ]
    states = yield from readable(producers.describe(cluster, wanted), "partition")
    for rows in states.values():
        for each in rows:
            if each.transaction_start is not None:
                yield (
                    each.topic, each.partition, each.producer_id, each.producer_epoch,
                    each.transaction_start, each.last_timestamp,
                )  # fmt: skip
