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

_Wanted = tuple[TopicPartition, int]  # a partition, and a time or constant

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

    found = _ask_leaders(cluster, wanted.items(), committed)
    return found.keyed(lambda each: each[0])


def first_and_end(
    cluster: Cluster, partitions: Iterable[TopicPartition], *, committed: bool = False
) -> tuple[Results[TopicPartition, Offset], Results[TopicPartition, Offset]]:
    """The first offset and the end of each partition. Sends two requests to each leader, all at
    once: a leader that does not respond is waited for only once."""
    listed = tuple(partitions)
    times = (EARLIEST, LATEST)
    found = _ask_leaders(cluster, [(each, time) for time in times for each in listed], committed)
    first, end = (
        Results(
            {each: value for (each, time), value in found.values.items() if time == wanted},
            {each: why for (each, time), why in found.failures.items() if time == wanted},
        )
        for wanted in times
    )
    return first, end


def _ask_leaders(
    cluster: Cluster, wanted: Iterable[_Wanted], committed: bool
) -> Results[_Wanted, Offset]:
    def ask(some: Sequence[_Wanted], found: Results[_Wanted, Offset]) -> list[_Wanted]:
        return _ask(cluster, some, committed, found)

    return ask_in_rounds(cluster, wanted, ask)


def _ask(
    cluster: Cluster,
    wanted: Sequence[_Wanted],
    committed: bool,
    found: Results[_Wanted, Offset],
) -> list[_Wanted]:
    """Send one round of requests, add the results to `found`, and return what to retry."""
    leading = leaders(cluster, dict.fromkeys(each for each, _ in wanted))
    # By leader, lowest version, and whether it is a partition's second time: a request can contain
    # a partition only once.
    requests: dict[tuple[int, int, bool], dict[TopicPartition, int]] = {}
    for each, time in wanted:
        if each in leading.failures:
            found.failures[each, time] = leading.failures[each]
            continue
        at = leading.values[each], _SINCE.get(time, 1)
        second = each in requests.get((*at, False), ())
        requests.setdefault((*at, second), {})[each] = time
    calls = [
        Call(_request(group, committed), Node(leader), lowest=lowest)
        for (leader, lowest, _), group in requests.items()
    ]
    again: list[_Wanted] = []
    for group, response in zip(requests.values(), cluster.send_all(calls), strict=True):
        if isinstance(response, Failure):
            found.failures.update(dict.fromkeys(group.items(), response))
            continue
        rows: Results[TopicPartition, Offset] = Results()
        again += [
            (each, group[each])
            for each in add_rows(group, response, rows, "DESCRIBE", _offset, _PASSING)
        ]
        found.values.update((((each, group[each]), row) for each, row in rows.values.items()))
        found.failures.update((((each, group[each]), why) for each, why in rows.failures.items()))
    return again


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
