"""Offsets of partitions by time (ListOffsets, API key 2; KIP-79, 405, 734, 1005, 1023)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from kafka_shell.admin.partitions.model import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    Offset,
    OffsetRange,
    TopicPartition,
)
from kafka_shell.admin.steps import not_mentioned
from kafka_shell.admin.topics.partitions import leaders
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.error_codes import (
    OFFSET_NOT_AVAILABLE,
    REPLICA_NOT_AVAILABLE,
)
from kafka_shell.admin.wire.failures import NEW_LEADER, failure, requires
from kafka_shell.admin.wire.requests import Call, Node
from kafka_shell.admin.wire.rounds import ask_in_rounds
from kafka_shell.plan.results import Failure, Results

if TYPE_CHECKING:
    from uuid import UUID

V = TypeVar("V")

# The first version that supports a special timestamp; the others are as old as the API.
_SINCE = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}
_UNCOMMITTED, _COMMITTED = 0, 1
_REMOTE_MS = 30_000  # how long a broker may search remote storage (v10)
# Replica IDs: a consumer reads from the leader, a debugging client from any replica.
_CONSUMER, _DEBUGGING = -1, -2

# The leader has changed, or does not know the high watermark yet: retry.
_PASSING = NEW_LEADER | {REPLICA_NOT_AVAILABLE, OFFSET_NOT_AVAILABLE}


def list_offsets(
    cluster: Cluster, wanted: Mapping[TopicPartition, int], *, committed: bool = False
) -> Results[TopicPartition, Offset]:
    """The offset of each partition for a time (milliseconds since the epoch) or a constant: -1
    latest, -2 earliest, -3 largest timestamp (API key 2).

    For a time it is the offset of the first record with that timestamp or a later one. With
    `committed`, the end is the last stable offset (isolation level read_committed). Sends one
    request to each leader, all at once. For a broker too old for a constant, only its partitions
    fail ("unsupported-version").
    """

    def ask(
        some: Sequence[TopicPartition], found: Results[TopicPartition, Offset]
    ) -> list[TopicPartition]:
        return _ask(cluster, some, [lambda each: wanted[each]], committed, [found])

    return ask_in_rounds(cluster, wanted, ask)


def ranges(
    cluster: Cluster, partitions: Iterable[TopicPartition], *, committed: bool = False
) -> Results[TopicPartition, OffsetRange]:
    """The offsets in each partition; with `committed` up to the last stable offset. Sends two
    ListOffsets requests (API key 2) to each leader, all at once."""

    def ask(
        some: Sequence[TopicPartition], found: Results[TopicPartition, OffsetRange]
    ) -> list[TopicPartition]:
        first: Results[TopicPartition, Offset] = Results()
        last: Results[TopicPartition, Offset] = Results()
        times = [lambda _: EARLIEST, lambda _: LATEST]
        again = _ask(cluster, some, times, committed, [first, last])
        found.failures.update(first.failures | last.failures)
        for each, end in last.values.items():
            if each in first.values:
                begin, to = first.values[each].offset or 0, end.offset or 0
                count = max(0, to - begin)
                found.values[each] = OffsetRange(each.topic, each.partition, begin, to, count)
        return again

    return ask_in_rounds(cluster, partitions, ask)


def _ask(
    cluster: Cluster,
    partitions: Sequence[TopicPartition],
    times: Sequence[Callable[[TopicPartition], int]],
    committed: bool,
    found: Sequence[Results[TopicPartition, Offset]],
) -> list[TopicPartition]:
    """Send one round of requests for each of the times, add the offsets to the results of that
    time, and return the partitions to retry."""
    leading = leaders(cluster, partitions)
    calls: list[Call] = []
    asked: list[tuple[Results[TopicPartition, Offset], list[TopicPartition]]] = []
    for time, results in zip(times, found, strict=True):
        results.failures.update(leading.failures)
        requests: dict[tuple[int, int], dict[TopicPartition, int]] = {}
        for each, leader in leading.values.items():
            at = time(each)
            requests.setdefault((leader, _SINCE.get(at, 1)), {})[each] = at
        for (leader, lowest), wanted in requests.items():
            calls.append(Call(_request(wanted, committed), Node(leader), lowest=lowest))
            asked.append((results, list(wanted)))
    again: dict[TopicPartition, None] = {}
    for (results, group), response in zip(asked, cluster.send_all(calls), strict=True):
        if isinstance(response, Failure):
            results.failures.update(dict.fromkeys(group, response))
        else:
            retry = add_rows(group, response, results, "DESCRIBE", _offset, _PASSING)
            again.update(dict.fromkeys(retry))
    return list(again)


def log_ends(
    cluster: Cluster, replicas: Mapping[int, Sequence[TopicPartition]]
) -> dict[tuple[int, TopicPartition], int]:
    """The log end offsets of these replicas by broker and partition, as far as brokers return them.

    They give the lag of a follower. The lag in DescribeLogDirs is less precise: it is against the
    high watermark known to the follower, which is never beyond its own log end.
    """
    calls = [
        Call(_request(dict.fromkeys(partitions, LATEST), False, _DEBUGGING), Node(broker),
             check=False)
        for broker, partitions in replicas.items()
    ]  # fmt: skip
    return {
        (broker, partition): row.offset
        for broker, response in zip(replicas, cluster.send_all(calls), strict=True)
        if not isinstance(response, Failure)
        for partition, row in partition_rows(response.topics).items()
        if not row.error_code
    }


def _request(
    wanted: Mapping[TopicPartition, int], committed: bool, replica_id: int = _CONSUMER
) -> Any:
    from kafka.protocol.consumer import ListOffsetsRequest

    topic = ListOffsetsRequest.ListOffsetsTopic
    return ListOffsetsRequest(
        replica_id=replica_id,
        isolation_level=_COMMITTED if committed else _UNCOMMITTED,
        timeout_ms=_REMOTE_MS,
        topics=topic_rows(
            topic,
            topic.ListOffsetsPartition,
            {partition: {"timestamp": time} for partition, time in wanted.items()},
        ),
    )


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[TopicPartition]]:
    """The partitions by topic, as most requests need them."""
    grouped: dict[str, list[TopicPartition]] = {}
    for partition in partitions:
        grouped.setdefault(partition.topic, []).append(partition)
    return grouped


def topic_rows(
    topic: Any,
    partition: Any,
    fields: Mapping[TopicPartition, Mapping[str, Any]],
    *,
    name: str = "name",
    index: str = "partition_index",
) -> list[Any]:
    """The topics of a request, with the fields of each partition. `topic` and `partition` are
    kafka-python's classes, `name` and `index` their fields."""
    return [
        topic(
            **{name: of},
            partitions=[partition(**{index: each.partition}, **fields[each]) for each in group],
        )
        for of, group in by_topic(fields).items()
    ]


