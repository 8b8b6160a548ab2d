"""The producers of partitions (DescribeProducers, API key 61; KIP-664; Kafka 2.8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.offsets import add_rows, by_topic, known
from kafka_shell.admin.topics.partitions import find, without_leader
from kafka_shell.admin.transactions.model import ProducerState
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.waits import LEADERS_S
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import (
    LEADER_NOT_AVAILABLE,
    NOT_LEADER_OR_FOLLOWER,
    REPLICA_NOT_AVAILABLE,
)
from kafka_shell.wire.model import Partition
from kafka_shell.wire.requests import Call, Node
from kafka_shell.wire.rounds import ask_in_rounds, in_slices

States = Results[TopicPartition, tuple[ProducerState, ...]]

_MOST = 1_000  # partitions in one request: a broker reads them all before it responds
# The leader has changed, or does not know it yet: retry.
_PASSING = frozenset({LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER, REPLICA_NOT_AVAILABLE})


def describe(
    cluster: Cluster, wanted: Iterable[TopicPartition], *, broker: int | None = None
) -> States:
    """The producers of each partition, sorted by producer ID (API key 61).

    Asks all leaders at once, or one `broker` that has a replica of each. Requires READ on the
    topics.
    """

    def ask(some: Sequence[TopicPartition], producers: States) -> Sequence[TopicPartition]:
        partitions = find(cluster, some)
        producers.failures.update(partitions.failures)
        return _ask(cluster, _by_broker(partitions.values, broker, producers), producers)

    # If one broker is named, another leader is not asked.
    return ask_in_rounds(cluster, wanted, ask, LEADERS_S if broker is None else 0.0)


def _by_broker(
    partitions: Mapping[TopicPartition, Partition], broker: int | None, producers: States
) -> dict[int, list[TopicPartition]]:
    """The partitions by the broker to ask; adds failures of the others."""
    grouped: dict[int, list[TopicPartition]] = {}
    for each, partition in partitions.items():
        if broker is None and partition.leader is None:
            producers.failures[each] = without_leader(each)
        elif broker is not None and broker not in partition.replicas:
            producers.failures[each] = _no_replica(each, partition.replicas, broker)
        else:
            requested = partition.leader if broker is None else broker
            assert requested is not None
            grouped.setdefault(requested, []).append(each)
    return grouped


def _no_replica(partition: TopicPartition, replicas: Sequence[int], broker: int) -> Failure:
    have = ", ".join(map(str, replicas))
    return Failure(
        "no-replica",
        f"broker {broker} has no replica of partition {partition}",
        hint=f"Use one of its brokers: {have}.",
    )


def _ask(
    cluster: Cluster, wanted: Mapping[int, Sequence[TopicPartition]], states: States
) -> tuple[TopicPartition, ...]:
    """Send one round of requests, add the results to `states`, and return partitions to retry."""
    batches = [(node, batch) for node, each in wanted.items() for batch in in_slices(each, _MOST)]
    calls = [Call(_request(batch), Node(node)) for node, batch in batches]
    again: list[TopicPartition] = []
    for (_, batch), response in zip(batches, cluster.send_all(calls), strict=True):
        if isinstance(response, Failure):
            states.failures.update(dict.fromkeys(batch, response))
        else:
            again += add_rows(batch, response, states, "READ", _states, _PASSING)
    return tuple(again)


def _request(wanted: Iterable[TopicPartition]) -> Any:
    return messages.DescribeProducersRequest(
        topics=[
            messages.DescribeProducersRequest.TopicRequest(
                name=name, partition_indexes=[partition.partition for partition in group]
            )
            for name, group in by_topic(wanted).items()
        ]
    )


def _states(partition: TopicPartition, row: Any) -> tuple[ProducerState, ...]:
    states = (_state(partition, producer) for producer in row.active_producers)
    return tuple(sorted(states, key=lambda state: state.producer_id))


def _state(partition: TopicPartition, producer: Any) -> ProducerState:
    return ProducerState(
        topic=partition.topic,
        partition=partition.partition,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        last_sequence=known(producer.last_sequence),
        last_timestamp=known(producer.last_timestamp),
        coordinator_epoch=known(producer.coordinator_epoch),
        transaction_start=known(producer.current_txn_start_offset),
    )


def open_transactions(
    producers: Iterable[Iterable[ProducerState]],
) -> set[tuple[TopicPartition, int, int]]:
    """The open transactions of producers' states: partition, producer ID and first offset."""
    return {
        (state.topic_partition, state.producer_id, state.transaction_start)
        for states in producers
        for state in states
        if state.transaction_start is not None
    }
