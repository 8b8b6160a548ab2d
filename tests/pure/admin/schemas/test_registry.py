"""Messages with schemas of a real schema registry."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_shell.admin.records.formats import Formats
from kafka_shell.admin.schemas.avro import compile_avro
from kafka_shell.admin.schemas.client import Imported, SchemaError
from kafka_shell.base.errors import UsageError

NODE = {"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"]}]}


def test_avro_of_a_recursive_schema() -> None:
    read = compile_avro(json.dumps(NODE), [])
    assert read(b"\x02\x02\0") == {"next": {"next": {"next": None}}}
    with pytest.raises(RecursionError):
        read(b"\x02" * 5000 + b"\0")  # crashes fastavro's compiled reader


@pytest.mark.parametrize(
    "items",
    [
        "null",
        {"type": "fixed", "name": "F", "size": 0},
        {"type": "record", "name": "E", "fields": [{"name": "n", "type": "null"}]},
        "shop.Nothing",
    ],
    ids=str,
)
def test_avro_of_an_array_of_items_without_content(items: Any) -> None:
    nothing = {"type": "record", "name": "shop.Nothing", "fields": []}
    schema = {"type": "map", "values": ["int", {"type": "array", "items": items}]}
    with pytest.raises(SchemaError, match="an array has items without content"):
        compile_avro(json.dumps(schema), [Imported("shop.Nothing", json.dumps(nothing))])


def test_avro_of_an_array_of_optional_items() -> None:
    read = compile_avro(json.dumps({"type": "array", "items": ["null", "int"]}), [])
    assert read(b"\x04\0\x02\x06\0") == [None, 3]


def test_a_format_with_schemas_requires_a_registry() -> None:
    with pytest.raises(UsageError, match="the format avro requires a schema registry"):
        Formats(value="avro")
