"""`admin.transactions`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_shell.admin.calls import ClusterPlan, Family
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.plan.results import Results

from . import change, producers, read
from .model import (
    HangingSearch,
    HangingTransaction,
    ProducerState,
    Transaction,
    TransactionListing,
)


class TransactionsApi(Family):
    """Transactions and the producers behind them (KIP-664, 994; Kafka 3.0).

    Example:

        listed = admin.transactions.list()
        assert listed.ok, listed.failures
        search = admin.transactions.find_hanging()
        assert search.ok, search.found
    """

    def list(
        self,
        *,
        states: Sequence[str] = (),
        producer_ids: Sequence[int] = (),
        longer_than_ms: int | None = None,
    ) -> Results[int, tuple[TransactionListing, ...]]:
        """The transactions that each broker coordinates, by the broker's id (API key 66)."""
        return self._calls.call(
            read.list_transactions,
            states=states,
            producer_ids=producer_ids,
            longer_than_ms=longer_than_ms,
        )

    def describe(self, transactional_ids: Iterable[str]) -> Results[str, Transaction]:
        """Each transaction by its transactional ID (API key 65)."""
        return self._calls.call(read.describe, transactional_ids)

    def producers(
        self, partitions: Iterable[TopicPartition], *, broker: int | None = None
    ) -> Results[TopicPartition, tuple[ProducerState, ...]]:
        """The producers that each partition's leader (or `broker`) keeps the state of (API key
        61)."""
        return self._calls.call(producers.describe, partitions, broker=broker)

    def find_hanging(
        self,
        *,
        partitions: Sequence[TopicPartition] | None = None,
        topics: Sequence[str] | None = None,
        broker: int | None = None,
    ) -> HangingSearch:
        """The hanging transactions of these partitions, or of all."""
        return self._calls.call(
            read.find_hanging, partitions=partitions, topics=topics, broker=broker
        )

    def plan_abort(self, hanging: Sequence[HangingTransaction]) -> ClusterPlan:
        """Abort hanging transactions (WriteTxnMarkers, API key 27)."""
        return self._calls.plan(change.plan_abort, hanging)

    def plan_fence(self, transactional_ids: Sequence[str]) -> ClusterPlan:
        """Fence producers: their open transactions are aborted (InitProducerId, API key 22)."""
        return self._calls.plan(change.plan_fence, transactional_ids)
