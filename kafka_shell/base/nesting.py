"""A limit for nested data: a parser accepts more levels than what processes its result does."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")
MAX_LEVELS = 500


def limited(data: T) -> T:
    """Return the data of a JSON parser. Raises RecursionError, as parsers do, if it has more levels
    than MAX_LEVELS."""
    level: list[object] = [data]
    for _ in range(MAX_LEVELS + 1):
        level = [
            child
            for each in level
            if isinstance(each, dict | list)
            for child in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return data
    raise RecursionError
