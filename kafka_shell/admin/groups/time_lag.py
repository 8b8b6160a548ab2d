"""Lag in time: the age of the oldest unread record of a group in each partition (Fetch, API key 1).

The record at the committed offset is read, from all leaders at once. A broker returns a batch of
records whole or not at all, and only the first one of a response whatever its size: so batches are
requested with little room first, and those that did not fit again, with more.
"""

from __future__ import annotations

import struct
import time
from collections import Counter
from collections.abc import Mapping
from itertools import chain, repeat

from msgspec import Struct

from kafka_shell.admin.groups.model import Group, GroupKey, GroupOffset
from kafka_shell.admin.groups.offsets import by_reason
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.batches import headers, wait_out
from kafka_shell.admin.records.decode import body, timestamp_from
from kafka_shell.admin.records.offsets import by_topic
from kafka_shell.admin.steps import row_failure
from kafka_shell.admin.topics.partitions import leaders
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.structs import replace
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.frames import Reader, count, string
from kafka_shell.wire.requests import Call, Node, RawRequest

TIME_LAG = "time lag"  # the kind of the Resource of a failure
SECONDS = 4.0  # for all of it: the lag in records is known without
_FIRST_BYTES = 4 << 20  # of all batches of the first round
_USUAL_BYTES, _LARGE_BYTES = 1 << 14, 1 << 20  # of a batch: 16 KiB is the default of producers
_EXACT_MS = 1_000
_DELETE_HORIZON = 0x40  # the base timestamp of this batch is not that of a record (KIP-534)
_EMPTY = Failure("incomplete", "the leaders returned no records")
_NO_TIMESTAMP = Failure("no-timestamp", "the record has no timestamp")

Place = tuple[TopicPartition, int]
"""A partition and an offset in it."""


def with_time_lag(
    cluster: Cluster, groups: Results[GroupKey, Group], known: dict[Place, int] | None = None
) -> Results[GroupKey, Group]:
    """The groups with `time_lag_ms` of each partition. If it cannot be read, the key of the failure
    is a Resource (TIME_LAG) that names the partitions.

    The age is by the timestamp of the record and the clock of this computer. `known` are the
    timestamps of the last call, which are not read again; they are replaced with those of this one.
    """
    rows = [row for group in groups for row in group.offsets or ()]
    ends = {place: row.end or 0 for row in rows for place in [_unread(row)] if place is not None}
    kept = {place: at for place, at in (known or {}).items() if place in ends}
    times = _read(cluster, {place: end for place, end in ends.items() if place not in kept})
    times.values.update(kept)
    if known is not None:
        known.clear()
        known.update((place, at) for place, at in times.values.items() if at is not None)
    now = round(time.time() * 1000)

    def with_time(row: GroupOffset) -> GroupOffset:
        place = _unread(row)
        if row.known_lag != 0 and place not in times.values:
            return row
        at = times.values.get(place) if place else None
        return replace(row, time_lag_ms=0 if at is None else max(0, now - at))

    aged = groups.map(
        lambda group: replace(group, offsets=group.offsets and tuple(map(with_time, group.offsets)))
    )
    unread = by_reason(
        TIME_LAG, ((where, why) for (where, _), why in times.failures.items()), "READ"
    )
    return Results(aged.values, aged.failures | unread)


def _unread(row: GroupOffset) -> Place | None:
    """Where the unread records of a group begin, if there are some."""
    if not row.known_lag or row.offset is None or row.start is None:
        return None
    return row.topic_partition, max(row.offset, row.start)


