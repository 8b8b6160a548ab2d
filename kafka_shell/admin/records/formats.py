"""Decoding of the bytes of keys and values: JSON, text and numbers."""

from __future__ import annotations

import re
import struct
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from kafka_shell.admin.records.internal_topics import TOPICS, Unreadable, read_key, read_value
from kafka_shell.admin.records.model import Record
from kafka_shell.admin.records.numbers import finite
from kafka_shell.admin.schemas.budget import SchemaError, UnavailableSchema, malformed, read_json
from kafka_shell.admin.schemas.registry import (
    SCHEMA_FORMATS,
    SchemaRegistry,
    no_registry,
    split_apicurio,
    split_glue,
    split_message,
)
from kafka_shell.base.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from kafka_shell.admin.schemas.files import FileSchema

AUTO = "auto"
PLAIN_FORMATS = ("auto", "json", "string", "hex", "base64", "int32", "int64", "double")
FORMATS = (*PLAIN_FORMATS, *SCHEMA_FORMATS)
"""The values of --key-format and --value-format."""

_MOST_PROBLEMS = 20
_OTHER_PROBLEMS = "other messages could not be decoded, for other reasons"
SCHEMA_HEADERS = {
    f"{prefix}{part}{suffix}": (part, head, cut)
    for part in ("key", "value")
    for prefix, suffix, head, cut in (
        ("__", "_schema_id", b"", 0),
        ("apicurio.", ".globalId", b"\0", 0),  # 8 bytes
        ("apicurio.", ".contentId", b"\0", 4),
    )
}
"""Headers with the ID of a schema: the part of the record, and what a message has before the last
bytes of the header."""

BYTES, JSON, NULL, STRING = "bytes", "json", "null", "string"


class Shown(Record, frozen=True):
    """A record as it may be shown: only a Mask makes it, so that no output forgets to ask for one.
    A masked key or value is not that of the topic, but text or JSON."""

    masked_key: bool = False
    masked_value: bool = False


class Decoded(Struct, frozen=True):
    """A key or value. `data` is JSON-like, or bytes if they mean nothing to the format; `kind` is
    what it was decoded as. `problem` says why the requested format does not apply. `schema` is the
    ID or GUID of the schema in the registry. It is `unknown` what the bytes are if that schema
    could not be read."""

    data: Any
    kind: str
    problem: str = ""
    schema: int | str | None = None
    unknown: bool = False

    def text(self, raw: bytes, errors: str = "replace") -> str:
        """As text: JSON as it is written, and what was decoded with a schema as JSON."""
        if type(self.data) is str:
            return self.data
        if self.kind == JSON or type(self.data) is bytes:
            return raw.decode(errors=errors)
        return msgspec.json.encode(self.data).decode()


Decode = Callable[[bytes, bytes], Decoded]
"""Decodes bytes, with the header that has the ID of their schema, if any."""

_NULL = Decoded(None, NULL)
_EMPTY = Decoded("", STRING)

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

    `registry` is the schema registry of their schemas, if there is one; `schema` and `key_schema`
    are those of the values and keys that have no ID of a schema in it, instead of a format. If
    `strict`, they are not used for messages that have an ID. `topics` are the formats of topics
    that have others. `problems` is why messages of a schema could not be decoded, each reason once.
    """

    def __init__(
        self,
        key: str = AUTO,
        value: str = AUTO,
        registry: SchemaRegistry | None = None,
        schema: FileSchema | None = None,
        key_schema: FileSchema | None = None,
        topics: Mapping[str, Formats] | None = None,
        *,
        strict: bool = False,
    ) -> None:
        self.key_format = key if key_schema is None else key_schema.format
        self.value_format = value if schema is None else schema.format
        self._topics = topics or {}
        files = schema is not None or key_schema is not None or bool(self._topics)
        self.has_schemas = registry is not None or files
        self._key = (
            _of_file(key_schema, registry, strict)
            if key_schema
            else decoder(key, registry, key=True)
        )
        self._value = _of_file(schema, registry, strict) if schema else decoder(value, registry)
        self.problems: dict[str, None] = {}

    def of(self, topic: str) -> Formats:
        """The formats of a topic."""
        return self._topics.get(topic, self)

    def key(self, record: Record) -> Decoded:
        """The key of a record."""
        raw, formats = record.key, self.of(record.topic)
        if raw is None:
            return _NULL
        if type(record) is Shown and record.masked_key:
            return recognize(raw)
        if record.topic in TOPICS and formats.key_format == AUTO:
            return _internal(record, raw)
        return self._noted(formats._key(raw, schema_header(record, "key")))

    def value(self, record: Record) -> Decoded:
        """The value of a record; a tombstone is null."""
        raw, formats = record.value, self.of(record.topic)
        if raw is None:
            return _NULL
        if type(record) is Shown and record.masked_value:
            return recognize(raw)
        if record.topic in TOPICS and formats.value_format == AUTO:
            return _internal(record, record.key, raw)
        return self._noted(formats._value(raw, schema_header(record, "value")))

    def _noted(self, found: Decoded) -> Decoded:
        if found.problem and found.schema is not None:
            known = found.problem in self.problems or len(self.problems) < _MOST_PROBLEMS
            self.problems[found.problem if known else _OTHER_PROBLEMS] = None
        return found


def schema_header(record: Record, part: str) -> bytes:
    """What a header has instead of the part of a `key` or `value` before its content, as the
    serializers of Confluent and Apicurio can write it; empty without one."""
    for name, value in record.headers:
        head = SCHEMA_HEADERS.get(name)
        if head is not None and head[0] == part and value:
            return head[1] + value[head[2] :]
    return b""


def _internal(record: Record, key: bytes | None, value: bytes | None = None) -> Decoded:
    """The value of a record of Kafka's internal topics, or its key without a `value`."""
    try:
        if value is None:
            name, data = read_key(record.topic, key or b"")
            return Decoded(data, f"{name}Key")
        name, data = read_value(record.topic, key or b"", value)
        return Decoded(data, f"{name}Value")
    except Exception as error:  # of this record: others can still be read
        why = str(error) if isinstance(error, Unreadable) else malformed(error)
        return Decoded(key if value is None else value, BYTES, why)


