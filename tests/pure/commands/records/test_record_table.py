"""Records in tables of any width, and as pages."""

from __future__ import annotations

import struct
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.records.formats import PLAIN_FORMATS, Formats
from kafka_shell.admin.records.model import CREATE_TIME, Header, Record
from kafka_shell.commands.records.record_table import RecordTable, page
from kafka_shell.output.text import Text

AUTO = Formats()
HOSTILE = "\x1b]0;owned\x07\u202e\u200b\x9b31m\r\n\t".encode()


def record(
    key: bytes | None, value: bytes | None, headers: tuple[Header, ...] = (), offset: int = 1
) -> Record:
    return Record("orders.placed", 0, offset, 1_790_000_000_123, CREATE_TIME, key, value, headers)


def table(width: int | None, *records: Record, with_topic: bool = False) -> list[str]:
    drawn = RecordTable(AUTO, width, records, with_topic=with_topic)
    lines: list[Text] = [*drawn.heading(), *map(drawn.line, records)]
    return [line.plain.rstrip() for line in lines]


def value_cell(value: bytes | None, headers: tuple[Header, ...] = ()) -> str:
    return table(None, record(b"k", value, headers))[1].partition("  k  ")[2].strip()


some_bytes = st.binary(max_size=60) | st.text(max_size=30).map(str.encode)
header_keys = st.binary(max_size=9).map(lambda raw: raw.decode(errors="surrogateescape"))
records = st.builds(
    Record,
    topic=st.just("orders"),
    partition=st.integers(0, 2**31 - 1),
    offset=st.integers(0, 2**63 - 1),
    timestamp=st.integers(-1, 2**63 - 1),
    timestamp_type=st.just(CREATE_TIME),
    key=st.none() | some_bytes | st.just(HOSTILE),
    value=st.none() | some_bytes | st.just(b'{"a":"' + HOSTILE + b'"}'),
    headers=st.lists(st.tuples(header_keys, st.none() | some_bytes), max_size=4).map(tuple),
)
widths = st.none() | st.integers(1, 200)
formats = st.builds(Formats, st.sampled_from(PLAIN_FORMATS), st.sampled_from(PLAIN_FORMATS))


@given(first=records, second=records, formats=formats, width=widths, with_topic=st.booleans())
def test_a_record_is_one_printable_line_that_fits(
    first: Record, second: Record, formats: Formats, width: int | None, with_topic: bool
) -> None:
    drawn = RecordTable(formats, width, [first], with_topic=with_topic)
    for each in (first, second):
        line = drawn.line(each)
        assert line.plain.isprintable()
        assert width is None or line.width <= width


@given(record=records, formats=formats, width=widths)
def test_a_page_is_printable(record: Record, formats: Formats, width: int | None) -> None:
    for line in page(record, formats, width):
        assert line.plain.isprintable()


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (b"text", "text"),
        (b"", '""'),
        (None, "(tombstone)"),
        (b"two\nlines", r"two\nlines"),
        (b"\x1b[31mred", r"\x1b[31mred"),
        (b'{\n "a": 1.50\n}', '{"a":1.50}'),
        (b"\0\xff", "0x00ff"),
        (struct.pack(">q", 42), "42"),
    ],
)
def test_values_on_one_line(value: bytes | None, shown: str) -> None:
    assert value_cell(value) == shown


def test_a_line_has_a_largest_width_without_a_terminal() -> None:
    value, most = b"v" * (3 << 20), 1 << 20
    assert table(None, record(b"k", value, (("trace", b"abc"),)))[1].endswith("vv…  trace=abc")
    for headers in ((("h", value),), (("h" * len(value), None),), (("h", b"v"),) * 300_000):
        assert most - 2 <= len(value_cell(b"v", headers)) <= most
    _, line = page(record(None, value), AUTO, None)
    assert line.width > len(value)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":"' + rb"\u0001" * 150_000 + b'"}',
        b"[" * 400 + b"1" + b",1" * 200_000 + b"]" * 400,
    ],
    ids=["string", "nested"],
)
def test_printing_a_record_takes_little_memory(raw: bytes) -> None:
    for drawn in (page, lambda *given: [RecordTable(AUTO, None).line(given[0])]):
        tracemalloc.start()
        try:
            for _ in drawn(record(None, raw), AUTO, None):
                pass
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 50 << 20


def test_a_page_is_not_much_larger_than_its_record() -> None:
    headers = (("h" * 100_000, b"v"), *(("h", b"v"),) * 1000)
    assert sum(len(line.plain) for line in page(record(None, b"v", headers), AUTO, None)) < 300_000


def test_headers_are_behind_the_value() -> None:
    headers = (("trace", b"a b"), ("raw", b"\xff"), ("none", None))
    assert value_cell(b"v", headers) == "v  trace=a b raw=0xff none=-"


def test_headers_have_room_beside_a_long_value_in_a_wide_terminal() -> None:
    placed = record(b"k", b"v" * 500, (("trace", b"abc"),))
    assert table(130, placed)[1].endswith("vv…  trace=abc")
    assert table(60, placed)[1].endswith("vvv…")
    assert table(60, record(b"k", b"v", placed.headers))[1].endswith("v  trace=abc")


def test_a_narrow_table_keeps_room_for_the_value() -> None:
    heading, line = table(60, record(b"a long key of an order", b"v" * 500))
    assert heading.split() == ["P", "OFFSET", "TIME", "KEY", "VALUE"]
    assert line.count("v") >= 20
    assert "a long" in line


def test_a_problem_is_before_the_bytes() -> None:
    drawn = RecordTable(Formats(value="int32"), None)
    line = drawn.line(record(None, b"abcde")).plain
    assert line.endswith("-         (int32 requires 4 bytes, got 5) 0x6162636465")


def test_a_page_has_the_whole_record() -> None:
    placed = record(b"o-1", b'{"amount":1.50,"n":[]}', (("trace", b"abc"), ("t", None)), offset=7)
    lines = [line.plain for line in page(placed, AUTO, 80)]
    assert lines[0].startswith("orders.placed:0 offset 7   2026-09-21T")
    assert lines[0].endswith("CreateTime")
    assert lines[1:] == [
        "key      o-1",
        "headers  trace  abc",
        "         t      -",
        "value    json, 22 B",
        "  {",
        '    "amount": 1.50,',
        '    "n": []',
        "  }",
    ]


def test_a_page_dumps_bytes() -> None:
    *_, first, second = page(record(None, bytes(range(0x3C, 0x3C + 8)) + b"\xff\0"), AUTO, 60)
    assert first.plain == "  00000000  3c 3d 3e 3f 40 41 42 43  <=>?@ABC"
    assert second.plain == "  00000008  ff 00                    .."


def test_a_record_of_an_internal_topic_is_drawn_without_its_frame() -> None:
    key = b"\0\x01" + b"\0\x07billing" + b"\0\x06orders" + b"\0\0\0\x03"
    value = b"\0\x00" + struct.pack(">q", 42) + b"\0\0" + struct.pack(">q", 1)
    commit = Record("__consumer_offsets", 0, 1, 0, CREATE_TIME, key, value)
    line = table(100, commit)[1]
    assert '  OffsetCommit billing orders 3  {"offset":42,"metadata":""' in line


def test_a_hostile_group_is_escaped() -> None:
    group = HOSTILE.decode()
    key = b"\0\x02" + struct.pack(">h", len(HOSTILE)) + HOSTILE
    line = table(None, Record("__consumer_offsets", 0, 1, 0, CREATE_TIME, key, None))[1]
    assert line.isprintable()
    assert group not in line
