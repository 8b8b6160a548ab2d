"""Log sizes read from bytes: decoding them as messages would take ten times longer on a cluster
with 10,000 topics."""

from __future__ import annotations

import struct

from kafka_shell.admin.wire.frames import Reader, count
from kafka_shell.admin.wire.requests import RawRequest

_DESCRIBE_LOG_DIRS = 35
_NOT_FLEXIBLE = 99  # the versions used here are older than the flexible ones
_SIZE = struct.Struct(">iqq?")  # partition, bytes, offset lag, future


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
            for topic, rows in reader.topics(_SIZE):
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
