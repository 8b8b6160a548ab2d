"""An error of a decoder is one of its record."""

from __future__ import annotations

import pytest

from kafka_shell.admin.records.formats import Decoded, Formats
from kafka_shell.admin.records.model import CREATE_TIME, Record
from kafka_shell.admin.schemas.client import Schema
from tests.pure.admin.schemas.stored_schemas import stored

SCHEMAS: dict[int | str, Schema] = {
    1: Schema('{"type":"enum","name":"E","symbols":5}'),
    2: Schema('{"type":"record","name":"R","fields":[{"name":"r","type":["null","R"]}]}'),
    3: Schema("[" * 100_000),
    4: Schema("\ud800", "PROTOBUF"),
}


@pytest.mark.parametrize(
    ("number", "content", "problem"),
    [
        (1, b"\0", "schema 1: it cannot be parsed: 'int' object is not iterable"),
        (2, b"\x02" * 5000, "not a message of schema 2: it is nested too deeply"),
        (2, b"\x04", "not a message of schema 2: it is malformed"),
        (3, b"\0", "schema 3: it cannot be parsed: it is nested too deeply"),
        (4, b"\0", "schema 4: it cannot be compiled: 'utf-8' codec can't encode"),
    ],
)
def test_any_error_with_a_schema_is_a_problem_of_the_record(
    number: int, content: bytes, problem: str
) -> None:
    formats = Formats(registry=stored(SCHEMAS))
    raw = number.to_bytes(5, "big") + content
    found = formats.value(Record("t", 0, 0, 0, CREATE_TIME, None, raw))
    assert (found.data, found.kind, found.schema) == (raw, "bytes", number)
    assert problem in found.problem


@pytest.mark.parametrize("key", [b"", b"\0\x01", b"\0\x01\0\x05abcde\xff\xff", b"\xff" * 40])
def test_an_internal_record_that_cannot_be_decoded_is_bytes(key: bytes) -> None:
    record = Record("__consumer_offsets", 0, 0, 0, CREATE_TIME, key, b"\x7f")
    for found in (Formats().key(record), Formats().value(record)):
        assert isinstance(found, Decoded) and isinstance(found.data, bytes) and found.problem
