"""Messages in Confluent's wire format: a zero byte, the schema's ID in four bytes, the content."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from kafka_shell.admin.wire.properties import Property

from .errors import MissingSchema, SchemaError, UnavailableSchema, reason

if TYPE_CHECKING:
    from .client import Client, Imported

Read = Callable[[bytes], Any]
Compile = Callable[[str, list["Imported"]], Read]

AVRO, PROTOBUF, JSON_SCHEMA = "avro", "protobuf", "json-schema"
SCHEMA_FORMATS = (AVRO, PROTOBUF, JSON_SCHEMA)
_TYPES = {"AVRO": AVRO, "PROTOBUF": PROTOBUF, "JSON": JSON_SCHEMA}
_HEAD = 5  # bytes
_RETRY_S = 30.0  # how long a failure is remembered
_MOST_MISSING = 100  # with more, these are probably not IDs but bytes of another format


class Message(Struct, frozen=True):
    """The content of a message as JSON-like data, and the type and ID of its schema."""

    data: Any
    type: str
    schema: int


class SchemaRegistry:
    """Decodes messages with the schemas of a registry, which are kept in memory."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._readers: dict[int, tuple[str, Read]] = {}
        self._failures: dict[int, tuple[float, SchemaError]] = {}
        self._missing: set[int] = set()

    def read(self, raw: bytes, type: str = "") -> Message | None:
        """The message, or None if the bytes are not in the wire format. With a `type`, only of
        schemas of that type. Raises SchemaError: UnavailableSchema if it may be a message."""
        number = schema_id(raw)
        if number is None:
            return None
        kind, read = self._reader(number)
        if type and kind != type:
            raise SchemaError(f"schema {number} is {kind}, not {type}")
        try:
            return Message(read(raw[_HEAD:]), kind, number)
        except Exception as error:  # each library raises types of its own
            raise SchemaError(f"not a message of schema {number}: {reason(error)}") from None

    @property
    def failures(self) -> tuple[str, ...]:
        """Why schemas could not be read, each once."""
        return tuple(str(error) for _, error in self._failures.values())

    def _reader(self, number: int) -> tuple[str, Read]:
        found = self._readers.get(number)
        if found is None:
            until, failure = self._failures.get(number, (0.0, None))
            if failure is not None and time.monotonic() < until:
                raise failure
            try:
                found = self._readers[number] = self._compiled(number)
                self._missing.discard(number)
            except SchemaError as error:
                if isinstance(error, MissingSchema):
                    self._missing.add(number)
                self._failures[number] = time.monotonic() + _RETRY_S, error
                raise
        return found

    def _compiled(self, number: int) -> tuple[str, Read]:
        if len(self._missing) >= _MOST_MISSING and number not in self._missing:
            missing = f"{len(self._missing)} other schema IDs were not found"
            raise SchemaError(f"schema {number} was not requested: {missing}")
        try:
            schema = self._client.by_id(number)
        except MissingSchema:
            raise
        except SchemaError as error:
            raise UnavailableSchema(str(error)) from None
        kind = _TYPES.get(schema.schema_type, schema.schema_type)
        try:
            return kind, _compiler(kind)(schema.schema, self._client.imports(schema))
        except Exception as error:
            raise UnavailableSchema(f"schema {number}: {reason(error)}") from None


def registry_of(properties: Mapping[str, Property]) -> SchemaRegistry | None:
    """The registry of client properties, or None without schema.registry.url. Raises ShellError
    with file and line. Sends nothing yet."""
    from .settings import registry_settings

    settings = registry_settings(properties)
    if settings is None:
        return None
    from .client import Client

    return SchemaRegistry(Client(settings))


def schema_id(raw: bytes) -> int | None:
    """The ID of the schema of a message, or None if it is not in the wire format."""
    if len(raw) < _HEAD or raw[0]:
        return None
    number = int.from_bytes(raw[1:_HEAD], "big")
    return number if 0 < number < 1 << 31 else None


def _compiler(kind: str) -> Compile:
    """The function that makes the reader of a schema. Raises SchemaError."""
    if kind == JSON_SCHEMA:
        return lambda schema, imports: _read_json
    try:
        if kind == AVRO:
            from .avro import compile_avro

            return compile_avro
        if kind == PROTOBUF:
            from .protobuf import compile_protobuf

            return compile_protobuf
    except ModuleNotFoundError:
        raise SchemaError(f"{kind} requires pip install 'kafka-sh[schemas]'") from None
    raise SchemaError(f"the type {kind} is not supported")


def _read_json(raw: bytes) -> Any:
    import msgspec

    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise SchemaError("it is not valid JSON") from None
