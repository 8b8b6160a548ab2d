"""Transactions: as their coordinators know them, and as the partitions do (KIP-98, 664)."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.plan.model import Resource

# The transaction is open, or its markers are on their way.
UNDER_WAY = frozenset({"Ongoing", "PrepareCommit", "PrepareAbort", "PrepareEpochFence"})


@dataclass(frozen=True, slots=True)
class TransactionListing:
    """One transactional id, as its coordinator (a broker id) lists it (ListTransactions, 66)."""

    transactional_id: str
    coordinator: int
    producer_id: int
    state: str


@dataclass(frozen=True, slots=True)
class Transaction:
    """One transactional id with its current transaction (DescribeTransactions, 65).

    `started` is milliseconds since the epoch, of the last transaction where none is open, None
    where there was none. `duration_ms` is how long ago that was, None where none is open.
    `partitions` are those that the coordinator still has to end.
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
        """Whether it is open, or being ended."""
        return self.state in UNDER_WAY

    @property
    def resource(self) -> Resource:
        """What a change of it is about."""
        return Resource("transactional-id", self.transactional_id)


@dataclass(frozen=True, slots=True)
class ProducerState:
    """One producer that a partition remembers (DescribeProducers, 61).

    `last_timestamp` is that of its last batch, in milliseconds since the epoch. `coordinator_epoch`
    is that of the last marker, None before the first. `transaction_start` is the first offset of
    its open transaction, None where none is open.
    """

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    last_sequence: int | None
    last_timestamp: int | None
    coordinator_epoch: int | None
    transaction_start: int | None

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition that remembers it."""
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True, slots=True)
class HangingTransaction:
    """An open transaction of a partition that no coordinator will end: readers of committed records
    stop at `start_offset`.

    `transactional_id` is that of the producer where a coordinator still knows it. `duration_ms` is
    how long ago the producer wrote there last.
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
    def topic_partition(self) -> TopicPartition:
        """The partition where it hangs."""
        return TopicPartition(self.topic, self.partition)

    @property
    def resource(self) -> Resource:
        """What a change of it is about."""
        return Resource("transaction", f"{self.topic_partition} at offset {self.start_offset}")


@dataclass(frozen=True, slots=True)
class Unread:
    """A partition, or a whole topic (None), that could not be searched, and why (Kafka's error
    name, a sentence)."""

    topic: str
    partition: int | None
    error: str
    message: str
    hint: str = ""
    see: Resource | None = None


@dataclass(frozen=True, slots=True)
class HangingSearch:
    """What a search for hanging transactions found, in how many partitions.

    `doubts` say why some of it may be a transaction that its coordinator knows well.
    """

    found: tuple[HangingTransaction, ...]
    searched: int
    doubts: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing hangs, and every partition could be searched."""
        return not self.found and not self.unread
