"""Record batches (message format v2, KIP-98) as records.

The loops read the bytes in place and call nothing per field: reading a topic depends on them. They
return blocks, as a batch of 2 KB can have millions of records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from msgspec import Struct

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.batches import HEADER_BYTES, Batch, headers
from kafka_shell.admin.records.codecs import MOST_BYTES, crc32c, decompress
from kafka_shell.admin.records.model import CREATE_TIME, LOG_APPEND_TIME, Header, Record
from kafka_shell.admin.records.numbers import varint
from kafka_shell.base.errors import ShellError

T = TypeVar("T")

_CRC_AT, _CRC_END = 17, 21
_CODEC_BITS = 0x07
_ABORT_MARKER = b"\0\0"  # the type in the key of a control record, after its version
_LEAST_RECORD = 7  # bytes
_BLOCK, _BLOCK_BYTES = 1_000, 1 << 20  # of records that are returned together, or one record
_MOST_HEADERS = 100_000  # of a record
_ENDS = "its records do not end where the batch ends"


class Filter(Protocol):
    """Which records to return. `may_keep` is asked first, with the bytes of many records: False if
    none of them can be kept, so that they need not be decoded."""

    def may_keep(self, data: bytes) -> bool: ...
    def keeps(self, record: Record) -> bool: ...


class Decoder(Struct, frozen=True):
    """Which records to return (None: all), and how large the records of a batch may be when they
    are decompressed."""

    keep: Filter | None = None
    most_bytes: int = MOST_BYTES


ALL = Decoder()


def data_batches(
    raw: bytes, aborted: Iterable[tuple[int, int]] = ()
) -> Iterator[tuple[Batch, int]]:
    """The complete batches of records with their positions, without transaction markers and
    without aborted transactions: `aborted` has the producer ID and first offset of each, as a
    Fetch response with isolation level read_committed."""
    begin = sorted(((first, producer) for producer, first in aborted), reverse=True)
    hidden: set[int] = set()  # producers in an aborted transaction
    for batch, at in headers(raw, strict=True):
        while begin and begin[-1][0] <= batch.last_offset:
            hidden.add(begin.pop()[1])
        if batch.control:
            if batch.producer_id in hidden and _is_abort(raw, batch, at):
                hidden.discard(batch.producer_id)
        elif not (batch.transactional and batch.producer_id in hidden):
            yield batch, at


def _is_abort(raw: bytes, batch: Batch, at: int) -> bool:
    markers = records(TopicPartition("", 0), batch, body(raw, batch, at))
    return any(each.key and each.key[2:4] == _ABORT_MARKER for block in markers for each in block)


def body(raw: bytes, batch: Batch, at: int, most: int = MOST_BYTES) -> bytes:
    """The decompressed records of the batch at this position. Raises ShellError if it is corrupt,
    or larger than `most` bytes."""
    covered = raw[at + _CRC_END : at + batch.size]
    if crc32c(covered) != int.from_bytes(raw[at + _CRC_AT : at + _CRC_END], "big"):
        raise _corrupt(batch, "its checksum (CRC-32C) does not match")
    try:
        return decompress(batch.attributes & _CODEC_BITS, covered[HEADER_BYTES - _CRC_END :], most)
    except ShellError as error:
        raise ShellError(
            f"batch at offset {batch.base_offset}: {error.message}", code=error.code,
            hint=error.hint,
        ) from error  # fmt: skip


def _corrupt(batch: Batch, why: str) -> ShellError:
    return ShellError(
        f"the batch at offset {batch.base_offset} is corrupt: {why}", code="CORRUPT_MESSAGE"
    )


def records(
    where: TopicPartition, batch: Batch, data: bytes, count: int | None = None
) -> Iterator[list[Record]]:
    """The records of a batch in blocks, from its decompressed bytes, or from those of only `count`
    records. Raises ShellError."""
    count = batch.records if count is None else count
    return _checked(batch, data, count, _records(where, batch, data, count))


def _checked(batch: Batch, data: bytes, count: int, found: Iterator[T]) -> Iterator[T]:
    if not 0 <= count <= len(data) // _LEAST_RECORD:
        raise _corrupt(batch, f"its header has {count:,} records, in {len(data):,} bytes")
    with _reported(batch):
        yield from found


@contextmanager
def _reported(batch: Batch) -> Iterator[None]:
    """Raise ShellError for what the bytes of a batch make impossible."""
    try:
        yield
    except (IndexError, ValueError) as error:
        raise _corrupt(batch, _ENDS if isinstance(error, IndexError) else str(error)) from error


class Piece(Struct, frozen=True):
    """The bytes of consecutive records of a batch, which begin at `start` of its records."""

    data: bytes
    start: int
    records: int


def pieces(batch: Batch, load: Callable[[], bytes], share: int) -> Iterator[Piece]:
    """The records of a batch in pieces of at most `share` bytes, or one record: `load`, which
    decompresses them, is called for each piece, so that only this one takes memory. Raises
    ShellError."""
    start, left = 0, batch.records
    while True:
        data = load()
        if not start and len(data) <= share:
            yield Piece(data, 0, left)
            return
        with _reported(batch):
            end, count = _piece(data, start, left, share)
        piece = [Piece(data[start:end], start, count)]
        del data
        yield piece.pop()  # which is not kept here meanwhile
        start, left = end, left - count
        if not left:
            return


def _piece(data: bytes, start: int, left: int, share: int) -> tuple[int, int]:
    """Where the records end that have at most `share` bytes, and their number: at least one."""
    at = start
    for count in range(left):
        size, begin = varint(data, at)
        end = begin + size
        if count and end > start + share:
            return at, count
        if not at < end <= len(data):
            raise ValueError(_ENDS)
        at = end
    if at != len(data):
        raise ValueError(_ENDS)
    return at, left


def _records(where: TopicPartition, batch: Batch, data: bytes, left: int) -> Iterator[list[Record]]:
    topic, partition = where.topic, where.partition
    base_offset, base_time = batch.base_offset, batch.base_timestamp
    kind, append_time = CREATE_TIME, batch.append_time
    if append_time:
        kind, base_time = LOG_APPEND_TIME, batch.max_timestamp
    key: bytes | None
    value: bytes | None
    at = 0
    while True:
        found: list[Record] = []
        add, stop = found.append, at + _BLOCK_BYTES
        for _ in range(min(left, _BLOCK)):
            number = data[at]
            if number < 128:
                at += 1
                end = at + (number >> 1)
            elif data[at + 1] < 128:
                end = at + 2 + ((number & 127 | data[at + 1] << 7) >> 1)
                at += 2
            else:
                number, at = varint(data, at)
                end = at + number
            at += 1  # the attributes of a record are not used
            number = data[at]
            if number < 128:
                at += 1
                timestamp = (number >> 1) ^ -(number & 1)
            else:
                timestamp, at = varint(data, at)
            timestamp = base_time if append_time else base_time + timestamp
            number = data[at]
            if number < 128:
                at += 1
                offset = base_offset + (number >> 1)
            else:
                number, at = varint(data, at)
                offset = base_offset + number
            number = data[at]
            if number & 1:  # negative, usually -1: null
                while data[at] > 127:
                    at += 1
                at += 1
                key = None
            else:
                if number < 128:
                    at += 1
                    number >>= 1
                else:
                    number, at = varint(data, at)
                key = data[at : at + number]
                at += number
            number = data[at]
            if number & 1:
                while data[at] > 127:
                    at += 1
                at += 1
                value = None
            else:
                if number < 128:
                    at += 1
                    number >>= 1
                elif data[at + 1] < 128:
                    number = (number & 127 | data[at + 1] << 7) >> 1
                    at += 2
                else:
                    number, at = varint(data, at)
                value = data[at : at + number]
                at += number
            if data[at]:
                some, at = _headers(data, at)
                add(Record(topic, partition, offset, timestamp, kind, key, value, some))
            else:
                at += 1
                add(Record(topic, partition, offset, timestamp, kind, key, value))
            if at != end:
                raise ValueError(_ENDS)
            if at > stop:
                break
        left -= len(found)
        if not left and at != len(data):
            raise ValueError(_ENDS)
        yield found
        if not left:
            return


def values(batch: Batch, data: bytes) -> Iterator[list[bytes | None]]:
    """Only the values of a batch, in half of the time."""
    return _checked(batch, data, batch.records, _values(batch.records, data))


def _values(records: int, data: bytes) -> Iterator[list[bytes | None]]:
    at, left = 0, records
    while True:
        found: list[bytes | None] = []
        add, stop = found.append, at + _BLOCK_BYTES
        for _ in range(min(left, _BLOCK)):
            number = data[at]
            if number < 128:
                at += 1
                end = at + (number >> 1)
            elif data[at + 1] < 128:
                end = at + 2 + ((number & 127 | data[at + 1] << 7) >> 1)
                at += 2
            else:
                number, at = varint(data, at)
                end = at + number
            at += 1
            while data[at] > 127:  # the timestamp
                at += 1
            at += 1
            while data[at] > 127:  # the offset
                at += 1
            at += 1
            number = data[at]
            if number & 1:
                while data[at] > 127:
                    at += 1
                at += 1
            elif number < 128:
                at += 1 + (number >> 1)
            else:
                number, at = varint(data, at)
                at += number
            number = data[at]
            if number & 1:
                add(None)
            else:
                if number < 128:
                    at += 1
                    number >>= 1
                elif data[at + 1] < 128:
                    number = (number & 127 | data[at + 1] << 7) >> 1
                    at += 2
                else:
                    number, at = varint(data, at)
                add(data[at : at + number])
                at += number
            if at >= end:
                raise ValueError(_ENDS)
            at = end
            if at > stop:
                break
        left -= len(found)
        if not left and at != len(data):
            raise ValueError(_ENDS)
        yield found
        if not left:
            return


def timestamp_from(batch: Batch, data: bytes, start: int) -> int | None:
    """The timestamp of the first record of a batch that has this offset or a later one, from its
    decompressed bytes; None if it has none. Raises ShellError."""
    at = 0
    skipped = start - batch.base_offset if batch.complete else 0
    with _reported(batch):
        for index in range(batch.records):
            number = data[at]
            if number < 128:
                size, at = number >> 1, at + 1
            else:
                size, at = varint(data, at)
            if index >= skipped:
                timestamp, after = varint(data, at + 1)  # after the attributes
                offset, _ = varint(data, after)
                if batch.base_offset + offset >= start:
                    append_time = batch.append_time
                    return batch.max_timestamp if append_time else batch.base_timestamp + timestamp
            if size <= 0:
                raise ValueError(_ENDS)
            at += size
    return None


def _headers(data: bytes, at: int) -> tuple[tuple[Header, ...], int]:
    count, at = varint(data, at)
    if not 0 <= count <= _MOST_HEADERS:
        raise ValueError(f"a record has {count:,} headers; only {_MOST_HEADERS:,} can be read")
    found: list[Header] = []
    for _ in range(count):
        size, at = varint(data, at)
        if size < 0:
            raise ValueError("the key of a header has a negative length")
        key = data[at : at + size].decode(errors="surrogateescape")
        at += size
        size, at = varint(data, at)
        if size < 0:
            found.append((key, None))
        else:
            found.append((key, data[at : at + size]))
            at += size
    return tuple(found), at
