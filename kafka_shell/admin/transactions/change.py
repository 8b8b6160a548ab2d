"""Plans that abort hanging transactions (API key 27) and fence producers (API key 22)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from kafka_shell.admin.partitions.model import LATEST, PartitionOffset, TopicPartition
from kafka_shell.admin.records.offsets import list_offsets
from kafka_shell.admin.steps import (
    BaseStep,
    changed,
    keeping_results,
    read_again,
    refused_of,
    row_failure,
)
from kafka_shell.admin.topics.partitions import leaders
from kafka_shell.admin.transactions import producers
from kafka_shell.admin.transactions import read as transactions
from kafka_shell.admin.transactions.model import HangingTransaction, Transaction
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Advice, Change, Effect, Outcomes, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.units import counted
from kafka_shell.base.waits import FAILOVER_S
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster, wait_until_visible
from kafka_shell.wire.error_codes import (
    CONCURRENT_TRANSACTIONS,
    LEADER_NOT_AVAILABLE,
    NOT_LEADER_OR_FOLLOWER,
    TRANSACTIONAL_ID_NOT_FOUND,
)
from kafka_shell.wire.failures import (
    COORDINATION,
    COORDINATOR_MOVED,
    failure,
    failure_of_rest,
    requiring,
)
from kafka_shell.wire.requests import Call, Coordinator, CoordinatorKind, Node

_NOT_LEADER = frozenset({LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER})
_FENCE_HIGHEST = 5  # v6 is for two-phase commit (KIP-939)
_TIMEOUT_MS = 60_000  # of the next transactions, if the coordinator returns none
_NOT_YET = COORDINATION | {CONCURRENT_TRANSACTIONS}
_ABORTING = frozenset({"PrepareAbort", "PrepareEpochFence"})

Clock = Callable[[], float]


# -- abort -----------------------------------------------------------------------------------------


class AbortTransactions(Struct, BaseStep, frozen=True):
    """WriteTxnMarkers requests (API key 27), one to each leader: ABORT for these transactions."""

    transactions: tuple[HangingTransaction, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(
                transaction.resource,
                "abort",
                note=f"producer {transaction.producer_id}, epoch {transaction.producer_epoch}",
                reversible=False,
                lost="records of the transaction are never visible to read_committed consumers",
            )
            for transaction in self.transactions
        )

    def reread(self, cluster: Cluster) -> AbortTransactions:
        states = producers.describe(cluster, [each.topic_partition for each in self.transactions])
        ongoing = producers.open_transactions(
            read_again(states, "the producers of partition").values()
        )
        for transaction in self.transactions:
            if _identity(transaction) not in ongoing:
                what = f"the transaction of {transaction.resource.name} ended"
                raise changed(what, Resource("hanging-transaction"))
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        leading = leaders(cluster, [each.topic_partition for each in self.transactions])
        failures: dict[HangingTransaction, Failure | None] = {}
        by_leader: dict[int, list[HangingTransaction]] = {}
        for each in self.transactions:
            if each.topic_partition in leading.values:
                by_leader.setdefault(leading[each.topic_partition], []).append(each)
            else:
                failures[each] = leading.failures[each.topic_partition]
        calls = [Call(_markers(each), Node(leader)) for leader, each in by_leader.items()]
        for group, response in zip(by_leader.values(), cluster.send_all(calls), strict=True):
            failed = isinstance(response, Failure)
            codes = {} if failed else _codes(response)
            for transaction in group:
                code = codes.get((transaction.producer_id, transaction.topic_partition))
                failures[transaction] = _abort_failure(transaction, response if failed else code)
        results = Results.of(self.changes, (failures[each] for each in self.transactions))
        done = [each for each in self.transactions if failures[each] is None]
        if done:
            requested = [each.topic_partition for each in done]
            wanted = set(map(_identity, done))
            with keeping_results(results):
                wait_until_visible(lambda: not wanted & _open(cluster, requested))
        return results


def _identity(transaction: HangingTransaction) -> tuple[TopicPartition, int, int]:
    return transaction.topic_partition, transaction.producer_id, transaction.start_offset


def _open(
    cluster: Cluster, partitions: Sequence[TopicPartition]
) -> set[tuple[TopicPartition, int, int]]:
    return producers.open_transactions(producers.describe(cluster, partitions))


def _markers(group: Iterable[HangingTransaction]) -> Any:
    marker = messages.WriteTxnMarkersRequest.WritableTxnMarker
    return messages.WriteTxnMarkersRequest(
        markers=[
            marker(
                producer_id=transaction.producer_id,
                producer_epoch=transaction.producer_epoch,
                transaction_result=False,
                # Without a previous marker there is no coordinator epoch: 0 is never too high.
                coordinator_epoch=transaction.coordinator_epoch or 0,
                topics=[
                    marker.WritableTxnMarkerTopic(
                        name=transaction.topic, partition_indexes=[transaction.partition]
                    )
                ],
            )
            for transaction in group
        ]
    )


def _codes(response: Any) -> dict[tuple[int, TopicPartition], int]:
    return {
        (marker.producer_id, TopicPartition(topic.name, row.partition_index)): row.error_code
        for marker in response.markers
        for topic in marker.topics
        for row in topic.partitions
    }


def _abort_failure(transaction: HangingTransaction, code: int | Failure | None) -> Failure | None:
    about = f"the transaction of {transaction.resource.name}"
    if code in _NOT_LEADER:
        return failure(code, about=about, hint="Run the command again, as the leader has changed.")
    return row_failure(code, about, requires="ALTER or CLUSTER_ACTION on the cluster")


def plan_abort(
    cluster: Cluster, hanging: Sequence[HangingTransaction], *, clock: Clock = time.time
) -> Plan:
    """Abort these open transactions of partitions. Warns about a transaction that is not hanging: a
    marker that its coordinator did not write breaks the atomicity of the transaction
    (WriteTxnMarkers, API key 27)."""
    partitions = [transaction.topic_partition for transaction in hanging]
    return Plan(
        Effect.DESTROY,
        (AbortTransactions(tuple(hanging)),) if hanging else (),
        fresh=lambda later: _last_stable(later, partitions),
        advice=Advice(warnings=tuple(_warnings(cluster, hanging, clock))),
    )


def _warnings(
    cluster: Cluster, chosen: Sequence[HangingTransaction], clock: Clock
) -> Iterable[str]:
    listed = transactions.list_transactions(
        cluster, producer_ids=sorted({hanging.producer_id for hanging in chosen})
    )
    ids = {row.producer_id: row.transactional_id for rows in listed for row in rows}
    known = transactions.describe(cluster, ids.values(), clock=clock)
    for name, reason in known.failures.items():
        if reason.code != TRANSACTIONAL_ID_NOT_FOUND:
            yield f"cannot describe transactional ID {name}: {reason.message}"
    for each in chosen:
        transaction = known.values.get(ids.get(each.producer_id, ""))
        if transaction is not None and each.topic_partition in transaction.partitions:
            name = transaction.transactional_id
            yield (
                f"the transaction of partition {each.topic_partition} is not hanging (transactional"
                f" ID {name}, {transaction.state}); to abort it in all partitions, fence the"
                " producer"
            )
    if not {hanging.producer_id for hanging in chosen} <= set(ids):
        yield from transactions.doubts(cluster)
    if not listed.ok:
        brokers = "broker" if len(listed.failures) == 1 else "brokers"
        silent = ", ".join(map(str, listed.failures))
        yield f"the transactions coordinated by {brokers} {silent} are unknown"


def _last_stable(
    cluster: Cluster, partitions: Sequence[TopicPartition]
) -> Results[TopicPartition, PartitionOffset]:
    """The last stable offset of each partition."""
    offsets = list_offsets(cluster, dict.fromkeys(partitions, LATEST), committed=True)
    return Results(
        {
            each: PartitionOffset(each.topic, each.partition, offset.offset)
            for each, offset in offsets.values.items()
        },
        offsets.failures,
    )


def find_open(
    cluster: Cluster, partition: TopicPartition, start_offset: int, *, clock: Clock = time.time
) -> HangingTransaction | Failure:
    """The open transaction that starts at this offset of a partition, hanging or not."""
    states = producers.describe(cluster, [partition])
    if partition in states.failures:
        return states.failures[partition]
    ongoing = [state for state in states[partition] if state.transaction_start is not None]
    for state in ongoing:
        if state.transaction_start == start_offset:
            return transactions.hanging(state, None, int(clock() * 1000))
    starts = ", ".join(str(state.transaction_start) for state in ongoing)
    return Failure(
        "no-open-transaction",
        f"no open transaction of partition {partition} starts at offset {start_offset}",
        hint=f"Use the start of an open transaction: {starts}." if starts else "",
    )


# -- fence -----------------------------------------------------------------------------------------


class FenceProducers(Struct, BaseStep, frozen=True):
    """InitProducerId (API key 22) of each transactional ID: a new epoch, so that the producer that
    has the old one is fenced. Its open transaction is aborted before the broker responds."""

    transactions: tuple[Transaction, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(_fenced(transaction) for transaction in self.transactions)

    def reread(self, cluster: Cluster) -> FenceProducers:
        """The step itself: an active producer goes on meanwhile, with other transactions and
        epochs. Raises ShellError if an ID no longer exists, as the request would create it."""
        ids = [transaction.transactional_id for transaction in self.transactions]
        read_again(transactions.describe(cluster, ids), "transactional ID")
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        codes: dict[str, int | Failure] = {}
        left = list(self.transactions)
        for _ in cluster.attempts(FAILOVER_S):
            try:
                codes |= _init_producers(cluster, left)
            except ShellError as error:
                why = failure_of_rest(error, received=len(left) < len(self.transactions))
                codes |= {transaction.transactional_id: why for transaction in left}
            left = [each for each in left if codes[each.transactional_id] in _NOT_YET]
            if not left:
                break
            for each in left:
                if codes[each.transactional_id] in COORDINATOR_MOVED:
                    cluster.forget_coordinator(_coordinator(each))
        codes |= _aborting(
            cluster, [name for name in codes if codes[name] == CONCURRENT_TRANSACTIONS]
        )
        ids = (transaction.transactional_id for transaction in self.transactions)
        return Results.of(self.changes, (_fence_failure(id, codes[id]) for id in ids))


def _coordinator(transaction: Transaction) -> Coordinator:
    return Coordinator(CoordinatorKind.TRANSACTION, transaction.transactional_id)


def _fenced(transaction: Transaction) -> Change:
    note, lost = "its producer is fenced", ""
    if transaction.under_way:
        note += f", its {transaction.state} transaction is aborted"
        count = len(transaction.partitions)
        lost = f"records of the transaction in {counted(count, 'partition')}"
    return Change(
        transaction.resource, "fence", "epoch", transaction.producer_epoch, "new epoch",
        note=note, reversible=False, lost=lost,
    )  # fmt: skip


def _init_producers(
    cluster: Cluster, transactions: Sequence[Transaction]
) -> dict[str, int | Failure]:
    """Send one request for each. Returns the error code or Failure by transactional ID."""
    calls = [
        Call(_init_producer_id(each), _coordinator(each), highest=_FENCE_HIGHEST, check=False)
        for each in transactions
    ]
    return {
        each.transactional_id: answer if isinstance(answer, Failure) else answer.error_code
        for each, answer in zip(transactions, cluster.send_all(calls), strict=True)
    }


def _aborting(cluster: Cluster, names: Sequence[str]) -> dict[str, Failure]:
    """The outcome of the IDs whose transaction is still being aborted, such as while a partition
    has no leader that responds: the producer cannot continue it, but there is no new epoch yet."""
    try:
        described = transactions.describe(cluster, names).values if names else {}
    except ShellError:  # the deadline has passed
        return {}
    return {
        name: Failure(
            "outcome-unknown",
            f"the transaction of transactional ID {name} is still being aborted"
            f" ({transaction.state}); it is unknown whether the producer is fenced",
            see=transaction.resource,
        )
        for name, transaction in described.items()
        if transaction.state in _ABORTING
    }


def _init_producer_id(each: Transaction) -> Any:
    return messages.InitProducerIdRequest(
        transactional_id=each.transactional_id,
        transaction_timeout_ms=each.timeout_ms if each.timeout_ms > 0 else _TIMEOUT_MS,
        producer_id=-1,
        producer_epoch=-1,
    )


def _fence_failure(name: str, outcome: int | Failure) -> Failure | None:
    about = f"transactional ID {name}"
    operation = f"WRITE on {about}"
    if isinstance(outcome, Failure):
        return outcome if outcome.hint else requiring(outcome, operation)
    return row_failure(outcome, about, requires=operation)


def plan_fence(cluster: Cluster, transactional_ids: Sequence[str]) -> Plan:
    """Fence the producers of these transactional IDs (InitProducerId, API key 22): their open
    transactions are aborted. An unknown ID is refused, as a request for its epoch would create
    it."""
    described = transactions.describe(cluster, transactional_ids)
    names = list(described.values)
    return Plan(
        Effect.DESTROY,
        (FenceProducers(tuple(described)),) if names else (),
        refused=refused_of("transactional-id", described.failures),
    )
