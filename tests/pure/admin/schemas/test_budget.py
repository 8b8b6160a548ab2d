"""Schemas of which a message of a few bytes would take all memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from kafka_shell.admin.records.formats import recognize
from kafka_shell.admin.schemas.avro import compile_avro
from kafka_shell.admin.schemas.budget import SchemaError
from kafka_shell.admin.schemas.client import Client, Reference, Schema
from kafka_shell.admin.schemas.protobuf import reader
from tests.support.crafted_batches import varint

TOO_MUCH = "a decoded message would take more than 256MiB of memory"


def doubled(levels: int, content: object) -> dict[str, Any]:
    """A record that contains the previous one twice."""
    schema = record("R0", content)
    for number in range(levels):
        schema = record(f"R{number + 1}", schema, f"R{number}")
    return schema


def record(name: str, *types: object) -> dict[str, Any]:
    fields = [{"name": f"f{number}", "type": each} for number, each in enumerate(types)]
    return {"type": "record", "name": name, "fields": fields}


def array(items: object) -> dict[str, object]:
    return {"type": "array", "items": items}


def items(count: int, content: bytes) -> bytes:
    return varint(count) + content * count + varint(0)


DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1000}


@pytest.mark.parametrize(
    ("schema", "raw"),
    [
        (doubled(20, "null"), b""),
        (doubled(20, record("E")), b""),
        (array([doubled(18, "null")]), items(1000, b"\0")),
        (record("List", array("List"), doubled(9, "null")), items(1_000_000, b"\0")),
        ({"type": "map", "values": doubled(10, "null")}, items(10_000, b"\2k")),
        (array({"type": "enum", "name": "E", "symbols": ["A" * 9999]}), items(200_000, b"\0")),
        (array(record("R", "boolean") | {"fields": [{"name": "A" * 9999, "type": "boolean"}]}),
         items(200_000, b"\0")),
        (array(DECIMAL), items(500_000, b"\2\1")),
    ],
    ids=range(8),
)  # fmt: skip
def test_avro_that_takes_too_much_memory_is_an_error(schema: object, raw: bytes) -> None:
    with pytest.raises(SchemaError, match=TOO_MUCH):
        compile_avro(json.dumps(schema), [])(raw)


@pytest.mark.parametrize(
    ("schema", "raw", "size"),
    [
        (array("int"), items(1_000_000, b"\0"), 1_000_000),
        (array(["null", "int"]), items(500_000, b"\2\1"), 500_000),
        (array("string"), items(3, varint(3 << 20) + b"a" * (3 << 20)), 3),
        (array(record("R", *["long"] * 50)), items(10_000, b"\0" * 50), 10_000),
        (record("R", doubled(9, "int")), b"\0" * 512, 1),
    ],
    ids=range(5),
)
def test_large_messages_are_decoded(schema: object, raw: bytes, size: int) -> None:
    assert len(compile_avro(json.dumps(schema), [])(raw)) == size


def test_numbers_have_at_most_64_bits() -> None:
    """The compiled reader is not used for schemas that contain themselves."""
    read = compile_avro(json.dumps(record("List", "long", ["null", "List"])), [])
    assert read(varint(-(2**63)) + b"\0") == {"f0": -(2**63), "f1": None}
    with pytest.raises(ValueError, match="an integer has more than 10 bytes"):
        read(b"\xff" * 3000 + b"\0\0")
    with pytest.raises(EOFError):
        read(b"\xff")


def test_decimals_of_many_digits_are_bytes() -> None:
    schema = json.dumps(record("R", DECIMAL))
    assert compile_avro(schema, [])(varint(3000) + b"\1" * 3000)["f0"] == "AQEB" * 1000


def length(content: bytes) -> bytes:
    """A field's content behind its length, as a varint of four bytes."""
    size = len(content)
    head = [size & 127 | 128, size >> 7 & 127 | 128, size >> 14 & 127 | 128, size >> 21]
    return bytes(head) + content