def _read(cluster: Cluster, ends: Mapping[Place, int]) -> Results[Place, int | None]:
    """The timestamp of the first record at each place or after it; None if there are only
    transaction markers and deleted records up to the end."""
    times: Results[Place, int | None] = Results()
    left = {place: place[1] for place in sorted(ends)}  # and the next offset to look at
    if not left:
        return times
    try:
        with cluster.within(SECONDS):
            leading = leaders(cluster, {where for where, _ in left})
            for place in list(left):
                if why := leading.failures.get(place[0]):
                    times.failures[place] = why
                    del left[place]
            first = min(_USUAL_BYTES, max(1 << 10, _FIRST_BYTES // len(ends)))
            for size in chain((first, _USUAL_BYTES), repeat(_LARGE_BYTES)):
                before = dict(left)
                throttled = _ask(cluster, leading.values, size, left, ends, times)
                if not left or (size == _LARGE_BYTES and left == before and not throttled):
                    break
            times.failures.update(dict.fromkeys(left, _EMPTY))
    except ShellError as error:
        times.failures.update(dict.fromkeys(left, as_failure(error)))
    return times


def _ask(
    cluster: Cluster,
    leading: Mapping[TopicPartition, int],
    size: int,
    left: dict[Place, int],
    ends: Mapping[Place, int],
    times: Results[Place, int | None],
) -> bool:
    """Move what leaders return from `left` to `times`; whether a quota throttled a response.

    A request names a partition once: a leader gets several at once if groups are at different
    offsets of a partition."""
    requests: dict[tuple[int, int], dict[TopicPartition, Place]] = {}
    named = Counter[TopicPartition]()
    for place in left:
        where = place[0]
        requests.setdefault((leading[where], named[where]), {})[where] = place
        named[where] += 1
    calls = [
        Call(_request({where: left[place] for where, place in asked.items()}, size), Node(leader))
        for (leader, _), asked in requests.items()
    ]
    throttled = None
    for asked, response in zip(requests.values(), cluster.send_all(calls), strict=True):
        if not isinstance(response, Failure) and response.throttle_time_ms and not response.rows:
            throttled = response
            continue
        for where, place in asked.items():
            row = response if isinstance(response, Failure) else response.rows.get(where)
            _take(place, row, left, ends, times)
    if throttled is not None:
        wait_out(cluster, throttled)
    return throttled is not None


def _take(
    place: Place,
    row: Failure | tuple[int, bytes] | None,
    left: dict[Place, int],
    ends: Mapping[Place, int],
    times: Results[Place, int | None],
) -> None:
    """Move a place to `times`, or move on to the offset after the batches of this row."""
    where, timestamp = place[0], None
    error = row[0] if isinstance(row, tuple) else row
    why = row_failure(error, f"partition {where}", requires=f"READ on topic {where.topic}")
    if isinstance(row, tuple) and why is None:
        try:
            timestamp, left[place] = first_timestamp(row[1], left[place])
        except ShellError as failed:
            why = as_failure(failed)
        if timestamp is not None and timestamp < 0:
            why = _NO_TIMESTAMP
    if why is not None:
        times.failures[place] = why
    elif timestamp is not None or left[place] >= ends[place]:
        times.values[place] = timestamp
    else:
        return
    del left[place]


def first_timestamp(raw: bytes, start: int) -> tuple[int | None, int]:
    """The timestamp of the first record from `start` on, None if there is none, exact to a second;
    and the offset after these batches. Raises ShellError."""
    end = start
    for batch, at in headers(raw, strict=True):
        end = max(end, batch.last_offset + 1)
        if batch.control or not batch.records or end <= start:
            continue
        near = batch.complete and 0 <= batch.max_timestamp - batch.base_timestamp <= _EXACT_MS
        if (near or batch.base_offset >= start) and not batch.attributes & _DELETE_HORIZON:
            return batch.first_timestamp, end
        timestamp = timestamp_from(batch, body(raw, batch, at), start)
        if timestamp is not None:
            return timestamp, end
    return None, end


# Fetch v10 (Kafka 2.1), read from bytes as ListOffsets is: kafka-python would take longer than the
# brokers.

_FETCH, _VERSIONS, _NOT_FLEXIBLE = 1, (10, 10), 99
_HEAD = struct.Struct(">iiiibii")  # replica, wait, bytes: least, most; isolation; session
_WANTED = struct.Struct(">iiqqi")  # partition, leader epoch, offset, log start, bytes
_ROW = struct.Struct(">ihqqqii")  # partition, error, three offsets, aborted, size of the records
_MOST_BYTES = 16 << 20  # of a response


class _Response(Struct, frozen=True):
    throttle_time_ms: int
    rows: dict[TopicPartition, tuple[int, bytes]]  # error code and batches


def _request(at: Mapping[TopicPartition, int], size: int) -> RawRequest:
    """Read up to `size` bytes of each partition without waiting for more records."""
    wanted = bytearray(_HEAD.pack(-1, 0, 0, _MOST_BYTES, 0, 0, -1))
    topics = by_topic(at)
    wanted += count(len(topics))
    for topic, partitions in topics.items():
        wanted += string(topic) + count(len(partitions))
        for where in partitions:
            wanted += _WANTED.pack(where.partition, -1, at[where], -1, size)
    wanted += count(0)  # forgotten topics
    return RawRequest(_FETCH, _VERSIONS, lambda _: bytes(wanted), _NOT_FLEXIBLE, _read_rows)


def _read_rows(version: int, data: bytes) -> _Response:
    reader = Reader(data)
    throttle_time_ms = reader.int32()
    reader.take(6)  # error code and ID of the session
    rows = {}
    for _ in range(reader.count()):
        topic = reader.string() or ""
        for _ in range(reader.count()):
            number, error, _, _, _, _, size = _ROW.unpack(reader.take(_ROW.size))
            rows[TopicPartition(topic, number)] = error, reader.take(max(0, size))
    return _Response(throttle_time_ms, rows)
