"""DescribeConfigs (API key 32, KIP-133, 226, 569), v1 to v4, by hand.

Describing topics reads configs; with this codec a one-shot command does not import kafka-python,
which takes longer than all its requests.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from kafka_shell.admin.configs.model import (
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ConfigSynonym,
    ConfigType,
    ResourceType,
)
from kafka_shell.admin.wire.frames import Reader, count, string

API_KEY = 32
VERSIONS = (1, 4)
DOCUMENTED_SINCE = 3  # types and documentation: Kafka 2.6
FLEXIBLE_SINCE = 4
_REMEMBERED = 4  # entries per position: the default, and values that some topics set

_Fields = tuple[
    str, str | None, ConfigSource, bool, bool, ConfigType, str, tuple[ConfigSynonym, ...]
]
Answer = tuple[ConfigResource, int, str, tuple[ConfigEntry, ...]]


def encode_request(
    version: int,
    resources: Sequence[ConfigResource],
    keys: Sequence[str] | None,
    *,
    synonyms: bool,
    documentation: bool,
) -> bytes:
    """The body of a request; keys None requests all keys."""
    flexible = version >= FLEXIBLE_SINCE
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
    """(resource, error code, error message, entries) of each requested resource."""
    reader, flexible = Reader(body), version >= FLEXIBLE_SINCE
    reader.int32()  # throttle time
    entry = _Entries(reader, version, body)
    responses: list[Answer] = []
    for _ in range(reader.count(flexible)):
        error, message = reader.int16(), reader.string(flexible) or ""
        resource = ConfigResource(ResourceType(reader.int8()), reader.string(flexible) or "")
        entries = [entry.next(resource, place) for place in range(reader.count(flexible))]
        _end(reader, flexible)
        entries.sort(key=lambda entry: entry.name)
        responses.append((resource, error, message, tuple(entries)))
    return responses


class _Entries:
    """Decodes the entries of one response. Most topics have the same configs in the same order:
    bytes seen at the same position before are not decoded again, which saves most of the work for
    a hundred thousand topics."""

    def __init__(self, reader: Reader, version: int, body: bytes) -> None:
        self._reader = reader
        self._version = version
        self._body = body
        self._met: dict[int, list[tuple[bytes, _Fields]]] = {}

    def next(self, resource: ConfigResource, place: int) -> ConfigEntry:
        """The entry at the reader's position, for this resource."""
        reader, start = self._reader, self._reader.position
        met = self._met.setdefault(place, [])
        for raw, fields in met:
            if self._body.startswith(raw, start):
                reader.skip(len(raw))
                return ConfigEntry(resource, *fields)
        fields = _fields(reader, self._version)
        met.insert(0, (self._body[start : reader.position], fields))
        del met[_REMEMBERED:]
        return ConfigEntry(resource, *fields)


def _fields(reader: Reader, version: int) -> _Fields:
    """The fields of a ConfigEntry after its resource, in order."""
    flexible = version >= FLEXIBLE_SINCE
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
    shown = None if sensitive else value
    return name, shown, source, read_only, sensitive, kind, documentation, synonyms


def _synonym(reader: Reader, flexible: bool, sensitive: bool) -> ConfigSynonym:
    name, value = reader.string(flexible) or "", reader.string(flexible)
    source = ConfigSource(reader.int8())
    _end(reader, flexible)
    return ConfigSynonym(name, None if sensitive else value, source)


def _end(reader: Reader, flexible: bool) -> None:
    if flexible:
        reader.skip_tags()
