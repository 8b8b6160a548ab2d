"""Transactions: as known to coordinators, and to partitions (KIP-98, 664)."""

from __future__ import annotations

from msgspec import Struct

from kafka_shell.admin.partitions.model import OfPartition, TopicPartition
from kafka_shell.base.plans import Resource
from kafka_shell.base.units import counted

# The transaction is open, or its markers are being written.
UNDER_WAY = frozenset({"Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"})


class TransactionListing(Struct, frozen=True):
    """A transactional ID as listed by its coordinator (ListTransactions, API key 66)."""

    transactional_id: str
    coordinator: int
    producer_id: int
    state: str


class Transaction(Struct, frozen=True):
    """One transactional ID with its current transaction (DescribeTransactions, 65).

    `started` is the start of the open transaction, else of the last one (milliseconds since the
    epoch), None if there was none. `duration_ms` is the age of the open one, else None.
    `partitions` are those without a marker so far.
    """

    transactional_id: str
    coordinator: int | None
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    started: int | None = None
    duration_ms: int | None = None
    partitions: tuple[TopicPartition, ...] = ()

    @property
    def under_way(self) -> bool:
        """Whether it is open, or its markers are being written."""
        return self.state in UNDER_WAY

    @property
    def resource(self) -> Resource:
        """The resource of its changes."""
        return Resource("transactional-id", self.transactional_id)


class ProducerState(Struct, OfPartition, frozen=True):
    """The state of a producer in a partition (DescribeProducers, API key 61).

    `last_timestamp` is that of its last batch, in milliseconds since the epoch. `coordinator_epoch`
    is that of the last marker, None before the first. `transaction_start` is the first offset of
    its open transaction, else None.
    """

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    last_sequence: int | None
    last_timestamp: int | None
    coordinator_epoch: int | None
    transaction_start: int | None


class HangingTransaction(Struct, OfPartition, frozen=True):
    """An open transaction in a partition that no coordinator will end: read_committed consumers
    stop at `start_offset`.

    `transactional_id` is the producer's, if a coordinator has it. `duration_ms` is the time since
    the producer's last write.
    """

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int | None
    start_offset: int
    last_timestamp: int | None
    duration_ms: int | None
    transactional_id: str | None = None

    @property
    def resource(self) -> Resource:
        """The resource of its changes."""
        return Resource("transaction", f"{self.topic_partition} at offset {self.start_offset}")


class Unread(Struct, frozen=True):
    """A partition, or a topic (`partition` is None), that could not be searched, and why."""

    topic: str
    partition: int | None
    error: str
    message: str
    hint: str = ""
    see: Resource | None = None


class HangingSearch(Struct, frozen=True):
    """The hanging transactions found, and the number of `searched` partitions.

    `doubts` say why some may not hang, but be known to a coordinator.
    """

    found: tuple[HangingTransaction, ...]
    searched: int
    doubts: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()

    @property
    def unread_count(self) -> str:
        """What could not be searched: `190 partitions and other topics`."""
        partitions = sum(unread.partition is not None for unread in self.unread)
        others = "other topics" if partitions < len(self.unread) else ""
        counts = counted(partitions, "partition") if partitions else ""
        return " and ".join(filter(None, (counts, others)))

    @property
    def ok(self) -> bool:
        """Whether nothing hangs, and all partitions were searched."""
        return not self.found and not self.unread
