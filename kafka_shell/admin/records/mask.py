"""Records without what must not be shown: fields of keys, values and headers that are masked.

A path is `key`, `value`, or a path into them (`value.user.email`), or `header.NAME`. `*` is any
name; a path applies to all elements of an array, whatever index it has. What a path cannot be
followed into is masked as a whole, and so is what cannot be decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from typing import cast

import msgspec
from msgspec import Raw

from kafka_shell.admin.records.formats import JSON, SCHEMA_HEADERS, Decoded, Formats, Shown
from kafka_shell.admin.records.model import Header, Record
from kafka_shell.base.errors import UsageError

HIDDEN = "***"
_HIDDEN = msgspec.json.encode(HIDDEN)
Path = tuple[str, ...]
_fields = msgspec.json.Decoder(dict[str, Raw]).decode
_elements = msgspec.json.Decoder(list[Raw]).decode
_PARTS = ("key", "value", "header")


def parse_path(text: str) -> Path:
    """The names of a path. Raises UsageError."""
    part, *names = text.split(".")
    if part == "header":
        names = [".".join(names)] if names else []
    if part not in _PARTS or "" in names or (part == "header" and not names):
        raise UsageError(
            f"'{text}' is not a path of a record",
            hint="Examples: key, value.email, value.user.phone, header.token",
            code="bad-path",
        )
    return (part, *names)


class Mask:
    """Masks records. `paths_of` returns the paths that are masked in a topic."""

    def __init__(self, paths_of: Callable[[str], Iterable[str]] = lambda topic: ()) -> None:
        self._paths_of = paths_of
        self._known: dict[str, tuple[Path, ...]] = {}

    def of(self, topic: str) -> tuple[Path, ...]:
        """The paths that are masked in a topic."""
        found = self._known.get(topic)
        if found is None:
            found = self._known[topic] = tuple(sorted(map(parse_path, self._paths_of(topic))))
        return found

    def shown(self, records: Sequence[Record], formats: Formats) -> list[Shown]:
        """The records as they may be shown."""
        if self is NO_MASK:
            return cast("list[Shown]", records)
        return [
            self._masked(record, paths, formats) if paths else cast(Shown, record)
            for record in records
            for paths in [self.of(record.topic)]
        ]

    def _masked(self, record: Record, paths: Sequence[Path], formats: Formats) -> Shown:
        of = {part: [path[1:] for path in paths if path[0] == part] for part in _PARTS}
        key, value, headers = record.key, record.value, record.headers
        if key is not None and of["key"]:
            key = _hidden(key, formats.key(record), of["key"])
        if value is not None and of["value"]:
            value = _hidden(value, formats.value(record), of["value"])
        if headers and of["header"]:
            hidden = {path[0] for path in of["header"]}
            headers = tuple(_header(header, hidden) for header in headers)
        return Shown(
            record.topic, record.partition, record.offset, record.timestamp, record.timestamp_type,
            key, value, headers, bool(of["key"]), bool(of["value"]),
        )  # fmt: skip

    def covers(self, path: Sequence[str], topic: str) -> str:
        """The masked path of a topic that has something in common with this one, or ""."""
        return next((".".join(each) for each in self.of(topic) if _have_common(each, path)), "")

    def hides(self, path: Sequence[str], topic: str) -> bool:
        """Whether all of a path is masked in a topic."""
        return any(
            len(each) <= len(path) and all(map(_is_any, each, path)) for each in self.of(topic)
        )


NO_MASK = Mask()


def _is_any(masked: str, name: str) -> bool:
    return masked in ("*", name)


def _have_common(masked: Sequence[str], path: Sequence[str]) -> bool:
    """Whether one of these paths may lead to a part of what the other leads to. A number in `path`
    may be an index, which no name of `masked` has to be for."""
    left = {tuple(masked)}
    for name in path:
        if () in left:
            break
        index = name.isdecimal()
        found = {
            each[1:] for each in left if _is_any(each[0], name) or (index and each[0].isdecimal())
        }
        left = found | left if index else found
    return bool(left)


def _hidden(raw: bytes, decoded: Decoded, paths: Sequence[Path]) -> bytes:
    """The bytes of a key or value without these paths. The others are JSON as it is written."""
    if decoded.problem or type(decoded.data) in (bytes, str):
        return HIDDEN.encode()
    json = raw if decoded.kind == JSON else msgspec.json.encode(decoded.data)
    try:
        json = msgspec.json.format(_without(json, frozenset(paths)), indent=-1)
    except RecursionError:  # nested too deeply
        json = _HIDDEN
    return HIDDEN.encode() if json == _HIDDEN else json


def _without(json: bytes, paths: Set[Path]) -> bytes:
    """A JSON value with what is at one of the paths hidden."""
    start = json.lstrip()[:1]
    if start == b"n":  # null
        return json
    if () in paths or start not in (b"{", b"["):
        return _HIDDEN
    if start == b"[":  # * and a number may be for the element, or for a name in it
        rest = paths | {path[1:] for path in paths if path[0] == "*" or path[0].isdecimal()}
        return msgspec.json.encode([Raw(_without(bytes(each), rest)) for each in _elements(json)])
    fields = _fields(json)
    for name, each in fields.items():
        if rest := {path[1:] for path in paths if _is_any(path[0], name)}:
            fields[name] = Raw(_without(bytes(each), rest))
    return msgspec.json.encode(fields)


def _header(header: Header, hidden: set[str]) -> Header:
    name, value = header
    if value is None or name in SCHEMA_HEADERS or hidden.isdisjoint((name, "*")):
        return header
    return name, HIDDEN.encode()
