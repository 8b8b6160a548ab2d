"""Messages with schemas of a real schema registry."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_shell.admin.records.formats import Formats
from kafka_shell.admin.schemas.avro import compile_avro
from kafka_shell.admin.schemas.client import Imported, SchemaError
from kafka_shell.admin.schemas.protobuf import compile_protobuf
from kafka_shell.errors import UsageError
from tests.support.schema_registry import (
    connected,
    decoded,
    message,
)

NODE = {"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"]}]}


def test_avro_of_a_recursive_schema() -> None:
    read = compile_avro(json.dumps(NODE), [])
    assert read(b"\x02\x02\0") == {"next": {"next": {"next": None}}}
    with pytest.raises(SchemaError, match="it is nested too deeply"):
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


MONEY = 'syntax = "proto3"; package shop; message Money { string currency = 1; int64 units = 2; }'


@pytest.mark.parametrize(
    ("schema", "imports", "problem"),
    [
        ("message {", (), "it cannot be compiled: schema.proto:1:"),
        ('syntax = "proto3"; import "gone.proto";', (), "gone.proto: File not found"),
        ("", (Imported("../x.proto", MONEY),), "'../x.proto', which is not a valid name of a file"),
        ("", (Imported("/x.proto", MONEY),), "'/x.proto', which is not a valid name of a file"),
        ("", (Imported("a\0b", MONEY),), "it cannot be compiled: embedded null byte"),
        ("", (Imported("x" * 300, MONEY),), "it cannot be compiled: [Errno 36] File name too long"),
        ("", (Imported("a", MONEY), Imported("a/b", MONEY)), "it cannot be compiled: [Errno 17]"),
    ],
)
def test_a_protobuf_schema_that_cannot_be_compiled(
    schema: str, imports: tuple[Imported, ...], problem: str
) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_protobuf(schema, list(imports))
    assert problem in str(caught.value)


def test_protobuf_message_indexes_do_not_count_maps() -> None:
    schema = """
    syntax = "proto3";
    message Outer { map<string, string> labels = 1; message Inner { string y = 1; } }
    """
    read = compile_protobuf(schema, [])
    assert read(b"\x04\0\0\x0a\x01y") == {"y": "y"}
    with pytest.raises(SchemaError, match="a type that the schema does not have"):
        read(b"\x04\0\x02")


def test_a_format_with_schemas_requires_a_registry() -> None:
    with pytest.raises(UsageError, match="the format avro requires a schema registry"):
        Formats(value="avro")


def test_a_dead_registry_does_not_stop_reading() -> None:
    client = connected("http://127.0.0.1:9")
    raw = message(17, b"abc")
    found = decoded(client, raw)
    assert found.data == raw
    assert found.problem.startswith("schema 17 cannot be read: http://127.0.0.1:9: ")
