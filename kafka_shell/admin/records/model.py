"""Records as they are read from and written to partitions."""

from __future__ import annotations

from msgspec import Struct

Header = tuple[str, bytes | None]
"""A header of a record: its key and value. Keys may repeat."""

CREATE_TIME = "CreateTime"
LOG_APPEND_TIME = "LogAppendTime"


class Record(Struct, frozen=True):
    """One record of a partition. `timestamp` is epoch milliseconds, -1 if it has none; a key or
    value of None is null: a null value is a tombstone. `timestamp_type` is CreateTime or
    LogAppendTime."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    timestamp_type: str
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()


class NewRecord(Struct, frozen=True):
    """A record to write. Without a `partition`, the key decides; without a `timestamp` (epoch
    milliseconds), it is the time of writing."""

    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    partition: int | None = None
    timestamp: int | None = None


Numbered = tuple[int, NewRecord]
"""A record with the number of its line."""
