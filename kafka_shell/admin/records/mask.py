"""Records without what must not be shown: fields of keys, values and headers that are masked.

A path is `key`, `value`, or a path into them (`value.user.email`), or `header.NAME`. `*` is any
name; a path applies to all elements of an array. What a path cannot be followed into is masked as a
whole, and so is what cannot be decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import msgspec

from kafka_shell.admin.records.formats import SCHEMA_HEADERS, Decoded, Formats, Shown
from kafka_shell.admin.records.model import Header, Record
from kafka_shell.base.errors import UsageError

HIDDEN = "***"
Path = tuple[str, ...]
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
            key = _hidden(formats.key(record), of["key"])
        if value is not None and of["value"]:
            value = _hidden(formats.value(record), of["value"])
        if headers and of["header"]:
            hidden = {path[0] for path in of["header"]}
            headers = tuple(_header(header, hidden) for header in headers)
        return Shown(
            record.topic, record.partition, record.offset, record.timestamp, record.timestamp_type,
            key, value, headers, bool(of["key"]), bool(of["value"]),
        )  # fmt: skip

    def covers(self, path: Sequence[str], topic: str) -> str:
        """The masked path of a topic that has something in common with this one, or ""."""
        names = _without_indexes(path)
        for masked in self.of(topic):
            pairs = zip(_without_indexes(masked), names, strict=False)
            if all(one == "*" or one == other for one, other in pairs):
                return ".".join(masked)
        return ""


NO_MASK = Mask()


def _without_indexes(path: Iterable[str]) -> list[str]:
    return [name for name in path if not name.isdecimal()]


def _hidden(decoded: Decoded, paths: Sequence[Path]) -> bytes:
    """The bytes of a key or value without these paths."""
    data = decoded.data
    if decoded.problem or type(data) is bytes:
        return HIDDEN.encode()
    for path in paths:
        data = _without(data, path)
    return data.encode() if type(data) is str else msgspec.json.encode(data)


def _without(data: Any, path: Sequence[str]) -> Any:
    """The data with what is at the path hidden."""
    if data is None:
        return None
    if path and type(data) is dict:
        name, rest = path[0], path[1:]
        return {key: _without(each, rest) if name in (key, "*") else each
                for key, each in data.items()}  # fmt: skip
    if path and type(data) is list:
        index = int(path[0]) if path[0].isdecimal() else None
        rest = path[1:] if index is not None or path[0] == "*" else path
        return [
            _without(each, rest) if index in (None, at) else each for at, each in enumerate(data)
        ]
    return HIDDEN


def _header(header: Header, hidden: set[str]) -> Header:
    name, value = header
    if value is None or name in SCHEMA_HEADERS or hidden.isdisjoint((name, "*")):
        return header
    return name, HIDDEN.encode()
