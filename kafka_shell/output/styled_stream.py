"""An output stream, a terminal or a file, that prints Text in colors."""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, TextIO

from kafka_shell.base.text import escape, is_printable, printable
from kafka_shell.output.terminal import draw, terminal_size
from kafka_shell.output.text import ELLIPSIS, SYNTAX, Role, Text, rstrip

if TYPE_CHECKING:
    from kafka_shell.output.theme import Depth, Theme

_AT_ONCE = 1_000  # lines written at once


def columns_of(stream: TextIO) -> int | None:
    """The width of the terminal, or None if the stream is not a terminal."""
    columns: int | None = getattr(stream, "columns", None)
    if columns is not None:
        return columns
    return terminal_size(stream)[1] if stream.isatty() else None


def stop_if_closed(stream: TextIO) -> None:
    """Raise PipeClosed if the reader of a pipe has closed it: a command that waits for something to
    print would not find out."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # not a file
        return
    poll = select.poll()
    poll.register(descriptor, 0)
    if any(event & select.POLLERR for _, event in poll.poll(0)):
        raise PipeClosed


def discard(stream: TextIO) -> None:
    """Point a stream to the null device: flushing its buffer would fail again at exit."""
    with suppress(OSError, ValueError):  # not a file
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


class PipeClosed(Exception):
    """The reader of the output has closed it (`| head`); the caller stops quietly.

    The stream then points to the null device, so that a later flush cannot fail.
    """


class StyledStream:
    """A stream with a width (None: unlimited) and optionally colors. If `may_close` is set, what is
    written after its reader has closed it is dropped. `place` returns what precedes an error:
    `file:line: ` in a script."""

    def __init__(
        self,
        stream: TextIO,
        *,
        theme: Theme | None = None,
        depth: Depth = 0,
        width: int | None = None,
        before: Callable[[], None] | None = None,
    ) -> None:
        self.stream = stream
        self.width = width
        self.terminal = stream.isatty()
        self.before = before
        self.depth: Depth = depth
        self.may_close = False
        self.place: Callable[[], str] = str
        self._theme = theme
        self._codes: dict[Role, str] = theme.codes(depth) if theme is not None and depth else {}
        self._encoding = getattr(stream, "encoding", None) or "utf-8"
        self.unicode = self._encoding.lower().replace("-", "") in ("utf8", "utf16", "utf32")

    def line(self, line: Text) -> None:
        """One line."""
        self.draw(self.styled(rstrip(line)) + "\n")

    def lines(self, lines: Iterable[Text]) -> None:
        """Lines, written at once; very many in parts, so that the first are shown meanwhile."""
        left = iter(lines)
        while part := "".join(self.styled(rstrip(line)) + "\n" for line in islice(left, _AT_ONCE)):
            self.draw(part)

    def words(self, words: Sequence[str]) -> None:
        """Plain words, one per line; fast for hundreds of thousands."""
        if not is_printable("".join(words)):
            words = [escape(word) for word in words]
        self.raw("\n".join(words) + "\n" if words else "")

    def styled(self, line: Text) -> str:
        """The text with the theme's color codes, if colors are on."""
        codes = self._codes
        if not codes:
            return line.plain
        return "".join(
            f"\x1b[{code}m{part}\x1b[0m"
            if (code := codes.get(role)) and part
            else (self._in_language(part, role) if role in SYNTAX else part)
            for role, part in line.parts
        )

    @cached_property
    def _in_language(self) -> Callable[[str, str], str]:
        """Adds the colors of a language to printable text, if colors are on."""
        if self._theme is None or not self.depth:
            return lambda source, language: source
        from kafka_shell.output.syntax import Syntax

        return Syntax(self._theme, self.depth)

    def raw(self, characters: str, language: str = "") -> None:
        """Print text as is; on a terminal, without control sequences, in the colors of a
        language."""
        characters = printable(characters) if self.terminal else characters
        self.draw(self._in_language(characters, language) if language else characters)

    def binary(self, data: bytes) -> None:
        """Write bytes as is; on a terminal, as text without control sequences."""
        buffer = None if self.terminal else getattr(self.stream, "buffer", None)
        if buffer is None:
            self.raw(data.decode(errors="replace"))
            return
        try:
            self.stream.flush()
            buffer.write(data)
            buffer.flush()
        except BrokenPipeError as error:
            self._closed(error)

    def draw(self, characters: str) -> None:
        """Print text that may contain our control sequences. Raises PipeClosed."""
        if not characters:
            return
        if self.before is not None:
            self.before()
        try:
            draw(self.stream, self._encodable(characters))
            self.stream.flush()
        except (BrokenPipeError, PipeClosed) as error:
            self._closed(error)

    def _encodable(self, characters: str) -> str:
        if self.unicode:
            return characters
        spelled = characters.replace(ELLIPSIS, "...")
        return spelled.encode(self._encoding, "backslashreplace").decode(self._encoding)

    def _closed(self, error: Exception) -> None:
        if isinstance(error, BrokenPipeError):  # else it is a pager, and the terminal stays open
            discard(self.stream)
        if not self.may_close:
            raise PipeClosed from error
