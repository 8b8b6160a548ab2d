"""Records to write from a file or standard input: rows of JSON, or values, one per line."""

from __future__ import annotations

import os
import select
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct

from kafka_shell.admin.records.encode import encoded_size
from kafka_shell.admin.records.model import NewRecord, Numbered
from kafka_shell.common.files import bad_file
from kafka_shell.common.units import to_path
from kafka_shell.errors import ShellError, UsageError

if TYPE_CHECKING:
    from kafka_shell.context import Context
    from kafka_shell.language.command import Invocation

STDIN = "-"
_LONGEST = 64 << 20  # bytes of a line
_CHUNK = 1 << 20
_WAIT_S = 0.5  # what has been read is written after this time, also if more input arrives
_WINDOW_BYTES, _WINDOW_RECORDS = 16 << 20, 50_000  # of records in memory

Parse = Callable[[bytes], NewRecord | None]
"""The record of a line; None for a line to skip. Raises ShellError."""


class Input(Struct, frozen=True):
    """Records in lists of bounded size, each with the number of its line. `count` is their number
    if all lines were read and are valid."""

    windows: Iterable[Sequence[Numbered]]
    count: int | None = None


def read(invocation: Invocation, context: Context, parse: Parse) -> Input:
    """The records of --from-file. A regular file is read twice: all of its lines are checked before
    anything is written. Other input is read ahead by one list."""
    name: str = invocation["from-file"]
    if name != STDIN:
        file = _File(name, parse)
        if file.regular:
            return Input(file, sum(map(len, file)))
        return _ahead(iter(file), file)
    if context.script.from_stdin or context.shell is not None:
        raise UsageError(
            "--from-file - cannot read standard input: commands are read from it",
            hint="Use a file, or run kafka.sh write-record.",
            span=invocation.span("from-file"),
            text=invocation.text,
        )
    file = _File(name, parse)
    return _ahead(iter(file), file)


class _File:
    """The lists of records of a file or of standard input. `ended` is set at its end."""

    def __init__(self, name: str, parse: Parse) -> None:
        self._name, self._parse = name, parse
        self.ended = False

    @property
    def regular(self) -> bool:
        """Whether it can be read twice. Raises ShellError if it cannot be read."""
        with self._open() as stream:
            return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)

    def __iter__(self) -> Iterator[list[Numbered]]:
        window: list[Numbered] = []
        size = number = 0
        due = time.monotonic() + _WAIT_S
        with self._open() as stream:
            for raw in self._lines(stream):
                if raw is not None:
                    number += 1
                    record = self._record(number, raw)
                    if record is not None:
                        window.append((number, record))
                        size += encoded_size(record)
                full = size >= _WINDOW_BYTES or len(window) >= _WINDOW_RECORDS
                if full or time.monotonic() >= due:
                    if window:
                        yield window
                        window, size = [], 0
                    due = time.monotonic() + _WAIT_S
        self.ended = True
        if window:
            yield window

    def _open(self) -> BinaryIO:
        try:
            if self._name == STDIN:
                return open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)
            return to_path(self._name).open("rb", buffering=0)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise bad_file(self._name, f"cannot be read: {why}") from None

    def _record(self, number: int, raw: bytes) -> NewRecord | None:
        try:
            return self._parse(raw.removesuffix(b"\r"))
        except ShellError as error:
            raise self._bad(number, error.message, error.hint) from None

    def _lines(self, stream: BinaryIO) -> Iterator[bytes | None]:
        """The lines without their ends, and None while there is no more input for a while."""
        number, left = 0, b""
        while True:
            if not select.select([stream], [], [], _WAIT_S)[0]:
                yield None
                continue
            chunk = stream.read(_CHUNK)
            if not chunk:
                break
            *whole, left = (left + chunk).split(b"\n")
            number += len(whole)
            yield from whole
            if len(left) > _LONGEST:
                raise self._bad(number + 1, f"line is longer than {_LONGEST >> 20} MiB")
        if left:
            yield left

    def _bad(self, number: int, what: str, hint: str = "") -> ShellError:
        name = "stdin" if self._name == STDIN else self._name
        return bad_file(name, what, hint=hint, line=number)


def _ahead(windows: Iterator[list[Numbered]], file: _File) -> Input:
    """The records of an input that can be read only once."""
    first = next(windows, [])
    if file.ended:
        return Input([first] if first else [], len(first))
    return Input(chain([first], windows))
