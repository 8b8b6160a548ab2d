"""Which text is whole: open quotes, a backslash at the end, and `&&` or `||` with nothing after."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct

Span = tuple[int, int]

_NEWLINE = re.compile(r"\r?\n")
_WITHIN = {  # what may change something, by the quote that is open
    "": re.compile(r"['\"\\#]"),
    "'": re.compile("'"),
    '"': re.compile(r"[\"\\]"),
}
_GOES_ON = ("&&", "||")


class Open(Struct, frozen=True):
    """The text stops in the middle of something: `what` is "quote", "backslash" or "operator"."""

    what: str
    span: Span


def unfinished(text: str) -> Open | None:
    """The quote, backslash or operator that leaves the text open, pipes and `!cmd` included."""
    walk = _Walk()
    walk.feed(text)
    return walk.open


def logical_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Physical lines joined while one is open: (number of the first, from 1; the text).

    Each physical line is looked at once, however long the joined one becomes.
    """
    held: list[str] = []
    first, walk = 1, _Walk()
    for number, physical in enumerate(lines, 1):
        if not held:
            first, walk = number, _Walk()
        line = physical.removesuffix("\n")
        bare = line.removesuffix("\r")
        walk.feed(bare)
        # The carriage return of a CRLF file belongs to the line's end, but not within quotes.
        inside = walk.open is not None and walk.open.what == "quote"
        held.append(line if inside else bare)
        if walk.open is None:
            yield first, "\n".join(held)
            held = []
    if held:
        yield first, "\n".join(held)


class _Walk:
    """Follows quotes through a text that may come in pieces. The shell's own part is read alike."""

    def __init__(self) -> None:
        self.quote = ""
        self.open: Open | None = None
        self._known_at, self._fresh = 0, True  # whether a word (a comment) may start just there
        self._operator: Span | None = None  # the && or || after which there was no word yet

    def feed(self, text: str) -> None:
        """Walk through `text`; `open` then says what it leaves open, with places in this piece."""
        at, opened, self.open, self._known_at = 0, 0, None, 0
        read = 0  # up to here, the text outside quotes has been searched for an operator
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
            self.open = Open("quote", (opened, min(opened + 1, len(text))))
            return
        self._outside(text, read, len(text))
        if self.open is None and self._operator is not None:
            self.open = Open("operator", self._operator)

    def _outside(self, text: str, start: int, end: int) -> None:
        """Look at a stretch without quotes: does it end with an operator?"""
        stretch = text[start:end].rstrip()
        if stretch.strip():
            last = start + len(stretch)
            self._operator = (last - 2, last) if stretch.endswith(_GOES_ON) else None

    def _backslash(self, text: str, place: int) -> int:
        fresh = self._may_start(text, place)
        newline = _NEWLINE.match(text, place + 1)
        self._fresh = fresh and (newline is not None or place + 1 == len(text))
        self._known_at = newline.end() if newline else place + 2
        if place + 1 == len(text) and not self.quote:
            self.open = Open("backslash", (place, place + 1))
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
