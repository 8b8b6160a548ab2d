"""`watch`: repeat a command and highlight what has changed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from signal import SIGTERM
from typing import TextIO, cast

from kafka_shell.base.errors import Status, UsageError
from kafka_shell.base.processes import exiting_on
from kafka_shell.base.structs import replace
from kafka_shell.base.text import escape, printable
from kafka_shell.context import Context
from kafka_shell.output.terminal import SanitizedStream, draw, is_dumb, terminal_size
from kafka_shell.output.text import Text, cut
from kafka_shell.run.dispatch import stops

_SGR = re.compile(r"(\x1b\[[0-9;]*m)")
_ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l"  # alternate screen, no cursor, no line wrap
_LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
_CHANGED, _SAME = "\x1b[7m", "\x1b[27m"


def watch(
    context: Context,
    seconds: float,
    line: str,
    *,
    sleep: Callable[[float], None] = time.sleep,
    rounds: int | None = None,
) -> int:
    """Run `line` every `seconds` until Ctrl-C (or `rounds` times) and return its last exit status.

    On a terminal the output is redrawn in place with changes highlighted; otherwise each output is
    a separate block. Commands that would ask a question fail. An invalid line is run only once.
    Ctrl-C ends it even if the command has made a status of it: a change must not be made again.
    """
    if seconds < 0.1:
        raise UsageError(
            "the interval of watch must be at least 0.1 seconds", hint="Example: watch 5 health"
        )
    direct = getattr(context.out, "direct", None)
    if direct is not None:
        direct()  # no pager
    screen = _Screen(context.out, seconds, line) if _drawable(context) else None
    blocks = screen or _Blocks(context.out, line)
    context = replace(context, full_screen=None, previous={})
    status, shown = 0, 0
    try:
        status, output = run_captured(context, line)
        if status == Status.WRONG:
            draw(context.err, output)
            return status
        with blocks.during():
            blocks.show(output, context.clock())
            shown = 1
            while not stops(Status(status), context) and (rounds is None or shown < rounds):
                sleep(seconds)
                status, output = run_captured(context, line)
                blocks.show(output, context.clock())
                shown += 1
    except KeyboardInterrupt:
        pass
    if screen is not None:
        screen.keep_last()
    return status


def _drawable(context: Context) -> bool:
    return context.out.isatty() and not is_dumb(context.environ)


def run_captured(context: Context, line: str) -> tuple[int, str]:
    """Run the line and return its status and its output on both streams."""
    assert context.run_line is not None
    captured = _Captured(context.out)
    stream = cast(TextIO, captured)
    status = context.run_line(
        line, replace(context, out=stream, err=stream, ask=None, report=_no_report)
    )
    return status, captured.getvalue()


def _no_report(task: str, done: int, total: int | None) -> None:
    """Ignore progress, which would be drawn over the output."""


class _Captured(SanitizedStream):
    """Captures output with the width and colors of the terminal. Has no file descriptor."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._text: list[str] = []
        self.columns = terminal_size(stream)[1] if stream.isatty() else None

    def draw(self, characters: str) -> None:
        """Capture."""
        self._text.append(characters)

    def fileno(self) -> int:
        """Raise OSError."""
        raise OSError("captured output has no file descriptor")

    def flush(self) -> None:
        """Do nothing."""

    def getvalue(self) -> str:
        """Return the captured text."""
        return "".join(self._text)


class _Blocks:
    """Writes outputs one after the other."""

    def __init__(self, out: TextIO, line: str) -> None:
        self._out = out
        self._line = line

    @contextmanager
    def during(self) -> Iterator[None]:
        """Do nothing."""
        yield

    def show(self, output: str, now: float) -> None:
        """Write a block: a comment with the time, the output, a blank line."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(now))
        draw(self._out, f"# {stamp} {printable(self._line)}\n{output}\n")
        self._out.flush()


class _Screen(_Blocks):
    """Redraws outputs in place."""

    def __init__(self, out: TextIO, seconds: float, line: str) -> None:
        super().__init__(out, line)
        self._seconds = seconds
        self._last: list[str] | None = None
        self._changed_at = ""
        self._output = ""

    @contextmanager
    def during(self) -> Iterator[None]:
        """Use the alternate screen, and restore the screen afterwards."""
        with exiting_on(SIGTERM):
            draw(self._out, _ENTER)
            try:
                yield
            finally:
                draw(self._out, _LEAVE)
                self._out.flush()

    def show(self, output: str, now: float) -> None:
        """Replace the previous output."""
        self._output = output
        clock = time.strftime("%H:%M:%S", time.localtime(now))
        lines = output.rstrip("\n").split("\n")
        if self._last is not None and [*map(_plain, lines)] != [*map(_plain, self._last)]:
            self._changed_at = clock
        rows, columns = terminal_size(self._out)
        shown = _fitting(lines, rows - 2)
        marked = [_marked(text, _at(self._last, row)) for row, text in enumerate(shown)]
        # Clear rows before writing them; clearing afterwards would delete the last cell.
        drawn = [f"\x1b[K{text}" for text in (self._header(clock, columns), "", *marked)]
        below = "\r\n\x1b[J" if len(drawn) < rows else ""
        draw(self._out, "\x1b[H" + "\r\n".join(drawn) + below)
        self._out.flush()
        self._last = lines

    def keep_last(self) -> None:
        """Write the last output to the normal screen."""
        draw(self._out, self._output)
        self._out.flush()

    def _header(self, clock: str, columns: int) -> str:
        left = f"every {self._seconds:g} s: {escape(self._line)}"
        changed = f"changed {self._changed_at}, " if self._changed_at else ""
        right = f"{changed}now {clock}  Ctrl-C to stop"
        if len(left) + len(right) + 2 > columns:
            right = f"now {clock}"
        room = max(0, columns - len(right) - 2)
        left = cut(Text((("", left),)), room).plain
        return f"\x1b[1m{left:<{room}}\x1b[0m  {right}"


def _fitting(lines: Sequence[str], rows: int) -> list[str]:
    if len(lines) <= rows:
        return list(lines)
    kept = max(0, rows - 1)
    return [*lines[:kept], f"… {len(lines) - kept:,} more lines"]


def _at(lines: Sequence[str] | None, row: int) -> str | None:
    """Return the previous text of a row, or None without a previous output."""
    if lines is None:
        return None
    return lines[row] if row < len(lines) else ""


def _plain(line: str) -> str:
    return _SGR.sub("", line)


def _marked(line: str, before: str | None) -> str:
    """Return the line with changed characters in reverse video."""
    if before is None or before == line:
        return line
    was = _plain(before)
    pieces, place, marking = [], 0, False
    for part in _SGR.split(line):
        if part.startswith("\x1b["):
            pieces.append(part + (_CHANGED if marking else ""))
            continue
        for char in part:
            changed = place >= len(was) or was[place] != char
            if changed != marking:
                pieces.append(_CHANGED if changed else _SAME)
                marking = changed
            pieces.append(char)
            place += 1
    return "".join([*pieces, _SAME if marking else ""])
