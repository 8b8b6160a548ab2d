"""Records as rows of JSON, and back to the same bytes."""

from __future__ import annotations

import json
from base64 import b64decode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_shell.admin.records.formats import PLAIN_FORMATS, Formats
from kafka_shell.admin.records.model import CREATE_TIME, Header, NewRecord, Record
from kafka_shell.base.errors import ShellError
from kafka_shell.commands.records.row import json_line, parse_row

AUTO = Formats()


def record(
    value: bytes | None, key: bytes | None = None, headers: tuple[Header, ...] = (), time: int = 0
) -> Record:
    return Record("orders", 3, 42, time, CREATE_TIME, key, value, headers)


def row(value: bytes | None, formats: Formats = AUTO) -> dict[str, object]:
    found: dict[str, object] = json.loads(json_line(record(value), formats))
    return found


def _spellings(value: object) -> list[bytes]:
    return [
        json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode(),
        json.dumps(value).encode(),
        json.dumps(value, indent=1).encode(),
    ]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
json_texts = json_values.map(_spellings).flatmap(st.sampled_from)
# What looks like JSON, and mistakes that a reader of JSON could make.
json_like = st.text(alphabet='{}[]",:0123456789.eE+-truefalsn\\ \n', max_size=12).map(str.encode)
some_bytes = st.binary(max_size=20) | st.text(max_size=10).map(str.encode) | json_texts | json_like
# Keys of headers that are not UTF-8 have surrogates for the bytes that are not.
header_keys = st.binary(max_size=5).map(lambda raw: raw.decode(errors="surrogateescape"))
headers = st.lists(st.tuples(header_keys, st.none() | some_bytes), max_size=3).map(tuple)


@given(
    key=st.none() | some_bytes,
    value=st.none() | some_bytes,
    headers=headers,
    time=st.integers(-1, 2**53),
    key_format=st.sampled_from(PLAIN_FORMATS),
    value_format=st.sampled_from(PLAIN_FORMATS),
)
@example(None, b"null", (), -1, "auto", "json")
@example(b"", b'"abc"', (("", b"\xff"), ("", None)), 0, "json", "json")
def test_a_row_is_read_back_as_the_same_bytes(
    key: bytes | None,
    value: bytes | None,
    headers: tuple[Header, ...],
    time: int,
    key_format: str,
    value_format: str,
) -> None:
    line = json_line(record(value, key, headers, time), Formats(key_format, value_format))
    expected = NewRecord(key, value, headers, 3, None if time == -1 else time)
    assert parse_row(line) == expected
    assert "\n" not in line
    # jq and others read and write the row.
    assert parse_row(json.dumps(json.loads(line), ensure_ascii=False)) == expected


@given(value=some_bytes)
def test_text_that_is_not_decoded_first_makes_the_same_row(value: bytes) -> None:
    quick = json_line(record(value, value), AUTO)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kafka_shell.commands.records.row._plain_text", lambda raw: None)
        assert json_line(record(value, value), AUTO) == quick


@given(value=some_bytes)
def test_base64_is_only_added_if_the_text_is_not_faithful(value: bytes) -> None:
    found = row(value)
    if "value_base64" in found:
        assert b64decode(str(found["value_base64"])) == value
        with pytest.raises(UnicodeDecodeError):
            if len(value) not in (4, 8):  # not an integer
                value.decode()
            raise UnicodeDecodeError("utf-8", value, 0, 1, "an integer")
    else:
        assert isinstance(found["value"], str | list | dict)


def test_the_fields_of_a_row() -> None:
    line = json_line(
        Record(
            "orders", 3, 42, 1_790_000_000_123, CREATE_TIME, b"k", b'{"amount":5}',
            (("trace", b"abc"), ("trace", None), ("raw", b"\xff")),
        ),
        AUTO,
    )  # fmt: skip
    assert line == (
        '{"topic":"orders","partition":3,"offset":42,"timestamp":"2026-09-21T14:13:20.123Z",'
        '"timestamp_type":"CreateTime","key":"k","value":{"amount":5},"headers":['
        '{"key":"trace","value":"abc"},{"key":"trace","value":null},'
        '{"key":"raw","value":"\ufffd","value_base64":"/w=="}]}'
    )


@pytest.mark.parametrize(
    "value",
    [
        b'{"id":9007199254740993}',
        b'{"id":12345678901234567890123}',
        b'{"a":1,"a":2}',
        b'{"a": 1}',
        b'{"a":1}\n',
        b'{"a":1e2}',
        b"[1.10]",
        b"[-0]",
        b"[1e16]",
        b'["\x7f"]',
        b'["\\u0041"]',
    ],
)
def test_json_that_another_program_would_change_is_a_string(value: bytes) -> None:
    assert row(value)["value"] == value.decode()
    assert "value_base64" not in row(value)


