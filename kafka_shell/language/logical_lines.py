"""Detect incomplete lines: open quotes, a trailing backslash, `&&` or `||` at the end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

Span = tuple[int, int]

_NEWLINE = re.compile(r"\r?\n")
_WITHIN = {  # special characters, by the open quote
    "": re.compile(r"['\"\\#]"),
    "'": re.compile("'"),
    '"': re.compile(r"[\"\\]"),
}
_CONTINUATIONS = ("&&", "||")


class IncompletePart(Struct, frozen=True):
    """Why the text is incomplete: `what` is "quote", "backslash" or "operator"."""

    what: str
    span: Span


def incomplete_part(text: str) -> IncompletePart | None:
    """Return the quote, backslash or operator that makes the text incomplete, or None."""
    walk = _Walk()
    walk.feed(text)
    return walk.open


def logical_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Join incomplete physical lines; yield (number of the first line, from 1; text).

    Takes linear time.
    """
    pending: list[str] = []
    first, walk = 1, _Walk()
    for number, physical in enumerate(lines, 1):
        if not pending:
            first, walk = number, _Walk()
        line = physical.removesuffix("\n")
        bare = line.removesuffix("\r")
        walk.feed(bare)
        # Remove the carriage return of CRLF line ends, except in quotes.
        inside = walk.open is not None and walk.open.what == "quote"
        pending.append(line if inside else bare)
        if walk.open is None:
            yield first, "\n".join(pending)
            pending = []
    if pending:
        yield first, "\n".join(pending)


class _Walk:
    """Follows quotes through a text that is fed in pieces."""

    def __init__(self) -> None:
        self.quote = ""
        self.open: IncompletePart | None = None
        self._known_at, self._fresh = 0, True  # whether a word or comment may start there
        self._operator: Span | None = None  # the last && or || without a following word

    def feed(self, text: str) -> None:
        """Read a piece of text and update `open`, whose span is relative to this piece."""
        at, opened, self.open, self._known_at = 0, 0, None, 0
        read = 0  # end of the text already searched for an operator
        while at < len(text):
            found = _WITHIN[self.quote].search(text, at)
            if not found:
                break
            place, char = found.start(), found.group()
            if not self.quote:
                self._outside(text, read, place)
                read = place
            if char == "\\":
                at = self._backslash(text, place)
                read = at
            elif char == "#":
                comment = self._may_start(text, place)
                at = self._end_of_line(text, place) if comment else place + 1
                read = at if comment else read
            else:
                self.quote, opened, at = ("" if self.quote else char), place, place + 1
                self._operator, read = None, at
        if self.quote:
            self.open = IncompletePart("quote", (opened, min(opened + 1, len(text))))
            return
        self._outside(text, read, len(text))
        if self.open is None and self._operator is not None:
            self.open = IncompletePart("operator", self._operator)

    def _outside(self, text: str, start: int, end: int) -> None:
        """Check whether unquoted text ends with an operator."""
        stretch = text[start:end].rstrip()
        if stretch.strip():
            last = start + len(stretch)
            self._operator = (last - 2, last) if stretch.endswith(_CONTINUATIONS) else None

    def _backslash(self, text: str, place: int) -> int:
        fresh = self._may_start(text, place)
        newline = _NEWLINE.match(text, place + 1)
        self._fresh = fresh and (newline is not None or place + 1 == len(text))
        self._known_at = newline.end() if newline else place + 2
        if place + 1 == len(text) and not self.quote:
            self.open = IncompletePart("backslash", (place, place + 1))
        elif newline is None:
            self._operator = None
        return self._known_at

    def _end_of_line(self, text: str, place: int) -> int:
        end = text.find("\n", place)
        return len(text) if end < 0 else end

    def _may_start(self, text: str, place: int) -> bool:
        if place == self._known_at:
            return self._fresh
        before = text[place - 1]
        return before.isspace() or before in "|>;&"
