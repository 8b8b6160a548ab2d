"""Transactions of the coordinators, and open transactions of partitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafka_shell.audit.table import Column, Slice, Table, Trouble
from kafka_shell.quoting import quote

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster

Rows = Iterator[tuple[Any, ...] | Trouble]


def read_transactions(cluster: Cluster, part: Slice) -> Rows:
    """Yield a row per transactional ID (ListTransactions and DescribeTransactions)."""
    from kafka_shell.admin.transactions import read as transactions

    listed = transactions.list_transactions(cluster)
    for broker, why in listed.failures.items():
        yield Trouble(f"broker {broker}", why.name, why.message)
    ids = [each.transactional_id for rows in listed for each in rows]
    found = transactions.describe(cluster, ids)
    for each in found:
        yield (
            each.transactional_id, each.coordinator, each.state, each.producer_id,
            each.producer_epoch, each.timeout_ms, each.started, each.duration_ms,
            sorted(map(str, each.partitions)), quote(each.transactional_id),
        )  # fmt: skip
    for name, gone in found.failures.items():
        if gone.name != "TRANSACTIONAL_ID_NOT_FOUND":
            yield Trouble(f"transactional ID {name}", gone.name, gone.message)


def read_open_transactions(cluster: Cluster, part: Slice) -> Rows:
    """Yield a row per open transaction of a partition (DescribeProducers, API key 61)."""
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.admin.transactions import producers
    from kafka_shell.admin.wire import metadata_scan as scan

    found = scan.scan(cluster, list(part.names))
    wanted = [
        TopicPartition(each.topic, each.partition)
        for name in found.names
        for each in found.topic(name).partitions
    ]
    states = producers.describe(cluster, wanted)
    for rows in states:
        for each in rows:
            if each.transaction_start is not None:
                yield (
                    each.topic, each.partition, each.producer_id, each.producer_epoch,
                    each.transaction_start, each.last_timestamp,
                )  # fmt: skip
    for where, why in states.failures.items():
        yield Trouble(f"partition {where}", why.name, why.message)


TABLES = (
    Table(
        "transactions",
        "One row per transactional ID, as its coordinator reports it.",
        (
            Column("transactional_id", "string", "The transactional ID."),
            Column("coordinator", "int", "The broker ID of the coordinator.", required=False),
            Column("state", "string", "Ongoing, CompleteCommit ..."),
            Column("producer_id", "long", "The producer ID."),
            Column("producer_epoch", "int", "The producer epoch."),
            Column("timeout_ms", "long", "The transaction timeout."),
            Column("started", "time", "When the most recent transaction started.", required=False),
            Column(
                "duration_ms",
                "long",
                "The age of the open transaction; null if none is open.",
                required=False,
            ),
            Column("partitions", "strings", "Partitions of the open transaction: orders:0."),
            Column("word", "string", "The transactional ID, quoted for a command."),
        ),
        read_transactions,
    ),
    Table(
        "open_transactions",
        "One row per open transaction of a partition, as its leader reports it.",
        (
            Column("topic", "string", "The topic."),
            Column("partition", "int", "The partition."),
            Column("producer_id", "long", "The producer ID."),
            Column("producer_epoch", "int", "The producer epoch."),
            Column("start_offset", "long", "The first offset; read_committed consumers stop here."),
            Column(
                "last_written",
                "time",
                "When the producer last wrote to the partition.",
                required=False,
            ),
        ),
        read_open_transactions,
        by="topics",
    ),
)
