"""Offsets of partitions by time (ListOffsets, API key 2; KIP-79, 405, 734, 1005, 1023)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

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
from kafka_shell.admin.topics.partitions import by_leader, leaders
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.waits import CHANGE_MS
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import OFFSET_NOT_AVAILABLE, REPLICA_NOT_AVAILABLE
from kafka_shell.wire.failures import NEW_LEADER, failure
from kafka_shell.wire.frames import Reader, count, string
from kafka_shell.wire.requests import Call, Node, RawRequest
from kafka_shell.wire.rounds import ask_in_rounds

# Requests for offsets of many partitions (ListOffsets, API key 2), read from bytes: encoding and
# decoding them as messages would take ten times longer.

_API_KEY = 2
_NOT_FLEXIBLE = 99  # the versions used here are older than the flexible ones
_ROW = struct.Struct(">ihqqi")  # partition, error, timestamp, offset, leader epoch
_WANTED = struct.Struct(">iiq")  # partition, leader epoch, timestamp
# Replica IDs: a consumer reads from the leader, a debugging client from any replica.
_CONSUMER, _DEBUGGING = -1, -2
_ANY_EPOCH = -1

OffsetRows = dict[tuple[str, int], tuple[int, int]]
"""(error code, offset) by topic and partition."""


def offsets_request(
    partitions: Mapping[str, Sequence[int]], time: int, *, committed: bool = False
) -> RawRequest:
    """ListOffsets v4 and v5 for the offsets of these partitions at a time; the response is
    OffsetRows. With `committed`, the end is the last stable offset."""
    return RawRequest(
        _API_KEY, (4, 5), lambda _: _body(partitions, time, committed), _NOT_FLEXIBLE, _read
    )


def _body(partitions: Mapping[str, Sequence[int]], time: int, committed: bool) -> bytes:
    out = bytearray(struct.pack(">ib", _CONSUMER, committed) + count(len(partitions)))
    for topic, numbers in partitions.items():
        out += string(topic) + count(len(numbers))
        for number in numbers:
            out += _WANTED.pack(number, _ANY_EPOCH, time)
    return bytes(out)


def _read(version: int, body: bytes) -> OffsetRows:
    reader = Reader(body)
    reader.int32()  # throttle time
    return {
        (topic, number): (error, offset)
        for topic, rows in reader.topics(_ROW)
        for number, error, _, offset, _ in rows
    }


V = TypeVar("V")

# The first version that supports a special timestamp; the others are as old as the API.
_SINCE = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}
_UNCOMMITTED, _COMMITTED = 0, 1
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
        return _ask(cluster, {each: wanted[each] for each in some}, committed, found)

    return ask_in_rounds(cluster, wanted, ask)


def _ask(
    cluster: Cluster,
    wanted: Mapping[TopicPartition, int],
    committed: bool,
    found: Results[TopicPartition, Offset],
) -> list[TopicPartition]:
    """Send one round of requests, add the results to `found`, and return partitions to retry."""
    leading = leaders(cluster, wanted)
    found.failures.update(leading.failures)
    requests: dict[tuple[int, int], list[TopicPartition]] = {}
    for each, leader in leading.values.items():
        requests.setdefault((leader, _SINCE.get(wanted[each], 1)), []).append(each)
    calls = [
        Call(
            _request({partition: wanted[partition] for partition in group}, committed),
            Node(leader),
            lowest=lowest,
        )
        for (leader, lowest), group in requests.items()
    ]
    again: list[TopicPartition] = []
    for group, response in zip(requests.values(), cluster.send_all(calls), strict=True):
        if isinstance(response, Failure):
            found.failures.update(dict.fromkeys(group, response))
        else:
            again += add_rows(group, response, found, "DESCRIBE", _offset, _PASSING)
    return again


def ranges(
    cluster: Cluster, partitions: Iterable[TopicPartition], *, committed: bool = False
) -> Results[TopicPartition, OffsetRange]:
    """The offsets in each partition; with `committed` up to the last stable offset. Sends two
    ListOffsets requests (API key 2) to each leader, all at once."""

    def ask(
        some: Sequence[TopicPartition], found: Results[TopicPartition, OffsetRange]
    ) -> list[TopicPartition]:
        leading = leaders(cluster, some)
        found.failures.update(leading.failures)
        groups = by_leader(leading.values)
        calls = []
        for leader, group in groups.items():
            numbers = {of: [each.partition for each in led] for of, led in by_topic(group).items()}
            for time in (EARLIEST, LATEST):
                request = offsets_request(numbers, time, committed=committed)
                calls.append(Call(request, Node(leader)))
        responses = iter(cluster.send_all(calls))
        retry: list[TopicPartition] = []
        for group, first, last in zip(groups.values(), responses, responses, strict=True):
            retry += _add_ranges(group, first, last, found)
        return retry

    return ask_in_rounds(cluster, partitions, ask)


def _add_ranges(
    group: Sequence[TopicPartition],
    first: OffsetRows | Failure,
    last: OffsetRows | Failure,
    found: Results[TopicPartition, OffsetRange],
) -> list[TopicPartition]:
    """Add the range of each partition to the results, and return the partitions to retry."""
    for response in (first, last):
        if isinstance(response, Failure):
            found.failures.update(dict.fromkeys(group, response))
            return []
    assert isinstance(first, dict) and isinstance(last, dict)
    retry = []
    for each in group:
        begin, end = first.get((each.topic, each.partition)), last.get((each.topic, each.partition))
        if begin is None or end is None:
            found.failures[each] = not_mentioned(f"partition {each}")
        elif code := begin[0] or end[0]:
            found.failures[each] = _failure(code, each, "DESCRIBE")
            retry += [each] if code in _PASSING else []
        else:
            low, high = max(begin[1], 0), max(end[1], 0)
            found.values[each] = OffsetRange(
                each.topic, each.partition, low, high, max(0, high - low)
            )
    return retry


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
    topic = messages.ListOffsetsRequest.ListOffsetsTopic
    return messages.ListOffsetsRequest(
        replica_id=replica_id,
        isolation_level=_COMMITTED if committed else _UNCOMMITTED,
        timeout_ms=CHANGE_MS,
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
    ids: Mapping[str, UUID] | None = None,
) -> list[Any]:
    """The topics of a request, with the fields of each partition. `topic` and `partition` are
    kafka-python's classes, `name` and `index` their fields. With `ids`, topics have an ID."""
    return [
        topic(
            **({name: of} if ids is None else {"topic_id": ids[of]}),
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
        for of in [getattr(topic, name, "") or known.get(topic.topic_id, "")]
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
        row = rows.get(partition)
        if row is None:
            results.failures[partition] = not_mentioned(f"partition {partition}")
        elif not row.error_code:
            results.values[partition] = read(partition, row)
        else:
            message = getattr(row, "error_message", None)  # not all APIs have one
            results.failures[partition] = _failure(row.error_code, partition, operation, message)
            if row.error_code in retriable:
                retry.append(partition)
    return retry


def _failure(
    code: int, partition: TopicPartition, operation: str, message: str | None = None
) -> Failure:
    requires = f"{operation} on topic {partition.topic}"
    return failure(code, message, about=f"partition {partition}", requires=requires)


def _offset(partition: TopicPartition, row: Any) -> Offset:
    return Offset(known(row.offset), known(row.timestamp), known(row.leader_epoch))


def known(number: int) -> int | None:
    """The number, or None for -1, which the protocol uses for a number that is not known."""
    return None if number < 0 else number
