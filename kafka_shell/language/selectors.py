"""Selecting many of the names that exist: `a,b`, the glob `svc-*`, the expression `/^svc-\\d+/`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache
from typing import Protocol

from kafka_shell.errors import UsageError

_GLOB = re.compile(r"[*?]|\[[^\]]+\]")
_NOT_IN_RE2 = re.compile(r"\(\?(?:[=!>]|<[=!]|P=|\()|\\[1-9]|[*+?}]\+")  # but in Python's engine
_ITEM = re.compile(r"/(?:\\.|[^/\\])*+/(?=,|\Z)|[^,\[]+|\[[^\]]*\]|\[", re.DOTALL)


class Pattern(Protocol):
    """A compiled expression, of either engine."""

    def fullmatch(self, text: str) -> object:
        """A match of the whole text, or None."""


@dataclass(frozen=True, slots=True)
class Selection:
    """`names` are in the order of the names given, each once; `unmatched` are (index, word)."""

    names: tuple[str, ...]
    unmatched: tuple[tuple[int, str], ...] = ()


def select(words: Sequence[str], names: Sequence[str]) -> Selection:
    """The names that the words select. A word equal to a name is that name, whatever it holds."""
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


def split(word: str) -> tuple[str, ...]:
    """The items of `a,b`; commas inside /.../ and [...] do not separate."""
    items, current, at = [], "", 0
    while at < len(word):
        if word[at] == ",":
            items.append(current)
            current, at = "", at + 1
            continue
        found = _ITEM.match(word, at)
        # an expression is a whole item; elsewhere a slash is a slash
        text = found.group() if found and not (current and word[at] == "/") else word[at]
        current, at = current + text, at + len(text)
    return tuple(item for item in (*items, current) if item)


def is_pattern(word: str) -> bool:
    """Whether the word could select names other than itself: a list, a glob or an expression."""
    return any(_is_regex(item) or _GLOB.search(item) for item in split(word)) or "," in word


def check(word: str) -> None:
    """Raise a UsageError where the word holds a broken regular expression."""
    for item in split(word):
        if item.startswith("/"):
            _compiled(item)


def _matches(item: str, names: Sequence[str], known: set[str]) -> set[str]:
    if item in known:
        return {item}
    if item.startswith("/"):
        expression: Pattern = _compiled(item)
    elif _GLOB.search(item):
        expression = re.compile(translate(item))  # atomic groups: stars never backtrack
    else:
        return set()
    return {name for name in names if expression.fullmatch(name)}


def _is_regex(item: str) -> bool:
    return len(item) > 1 and item.startswith("/") and item.endswith("/")


def _compiled(item: str) -> Pattern:
    if not _is_regex(item):
        raise UsageError(
            f"the regular expression {_shown(item)} has no closing /",
            hint="Quote it where it holds a blank, a quote, > or |: '/a|b/'",
            code="bad-pattern",
        )
    if item == "//":
        raise UsageError("the regular expression // is empty", hint="All of them: '*'",
                         code="bad-pattern")  # fmt: skip
    return _engine(item[1:-1])


@lru_cache
def _engine(expression: str) -> Pattern:
    """The expression, compiled by RE2: whatever it is, it reads each name once. Python's own engine
    may take for ever, and nothing can interrupt it."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        found: Pattern = re2.compile(expression, options)
    except re2.error as error:
        why = error.args[0] if error.args else ""
        why = why.decode(errors="replace") if isinstance(why, bytes) else str(why)
        raise UsageError(
            f"{_shown(f'/{expression}/')} is not a regular expression: {why}",
            hint="The syntax is RE2's: no look-around, no backreferences."
            if _NOT_IN_RE2.search(expression)
            else "",
            code="bad-pattern",
        ) from None
    return found


def _shown(item: str) -> str:
    return item if len(item) <= 60 else item[:57] + "..."
