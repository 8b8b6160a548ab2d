"""Schemas to write with: registered or not, or perhaps, and those that cannot be used."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_shell.admin.schemas.budget import MissingSchema, NotJson, SchemaError
from kafka_shell.admin.schemas.client import Client, Schema
from kafka_shell.admin.schemas.files import file_schema
from kafka_shell.admin.schemas.settings import RegistrySettings
from kafka_shell.admin.schemas.subjects import RegisterSchemas
from kafka_shell.admin.schemas.write import Encoder, registered, writer
from kafka_shell.base.errors import ShellError
from kafka_shell.wire.http import HttpFailure

SILENT = HttpFailure("no response within 3.0 s")
KNOWN = {"schema": '"int"', "id": 7, "version": 1}
MISSING = HttpFailure("HTTP 404", 404)


def client(*responses: HttpFailure | dict[str, object]) -> Client:
    """A client that gets these responses, one for each request."""
    left = list(responses)

    class Given(Client):
        def _fetch(self, url: str, sent: bytes | None, method: str | None) -> bytes:
            response = left.pop(0)
            if isinstance(response, HttpFailure):
                raise response
            return json.dumps(response).encode()

    return Given(RegistrySettings(("http://registry",)))


@pytest.mark.parametrize(
    ("responses", "id", "failure"),
    [
        ([{"id": 7}, KNOWN], 7, None),
        ([{"id": 7}, SILENT], 7, None),
        ([SILENT, KNOWN], 7, None),
        ([HttpFailure("HTTP 500", 500), KNOWN], 7, None),
        ([SILENT, MISSING], None, "outcome-unknown"),
        ([HttpFailure("HTTP 409", 409), MISSING], None, "registry"),
        ([HttpFailure("HTTP 401", 401), MISSING], None, "registry"),
        ([SILENT, SILENT], None, "outcome-unknown"),
        ([{}, SILENT], None, "outcome-unknown"),
    ],
)
def test_registering_without_a_response_is_looked_up(
    responses: Sequence[HttpFailure | dict[str, object]], id: int | None, failure: str | None
) -> None:
    encoder = Encoder(bytes)
    schemas = (Schema('"int"'),)
    step = RegisterSchemas(client(*responses), "a-value", schemas, False, 1, True, encoder.take)
    outcomes = step.send(None, validate_only=False)
    assert encoder.id == id
    assert [why.name for why in outcomes.failures.values()] == ([failure] if failure else [])


@pytest.mark.parametrize("schema", [17, "a-value"])
def test_schema_that_is_not_in_the_registry(schema: int | str) -> None:
    with pytest.raises(MissingSchema, match="is not in the registry"):
        registered(client(MISSING), "avro", schema)


def test_message_that_is_not_json() -> None:
    with pytest.raises(NotJson):
        writer("avro", '"string"', [])(b"text")


def test_message_type_requires_protobuf(tmp_path: Path) -> None:
    file = tmp_path / "a.avsc"
    file.write_text('"int"')
    for use in (
        lambda: writer("avro", '"int"', [], "Order"),
        lambda: writer("json-schema", "{}", [], "Order"),
    ):
        with pytest.raises(SchemaError, match="a message type requires a Protobuf schema"):
            use()
    with pytest.raises(SchemaError, match="it has no type Order"):
        file_schema(str(file), "Order")


def test_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    proto = tmp_path / "order.proto"
    proto.write_text('import "line.proto";')
    (tmp_path / "line.proto").write_bytes(b"\n\xff")
    with pytest.raises(ShellError, match=r"line\.proto:2: is not UTF-8"):
        file_schema(str(proto))


def test_file_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "a.avsc"
    file.write_bytes(b'\xef\xbb\xbf"int"')
    assert file_schema(str(file)).read(b"\x02") == 1
