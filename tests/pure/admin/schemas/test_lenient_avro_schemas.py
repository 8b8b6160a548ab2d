"""Avro schemas of writers: only what the encoding depends on has to be valid."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafka_shell.admin.schemas.avro import compile_avro
from kafka_shell.admin.schemas.budget import SchemaError
from kafka_shell.admin.schemas.client import Imported

ENUM = {"type": "enum", "name": "E", "symbols": ["a-b", "ä ö", "1"]}
INNER = {"type": "record", "name": "In", "fields": [{"name": "x", "type": "int"}]}


@pytest.mark.parametrize(
    ("field", "content", "value"),
    [
        ({"type": ["null", "int"], "default": "0"}, b"\x02\x06", 3),
        ({"type": "int", "default": None}, b"\x06", 3),
        ({"type": "float", "default": 0}, b"\0\0\0\x3f", 0.5),
        ({"type": "int", "aliases": None, "order": 7, "doc": []}, b"\x06", 3),
        ({"type": ENUM | {"aliases": None, "default": "gone"}}, b"\x02", "ä ö"),
        ({"type": {"type": {"type": "string"}}}, b"\x02x", "x"),
        ({"type": {"type": ["null", {"type": "int"}]}}, b"\x02\x06", 3),
        ({"type": {"type": "array", "items": {"type": {"type": "int"}}}}, b"\x02\x06\0", [3]),
        ({"type": INNER | {"name": "no-name", "namespace": None}}, b"\x06", {"x": 3}),
        ({"type": [INNER, {"type": "map", "values": "In"}]}, b"\x02\x02\x02k\x06\0",
         {"k": {"x": 3}}),
        ({"type": [INNER, INNER]}, b"\x02\x06", {"x": 3}),
        ({"type": ["null", {"type": "Root"}]}, b"\0", None),
    ],
    ids=str,
)  # fmt: skip
def test_a_schema_is_read_without_what_decoding_does_not_use(
    field: Any, content: bytes, value: object
) -> None:
    schema = {"type": "record", "name": "Root", "fields": [{"name": "f-1", **field}]}
    assert compile_avro(json.dumps(schema), [])(content) == {"f-1": value}


@pytest.mark.parametrize(
    ("name", "reference"),
    [("a.In", "In"), ("a.In", "a.In"), ("In", "In"), ("b.In", "b.In")],
)
def test_names_are_resolved_in_their_namespace(name: str, reference: str) -> None:
    fields = [{"name": "f", "type": reference}]
    schema = {"type": "record", "name": "Root", "namespace": "a", "fields": fields}
    imports = [Imported(name, json.dumps(INNER | {"name": name}))]
    assert compile_avro(json.dumps(schema), imports)(b"\x06") == {"f": {"x": 3}}
    assert compile_avro(json.dumps(reference if "." in reference else name), imports)(b"\x06") == {
        "x": 3
    }


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ("{", "Expecting property name"),
        ("5", "a type has no 'type'"),
        ("{}", "a type has no 'type'"),
        ('{"type":"array"}', "a type has no 'items'"),
        ('["null","Gone"]', "the type Gone is not defined"),
        (json.dumps([INNER, INNER | {"fields": []}]), "the type In is defined twice"),
        ("[" * 20_000 + "]" * 20_000, "it is nested too deeply"),
    ],
    ids=lambda text: text[:30],
)
def test_a_schema_that_cannot_be_decoded_is_refused(schema: str, problem: str) -> None:
    with pytest.raises(SchemaError, match=f"it cannot be parsed: {problem}"):
        compile_avro(schema, [])
