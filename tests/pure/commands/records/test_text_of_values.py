"""Keys and values as text: in CSV and YAML, and in conditions on all of them."""

from __future__ import annotations

import json

import pytest

from kafka_shell.admin.records.formats import Formats
from kafka_shell.admin.records.model import CREATE_TIME, Record
from kafka_shell.admin.records.where import RecordFilter
from kafka_shell.admin.schemas.client import Schema
from kafka_shell.commands.records.record_table import _row
from tests.pure.admin.schemas.stored_schemas import stored

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"}]}
REGISTRY = stored({1: Schema(json.dumps(ORDER)), 2: Schema('"double"')})
AVRO = b"\0\0\0\0\1\x06abc"


@pytest.mark.parametrize(
    ("format", "raw", "text"),
    [
        ("avro", AVRO, '{"id":"abc"}'),
        ("auto", AVRO, '{"id":"abc"}'),
        ("auto", b"\0\0\0\0\2" + bytes(6) + b"\xf8\x3f", "1.5"),
        ("hex", AVRO, AVRO.hex()),
        ("auto", (4711).to_bytes(8, "big"), "4711"),
        ("auto", b'{"a": 1.10}', '{"a": 1.10}'),
        ("json", b"1.10", "1.10"),
        ("auto", b"abc", "abc"),
        ("auto", b"", ""),
        ("auto", b"abc\xff", "abc\\xff"),
        ("avro", b"abc", "abc"),
        ("auto", None, None),
    ],
)
def test_a_row_of_csv_has_the_decoded_text(format: str, raw: bytes | None, text: object) -> None:
    record = Record("orders", 0, 0, 0, CREATE_TIME, raw, raw)
    row = _row(record, Formats(format, format, REGISTRY))
    assert (row["key"], row["value"]) == (text, text)


@pytest.mark.parametrize("condition", ['value={"id":"abc"}', 'value=~"id":"a', "value.id=abc"])
def test_a_condition_sees_the_decoded_text(condition: str) -> None:
    keeps = RecordFilter([condition], [], Formats(registry=REGISTRY), schemas=True).keeps
    assert keeps(Record("orders", 0, 0, 0, CREATE_TIME, None, AVRO))
    assert not keeps(Record("orders", 0, 0, 0, CREATE_TIME, None, AVRO.replace(b"ab", b"xy")))
