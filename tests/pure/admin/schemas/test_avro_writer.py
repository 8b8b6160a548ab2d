"""Avro messages that are written: fastavro and our own reader read what was meant."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import fastavro
import pytest

from kafka_shell.admin.schemas.avro import compile_avro
from kafka_shell.admin.schemas.avro_writer import avro_writer
from kafka_shell.admin.schemas.budget import SchemaError
from kafka_shell.admin.schemas.client import Imported

LINE = {
    "type": "record", "name": "Line", "namespace": "shop",
    "fields": [{"name": "article", "type": "string"}, {"name": "pieces", "type": "long"}],
}  # fmt: skip
ORDER = {
    "type": "record", "name": "Order", "namespace": "shop",
    "fields": [
        {"name": "id", "type": "int"},
        {"name": "lines", "type": {"type": "array", "items": LINE}},
        {"name": "note", "type": ["null", "string"]},
        {"name": "parent", "type": [LINE["name"], "null"]},
        {"name": "tags", "type": {"type": "map", "values": ["boolean", "double", "string"]}},
    ],
}  # fmt: skip
ROW = {
    "id": -5, "lines": [{"article": "ö", "pieces": 2**62}], "note": None,
    "parent": {"article": "p", "pieces": 0}, "tags": {"a": True, "b": 2, "c": "x"},
}  # fmt: skip


def of(kind: str, logical: str, **more: object) -> dict[str, object]:
    return {"type": kind, "logicalType": logical, **more}


FIXED = {"type": "fixed", "name": "F", "size": 3}
TENTHS = of("bytes", "decimal", precision=4, scale=1)
LONG = of("bytes", "decimal", precision=38, scale=4)
LONG_NUMBER = "123456789012345678901234567890.1234"
MOMENT = datetime(2026, 1, 31, 10, 0, 0, 123000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("schema", "text", "meant"),
    [
        (ORDER, json.dumps(ROW), ROW),
        ("null", "null", None),
        ("boolean", "true", True),
        ("long", str(-(2**63)), -(2**63)),
        ("float", "1.5", 1.5),
        ("double", "3", 3.0),
        ("double", '"-Infinity"', float("-inf")),
        ("string", '"x"', "x"),
        ({"type": "array", "items": "int"}, "[]", []),
        ({"type": "map", "values": "bytes"}, '{"k": "AP8="}', {"k": b"\x00\xff"}),
        ({"type": "enum", "name": "E", "symbols": ["A", "B"]}, '"B"', "B"),
        (FIXED, '"AAEC"', b"\0\1\2"),
        (["null", "string"], '{"string": "x"}', "x"),
        (["null", LINE], '{"shop.Line": {"article": "a", "pieces": 1}}',
         {"article": "a", "pieces": 1}),
        (["int", "long"], str(2**40), 2**40),
        (of("int", "date"), '"2026-01-31"', date(2026, 1, 31)),
        (of("int", "date"), "0", date(1970, 1, 1)),
        (of("int", "time-millis"), '"10:00:00.5"', time(10, 0, 0, 500_000)),
        (of("long", "time-micros"), '"10:00:00.000007"', time(10, 0, 0, 7)),
        (of("long", "timestamp-millis"), '"2026-01-31T11:00:00.123+01:00"', MOMENT),
        (of("long", "timestamp-micros"), '"2026-01-31T10:00:00.123Z"', MOMENT),
        (of("long", "local-timestamp-millis"), '"2026-01-31T10:00:00.123"',
         MOMENT.replace(tzinfo=None)),
        (of("bytes", "decimal", precision=6, scale=2), '"-12.30"', Decimal("-12.30")),
        (of("bytes", "decimal", precision=6, scale=2), "128", Decimal("128.00")),
        (FIXED | of("fixed", "decimal", precision=6, scale=1), "0.5", Decimal("0.5")),
        (LONG, f'"{LONG_NUMBER}"', Decimal(LONG_NUMBER)),
        (LONG, LONG_NUMBER, Decimal(LONG_NUMBER)),
        ("double", "12345678901234567.8912", 12345678901234567.8912),
    ],
)  # fmt: skip
def test_value_is_written_as_meant(schema: Any, text: str, meant: object) -> None:
    raw = avro_writer(json.dumps(schema), [])(text.encode())
    stream = io.BytesIO(raw)
    assert fastavro.schemaless_reader(stream, fastavro.parse_schema(schema), None) == meant
    assert not stream.read()
    shown = json.dumps(compile_avro(json.dumps(schema), [])(raw))
    assert avro_writer(json.dumps(schema), [])(shown.encode()) == raw, "as read-records prints it"


def test_bytes_alone_have_no_length() -> None:
    assert avro_writer('"bytes"', [])(b'"AP8="') == b"\x00\xff"


def test_type_of_a_reference() -> None:
    write = avro_writer(
        '{"type": "array", "items": "shop.Line"}', [Imported("l", json.dumps(LINE))]
    )
    assert write(b'[{"article": "a", "pieces": 1}]') == b"\x02\x02a\x02\x00"


@pytest.mark.parametrize(
    ("schema", "text", "why"),
    [
        (ORDER, '{"id": 1}', "lines is missing"),
        (ORDER, json.dumps(ROW | {"x": 1}), "shop.Order has no field x"),
        (ORDER, json.dumps(ROW | {"id": "s3cret"}), "id must be an integer, got a string"),
        (ORDER, json.dumps(ROW | {"id": 2**31}), "id is out of the range of int"),
        (ORDER, json.dumps(ROW | {"id": True}), "id must be an integer, got a boolean"),
        (ORDER, json.dumps(ROW | {"note": 5}), "note must be a string, got a number"),
        (ORDER, json.dumps(ROW | {"lines": [{"article": "a", "pieces": 1.5}]}),
         "lines[0].pieces must be an integer, got a number"),
        (ORDER, json.dumps(ROW | {"tags": {"a": []}}),
         "tags.a matches no type of the union (boolean, double, string)"),
        (ORDER, "[]", "it must be an object, got an array"),
        ("string", "x", "it is not valid JSON"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, '"B"', "it is not a symbol of E"),
        (FIXED, '"AA=="', "it must have 3 bytes, got 1"),
        ("bytes", '"?"', "it must be base64"),
        (of("int", "date"), '"s3cret"', "it is not a date (ISO 8601)"),
        (of("long", "timestamp-millis"), '"2026-01-31T10:00"',
         "it is not a timestamp-millis (ISO 8601)"),
        (of("int", "time-millis"), '"12:00:00Z"', "it is not a time-millis (ISO 8601)"),
        (TENTHS, "1e999999999", "it is not a decimal of this size"),
        (TENTHS, "true", "it must be a decimal, got a boolean"),
        ("double", "1e400", "it is out of the range of a double"),
        (TENTHS, '"0.25"', "it has more than 1 decimal places"),
        (TENTHS, '"s3cret"', "it is not a decimal of this size"),
        ("float", "1e300", "it is out of the range of a float"),
    ],
)  # fmt: skip
def test_value_that_does_not_match(schema: Any, text: str, why: str) -> None:
    with pytest.raises(SchemaError) as caught:
        avro_writer(json.dumps(schema), [])(text.encode())
    assert str(caught.value) == why


def test_a_union_in_unions_is_tried_once_for_each_type() -> None:
    def node(name: str, value: str) -> dict[str, Any]:
        fields = [{"name": "next", "type": ["null", "A", "B"]}, {"name": "v", "type": value}]
        return {"type": "record", "name": name, "fields": fields}

    types = [node("A", "int"), node("B", "string")]
    types[0]["fields"][0]["type"] = ["null", "A", types[1]]
    depth = 40
    raw = b'{"next":' * depth + b"null" + b',"v":"x"}' * depth
    text = b'{"next":{"next":null,"v":"x"},"v":1}'
    write = avro_writer(json.dumps(types[0]), [])
    assert write(text) == b"\4\0\2x\2"
    assert len(avro_writer(json.dumps(["null", types[0]]), [])(b"null")) == 1
    with pytest.raises(SchemaError):
        write(raw)
