"""Select existing names: `a,b`, the glob `svc-*`, the regular expression `/^svc-\\d+/`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import lru_cache
from typing import Protocol

from msgspec import Struct

from kafka_shell.common.regex import compile_re2
from kafka_shell.common.text import short
from kafka_shell.errors import UsageError

_GLOB = re.compile(r"[*?]|\[[^\]]+\]")
_ITEM = re.compile(r"/(?:\\.|[^/\\])*+/(?=,|\Z)|[^,\[]+|\[[^\]]*\]|\[", re.DOTALL)


class Pattern(Protocol):
    """A compiled regular expression of re or re2."""

    def fullmatch(self, text: str) -> object:
        """Return a match of the whole text, or None."""


class Selection(Struct, frozen=True):
    """The selected names in their original order; `unmatched` are (index, word)."""

    names: tuple[str, ...]
    unmatched: tuple[tuple[int, str], ...] = ()


def select(words: Sequence[str], names: Sequence[str]) -> Selection:
    """Return the names that the words select. An exact name is never a pattern."""
    known = set(names)
    chosen: set[str] = set()
    unmatched: list[tuple[int, str]] = []
    for index, word in enumerate(words):
        for item in (word,) if word in known else split(word):
            found = _matches(item, names, known)
            chosen.update(found)
            if not found:
                unmatched.append((index, item))
    return Selection(tuple(dict.fromkeys(n for n in names if n in chosen)), tuple(unmatched))


def select_whole(words: Sequence[str], names: Sequence[str]) -> frozenset[str]:
    """Return the names that the words select. Each word is a /regex/, a glob or a name, whatever
    names exist; commas are part of names."""
    known = frozenset(names)
    found = (_matches(word, names, set()) or known & {word} for word in words)
    return frozenset(name for each in found for name in each)


def split(word: str) -> tuple[str, ...]:
    """Split `a,b` at commas, except inside /.../ and [...]."""
    items, current, at = [], "", 0
    while at < len(word):
        if word[at] == ",":
            items.append(current)
            current, at = "", at + 1
            continue
        found = _ITEM.match(word, at)
        # only a whole item is a regular expression
        text = found.group() if found and not (current and word[at] == "/") else word[at]
        current, at = current + text, at + len(text)
    return tuple(item for item in (*items, current) if item)


def is_pattern(word: str) -> bool:
    """Whether the word could select names other than itself: a list, a glob or an expression."""
    return "," in word or any(map(is_glob_or_regex, split(word)))


def is_glob_or_regex(text: str) -> bool:
    """Whether a single name is written as a glob or an expression."""
    return _is_regex(text) or _GLOB.search(text) is not None


def check(word: str) -> None:
    """Raise UsageError for an invalid regular expression."""
    for item in split(word):
        if item.startswith("/"):
            _compiled(item)


def _matches(item: str, names: Sequence[str], known: set[str]) -> set[str]:
    if item in known:
        return {item}
    if item.startswith("/"):
        expression: Pattern = _compiled(item)
    elif _GLOB.search(item):
        expression = re.compile(translate(item))  # atomic groups: no backtracking
    else:
        return set()
    return {name for name in names if expression.fullmatch(name)}


def _is_regex(item: str) -> bool:
    return len(item) > 1 and item.startswith("/") and item.endswith("/")


def _compiled(item: str) -> Pattern:
    if not _is_regex(item):
        raise UsageError(
            f"the regular expression {short(item)} has no closing /",
            hint="Quote it if it contains blanks, quotes, > or |: '/a|b/'",
            code="bad-pattern",
        )
    if item == "//":
        raise UsageError("the regular expression // is empty", hint="Use '*' to select all names.",
                         code="bad-pattern")  # fmt: skip
    return _engine(item[1:-1])


@lru_cache
def _engine(expression: str) -> Pattern:
    found: Pattern = compile_re2(expression, f"/{expression}/")
    return found
