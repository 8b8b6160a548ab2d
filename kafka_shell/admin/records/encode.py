"""Record batches as they are written: message format v2 (KIP-82, 98)."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from msgspec import Struct

from kafka_shell.admin.records.codecs import compress, crc32c
from kafka_shell.admin.records.model import NewRecord, Record
from kafka_shell.admin.records.numbers import zigzag

_MAGIC = 2
# Before the checksum: base offset, length of the rest, leader epoch, magic, CRC-32C.
_HEAD = struct.Struct(">qiibI")
# With checksum: attributes, last offset delta, base and max timestamp, producer ID and epoch, base
# sequence, number of records.
_BODY = struct.Struct(">hiqqqhii")
_LENGTH_AFTER = 12  # the length does not count itself and what is before it
_SMALL = 1 << 12
_CONTROL = 0x20  # an attribute
_NULL = b"\x01"  # the length -1
_SEQUENCES = 1 << 31  # the number of sequence numbers; after the last one follows 0
TIMESTAMPS = range(-(1 << 63), 1 << 63)
"""The timestamps (epoch milliseconds) that a batch can contain."""


class ProducerId(Struct, frozen=True):
    """The ID and epoch of an idempotent producer."""

    id: int
    epoch: int


NO_PRODUCER = ProducerId(-1, -1)


_VARINTS = [zigzag(value) for value in range(_SMALL)]


def varint(value: int) -> bytes:
    """A signed integer in zigzag encoding, as in the fields of a record."""
    return _VARINTS[value] if 0 <= value < _SMALL else zigzag(value)


def next_sequence(sequence: int, records: int) -> int:
    """The sequence number after so many records."""
    return (sequence + records) % _SEQUENCES


def encoded_size(record: NewRecord | Record) -> int:
    """At least so many bytes as the record has in an uncompressed batch."""
    size = 32 + len(record.key or b"") + len(record.value or b"")
    for key, value in record.headers:
        size += 10 + 4 * len(key) + len(value or b"")
    return size


def encode_batch(
    records: Sequence[NewRecord],
    *,
    now: int,
    codec: int = 0,
    producer: ProducerId = NO_PRODUCER,
    sequence: int = -1,
    control: bool = False,
) -> bytes:
    """The records as one batch. `now` (epoch milliseconds) is the timestamp of those without.
    The records of a `control` batch are messages of brokers to each other."""
    times = [now if each.timestamp is None else each.timestamp for each in records]
    base = times[0]
    raw = b"".join(
        _record(number, times[number] - base, record) for number, record in enumerate(records)
    )
    attributes = codec | _CONTROL if control else codec
    body = _BODY.pack(
        attributes, len(records) - 1, base, max(times), producer.id, producer.epoch, sequence,
        len(records),
    )  # fmt: skip
    body += compress(codec, raw)
    length = _HEAD.size - _LENGTH_AFTER + len(body)
    return _HEAD.pack(0, length, -1, _MAGIC, crc32c(body)) + body


def _record(number: int, after: int, record: NewRecord) -> bytes:
    key, value, headers = record.key, record.value, record.headers
    parts = [
        b"\0",  # attributes
        varint(after),
        varint(number),
        _NULL if key is None else varint(len(key)) + key,
        _NULL if value is None else varint(len(value)) + value,
        varint(len(headers)),
    ]
    for name, content in headers:
        encoded = name.encode("utf-8", "surrogateescape")
        parts.append(varint(len(encoded)) + encoded)
        parts.append(_NULL if content is None else varint(len(content)) + content)
    body = b"".join(parts)
    return varint(len(body)) + body
