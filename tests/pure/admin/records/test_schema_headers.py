"""Messages whose schema is named in a header, as Confluent's serializers can write it."""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from kafka_shell.admin.records.formats import Decoded, Formats
from kafka_shell.admin.records.model import CREATE_TIME, Header, Record
from kafka_shell.admin.schemas.client import Schema
from kafka_shell.commands.records.row import json_line, parse_row
from tests.pure.admin.schemas.stored_schemas import stored

GUID = UUID("5e1b4f2a-7c1d-4a63-9d57-0c2f6b1f9a10")
GUID_HEADER = b"\1" + GUID.bytes
FIELDS = [{"name": "n", "type": "int"}, {"name": "id", "type": "string"}]
ORDER = Schema(json.dumps({"type": "record", "name": "Order", "fields": FIELDS}))
REGISTRY = stored({str(GUID): ORDER, 7: ORDER, 9: Schema("", "JSON")})
SHORT = b"\0\x04ab"  # as a number, 287074


def record(raw: bytes, *headers: Header) -> Record:
    return Record("orders", 0, 0, 0, CREATE_TIME, raw, raw, headers)


@pytest.mark.parametrize(
    ("header", "raw", "data", "schema"),
    [
        (GUID_HEADER, SHORT, {"n": 0, "id": "ab"}, str(GUID)),
        (GUID_HEADER, b"\x40\x02a", {"n": 32, "id": "a"}, str(GUID)),
        (GUID_HEADER, b"A\x42" + b"a" * 33, {"n": -33, "id": "a" * 33}, str(GUID)),
        (b"\0\0\0\0\7", SHORT, {"n": 0, "id": "ab"}, 7),
        (b"\0\0\0\0\x09", b'{"n": 1}', {"n": 1}, 9),
    ],
)
@pytest.mark.parametrize("part", ["key", "value"])
def test_the_schema_in_a_header_decodes_the_content(
    part: str, header: bytes, raw: bytes, data: object, schema: int | str
) -> None:
    formats = Formats(registry=REGISTRY)
    found = record(raw, ("trace", b"x"), (f"__{part}_schema_id", header))
    kind = "json-schema" if schema == 9 else "avro"
    assert getattr(formats, part)(found) == Decoded(data, kind, "", schema)
    line = json_line(found, formats)
    assert json.loads(line)[part] == data
    assert getattr(parse_row(line), part) == raw


@pytest.mark.parametrize(
    ("format", "registry", "header", "expected"),
    [
        ("auto", None, GUID_HEADER, Decoded(SHORT, "bytes")),
        ("auto", None, None, Decoded(287074, "int32")),
        ("auto", REGISTRY, b"odd", Decoded(SHORT, "bytes")),
        ("int32", REGISTRY, GUID_HEADER, Decoded(287074, "int32")),
        ("avro", REGISTRY, GUID_HEADER, Decoded({"n": 0, "id": "ab"}, "avro", "", str(GUID))),
        ("avro", REGISTRY, None,
         Decoded(SHORT, "bytes", "no avro message with the ID of a schema")),
        ("protobuf", REGISTRY, GUID_HEADER,
         Decoded(SHORT, "bytes", f"schema {GUID} is avro, not protobuf", str(GUID))),
        ("auto", REGISTRY, b"\1" + bytes(16),
         Decoded(SHORT, "bytes", f"schema {UUID(int=0)} is not in the registry", str(UUID(int=0)))),
    ],
)  # fmt: skip
def test_a_short_message_with_a_header_is_no_number(
    format: str, registry: object, header: bytes | None, expected: Decoded
) -> None:
    headers = [] if header is None else [("__value_schema_id", header)]
    formats = Formats(value=format, registry=registry)  # type: ignore[arg-type]
    assert formats.value(record(SHORT, *headers)) == expected
