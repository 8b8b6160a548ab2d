"""Transactions: list, describe, find hanging ones (KIP-664, 994; API keys 65, 66; Kafka 3.0)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.steps import not_mentioned
from kafka_shell.admin.transactions import producers
from kafka_shell.admin.transactions.model import (
    UNDER_WAY,
    HangingSearch,
    HangingTransaction,
    ProducerState,
    Transaction,
    TransactionListing,
    Unread,
)
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import Resource
from kafka_shell.wire import coordinators, messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import TRANSACTIONAL_ID_NOT_FOUND
from kafka_shell.wire.failures import AUTHORIZATION, COORDINATION, failure
from kafka_shell.wire.metadata_scan import is_missing, scan
from kafka_shell.wire.requests import Call, CoordinatorKind, Node
from kafka_shell.wire.rounds import ask_in_rounds

DEFAULT_MAX_TIMEOUT_MS = 15 * 60_000  # the default of the brokers' transaction.max.timeout.ms
_UNUSED_ID = "kafka-sh: a transactional id that does not exist"
_STATE_TOPIC = "__transaction_state"

Clock = Callable[[], float]


def list_transactions(
    cluster: Cluster,
    *,
    states: Sequence[str] = (),
    producer_ids: Sequence[int] = (),
    longer_than_ms: int | None = None,
    pattern: str | None = None,
) -> Results[int, tuple[TransactionListing, ...]]:
    """The visible transactional IDs by coordinator (API key 66): they require DESCRIBE.

    `longer_than_ms` (Kafka 3.8) selects transactions that are open longer; `pattern` (4.1) is a
    regular expression that matches whole IDs. Raises ShellError for an unknown state.
    """
    request = messages.ListTransactionsRequest(
        state_filters=list(states),
        producer_id_filters=list(producer_ids),
        duration_filter=-1 if longer_than_ms is None else longer_than_ms,
        transactional_id_pattern=pattern,
    )
    responses = cluster.each_broker(request)
    listings: Results[int, tuple[TransactionListing, ...]] = Results({}, responses.failures)
    for broker, response in responses.values.items():
        if unknown := response.unknown_state_filters:
            raise ShellError(
                f"unknown transaction state {', '.join(sorted(unknown))}",
                code="unknown-state",
            )
        rows = (
            TransactionListing(row.transactional_id, broker, row.producer_id, row.transaction_state)
            for row in response.transaction_states
        )
        listings.values[broker] = tuple(sorted(rows, key=lambda row: row.transactional_id))
    return listings


def without_coordinator(cluster: Cluster) -> Failure | None:
    """Why `list_transactions` lacks some transactional IDs: no broker is their coordinator."""
    return coordinators.without_coordinator(cluster, _STATE_TOPIC, "transactions")


def describe(
    cluster: Cluster, transactional_ids: Iterable[str], *, clock: Clock = time.time
) -> Results[str, Transaction]:
    """The transactional IDs with their current transactions, or why one cannot be described (API
    key 65).

    Sends one request to each coordinator, all at once. Brokers leave out partitions of topics
    without DESCRIBE permission.
    """

    def ask(some: Sequence[str], transactions: Results[str, Transaction]) -> list[str]:
        return _describe_round(cluster, some, transactions, clock)

    return ask_in_rounds(cluster, transactional_ids, ask)


def _describe_round(
    cluster: Cluster, requested: Sequence[str], described: Results[str, Transaction], clock: Clock
) -> list[str]:
    """Send one round of requests, add the results to `described`, and return IDs to retry."""
    where = _coordinators(cluster, requested)
    described.failures.update(where.failures)
    by_node: dict[int, list[str]] = {}
    for each, node in where.values.items():
        by_node.setdefault(node, []).append(each)
    calls = [
        Call(messages.DescribeTransactionsRequest(transactional_ids=each), Node(node))
        for node, each in by_node.items()
    ]
    for (node, group), answer in zip(by_node.items(), cluster.send_all(calls), strict=True):
        if isinstance(answer, Failure):
            described.failures.update(dict.fromkeys(group, answer))
            continue
        rows = {row.transactional_id: row for row in answer.transaction_states}
        for name in group:
            transaction = _transaction(name, node, rows.get(name), clock)
            if isinstance(transaction, Failure):
                described.failures[name] = transaction
            else:
                described.values[name] = transaction
    return [
        each
        for each in requested
        if each not in described.values and described.failures[each].code in COORDINATION
    ]


def _coordinators(cluster: Cluster, requested: Sequence[str]) -> Results[str, int]:
    """The coordinator of each ID: one FindCoordinator request (API key 10) for all."""
    if requested and is_missing(cluster, _STATE_TOPIC):  # the request would create it
        return Results({}, {name: _failure(name, TRANSACTIONAL_ID_NOT_FOUND) for name in requested})
    kind = CoordinatorKind.TRANSACTION
    return coordinators.find(cluster, requested, kind, lambda each, code, _: _failure(each, code))


def _transaction(each: str, node: int, row: Any, clock: Clock) -> Transaction | Failure:
    if row is None:
        return not_mentioned(f"transactional ID {each}")
    if row.error_code:
        return _failure(each, row.error_code)
    started = row.transaction_start_time_ms if row.transaction_start_time_ms >= 0 else None
    open_ = started is not None and row.transaction_state in UNDER_WAY
    return Transaction(
        transactional_id=each,
        coordinator=node,
        state=row.transaction_state,
        producer_id=row.producer_id,
        producer_epoch=row.producer_epoch,
        timeout_ms=row.transaction_timeout_ms,
        started=started,
        duration_ms=max(0, int(clock() * 1000) - started) if started and open_ else None,
        partitions=tuple(
            sorted(
                TopicPartition(topic.topic, partition)
                for topic in row.topics
                for partition in topic.partitions
            )
        ),
    )


def _failure(each: str, code: int) -> Failure:
    about = f"transactional ID {each}"
    see = Resource("transactional-id") if code == TRANSACTIONAL_ID_NOT_FOUND else None
    return failure(code, about=about, requires=f"DESCRIBE on {about}", see=see)


# -- hanging ---------------------------------------------------------------------------------------


def find_hanging(
    cluster: Cluster,
    *,
    partitions: Sequence[TopicPartition] | None = None,
    topics: Sequence[str] | None = None,
    broker: int | None = None,
    max_timeout_ms: int = DEFAULT_MAX_TIMEOUT_MS,
    clock: Clock = time.time,
) -> HangingSearch:
    """Open transactions without a write for `max_timeout_ms` that no coordinator will end
    (KIP-664).

    Searches these partitions, these topics, or all; with `broker`, its replicas. A partition is
    `unread` if its open transaction may be known to a coordinator that does not respond.
    """
    wanted, refused = _to_search(cluster, partitions, topics, broker)
    states = producers.describe(cluster, wanted, broker=broker)
    now = int(clock() * 1000)
    candidates = [
        state
        for of_partition in states
        for state in of_partition
        if state.transaction_start is not None
        and (state.last_timestamp is None or now - state.last_timestamp > max_timeout_ms)
    ]
    hanging, unknown = only_hanging(cluster, candidates, clock=clock) if candidates else ((), {})
    nameless = any(transaction.transactional_id is None for transaction in hanging)
    return HangingSearch(
        found=hanging,
        searched=len(states.values),
        doubts=doubts(cluster) if nameless else (),
        unread=(
            *(
                Unread(name, None, reason.name, reason.message, reason.hint, reason.see)
                for name, reason in refused.items()
            ),
            *(
                Unread(
                    each.topic, each.partition, reason.name, reason.message, reason.hint, reason.see
                )
                for each, reason in (states.failures | unknown).items()
            ),
        ),
    )


def _to_search(
    cluster: Cluster,
    partitions: Sequence[TopicPartition] | None,
    topics: Sequence[str] | None,
    broker: int | None,
) -> tuple[list[TopicPartition], dict[str, Failure]]:
    """The partitions, and the given topics that cannot be searched."""
    if partitions is not None and topics is None:
        return list(partitions), {}
    metadata = scan(cluster, topics)
    wanted = list(partitions or ())
    for name in sorted(metadata.names):
        for partition in metadata.topic(name).partitions:
            if broker is None or broker in partition.replicas:
                wanted.append(TopicPartition(name, partition.partition))
    refused = {}
    for name in topics or ():
        if name not in metadata:
            code = metadata.errors.get(name, 3)
            requires = f"DESCRIBE and READ on topic {name}"
            refused[name] = failure(code, about=f"topic {name}", requires=requires)
    return wanted, refused


def only_hanging(
    cluster: Cluster, candidates: Sequence[ProducerState], *, clock: Clock = time.time
) -> tuple[tuple[HangingTransaction, ...], dict[TopicPartition, Failure]]:
    """The open transactions that no coordinator will end, and failures of the partitions whose
    coordinator may be one that does not respond, or that no broker is now."""
    listed = list_transactions(
        cluster, producer_ids=sorted({producer.producer_id for producer in candidates})
    )
    ids = {row.producer_id: row.transactional_id for rows in listed for row in rows}
    known = describe(cluster, ids.values(), clock=clock)
    silent = next((_unknown_transactions(*item) for item in listed.failures.items()), None)
    silent = silent or without_coordinator(cluster)
    now = int(clock() * 1000)
    transactions = []
    unknown: dict[TopicPartition, Failure] = {}
    for candidate in sorted(
        candidates, key=lambda candidate: (candidate.topic_partition, candidate.producer_id)
    ):
        transactional_id = ids.get(candidate.producer_id)
        reason = silent if transactional_id is None else known.failures.get(transactional_id)
        if reason is not None and reason.code != TRANSACTIONAL_ID_NOT_FOUND:
            unknown[candidate.topic_partition] = reason
            continue
        transaction = known.values.get(transactional_id) if transactional_id is not None else None
        # The coordinator will end the transactions that it lists.
        if transaction is None or candidate.topic_partition not in transaction.partitions:
            transactions.append(hanging(candidate, transactional_id, now))
    still_open = _still_open(cluster, transactions)
    return tuple(each for some in still_open for each in some), unknown | still_open.failures


def _still_open(
    cluster: Cluster, transactions: Sequence[HangingTransaction]
) -> Results[TopicPartition, list[HangingTransaction]]:
    """Those that are open after the coordinators were asked, by partition: one that ends between
    the two requests is no longer listed there, as if it were hanging."""
    where = dict.fromkeys(TopicPartition(each.topic, each.partition) for each in transactions)
    states = producers.describe(cluster, where)
    open_ = producers.open_transactions(states)
    by_partition: dict[TopicPartition, list[HangingTransaction]] = {}
    for transaction in transactions:
        at = TopicPartition(transaction.topic, transaction.partition)
        if (at, transaction.producer_id, transaction.start_offset) in open_:
            by_partition.setdefault(at, []).append(transaction)
    return Results(by_partition, states.failures)


def hanging(state: ProducerState, transactional_id: str | None, now: int) -> HangingTransaction:
    """The open transaction of a producer's state. `now` is milliseconds since the epoch."""
    assert state.transaction_start is not None
    last = state.last_timestamp
    return HangingTransaction(
        topic=state.topic,
        partition=state.partition,
        producer_id=state.producer_id,
        producer_epoch=state.producer_epoch,
        coordinator_epoch=state.coordinator_epoch,
        start_offset=state.transaction_start,
        last_timestamp=last,
        duration_ms=None if last is None else max(0, now - last),
        transactional_id=transactional_id,
    )


def _unknown_transactions(broker: int, reason: Failure) -> Failure:
    message = f"the transactions coordinated by broker {broker} are unknown: {reason.message}"
    return Failure(reason.name, message, None, reason.hint, reason.see)


def doubts(cluster: Cluster) -> tuple[str, ...]:
    """Why one of the transactions may have a coordinator after all."""
    reasons = []
    (reason,) = describe(cluster, [_UNUSED_ID]).failures.values()
    if reason.code in AUTHORIZATION:
        reasons.append(
            "some of these transactions may not be hanging, as some transactional IDs are hidden"
            " (requires DESCRIBE on transactional ID *)"
        )
    unlisted = without_coordinator(cluster)
    if unlisted is not None:
        reasons.append(unlisted.message)
    return tuple(reasons)
