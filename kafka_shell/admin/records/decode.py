"""Record batches (message format v2, KIP-98) as records.

The loops read the bytes in place and call nothing per field: reading a topic depends on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.errors import ShellError

from .batches import HEADER_BYTES, Batch, headers
from .codecs import crc32c, decompress
from .model import CREATE_TIME, LOG_APPEND_TIME, Header, Record

_CRC_AT, _CRC_END = 17, 21
_CODEC_BITS = 0x07
_ABORT_MARKER = b"\0\0"  # the type in the key of a control record, after its version
_MAX_VARINT = 10  # bytes


def all_records(where: TopicPartition, raw: bytes) -> tuple[list[Record], int]:
    """The records of all complete batches, and the offset after them; 0 if no batch is complete.

    Records of aborted transactions are included, transaction markers are not. Raises ShellError
    for corrupt batches and for message formats older than v2.
    """
    found: list[Record] = []
    after = 0
    for batch, at in headers(raw, strict=True):
        after = batch.last_offset + 1  # from the header, as compaction may have removed records
        if not batch.control:
            found += records(where, batch, body(raw, batch, at))
    return found, after


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
    return any(marker.key is not None and marker.key[2:4] == _ABORT_MARKER for marker in markers)


def body(raw: bytes, batch: Batch, at: int) -> bytes:
    """The decompressed records of the batch at this position. Raises ShellError if corrupt."""
    covered = raw[at + _CRC_END : at + batch.size]
    if crc32c(covered) != int.from_bytes(raw[at + _CRC_AT : at + _CRC_END], "big"):
        raise _corrupt(batch, "its checksum (CRC-32C) does not match")
    try:
        return decompress(batch.attributes & _CODEC_BITS, covered[HEADER_BYTES - _CRC_END :])
    except ShellError as error:
        raise ShellError(
            f"batch at offset {batch.base_offset}: {error.message}", code=error.code
        ) from error


def _corrupt(batch: Batch, why: str) -> ShellError:
    return ShellError(
        f"the batch at offset {batch.base_offset} is corrupt: {why}", code="CORRUPT_MESSAGE"
    )


def records(where: TopicPartition, batch: Batch, data: bytes) -> list[Record]:
    """The records of a batch, from its decompressed bytes."""
    try:
        return _records(where, batch, data)
    except (IndexError, ValueError) as error:
        raise _corrupt(batch, "its records do not end where the batch ends") from error


def _records(where: TopicPartition, batch: Batch, data: bytes) -> list[Record]:
    topic, partition = where.topic, where.partition
    base_offset, base_time = batch.base_offset, batch.base_timestamp
    kind, append_time = CREATE_TIME, batch.append_time
    if append_time:
        kind, base_time = LOG_APPEND_TIME, batch.max_timestamp
    found: list[Record] = []
    add = found.append
    key: bytes | None
    value: bytes | None
    at = 0
    for _ in range(batch.records):
        number = data[at]
        if number < 128:
            at += 1
            end = at + (number >> 1)
        elif data[at + 1] < 128:
            end = at + 2 + ((number & 127 | data[at + 1] << 7) >> 1)
            at += 2
        else:
            number, at = _varint(data, at)
            end = at + number
        at += 1  # the attributes of a record are not used
        number = data[at]
        if number < 128:
            at += 1
            timestamp = (number >> 1) ^ -(number & 1)
        else:
            timestamp, at = _varint(data, at)
        timestamp = base_time if append_time else base_time + timestamp
        number = data[at]
        if number < 128:
            at += 1
            offset = base_offset + (number >> 1)
        else:
            number, at = _varint(data, at)
            offset = base_offset + number
        number = data[at]
        if number == 1:  # -1: null
            at += 1
            key = None
        else:
            if number < 128:
                at += 1
                number >>= 1
            else:
                number, at = _varint(data, at)
            key = data[at : at + number]
            at += number
        number = data[at]
        if number == 1:
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
                number, at = _varint(data, at)
            value = data[at : at + number]
            at += number
        if data[at]:
            some, at = _headers(data, at)
            add(Record(topic, partition, offset, timestamp, kind, key, value, some))
        else:
            at += 1
            add(Record(topic, partition, offset, timestamp, kind, key, value))
        if at != end:
            raise ValueError
    if at != len(data):
        raise ValueError
    return found


def values(batch: Batch, data: bytes) -> list[bytes | None]:
    """Only the values of a batch, in half of the time."""
    try:
        return _values(batch.records, data)
    except (IndexError, ValueError) as error:
        raise _corrupt(batch, "its records do not end where the batch ends") from error


def _values(count: int, data: bytes) -> list[bytes | None]:
    found: list[bytes | None] = []
    add = found.append
    at = 0
    for _ in range(count):
        number = data[at]
        if number < 128:
            at += 1
            end = at + (number >> 1)
        elif data[at + 1] < 128:
            end = at + 2 + ((number & 127 | data[at + 1] << 7) >> 1)
            at += 2
        else:
            number, at = _varint(data, at)
            end = at + number
        at += 1
        while data[at] > 127:  # the timestamp
            at += 1
        at += 1
        while data[at] > 127:  # the offset
            at += 1
        at += 1
        number = data[at]
        if number == 1:
            at += 1
        elif number < 128:
            at += 1 + (number >> 1)
        else:
            number, at = _varint(data, at)
            at += number
        number = data[at]
        if number == 1:
            add(None)
        else:
            if number < 128:
                at += 1
                number >>= 1
            elif data[at + 1] < 128:
                number = (number & 127 | data[at + 1] << 7) >> 1
                at += 2
            else:
                number, at = _varint(data, at)
            add(data[at : at + number])
        at = end
    if at != len(data):
        raise ValueError
    return found


def _headers(data: bytes, at: int) -> tuple[tuple[Header, ...], int]:
    count, at = _varint(data, at)
    if not 0 <= count <= len(data):
        raise ValueError
    found: list[Header] = []
    for _ in range(count):
        size, at = _varint(data, at)
        key = data[at : at + size].decode(errors="surrogateescape")
        at += size
        size, at = _varint(data, at)
        if size < 0:
            found.append((key, None))
        else:
            found.append((key, data[at : at + size]))
            at += size
    return tuple(found), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The signed integer at this position (zigzag), and the position after it."""
    value = shift = 0
    for end in range(at, at + _MAX_VARINT):
        number = data[end]
        value |= (number & 127) << shift
        if number < 128:
            return (value >> 1) ^ -(value & 1), end + 1
        shift += 7
    raise ValueError
