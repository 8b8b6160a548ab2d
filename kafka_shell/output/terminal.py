"""The last place before a terminal: what is written there comes out as characters, and only what
is drawn (colours, another screen, a progress bar) may hold control sequences.

Whoever names a topic, a group or a cluster, or answers as a broker, must not steer a terminal.
"""

from __future__ import annotations

import io
from typing import Any, TextIO, cast

from kafka_shell.characters import printable


def draw(stream: TextIO, characters: str) -> None:
    """Write control sequences of our own. All else in them must be printable."""
    getattr(stream, "draw", stream.write)(characters)


class Cleaned(io.TextIOBase):
    """A stream of which only `draw` passes control sequences on to the terminal behind it.

    Where there is no terminal, characters are left as they are.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, characters: str) -> int:
        """Write characters."""
        self.draw(printable(characters) if self.isatty() else characters)
        return len(characters)

    def draw(self, characters: str) -> None:
        """Write control sequences."""
        draw(self._stream, characters)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The terminal's."""
        return self._stream.encoding

    def isatty(self) -> bool:
        """Whether there is a terminal at the end."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The terminal's descriptor, for its size and for other programs."""
        return self._stream.fileno()

    def writable(self) -> bool:
        """Always."""
        return True

    def flush(self) -> None:
        """As it is."""
        self._stream.flush()


class Standard(Cleaned):
    """A standard stream that is a terminal. `buffer` is for what draws itself: the prompt."""

    @property
    def buffer(self) -> Any:
        """The bytes behind it."""
        return self._stream.buffer


class Drawing:
    """The stream for a library that draws: all it writes is passed on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, characters: str) -> int:
        """Draw."""
        draw(self._stream, characters)
        return len(characters)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def standard(stream: TextIO) -> TextIO:
    """A standard stream, cleaned where it is a terminal."""
    return cast(TextIO, Standard(stream)) if stream.isatty() else stream
