"""`admin.transactions`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_shell.admin.calls import ClusterPlan, Family, Plans, Reads
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.transactions import change, read
from kafka_shell.admin.transactions.model import HangingSearch, HangingTransaction, Transaction
from kafka_shell.admin.transactions.producers import describe as describe_producers
from kafka_shell.base.results import Results


class TransactionsApi(Family):
    """Transactions and the producers behind them (KIP-664, 994; Kafka 3.0).

    Example:

        listed = admin.transactions.list()
        assert listed.ok, listed.failures
        search = admin.transactions.find_hanging()
        assert search.ok, search.found
    """

    list = Reads(read.list_transactions)
    producers = Reads(describe_producers)
    plan_fence = Plans(change.plan_fence)

    def describe(self, transactional_ids: Iterable[str]) -> Results[str, Transaction]:
        """Each transaction by its transactional ID (API key 65)."""
        return self._calls.call(read.describe, transactional_ids)

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
