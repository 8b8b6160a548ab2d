"""DescribeConfigs (API key 32, KIP-133, 226, 569), v1 to v4, by hand.

Every description of a topic asks for its configs; with these few lines a one-shot needs no
kafka-python for it, which costs more to import than the whole conversation takes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from kafka_shell.nouns import (
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ConfigSynonym,
    ConfigType,
    ResourceType,
)

from .frames import Reader, count, string

API_KEY = 32
VERSIONS = (1, 4)
DOCUMENTED_SINCE = 3  # types and documentation: Kafka 2.6
_FLEXIBLE_SINCE = 4

Answer = tuple[ConfigResource, int, str, tuple[ConfigEntry, ...]]


def encode_request(
    version: int,
    resources: Sequence[ConfigResource],
    keys: Sequence[str] | None,
    *,
    synonyms: bool,
    documentation: bool,
) -> bytes:
    """The body of a request; keys None asks for every key."""
    flexible = version >= _FLEXIBLE_SINCE
    out = bytearray(count(len(resources), flexible))
    for resource in resources:
        out += struct.pack(">b", resource.type) + string(resource.name, flexible)
        out += count(None if keys is None else len(keys), flexible)
        for key in keys or ():
            out += string(key, flexible)
        out += b"\0" * flexible
    out.append(synonyms)
    if version >= DOCUMENTED_SINCE:
        out.append(documentation)
    return bytes(out + b"\0" * flexible)


def read_response(version: int, body: bytes) -> list[Answer]:
    """(resource, error code, error message, entries by name) of each resource asked for."""
    reader, flexible = Reader(body), version >= _FLEXIBLE_SINCE
    reader.int32()  # throttle time
    answers: list[Answer] = []
    for _ in range(reader.count(flexible)):
        error, message = reader.int16(), reader.string(flexible) or ""
        resource = ConfigResource(ResourceType(reader.int8()), reader.string(flexible) or "")
        entries = [_entry(reader, version, resource) for _ in range(reader.count(flexible))]
        _end(reader, flexible)
        entries.sort(key=lambda entry: entry.name)
        answers.append((resource, error, message, tuple(entries)))
    return answers


def _entry(reader: Reader, version: int, resource: ConfigResource) -> ConfigEntry:
    flexible = version >= _FLEXIBLE_SINCE
    name, value = reader.string(flexible) or "", reader.string(flexible)
    read_only = bool(reader.int8())
    source = ConfigSource(reader.int8())
    sensitive = bool(reader.int8())
    synonyms = tuple(_synonym(reader, flexible, sensitive) for _ in range(reader.count(flexible)))
    kind, documentation = ConfigType.UNKNOWN, ""
    if version >= DOCUMENTED_SINCE:
        kind = ConfigType(reader.int8())
        documentation = reader.string(flexible) or ""
    _end(reader, flexible)
    return ConfigEntry(
        resource=resource,
        name=name,
        value=None if sensitive else value,
        source=source,
        read_only=read_only,
        sensitive=sensitive,
        type=kind,
        documentation=documentation,
        synonyms=synonyms,
    )


def _synonym(reader: Reader, flexible: bool, sensitive: bool) -> ConfigSynonym:
    name, value = reader.string(flexible) or "", reader.string(flexible)
    source = ConfigSource(reader.int8())
    _end(reader, flexible)
    return ConfigSynonym(name, None if sensitive else value, source)


def _end(reader: Reader, flexible: bool) -> None:
    if flexible:
        reader.skip_tags()
