"""Requests for offsets of many partitions (ListOffsets, API key 2), read from bytes: encoding and
decoding them as messages would take ten times longer."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from kafka_shell.admin.wire.frames import Reader, count, string
from kafka_shell.admin.wire.requests import RawRequest

_API_KEY = 2
_NOT_FLEXIBLE = 99  # the versions used here are older than the flexible ones
_ROW = struct.Struct(">ihqqi")  # partition, error, timestamp, offset, leader epoch
_WANTED = struct.Struct(">iiq")  # partition, leader epoch, timestamp
_CONSUMER, _ANY_EPOCH = -1, -1

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
