"""What the bytes of keys and values are recognized and decoded as."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.records.formats import PLAIN_FORMATS, Decoded, Formats, recognize
from kafka_shell.admin.records.model import CREATE_TIME, Record
from kafka_shell.base.errors import UsageError


def record(key: bytes | None, value: bytes | None) -> Record:
    return Record("orders", 0, 1, 0, CREATE_TIME, key, value)


@pytest.mark.parametrize(
    ("raw", "kind", "data"),
    [
        (b"", "string", ""),
        (b"abc", "string", "abc"),
        ("Zoë €".encode(), "string", "Zoë €"),
        (b"two\nlines\tof text\r\n", "string", "two\nlines\tof text\r\n"),
        (b"\x1b[31mred\x1b[0m log", "string", "\x1b[31mred\x1b[0m log"),
        (b'{"a":1}', "json", {"a": 1}),
        (b' {"a":1}', "string", ' {"a":1}'),
        (b"[1, 2]", "json", [1, 2]),
        (b'{"a":', "string", '{"a":'),
        (b"[warn] disk", "string", "[warn] disk"),
        (b"42", "string", "42"),
        (b"null", "string", "null"),
        (b'"abc"', "string", '"abc"'),
        (b"[" * 200_000, "string", "[" * 200_000),
        (struct.pack(">q", 4711), "int64", 4711),
        (struct.pack(">q", -2), "int64", -2),
        (struct.pack(">q", 1_790_000_000_000), "int64", 1_790_000_000_000),
        (struct.pack(">q", 0), "int64", 0),
        (struct.pack(">i", 7), "int32", 7),
        (struct.pack(">i", -7), "int32", -7),
        (b"12345678", "string", "12345678"),
        (b"\x8d\x1c\x99\x10\x8d\x1c\x99\x10", "bytes", b"\x8d\x1c\x99\x10\x8d\x1c\x99\x10"),
        (b"\0\0\0", "bytes", b"\0\0\0"),
        (b"text \xff", "bytes", b"text \xff"),
        (b"a\0b", "bytes", b"a\0b"),
        (b'{"a":"\xff"}', "bytes", b'{"a":"\xff"}'),
    ],
)
def test_auto_recognizes(raw: bytes, kind: str, data: object) -> None:
    assert recognize(raw) == Decoded(data, kind)


@pytest.mark.parametrize(
    ("name", "raw", "expected"),
    [
        ("json", b"42", Decoded(42, "json")),
        ("json", b' "a" ', Decoded("a", "json")),
        ("json", b"nope", Decoded("nope", "string", "not valid JSON")),
        ("json", b"\xff", Decoded(b"\xff", "bytes", "not valid JSON")),
        ("string", b'{"a":1}', Decoded('{"a":1}', "string")),
        ("string", b"\0", Decoded("\0", "string")),
        ("string", b"\xff", Decoded(b"\xff", "bytes", "not valid UTF-8")),
        ("hex", b"\x00\xff", Decoded("00ff", "hex")),
        ("base64", b"\x00\xff", Decoded("AP8=", "base64")),
        ("int32", b"\x80\x00\x00\x00", Decoded(-(2**31), "int32")),
        ("int32", b"12345", Decoded(b"12345", "bytes", "int32 requires 4 bytes, got 5")),
        ("int64", b"12345678", Decoded(0x3132333435363738, "int64")),
        ("double", struct.pack(">d", 1.5), Decoded(1.5, "double")),
        ("double", struct.pack(">d", float("nan")), Decoded("NaN", "double")),
        ("double", struct.pack(">d", float("-inf")), Decoded("-Infinity", "double")),
    ],
)
def test_a_requested_format_is_used_or_says_why_not(
    name: str, raw: bytes, expected: Decoded
) -> None:
    formats = Formats(key=name, value=name)
    assert formats.key(record(raw, None)) == expected
    assert formats.value(record(None, raw)) == expected


def test_key_and_value_have_formats_of_their_own() -> None:
    formats = Formats(key="int32", value="hex")
    both = record(b"\0\0\0\x05", b"\0\0\0\x05")
    assert formats.key(both).data == 5
    assert formats.value(both).data == "00000005"


@pytest.mark.parametrize("name", PLAIN_FORMATS)
def test_null_is_null_in_every_format(name: str) -> None:
    formats = Formats(key=name, value=name)
    tombstone = record(None, None)
    assert formats.key(tombstone) == formats.value(tombstone) == Decoded(None, "null")


@given(raw=st.binary(max_size=40), name=st.sampled_from(PLAIN_FORMATS))
def test_no_bytes_are_too_strange(raw: bytes, name: str) -> None:
    found = Formats(value=name).value(record(None, raw))
    if found.kind == "bytes":
        assert found.data == raw
    if found.problem:
        assert found.kind in ("bytes", "string")


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(UsageError, match="unknown format jsn") as caught:
        Formats(value="jsn")
    assert caught.value.hint == "Did you mean json?"


# -- internal topics: tests/differential compares what is decoded with Kafka -----------------------


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        (b"\0\x63", b"", "unknown record type 99"),
        (b"", b"", "the value ends too early"),
        (b"\0\x01\0\x01g\0\x01t\0\0\0\0", b"\0\x09", "version 9 of OffsetCommit is not supported"),
        (b"\0\x01\0\x01g\0\x01t\0\0\0\0", b"\0\x03\0", "the value ends too early"),
    ],
)
def test_other_records_of_internal_topics_are_bytes(key: bytes, value: bytes, problem: str) -> None:
    found = Formats().value(Record("__consumer_offsets", 0, 0, 0, CREATE_TIME, key, value))
    assert found == Decoded(value, "bytes", problem)


def test_an_internal_topic_can_be_read_in_another_format() -> None:
    record = Record("__consumer_offsets", 0, 0, 0, CREATE_TIME, b"\0\x02\0\x01g", b"\0\x03")
    assert Formats(value="hex").value(record).data == "0003"
    assert Formats().key(record).data == {"type": 2, "data": {"group": "g"}}


@given(
    topic=st.sampled_from(["__consumer_offsets", "__transaction_state", "__share_group_state"]),
    kind=st.integers(0, 24),
    version=st.integers(0, 4),
    key=st.binary(max_size=40),
    value=st.binary(max_size=60),
)
def test_any_bytes_of_internal_topics_are_decoded_or_have_a_problem(
    topic: str, kind: int, version: int, key: bytes, value: bytes
) -> None:
    of, held = struct.pack(">h", kind) + key, struct.pack(">h", version) + value
    record = Record(topic, 0, 0, 0, CREATE_TIME, of, held)
    for raw, found in ((of, Formats().key(record)), (held, Formats().value(record))):
        if found.kind == "bytes":
            assert found.data == raw
            assert found.problem
        else:
            assert not found.problem
