"""Messages in the wire formats of registries.

Confluent: a zero byte, the schema's ID in four bytes, the content; or a header with the schema's ID
or GUID, and the content. Apicurio: the same with IDs of eight bytes. AWS Glue: the byte 3, one for
the compression, a UUID, the content.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from kafka_shell.admin.schemas.budget import (
    GLOBAL,
    GLUE,
    MissingSchema,
    SchemaError,
    UnavailableSchema,
    library,
    malformed,
    read_json,
    reason,
)
from kafka_shell.admin.schemas.settings import URL, registry_settings
from kafka_shell.base.errors import UsageError
from kafka_shell.wire.client_properties import Property
from kafka_shell.wire.endpoint import LimitTime

if TYPE_CHECKING:
    from kafka_shell.admin.schemas.client import Client, Imported
    from kafka_shell.admin.schemas.glue import Glue

SchemaId = int | str
"""The ID of a schema in a registry, or its GUID, or another ID with its name before it."""

Read = Callable[[bytes], Any]
Compile = Callable[[str, list["Imported"]], Read]

AVRO, PROTOBUF, JSON_SCHEMA = "avro", "protobuf", "json-schema"
SCHEMA_FORMATS = (AVRO, PROTOBUF, JSON_SCHEMA)
TYPES = {"AVRO": AVRO, "PROTOBUF": PROTOBUF, "JSON": JSON_SCHEMA}
"""The formats by their names in a registry."""
NAMES = {format: name for name, format in TYPES.items()}
NO_REGISTRY = "no-registry"  # the code of the error
NO_MESSAGE_TYPE = "a message type requires a Protobuf schema"
_HEAD, _GLOBAL_HEAD, _GUID_HEAD, _GLUE_HEAD = 5, 9, 17, 18  # bytes
_PLAIN, _ZLIB = 0, 5  # compressions of Glue
_GLUE_URL = "glue:"
_RETRY_S = 30.0  # how long a failure is remembered
_MOST_CONTENT = 64 << 20  # bytes
_MOST_MISSING = 100  # with more, these are probably not IDs but bytes of another format


class SchemaRegistry:
    """Decodes messages with the schemas of a registry, which are kept in memory."""

    def __init__(self, client: Client | Glue) -> None:
        self._client = client
        self._readers: dict[SchemaId, tuple[str, Read]] = {}
        self._failures: dict[SchemaId, tuple[float, SchemaError]] = {}
        self._missing: set[SchemaId] = set()

    def split(self, raw: bytes, header: bytes = b"") -> tuple[SchemaId, bytes] | None:
        """The ID of the schema of a message, and its content; None if it has none."""
        if self._client.is_glue:
            return split_glue(raw)
        found = split_message(raw, header)
        return split_apicurio(raw, header) if found is None and self._client.is_apicurio else found

    def read(self, schema: SchemaId, content: bytes, type: str = "") -> tuple[str, Any]:
        """The type of a schema, and the content of a message of it as JSON-like data. With a
        `type`, only of schemas of that type. Raises SchemaError: UnavailableSchema if it may be a
        message."""
        kind, read = self._reader(schema)
        if type and kind != type:
            raise SchemaError(f"schema {schema} is {kind}, not {type}")
        try:
            return kind, read(glue_content(content) if str(schema).startswith(GLUE) else content)
        except Exception as error:  # each library raises types of its own
            raise SchemaError(f"not a message of schema {schema}: {malformed(error)}") from None

    def _reader(self, number: SchemaId) -> tuple[str, Read]:
        found = self._readers.get(number)
        if found is None:
            until, failure = self._failures.get(number, (0.0, None))
            if failure is not None and time.monotonic() < until:
                raise failure
            if len(self._missing) >= _MOST_MISSING and number not in self._missing:
                missing = f"{len(self._missing)} other schema IDs were not found"
                raise SchemaError(f"schema {number} was not requested: {missing}")
            try:
                found = self._readers[number] = self._compiled(number)
                self._missing.discard(number)
            except SchemaError as error:
                if isinstance(error, MissingSchema):
                    self._missing.add(number)
                self._failures[number] = time.monotonic() + _RETRY_S, error
                raise
        return found

    def _compiled(self, number: SchemaId) -> tuple[str, Read]:
        try:
            schema = self._client.by_id(number)
        except MissingSchema:
            raise
        except SchemaError as error:
            raise UnavailableSchema(str(error)) from None
        kind = TYPES.get(schema.schema_type, schema.schema_type)
        try:
            return kind, _compiler(kind)(schema.schema, self._client.imports(schema))
        except Exception as error:
            raise UnavailableSchema(f"schema {number}: {reason(error)}") from None


def registry_of(properties: Mapping[str, Property]) -> SchemaRegistry | None:
    """The registry of client properties, or None without schema.registry.url. Raises ShellError
    with file and line. Sends nothing yet. AWS Glue is `glue:REGION`."""
    url = properties.get(URL)
    if url is not None and url.value.strip().startswith(_GLUE_URL):
        from kafka_shell.admin.schemas.glue import Glue

        return SchemaRegistry(Glue(url.value.strip().removeprefix(_GLUE_URL)))
    client = client_of(properties)
    return None if client is None else SchemaRegistry(client)


def no_registry(what: str) -> UsageError:
    """Return the error for something that requires a registry."""
    return UsageError(
        f"{what} requires a schema registry",
        hint="Set schema.registry.url in the profile or the client properties.",
        code=NO_REGISTRY,
    )


def client_of(
    properties: Mapping[str, Property], limit_time: LimitTime = lambda seconds: seconds
) -> Client | None:
    """Return the client of the registry of client properties, or None without
    schema.registry.url."""
    settings = registry_settings(properties)
    if settings is None:
        return None
    from kafka_shell.admin.schemas.client import Client

    return Client(settings, limit_time)


def split_message(raw: bytes, header: bytes = b"") -> tuple[SchemaId, bytes] | None:
    """The ID or GUID of the schema of a message, and its content; None if it is not in the wire
    format. A `header` has the part before the content, which only there may have a GUID."""
    if header[:1] == b"\1" and len(header) >= _GUID_HEAD:
        return str(UUID(bytes=header[1:_GUID_HEAD])), header[_GUID_HEAD:] + raw
    message = header + raw
    number = int.from_bytes(message[:_HEAD], "big")
    return (number, message[_HEAD:]) if len(message) >= _HEAD and 0 < number < 1 << 31 else None


def split_apicurio(raw: bytes, header: bytes = b"") -> tuple[SchemaId, bytes] | None:
    """The same for an ID of eight bytes, which Confluent's format would read as the ID 0."""
    message = header + raw
    number = int.from_bytes(message[:_GLOBAL_HEAD], "big")
    valid = len(message) >= _GLOBAL_HEAD and 0 < number < 1 << 31
    return (f"{GLOBAL}{number}", message[_GLOBAL_HEAD:]) if valid else None


