"""Streams that remove control sequences from output to a terminal, except our own (colors, progress
bars, screens), which are written with `draw`.

Names of topics and groups, and responses of brokers, must not be able to control the terminal.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import Any, TextIO, cast

from kafka_shell.base.text import printable


def draw(stream: TextIO, characters: str) -> None:
    """Write text with our own control sequences; everything else in it must be printable."""
    getattr(stream, "draw", stream.write)(characters)


def is_dumb(environ: Mapping[str, str]) -> bool:
    """Whether the terminal ($TERM) interprets no control sequences."""
    return environ.get("TERM", "") in ("", "dumb")


def terminal_size(stream: TextIO) -> tuple[int, int]:
    """The rows and columns of the terminal of a stream."""
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return 24, 80
    return size.lines or 24, size.columns or 80


class SanitizedStream(io.TextIOBase):
    """A stream that passes control sequences to a terminal only through `draw`.

    Other streams get all text unchanged.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, characters: str) -> int:
        """Write text, without control sequences if this is a terminal."""
        self.draw(printable(characters) if self.isatty() else characters)
        return len(characters)

    def draw(self, characters: str) -> None:
        """Write text with control sequences."""
        draw(self._stream, characters)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream."""
        return self._stream.encoding

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The file descriptor of the stream."""
        return self._stream.fileno()

    def writable(self) -> bool:
        """Always."""
        return True

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()


class StandardStream(SanitizedStream):
    """A standard stream that is a terminal. `buffer` is for the prompt, which draws itself."""

    @property
    def buffer(self) -> Any:
        """The binary stream."""
        return self._stream.buffer


def standard(stream: TextIO) -> TextIO:
    """A standard stream, wrapped in StandardStream if it is a terminal."""
    return cast(TextIO, StandardStream(stream)) if stream.isatty() else stream