def decoder(name: str, registry: SchemaRegistry | None = None, *, key: bool = False) -> Decode:
    """The function that decodes bytes in a format. Raises UsageError.

    Without a format, an integer of 8 bytes, which is common as a `key`, is preferred to a message
    with a schema of 3 bytes.
    """
    if name in _NUMBERS:
        return lambda raw, _: _number(name, raw)
    if name in SCHEMA_FORMATS:
        if registry is None:
            raise no_registry(f"the format {name}")
        return lambda raw, header: _message(raw, header, name, registry)
    if name == AUTO:
        return lambda raw, header: _recognize_message(raw, header, registry, key)
    decode = _DECODERS.get(name)
    if decode is None:
        raise UsageError(
            f"unknown format {name}",
            hint=did_you_mean(name, FORMATS, f"Use one of {', '.join(FORMATS)}."),
            code="unknown-format",
        )
    return lambda raw, _: decode(raw)


def _message(raw: bytes, header: bytes, name: str, registry: SchemaRegistry) -> Decoded:
    """A message with a schema; with a `name`, of that format."""
    message = registry.split(raw, header)
    if message is None:
        return Decoded(raw, BYTES, f"no {name} message with the ID of a schema")
    schema, content = message
    try:
        kind, data = registry.read(schema, content, name)
    except SchemaError as error:
        return Decoded(raw, BYTES, str(error), schema, isinstance(error, UnavailableSchema))
    return Decoded(data, kind, "", schema)


def _of_file(schema: FileSchema, registry: SchemaRegistry | None, strict: bool) -> Decode:
    """Decodes messages that have the ID of a schema with the registry, the others with a schema: in
    the wire format of another registry, unless `strict`, or without an ID."""

    def decode(raw: bytes, header: bytes) -> Decoded:
        known = registry is not None and registry.split(raw, header) is not None
        if registry is not None and known:
            found = _message(raw, header, "", registry)
            if strict or found.unknown or not found.problem:
                return found
        for split in () if known else (split_message, split_glue, split_apicurio):
            if (message := split(raw, header)) is None:
                continue
            if strict:
                why = f"schema {message[0]} requires a registry, as fields are masked by name"
                return Decoded(raw, BYTES, why, message[0], True)
            with suppress(Exception):  # it may start like one
                return Decoded(schema.framed(*message), schema.format, "", message[0])
        try:
            return Decoded(schema.read(schema.head + raw), schema.format)
        except Exception as error:  # each library raises types of its own
            why = f"not a message of {schema.name}: {malformed(error)}"
            return Decoded(raw, BYTES, why, schema.name)

    return decode


def _recognize_message(
    raw: bytes, header: bytes, registry: SchemaRegistry | None, numbers_first: bool
) -> Decoded:
    has_schema = registry is not None and registry.split(raw, header) is not None
    if not has_schema or (numbers_first and not header):
        plain = recognize(raw)
        if header and plain.kind in _NUMBERS:
            plain = Decoded(raw, BYTES)  # the content of a short message
        if plain.kind == BYTES and not has_schema and (glue := split_glue(raw)) is not None:
            return Decoded(
                raw, BYTES, f"{glue[0]} of AWS Glue requires a schema file", glue[0], True
            )
        if not has_schema or plain.kind != BYTES:
            return plain
    assert registry is not None
    return _message(raw, header, "", registry)


def recognize(raw: bytes) -> Decoded:
    """JSON objects and arrays, text, and integers of 4 or 8 bytes; anything else is bytes.

    A text that is a JSON number, string or literal is a string, so that the keys 7 and x7 of a
    topic have the same type.
    """
    if not raw:
        return _EMPTY
    if raw[0] in b"{[":
        try:
            return Decoded(read_json(raw), JSON)
        except SchemaError:
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
        return Decoded(read_json(raw), JSON)
    except SchemaError:
        text = _string(raw)
        return Decoded(text.data, text.kind, "not valid JSON")


def _string(raw: bytes) -> Decoded:
    try:
        return Decoded(raw.decode(), STRING)
    except UnicodeDecodeError:
        return Decoded(raw, BYTES, "not valid UTF-8")


_DECODERS: dict[str, Callable[[bytes], Decoded]] = {
    "json": _json,
    "string": _string,
    "hex": lambda raw: Decoded(raw.hex(), "hex"),
    "base64": lambda raw: Decoded(b64encode(raw).decode(), "base64"),
}