def partition_rows(
    topics: Iterable[Any], *, name: str = "name", names: Mapping[UUID, str] | None = None
) -> dict[TopicPartition, Any]:
    """The rows of partitions of a response, from those of its topics: in some versions these have
    an ID, of which `names` has the names."""
    known = names or {}
    return {
        TopicPartition(of, row.partition_index): row
        for topic in topics
        for of in [getattr(topic, name) or known.get(topic.topic_id, "")]
        for row in topic.partitions
    }


def add_rows(
    partitions: Iterable[TopicPartition],
    response: Any,
    results: Results[TopicPartition, V],
    operation: str,
    read: Callable[[TopicPartition, Any], V],
    retriable: Container[int],
) -> list[TopicPartition]:
    """Add the row of each partition to the results, and return the partitions to retry.

    `operation` is what an ACL on the topic must allow, and `read` converts a row without an error.
    """
    rows = partition_rows(response.topics)
    retry = []
    for partition in partitions:
        row, about = rows.get(partition), f"partition {partition}"
        if row is None:
            results.failures[partition] = not_mentioned(about)
        elif not row.error_code:
            results.values[partition] = read(partition, row)
        else:
            results.failures[partition] = failure(
                row.error_code,
                getattr(row, "error_message", None),  # not all APIs have one
                about=about,
                hint=requires(row.error_code, f"{operation} on topic {partition.topic}"),
            )
            if row.error_code in retriable:
                retry.append(partition)
    return retry


def _offset(partition: TopicPartition, row: Any) -> Offset:
    return Offset(known(row.offset), known(row.timestamp), known(row.leader_epoch))


def known(number: int) -> int | None:
    """The number, or None for -1, which the protocol uses for a number that is not known."""
    return None if number < 0 else number