def split_glue(raw: bytes, header: bytes = b"") -> tuple[SchemaId, bytes] | None:
    """The same for AWS Glue, whose UUIDs are random ones. Its content begins with the byte of its
    compression."""
    if len(raw) < _GLUE_HEAD or raw[0] != 3 or raw[1] not in (_PLAIN, _ZLIB):
        return None
    version = UUID(bytes=raw[2:_GLUE_HEAD])
    return (f"{GLUE}{version}", raw[1:2] + raw[_GLUE_HEAD:]) if version.version == 4 else None


def glue_content(content: bytes) -> bytes:
    """The content without its compression. Raises SchemaError, also if it is too large."""
    if content[0] == _PLAIN:
        return content[1:]
    unpack = zlib.decompressobj()
    found = unpack.decompress(content[1:], _MOST_CONTENT)
    if not unpack.eof:
        raise SchemaError("its content is too large, or ends too early")
    return found


def _compiler(kind: str) -> Compile:
    """The function that makes the reader of a schema. Raises SchemaError."""
    if kind == JSON_SCHEMA:
        return lambda schema, imports: read_json
    with library(kind):
        if kind == AVRO:
            from kafka_shell.admin.schemas.avro import compile_avro

            return compile_avro
        if kind == PROTOBUF:
            from kafka_shell.admin.schemas.protobuf import compile_protobuf

            return compile_protobuf
    raise SchemaError(f"the type {kind} is not supported")
