"""End offsets and log sizes read from bytes: decoding them as messages would take ten times longer
on a cluster with 10,000 topics."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence

from kafka_shell.admin.wire.frames import Reader, count, string
from kafka_shell.admin.wire.requests import RawRequest

_LIST_OFFSETS, _DESCRIBE_LOG_DIRS = 2, 35
_NOT_FLEXIBLE = 99  # the versions used here are older than the flexible ones
_END = struct.Struct(">ihqqi")  # partition, error, timestamp, offset, leader epoch
_SIZE = struct.Struct(">iqq?")  # partition, bytes, offset lag, future
_WANTED = struct.Struct(">iiq")  # partition, leader epoch, timestamp
_CONSUMER, _UNCOMMITTED, _ANY_EPOCH, _LATEST = -1, 0, -1, -1

Ends = dict[tuple[str, int], tuple[int, int]]
"""(error code, log end offset) by topic and partition."""


def ends_request(partitions: Mapping[str, Sequence[int]]) -> RawRequest:
    """ListOffsets (API key 2) v4 and v5 for the ends of these partitions; the response is Ends."""
    return RawRequest(
        _LIST_OFFSETS, (4, 5), lambda _: _ends_body(partitions), _NOT_FLEXIBLE, _read_ends
    )


def _ends_body(partitions: Mapping[str, Sequence[int]]) -> bytes:
    out = bytearray(struct.pack(">ib", _CONSUMER, _UNCOMMITTED) + count(len(partitions)))
    for topic, numbers in partitions.items():
        out += string(topic) + count(len(numbers))
        for number in numbers:
            out += _WANTED.pack(number, _ANY_EPOCH, _LATEST)
    return bytes(out)


def _read_ends(version: int, body: bytes) -> Ends:
    reader = Reader(body)
    reader.int32()  # throttle time
    return {
        (topic, number): (error, offset)
        for topic, rows in _topics(reader, _END)
        for number, error, _, offset, _ in rows
    }


class LogSizes:
    """The bytes of the replicas of a broker by topic and partition, and their `total`.

    `refused` is whether the user may not DESCRIBE the cluster; `offline` is the number of log
    directories with errors.
    """

    def __init__(self, body: bytes) -> None:
        reader = Reader(body)
        reader.int32()  # throttle time
        directories = reader.count()
        self.refused = not directories
        self.offline = 0
        self.total = 0
        self.replicas: dict[tuple[str, int], int] = {}
        for _ in range(directories):
            self.offline += bool(reader.int16())
            reader.string()  # path
            for topic, rows in _topics(reader, _SIZE):
                for number, size, _, future in rows:
                    self.total += size
                    if not future:
                        self.replicas[topic, number] = size


def sizes_request() -> RawRequest:
    """DescribeLogDirs (API key 35) v1 for all replicas of a broker; the response is LogSizes.

    A refusal in v1 is a response without directories.
    """
    return RawRequest(
        _DESCRIBE_LOG_DIRS, (1, 1), lambda _: count(None), _NOT_FLEXIBLE,
        lambda _, body: LogSizes(body),
    )  # fmt: skip


def _topics(reader: Reader, row: struct.Struct) -> Iterator[tuple[str, Iterator[tuple[int, ...]]]]:
    """Each topic with its rows of a fixed size."""
    for _ in range(reader.count()):
        name = reader.string() or ""
        yield name, row.iter_unpack(reader.take(reader.count() * row.size))