def test_an_order_id_of_many_digits_in_a_string_is_embedded() -> None:
    assert row(b'{"id":"41111111111111111111"}')["value"] == {"id": "41111111111111111111"}


def test_deep_json_is_embedded_up_to_a_limit() -> None:
    assert isinstance(row(b"[" * 100 + b"]" * 100)["value"], list)
    assert isinstance(row(b"[" * 101 + b"]" * 101)["value"], str)


@pytest.mark.parametrize(("value", "shown"), [(b"42", 42), (b"true", True), (b"1.5", 1.5)])
def test_json_scalars_are_embedded_if_requested(value: bytes, shown: object) -> None:
    assert row(value, Formats(value="json"))["value"] == shown
    assert row(value)["value"] == value.decode()


@pytest.mark.parametrize("value", [b"null", b'"abc"'])
def test_json_strings_and_null_are_never_embedded(value: bytes) -> None:
    assert row(value, Formats(value="json"))["value"] == value.decode()


def test_decoded_values_have_their_bytes() -> None:
    found = row(b"\0\0\0\0\0\0\x12\x67")
    assert (found["value"], found["value_base64"]) == (4711, "AAAAAAAAEmc=")
    assert row(b"ab", Formats(value="hex"))["value"] == "6162"


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        (-1, None),
        (0, "1970-01-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (253_402_300_800_000, 253_402_300_800_000),
        (2**63 - 1, 2**63 - 1),
    ],
)
def test_times_are_utc_with_milliseconds(time: int, shown: object) -> None:
    found = json.loads(json_line(record(b"", time=time), AUTO))
    assert found["timestamp"] == shown


# -- rows written by people and other programs -----------------------------------------------------


def test_what_was_written_is_kept_but_for_spaces() -> None:
    written = parse_row('{"value": {"n": 12345678901234567890.10, "s": "\\u00e9"}, "key": "k"}')
    assert written == NewRecord(b"k", b'{"n":12345678901234567890.10,"s":"\\u00e9"}')


def test_a_zone_other_than_utc_is_read() -> None:
    assert parse_row('{"value":"","timestamp":"2026-01-31T11:00:00.001+01:00"}').timestamp == (
        parse_row('{"value":"","timestamp":"2026-01-31T10:00:00.001Z"}').timestamp
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not a row of a record"),
        ("abc", "not a row of a record"),
        ("[1]", "not a row of a record"),
        ('{"key":"k"}', "the row has no value"),
        ('{"valeu":"v"}', "valeu"),
        ('{"value":"v","headers":{"a":"b"}}', "headers"),
        ('{"value":"v","headers":[{"key":"a"}]}', "value"),
        ('{"value":"v","headers":[{"key":null,"value":"b"}]}', "key"),
        ('{"value":"\\ud800"}', "not a row of a record"),
        ('{"value":"v","partition":"0"}', "partition"),
        ('{"value":"v","timestamp":"yesterday"}', "timestamp is not a time with a zone"),
        ('{"value":"v","timestamp":"2026-01-31T10:00:00"}', "timestamp is not a time with a zone"),
        ('{"value":"v","timestamp":9223372036854775808}', "timestamp is out of range"),
        ('{"value":"v","timestamp":-9223372036854775809}', "timestamp is out of range"),
        ('{"value":"v","value_base64":"?"}', "value_base64 is not valid base64"),
        ('{"value":' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ('{"value":"\udcff"}', "not a row of a record"),
    ],
)
def test_an_invalid_row_says_what_is_wrong(text: str, problem: str) -> None:
    with pytest.raises(ShellError) as caught:
        parse_row(text)
    assert problem in caught.value.message
    assert caught.value.code == "bad-row"
    assert "\n" not in caught.value.message


@given(st.text(max_size=30) | json_texts.map(bytes.decode))
def test_any_text_is_a_row_or_an_error(text: str) -> None:
    try:
        parse_row(text)
    except ShellError as error:
        assert error.code == "bad-row"


@pytest.mark.parametrize("name", ["key", "value"])
def test_null_with_other_bytes_is_no_tombstone_of_a_schema(name: str) -> None:
    fields = {"key": "k", "value": "v", name: None, f"{name}_base64": "AAEC"}
    with pytest.raises(ShellError, match=f"{name} is null, and {name}_base64 is not"):
        parse_row(json.dumps(fields), bytes, bytes)
    assert getattr(parse_row(json.dumps(fields)), name) == b"\0\1\2"
