"""Messages of topics whose schema is a file: those with the ID of a schema may have another one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_shell.admin.records.formats import Formats
from kafka_shell.admin.records.mask import Mask
from kafka_shell.admin.records.model import CREATE_TIME, Record
from kafka_shell.admin.schemas.client import Schema
from kafka_shell.admin.schemas.files import FileSchema, file_schema
from tests.pure.admin.schemas.stored_schemas import stored

MASK = Mask(lambda topic: ["value.email"])
MESSAGE = b"\x02n\x10SECRET@x"  # of the schema with the ID 2
FRAMED = b"\0\0\0\0\2" + MESSAGE


def _schema(*names: str) -> str:
    fields = [{"name": name, "type": "string"} for name in names]
    return json.dumps({"type": "record", "name": "C", "fields": fields})


REGISTRY = stored({2: Schema(_schema("name", "email"))})


@pytest.fixture
def old(tmp_path: Path) -> FileSchema:
    """The schema of a file that a producer has replaced."""
    path = tmp_path / "c.avsc"
    path.write_text(_schema("email", "name"))
    return file_schema(str(path))


def record(value: bytes) -> Record:
    return Record("t", 0, 0, 0, CREATE_TIME, None, value, ())


def shown(formats: Formats, value: bytes) -> bytes | None:
    (found,) = MASK.shown([record(value)], formats)
    return found.value


def test_the_registry_decodes_messages_that_have_an_id(old: FileSchema) -> None:
    formats = Formats(registry=REGISTRY, schema=old)
    assert formats.value(record(FRAMED)).data == {"name": "n", "email": "SECRET@x"}
    assert formats.value(record(MESSAGE)).data == {"email": "n", "name": "SECRET@x"}
    masked = Formats(registry=REGISTRY, schema=old, strict=True)
    assert shown(masked, FRAMED) == b'{"name":"n","email":"***"}'
    assert shown(masked, MESSAGE) == b'{"email":"***","name":"SECRET@x"}'


@pytest.mark.parametrize("registry", [None, stored({})])
def test_a_masked_message_of_an_unknown_schema_is_masked_as_a_whole(
    old: FileSchema, registry: object
) -> None:
    formats = Formats(registry=registry, schema=old, strict=True)  # type: ignore[arg-type]
    assert shown(formats, FRAMED) == b"***"
    assert formats.value(record(FRAMED)).problem
    assert shown(formats, MESSAGE) == b'{"email":"***","name":"SECRET@x"}'


def test_bytes_that_look_like_an_id_are_read_with_the_file(old: FileSchema) -> None:
    """An empty string, then one that has the rest."""
    raw = b"\0\x12\0\0\1abcdef"
    formats = Formats(registry=stored({}), schema=old)
    assert formats.value(record(raw)).data == {"email": "", "name": "\0\0\1abcdef"}


def test_reasons_beyond_those_that_are_kept_are_told() -> None:
    formats = Formats(registry=stored({}))
    for number in range(30):
        formats.value(record(number.to_bytes(5, "big") + b"\xff"))
    assert len(formats.problems) < 30
    assert "other messages could not be decoded" in [*formats.problems][-1]