@pytest.fixture(scope="module")
def protobuf() -> Callable[[bytes], Any]:
    """The reader of a message with all that can contain others."""
    from google.protobuf import any_pb2, descriptor_pb2

    found = descriptor_pb2.FileDescriptorSet()
    any_pb2.DESCRIPTOR.CopyToProto(found.file.add())
    wide = found.file.add(name="wide.proto", syntax="proto3")
    message = wide.message_type.add(name="Wide")
    for number in range(1000):
        message.field.add(name=f"f{number}", number=number + 1, type=5, label=1)
    many = wide.message_type.add(name="Many")
    many.field.add(name="all", number=1, type=11, type_name=".Wide", label=3)
    many.field.add(name="by_key", number=2, type=11, type_name=".Many.Entry", label=3)
    entry = many.nested_type.add(name="Entry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=5, label=1)
    entry.field.add(name="value", number=2, type=11, type_name=".Wide", label=1)
    named = wide.message_type.add(name="Named")
    named.field.add(name="n" * 2_000, number=1, type=5, label=1)
    top = found.file.add(name="top.proto", dependency=["wide.proto", "google/protobuf/any.proto"])
    message = top.message_type.add(name="Top")
    message.field.add(name="many", number=1, type=11, type_name=".Many", label=1)
    message.field.add(name="numbers", number=2, type=5, label=3)
    message.field.add(name="text", number=3, type=9, label=1)
    message.field.add(name="group", number=4, type=10, type_name=".Top.Group", label=3)
    group = message.nested_type.add(name="Group")
    group.field.add(name="all", number=3, type=11, type_name=".Wide", label=3)
    message.field.add(name="any", number=5, type=11, type_name=".google.protobuf.Any", label=1)
    message.field.add(name="enum", number=6, type=14, type_name=".Enum", label=3)
    message.field.add(name="named", number=7, type=11, type_name=".Named", label=3)
    top.enum_type.add(name="Enum").value.add(name="E" * 2_000, number=0)
    message.extension_range.add(start=8, end=9)
    top.extension.add(name="more", number=8, type=11, type_name=".Wide", label=3, extendee=".Top")
    return reader(found.SerializeToString())


ENTRIES = b"".join(
    bytes([0x12, 4, 8, number & 127 | 128, number >> 7 | 128, 0]) for number in range(5000)
)
TYPE, VALUE = b"\x0a" + length(b"x/Many"), b"\x12"


@pytest.mark.parametrize(
    "content",
    [
        b"\x0a" + length(b"\x0a\0" * 5000),
        b"\x0a" + length(ENTRIES),
        b"\x12" + length(bytes(9 << 20)),
        b"\x23" + b"\x1a\0" * 5000 + b"\x24",
        b"\x2a" + length(TYPE + VALUE + length(b"\x0a\0" * 5000)),
        b"\x2a" + length(TYPE) + b"\x2a" + length(VALUE + length(b"\x0a\0" * 5000)),
        b"\x32" + length(bytes(200_000)),
        b"\x3a\0" * 70_000,
        b"\x42\0" * 5000,
    ],
    ids=["message", "map", "numbers", "group", "any", "merged any", "enum", "name", "extension"],
)
def test_protobuf_that_takes_too_much_memory_is_an_error(
    protobuf: Callable[[bytes], Any], content: bytes
) -> None:
    with pytest.raises(SchemaError, match=TOO_MUCH):
        protobuf(b"\0" + content)


@pytest.mark.parametrize(
    ("content", "size"),
    [
        (b"\x0a" + length(b"\x0a\0" * 100), 100),
        (b"\x2a" + length(TYPE + VALUE + length(b"\x0a\0" * 100)), 100),
        (b"\x1a" + length(b"a" * (9 << 20)), 9 << 20),
    ],
    ids=["message", "any", "text"],
)
def test_large_protobuf_is_decoded(
    protobuf: Callable[[bytes], Any], content: bytes, size: int
) -> None:
    found = protobuf(b"\0" + content)
    (value,) = (found[name] for name in ("many", "any", "text") if name in found)
    assert len(value if isinstance(value, str) else value["all"]) == size


def test_any_with_a_cut_value_is_shown_as_it_is(protobuf: Callable[[bytes], Any]) -> None:
    found = protobuf(b"\0\x2a" + length(TYPE + VALUE + length(b"\x0a")))
    assert found["any"] == {"type_url": "x/Many", "value": "Cg=="}


def test_json_of_too_many_values_is_text() -> None:
    assert recognize(b"[" + b"[]," * 10_000_000 + b"[]]").kind == "string"
    text = b'["' + b"a" * (4 << 20) + b'"]'
    assert recognize(text).kind == "json"


class _Referencing(Client):
    """Each subject references others: `width` of the next level, under several names."""

    width: int = 2
    size: int = 2

    def _schema(self, path: str) -> Schema:
        level = int(path.split("/")[2])
        return _subject(level + 1, self.width, "a" * self.size)


def _subject(level: int, width: int, text: str = "") -> Schema:
    return Schema(
        text, "AVRO",
        tuple(Reference(f"{level}-{number}", str(level), number) for number in range(width))
        if level < 18 else (),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("width", "size", "problem"),
    [
        (2, 2, None),
        (100, 2, "it has more than 1,000 references"),
        (20, 1 << 20, "its references have more than 8,388,608 characters"),
    ],
)
def test_references_are_resolved_once_and_counted(
    width: int, size: int, problem: str | None
) -> None:
    none: Any = None
    client = _Referencing(none, width=width, size=size)
    if problem is None:
        found = client.imports(_subject(0, width))
        assert [each.name for each in found[:3]] == ["17-0", "17-1", "16-0"]
        assert len(found) == 36
    else:
        with pytest.raises(SchemaError, match=problem):
            client.imports(_subject(0, width))
