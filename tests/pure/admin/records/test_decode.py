"""Batches whose counts and lengths are wrong, and batches that are larger than they look."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import Any

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records import codecs, decode
from kafka_shell.admin.records.batches import headers
from kafka_shell.admin.records.fetching import Chunk, Span
from kafka_shell.admin.records.model import Record
from kafka_shell.admin.records.read import Reading, loaded
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Results
from tests.support.crafted_batches import batch, packed, record, value, varint

WHERE = TopicPartition("orders", 3)
NO_KEY, NO_VALUE, NO_HEADERS = varint(-1), varint(-1), varint(0)


def blocks(raw: bytes, *, values: bool = False) -> Any:
    ((header, at),) = headers(raw)
    data = decode.body(raw, header, at)
    return decode.values(header, data) if values else decode.records(WHERE, header, data)


@pytest.mark.parametrize("length", [-1, -2, -64, -65, -(2**31)])
def test_any_negative_length_is_null(length: int) -> None:
    raw = batch(record(varint(length) * 2 + NO_HEADERS))
    assert [(each.key, each.value) for each in next(blocks(raw))] == [(None, None)]
    assert list(blocks(raw, values=True)) == [[None]]


def _only_text(value: object) -> str:
    return value if isinstance(value, str) else ""


ENDS = "its records do not end where the batch ends"
JUMP = varint(60_000)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (batch(value(b""), 2**31 - 1), "its header has 2,147,483,647 records, in 7 bytes"),
        (batch(value(b""), -1), "its header has -1 records, in 7 bytes"),
        (batch(b"", -1), "its header has -1 records, in 0 bytes"),
        (batch(value(b""), 0), ENDS),
        (batch(value(b"") * 3, 2), ENDS),
        (batch(value(b"a" * 9), 2), ENDS),
        (batch(record(NO_KEY + varint(2**31 - 1) + b"abc")), ENDS),
        (batch(varint(-5) + value(b"a" * 20)[1:]), ENDS),  # a record of a negative length
        (batch(varint(2**40) + value(b"a" * 20)[1:]), ENDS),
        (batch(b"\xff" * 100), "an integer has more than 10 bytes"),
        (batch(value(b"a"))[:-1] + b"\2", "its checksum (CRC-32C) does not match"),
    ],
    ids=_only_text,
)
def test_counts_and_lengths_beyond_the_batch_are_rejected(raw: bytes, why: str) -> None:
    for values in (False, True):
        with pytest.raises(ShellError) as error:
            list(blocks(raw, values=values))
        assert error.value.message == f"the batch at offset 0 is corrupt: {why}"
        assert error.value.code == "CORRUPT_MESSAGE"


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        (varint(-1), "a record has -1 headers"),
        (varint(20_000_000) + b"\0\1" * 20, "a record has 20,000,000 headers; only 100,000"),
        (varint(99_999) + JUMP + b"a" * 60_000 + varint(-1) + varint(-60_003) * 99_999,
         "the key of a header has a negative length"),
        (varint(2) + varint(3) + b"key" + varint(9), ENDS),
    ],
    ids=_only_text,
)  # fmt: skip
def test_headers_beyond_the_record_are_rejected(headers: bytes, why: str) -> None:
    raw = batch(record(NO_KEY + NO_VALUE + headers), codec=codecs.ZSTD)
    with pytest.raises(ShellError, match=why):
        list(blocks(raw))


def test_records_are_decoded_in_blocks() -> None:
    raw = batch(value(b"") * 3_000_000, 3_000_000, codec=codecs.ZSTD)
    assert len(raw) < 3_000
    for values in (False, True):
        assert len(next(blocks(raw, values=values))) == 1_000
    large = batch(value(bytes(1 << 20)) * 5, 5, codec=codecs.ZSTD)
    for values in (False, True):
        assert list(map(len, blocks(large, values=values))) == [1, 1, 1, 1, 1]


@pytest.mark.parametrize("share", [1, 8, 100, 30_000, 1 << 20])
@pytest.mark.parametrize("span", [(0, 9), (3, 6)])
def test_records_that_wait_take_only_their_share(share: int, span: tuple[int, int]) -> None:
    sizes = [0, 5, 90, 20_000, 3, 200, 25_000, 0, 1]
    content = b"".join(value(bytes(size), offset) for offset, size in enumerate(sizes))
    raw = batch(content, len(sizes), codec=codecs.ZSTD)
    chunk = Chunk(WHERE, raw, *span, span[1])
    ((header, at),) = chunk.batches()
    load = partial(decode.body, raw, header, at)
    waiting = list(chunk.waiting(header, load, decode.ALL, share))
    for block in waiting:
        small = [record for record in block if isinstance(record, Record)]
        assert sum(len(record.value or b"") for record in small) <= share
    found = [record for block in waiting for some in loaded(block) for record in some]
    assert found == list(chain.from_iterable(chunk.records(header, at)))
    assert [record.offset for record in found] == list(range(*span))


@pytest.mark.parametrize("content", [value(b"a" * 99)[:-1], value(b"a" * 99) * 3, b"\xff" * 100])
def test_records_that_wait_do_not_hide_a_corrupt_batch(content: bytes) -> None:
    raw = batch(content, 2, codec=codecs.ZSTD)
    ((header, at),) = headers(raw)
    with pytest.raises(ShellError, match="is corrupt"):
        load = partial(decode.body, raw, header, at)
        list(Chunk(WHERE, raw, 0, 9, 9).waiting(header, load, decode.ALL, 50))


def test_reading_continues_behind_batches_that_cannot_be_decoded() -> None:
    bomb = packed(b"\xff\xff\xff\xff\x0f", 1, codecs.SNAPPY, 5)
    raw = batch(value(b"a"), base=4) + bomb + batch(b"", base=6) + batch(value(b"b"), base=7)
    reading = Reading(None, Results({WHERE: Span(4, 8)}))  # type: ignore[arg-type]
    none: Any = None
    for _ in range(2):  # a batch may be read twice
        found: list[list[Record]] = list(reading.blocks(none, Chunk(WHERE, raw, 4, 8, 8)))
        assert [(each.offset, each.value) for block in found for each in block] == [
            (4, b"a"), (7, b"b"),
        ]  # fmt: skip
        why = reading.failures[WHERE]
        assert why.name == "too-large"
        assert why.message == (
            "partition orders:3: batch at offset 5: records are larger than 64MiB when"
            " decompressed; 1 other batch cannot be read, either"
        )
