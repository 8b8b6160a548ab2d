"""Keys and values that are written as messages with schemas, in Confluent's wire format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from kafka_shell.admin.records.model import Numbered
from kafka_shell.admin.schemas.budget import (
    MissingSchema,
    SchemaError,
    library,
    read_json,
    reason,
)
from kafka_shell.admin.schemas.client import Client, Imported, Schema
from kafka_shell.admin.schemas.registry import AVRO, NAMES, NO_MESSAGE_TYPE, PROTOBUF, TYPES
from kafka_shell.admin.schemas.subjects import RegisterSchemas, registration
from kafka_shell.base.structs import replace

Write = Callable[[bytes], bytes]
"""Encodes JSON as the content of a message. Raises SchemaError."""


class Encoder(Struct):
    """Encodes keys or values. `id` is that of the schema, None until it is registered."""

    write: Write
    id: int | None = None

    def take(self, number: int) -> None:
        """Use the ID that a schema got when it was registered."""
        self.id = number

    def framed(self, content: bytes | None) -> bytes | None:
        """The message of a content; null stays null."""
        assert self.id is not None
        return None if content is None else b"\0" + self.id.to_bytes(4, "big") + content


def registered(client: Client, format: str, schema: int | str, message: str = "") -> Encoder:
    """The encoder for a schema of the registry: its ID, or a subject, whose newest version is used.
    `message` is the name of a Protobuf message. Raises SchemaError."""
    if isinstance(schema, int):
        found, number = client.by_id(schema), schema
        about = f"schema {schema}"
    else:
        newest = client.version(schema)
        if newest is None:
            raise MissingSchema(f"subject {schema} is not in the registry")
        found, number, about = newest, newest.id, f"subject {schema}"
    kind = TYPES.get(found.schema_type, found.schema_type)
    if kind != format:
        raise SchemaError(f"{about} is {kind}, not {format}")
    return Encoder(writer(format, found.schema, client.imports(found), message), number)


def of_text(
    client: Client, format: str, text: str, subject: str, message: str = ""
) -> tuple[Encoder, RegisterSchemas | None]:
    """The encoder for the text of a schema, and the step that registers it if the subject does not
    have it. Raises SchemaError, also if it is not compatible with the subject."""
    schema = Schema(text, NAMES[format])
    encoder = Encoder(writer(format, text, [], message))
    known, step = registration(client, subject, schema, used=encoder.take)
    encoder.id = known
    return encoder, step


def writer(format: str, schema: str, imports: list[Imported], message: str = "") -> Write:
    """The function that encodes JSON with a schema. Raises SchemaError."""
    if message and format != PROTOBUF:
        raise SchemaError(NO_MESSAGE_TYPE)
    with library(format):
        if format == AVRO:
            from kafka_shell.admin.schemas.avro_writer import avro_writer

            return avro_writer(schema, imports)
        if format == PROTOBUF:
            from kafka_shell.admin.schemas.protobuf import protobuf_writer

            return protobuf_writer(schema, imports, message)
        return _json_writer(schema, imports)


def _json_writer(schema: str, imports: list[Imported]) -> Write:
    from jsonschema.validators import Draft7Validator, validator_for
    from referencing import Registry
    from referencing.jsonschema import DRAFT7

    try:
        parsed = json.loads(schema)
        kind = validator_for(parsed, default=Draft7Validator)
        kind.check_schema(parsed)
        known = [
            (each.name, DRAFT7.create_resource(json.loads(each.schema))) for each in imports
        ]  # fmt: skip
        validator = kind(parsed, registry=Registry().with_resources(known))
    except Exception as error:  # the schema can be any JSON
        raise SchemaError(f"it cannot be parsed: {reason(error)}") from None

    def write(raw: bytes) -> bytes:
        try:
            error = next(validator.iter_errors(read_json(raw)), None)
        except SchemaError:
            raise
        except Exception as failure:  # a reference that cannot be resolved
            raise SchemaError(reason(failure)) from None
        if error is not None:  # without the value, which may be a secret
            path = error.json_path.removeprefix("$").removeprefix(".") or "it"
            raise SchemaError(f"{path} does not match '{error.validator}' of the schema")
        return msgspec.json.format(raw.strip(), indent=-1)

    return write


class Framed(Struct, frozen=True):
    """Lists of records whose keys and values are encoded; iterated again, they are read again.
    Each gets the ID of its schema when it is read, which is after the schema was registered."""

    windows: Any
    key: Encoder | None
    value: Encoder | None

    def __iter__(self) -> Iterator[Sequence[Numbered]]:
        for window in self.windows:
            yield [
                (
                    line,
                    replace(
                        record,
                        key=self.key.framed(record.key) if self.key else record.key,
                        value=self.value.framed(record.value) if self.value else record.value,
                    ),
                )
                for line, record in window
            ]
