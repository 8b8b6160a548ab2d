"""The nodes of a YAML or JSON document."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

MAX_DEPTH = 50


class FilePosition(Struct, frozen=True):
    """A position in a file, from 1."""

    line: int
    column: int


class Node:
    """A scalar, sequence or mapping of the document; the keys and values of a mapping in turn.

    `plain` scalars are written without quotes: they can be null, booleans, numbers and merge keys.
    """

    __slots__ = ("kind", "plain", "position", "value")

    def __init__(
        self, kind: str, value: Any, position: FilePosition, *, plain: bool = False
    ) -> None:
        self.kind = kind
        self.value = value
        self.position = position
        self.plain = plain
