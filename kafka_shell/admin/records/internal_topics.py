"""Keys and values of Kafka's internal topics, with the fields and names of Kafka's own formatters.

A key is `{"type": 1, "data": {...}}` and a value `{"version": 4, "data": {...}}`. Bytes are base64,
and UUIDs as Kafka prints them.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from kafka_shell.admin.records.internal_schemas import KEYS, RECORD_TYPES, VALUES
from kafka_shell.admin.wire.frames import MalformedError, Reader
from kafka_shell.admin.wire.uuids import format_uuid

Read = Callable[[Reader], Any]
TOPICS = frozenset(RECORD_TYPES)


class Unreadable(Exception):
    """Bytes that are not a record of the topic, or of a newer Kafka; the text says why."""


def read_key(topic: str, key: bytes) -> tuple[str, dict[str, Any]]:
    """The name of the record's type, and its decoded key. Raises Unreadable."""
    reader = Reader(key)
    try:
        number = reader.int16()
        name = _name(topic, number)
        return name, {"type": number, "data": _key_reader(name)(reader)}
    except MalformedError as error:
        raise Unreadable(f"the key {error}") from None


def read_value(topic: str, key: bytes, value: bytes) -> tuple[str, dict[str, Any]]:
    """The name of the record's type, and its decoded value. Raises Unreadable."""
    try:
        name = _name(topic, Reader(key).int16())
        reader = Reader(value)
        version = reader.int16()
        return name, {"version": version, "data": _value_reader(name, version)(reader)}
    except MalformedError as error:
        raise Unreadable(f"the value {error}") from None


def _name(topic: str, number: int) -> str:
    name = RECORD_TYPES[topic].get(number)
    if name is None:
        raise Unreadable(f"unknown record type {number}")
    return name


@cache
def _key_reader(name: str) -> Read:
    return _structure(_parse(KEYS[name]), 0, flexible=False)


@cache
def _value_reader(name: str, version: int) -> Read:
    head, _, fields = VALUES[name].partition(":")
    versions, _, flexible = head.partition(" flexible ")
    lowest, _, highest = versions.partition("-")
    if not int(lowest) <= version <= int(highest or lowest):
        raise Unreadable(f"version {version} of {name} is not supported")
    return _structure(_parse(fields), version, flexible=bool(flexible) and version >= int(flexible))


# -- schemas ---------------------------------------------------------------------------------------


class _Field(Struct, frozen=True):
    """A field of a schema. `type` is a scalar's name, or the fields of a structure."""

    name: str
    type: str | tuple[_Field, ...]
    array: bool
    nullable: bool
    versions: str
    tag: int | None

    def is_in(self, version: int) -> bool:
        """Whether it is in this version."""
        first, plus, _ = self.versions.partition("+")
        return not first or version == int(first) or (bool(plus) and version > int(first))


_TOKEN = re.compile(r"\s*(<\d+>|\d+\+?|\[\]|[A-Za-z]\w*|[?(),])")


def _parse(source: str) -> tuple[_Field, ...]:
    return _fields(_TOKEN.findall(source)[::-1])


def _fields(tokens: list[str]) -> tuple[_Field, ...]:
    """The fields up to the end or `)`; `tokens` are in reverse order and consumed."""
    found = []
    while tokens:
        name, array, nullable, versions, tag = tokens.pop(), False, False, "", None
        if tokens[-1] == "[]":
            array = bool(tokens.pop())
        if tokens[-1] == "?":
            nullable = bool(tokens.pop())
        opening = tokens.pop()
        kind = _fields(tokens) if opening == "(" else opening
        if tokens and tokens[-1][0].isdigit():
            versions = tokens.pop()
        if tokens and tokens[-1][0] == "<":
            tag = int(tokens.pop()[1:-1])
        found.append(_Field(name, kind, array, nullable, versions, tag))
        if tokens and tokens.pop() == ")":
            break
    return tuple(found)


# -- readers ---------------------------------------------------------------------------------------


def _structure(fields: Sequence[_Field], version: int, *, flexible: bool) -> Read:
    kept = [field for field in fields if field.is_in(version)]
    readers = [(f.name, _reader(f, version, flexible)) for f in kept if f.tag is None]
    tagged = {f.tag: (f.name, _reader(f, version, flexible)) for f in kept if f.tag is not None}

    def read(reader: Reader) -> dict[str, Any]:
        found = {name: read_field(reader) for name, read_field in readers}
        for _ in range(reader.varint() if flexible else 0):
            tag, size = reader.varint(), reader.varint()
            content = reader.take(size)
            if tag in tagged:
                name, read_field = tagged[tag]
                found[name] = read_field(Reader(content))
        return found

    return read


def _reader(field: _Field, version: int, flexible: bool) -> Read:
    if isinstance(field.type, str):
        read = _SCALARS[field.type](flexible)
    else:
        read = _structure(field.type, version, flexible=flexible)
    if field.nullable and field.tag is not None:
        return lambda reader: read(reader) if reader.varint() > 0 else None
    if field.nullable:
        return lambda reader: read(reader) if reader.int8() >= 0 else None
    return _array(read, flexible) if field.array else read


def _array(read: Read, flexible: bool) -> Read:
    def read_all(reader: Reader) -> list[Any] | None:
        size = reader.varint() - 1 if flexible else reader.int32()
        if size < 0:
            return None
        if size > len(reader.rest()):  # an item has at least one byte
            raise MalformedError("ends too early")
        return [read(reader) for _ in range(size)]

    return read_all


def _string(flexible: bool) -> Read:
    return lambda reader: reader.string(flexible)


def _bytes(flexible: bool) -> Read:
    def read(reader: Reader) -> str | None:
        size = reader.varint() - 1 if flexible else reader.int32()
        return None if size < 0 else b64encode(reader.take(size)).decode()

    return read


def _uuid(reader: Reader) -> str:
    return format_uuid(reader.take(16))


_SCALARS: dict[str, Callable[[bool], Read]] = {
    "int8": lambda _: Reader.int8,
    "int16": lambda _: Reader.int16,
    "uint16": lambda _: lambda reader: reader.int16() & 0xFFFF,
    "int32": lambda _: Reader.int32,
    "int64": lambda _: Reader.int64,
    "uuid": lambda _: _uuid,
    "string": _string,
    "bytes": _bytes,
}
