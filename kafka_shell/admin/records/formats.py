"""Decoding of the bytes of keys and values: JSON, text and numbers."""

from __future__ import annotations

import re
import struct
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from kafka_shell.admin.schemas.errors import SchemaError, UnavailableSchema, reason
from kafka_shell.admin.schemas.registry import SCHEMA_FORMATS, SchemaRegistry, schema_id
from kafka_shell.errors import UsageError, did_you_mean

from .internal_topics import TOPICS, read_key, read_value
from .model import Record
from .numbers import finite

AUTO = "auto"
PLAIN_FORMATS = ("auto", "json", "string", "hex", "base64", "int32", "int64", "double")
FORMATS = (*PLAIN_FORMATS, *SCHEMA_FORMATS)
"""The values of --key-format and --value-format."""

BYTES, JSON, NULL, STRING = "bytes", "json", "null", "string"


class Decoded(Struct, frozen=True):
    """A key or value. `data` is JSON-like, or bytes if they mean nothing to the format; `kind` is
    what it was decoded as. `problem` says why the requested format does not apply. `schema` is the
    ID of the schema in the registry. It is `unknown` what the bytes are if that schema could not be
    read."""

    data: Any
    kind: str
    problem: str = ""
    schema: int | None = None
    unknown: bool = False


Decode = Callable[[bytes], Decoded]

_NULL = Decoded(None, NULL)
_EMPTY = Decoded("", STRING)
_parse_json = msgspec.json.Decoder().decode
JSON_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

# Tab, line breaks and escape (colored logs) may be in a text.
_BINARY = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]")
_NUMBERS: dict[str, tuple[struct.Struct, str]] = {
    "int32": (struct.Struct(">i"), "4 bytes"),
    "int64": (struct.Struct(">q"), "8 bytes"),
    "double": (struct.Struct(">d"), "8 bytes"),
}
# A number of so many bytes is recognized if its first bytes are its sign. Hashes and other IDs of
# this size rarely start so.
_RECOGNIZED = {4: ("int32", (b"\0", b"\xff")), 8: ("int64", (b"\0\0", b"\xff\xff"))}


class Formats:
    """Decodes the keys and values of records. Raises UsageError for an unknown format.

    `registry` is the schema registry of their schemas, if there is one.
    """

    def __init__(
        self, key: str = AUTO, value: str = AUTO, registry: SchemaRegistry | None = None
    ) -> None:
        self.key_format, self.value_format = key, value
        self.registry = registry
        self._key = decoder(key, registry, numbers_first=True)
        self._value = decoder(value, registry)

    def key(self, record: Record) -> Decoded:
        """The key of a record."""
        if record.key is None:
            return _NULL
        if record.topic in TOPICS and self.key_format == AUTO:
            return _internal(record, record.key)
        return self._key(record.key)

    def value(self, record: Record) -> Decoded:
        """The value of a record; a tombstone is null."""
        if record.value is None:
            return _NULL
        if record.topic in TOPICS and self.value_format == AUTO:
            return _internal(record, record.key, record.value)
        return self._value(record.value)


def _internal(record: Record, key: bytes | None, value: bytes | None = None) -> Decoded:
    """The value of a record of Kafka's internal topics, or its key without a `value`."""
    try:
        if value is None:
            name, data = read_key(record.topic, key or b"")
            return Decoded(data, f"{name}Key")
        name, data = read_value(record.topic, key or b"", value)
        return Decoded(data, f"{name}Value")
    except Exception as error:  # of this record: others can still be read
        return Decoded(key if value is None else value, BYTES, reason(error))


def decoder(
    name: str, registry: SchemaRegistry | None = None, *, numbers_first: bool = False
) -> Decode:
    """The function that decodes bytes in a format. Raises UsageError.

    Without a format, `numbers_first` prefers an integer of 8 bytes, which is common as a key, to a
    message with a schema of 3 bytes.
    """
    if name in _NUMBERS:
        return lambda raw: _number(name, raw)
    if name in SCHEMA_FORMATS:
        if registry is None:
            raise UsageError(
                f"the format {name} requires a schema registry",
                hint="Set schema.registry.url in the profile or the client properties.",
                code="no-registry",
            )
        return lambda raw: _message(raw, name, registry)
    if name == AUTO and registry is not None:
        return lambda raw: _recognize_message(raw, registry, numbers_first)
    found = _DECODERS.get(name)
    if found is None:
        raise UsageError(
            f"unknown format {name}",
            hint=did_you_mean(name, FORMATS, f"Expected one of {', '.join(FORMATS)}."),
            code="unknown-format",
        )
    return found


def _message(raw: bytes, name: str, registry: SchemaRegistry) -> Decoded:
    """A message with a schema; with a `name`, of that format."""
    try:
        found = registry.read(raw, name)
    except SchemaError as error:
        unknown = isinstance(error, UnavailableSchema)
        return Decoded(raw, BYTES, str(error), schema_id(raw), unknown)
    if found is None:
        return Decoded(raw, BYTES, f"no {name} message with the ID of a schema")
    return Decoded(found.data, found.type, "", found.schema)


def _recognize_message(raw: bytes, registry: SchemaRegistry, numbers_first: bool) -> Decoded:
    if schema_id(raw) is None:
        return recognize(raw)
    plain = recognize(raw) if numbers_first else None
    return _message(raw, "", registry) if plain is None or plain.kind == BYTES else plain


def recognize(raw: bytes) -> Decoded:
    """JSON objects and arrays, text, and integers of 4 or 8 bytes; anything else is bytes.

    A text that is a JSON number, string or literal is a string, so that the keys 7 and x7 of a
    topic have the same type.
    """
    if not raw:
        return _EMPTY
    if raw[0] in b"{[":
        try:
            return Decoded(_parse_json(raw), JSON)
        except JSON_ERRORS:
            pass
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return _integer(raw)
    if not text.isprintable() and _BINARY.search(text):
        return _integer(raw)
    return Decoded(text, STRING)


def _integer(raw: bytes) -> Decoded:
    name, starts = _RECOGNIZED.get(len(raw), ("", ()))
    return _number(name, raw) if raw.startswith(starts) else Decoded(raw, BYTES)


def _number(name: str, raw: bytes) -> Decoded:
    form, size = _NUMBERS[name]
    if len(raw) != form.size:
        return Decoded(raw, BYTES, f"{name} requires {size}, got {len(raw):,}")
    return Decoded(finite(form.unpack(raw)[0]), name)


def _json(raw: bytes) -> Decoded:
    try:
        return Decoded(_parse_json(raw), JSON)
    except JSON_ERRORS:
        text = _string(raw)
        return Decoded(text.data, text.kind, "not valid JSON")


def _string(raw: bytes) -> Decoded:
    try:
        return Decoded(raw.decode(), STRING)
    except UnicodeDecodeError:
        return Decoded(raw, BYTES, "not valid UTF-8")


_DECODERS: dict[str, Decode] = {
    AUTO: recognize,
    "json": _json,
    "string": _string,
    "hex": lambda raw: Decoded(raw.hex(), "hex"),
    "base64": lambda raw: Decoded(b64encode(raw).decode(), "base64"),
}
