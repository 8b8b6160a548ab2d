"""`watch`: a line run again and again, drawn in place, with what changed since the last time."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TextIO, cast

from kafka_shell.output.terminal import Cleaned, draw

from .characters import escape, printable
from .context import Context
from .errors import Status, UsageError

_SGR = re.compile(r"(\x1b\[[0-9;]*m)")
_ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l"  # another screen, no cursor, long lines are cut
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
    """Run `line` every so many seconds until Ctrl-C (or so many `rounds`); its last exit status.

    On a terminal the answer is redrawn in place and what changed is marked; elsewhere each answer
    is a block of its own. Questions are not asked: what wants one is refused. A line that is wrong
    whatever the cluster holds is run once.
    """
    if seconds < 0.1:
        raise UsageError("watch wants at least 0.1 seconds", hint="For example: watch 5 health")
    direct = getattr(context.out, "direct", None)
    if direct is not None:
        direct()  # this is no output to be held for a pager
    screen = _Screen(context.out, seconds, line) if _drawable(context) else None
    blocks = screen or _Blocks(context.out, line)
    status, shown = 0, 0
    try:
        status, answer = _answer(context, line)
        if status == Status.WRONG:
            draw(context.err, answer)
            return status
        with blocks.during():
            blocks.show(answer, context.clock())
            shown = 1
            while rounds is None or shown < rounds:
                sleep(seconds)
                status, answer = _answer(context, line)
                blocks.show(answer, context.clock())
                shown += 1
    except KeyboardInterrupt:
        pass
    if screen is not None:
        screen.keep_last()
    return status


def _drawable(context: Context) -> bool:
    return context.out.isatty() and context.environ.get("TERM", "") not in ("", "dumb")


def _answer(context: Context, line: str) -> tuple[int, str]:
    """One run: its status, and all it wrote on either stream."""
    assert context.run_line is not None
    captured = _Captured(context.out)
    stream = cast(TextIO, captured)
    status = context.run_line(
        line, replace(context, out=stream, err=stream, ask=None, report=_no_report)
    )
    return status, captured.getvalue()


def _no_report(task: str, done: int, total: int | None) -> None:
    """Progress would be drawn over the answer."""


class _Captured(Cleaned):
    """Looks like the terminal it stands for, so that the answer has its width and colours; no other
    program can write to it."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._text: list[str] = []
        self.columns = _size(stream)[1] if stream.isatty() else None

    def draw(self, characters: str) -> None:
        """Keep."""
        self._text.append(characters)

    def fileno(self) -> int:
        """There is none."""
        raise OSError("what is caught has no descriptor")

    def flush(self) -> None:
        """Nothing is on its way."""

    def getvalue(self) -> str:
        """All that was written."""
        return "".join(self._text)


class _Blocks:
    """Answers one after the other."""

    def __init__(self, out: TextIO, line: str) -> None:
        self._out = out
        self._line = line

    @contextmanager
    def during(self) -> Iterator[None]:
        """Nothing to prepare."""
        yield

    def show(self, answer: str, now: float) -> None:
        """One block: a comment with the time, the answer, a blank line."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(now))
        draw(self._out, f"# {stamp} {printable(self._line)}\n{answer}\n")
        self._out.flush()


class _Screen(_Blocks):
    """Answers in place."""

    def __init__(self, out: TextIO, seconds: float, line: str) -> None:
        super().__init__(out, line)
        self._seconds = seconds
        self._last: list[str] | None = None
        self._changed_at = ""
        self._answer = ""

    @contextmanager
    def during(self) -> Iterator[None]:
        """Another screen, so that what was there before is there after."""
        draw(self._out, _ENTER)
        try:
            yield
        finally:
            draw(self._out, _LEAVE)
            self._out.flush()

    def show(self, answer: str, now: float) -> None:
        """Draw over the last answer."""
        self._answer = answer
        clock = time.strftime("%H:%M:%S", time.localtime(now))
        lines = answer.rstrip("\n").split("\n")
        if self._last is not None and [*map(_plain, lines)] != [*map(_plain, self._last)]:
            self._changed_at = clock
        rows, columns = _size(self._out)
        shown = _fitting(lines, rows - 2)
        marked = [_marked(text, _at(self._last, row)) for row, text in enumerate(shown)]
        # Each row is cleared before it is written: afterwards its last cell would go too.
        drawn = [f"\x1b[K{text}" for text in (self._header(clock, columns), "", *marked)]
        below = "\r\n\x1b[J" if len(drawn) < rows else ""
        draw(self._out, "\x1b[H" + "\r\n".join(drawn) + below)
        self._out.flush()
        self._last = lines

    def keep_last(self) -> None:
        """Leave the last answer where other answers are."""
        draw(self._out, self._answer)
        self._out.flush()

    def _header(self, clock: str, columns: int) -> str:
        left = f"every {self._seconds:g} s: {escape(self._line)}"
        changed = f"changed {self._changed_at}, " if self._changed_at else ""
        right = f"{changed}{clock}  Ctrl-C ends"
        if len(left) + len(right) + 2 > columns:
            right = clock
        room = max(0, columns - len(right) - 2)
        left = left if len(left) <= room else left[: max(0, room - 1)] + "…"
        return f"\x1b[1m{left:<{room}}\x1b[0m  {right}"


def _size(stream: TextIO) -> tuple[int, int]:
    """Rows and columns of a terminal."""
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return 24, 80
    return size.lines or 24, size.columns or 80


def _fitting(lines: Sequence[str], rows: int) -> list[str]:
    if len(lines) <= rows:
        return list(lines)
    kept = max(0, rows - 1)
    return [*lines[:kept], f"… {len(lines) - kept:,} more lines"]


def _at(lines: Sequence[str] | None, row: int) -> str | None:
    """The line that stood here; None where there was no answer before."""
    if lines is None:
        return None
    return lines[row] if row < len(lines) else ""


def _plain(line: str) -> str:
    return _SGR.sub("", line)


def _marked(line: str, before: str | None) -> str:
    """The line with the characters that changed in reverse video; its colours stay."""
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
