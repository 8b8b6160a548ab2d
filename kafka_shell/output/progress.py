"""Progress on standard error: bars on a terminal, an occasional line elsewhere."""

from __future__ import annotations

from time import monotonic
from typing import TextIO

from kafka_shell.base.text import escape
from kafka_shell.base.units import Bytes, approximate_bytes, approximate_rate, format_remaining
from kafka_shell.output.terminal import draw, terminal_size

DELAY = 0.4  # seconds before a bar appears
LOG_EVERY = 10.0  # seconds between lines if there is no terminal
_LOG_WAIT_S = 2.0  # seconds before the first line about a wait
_DRAW_EVERY = 0.1  # seconds
_BREAK = 3.0  # seconds without a wait after which another one begins
_BAR = 30  # terminal cells
_FAST = 10  # items a second: a smaller rate is not shown
_MANY = 1_000_000  # counts from here on are shortened


class Progress:
    """Reports progress when called with (task, done, total or None). Writes to stderr only.

    On a terminal: the bar of the task reported last, erased when the task or command ends; `clear`
    hides it until the next report. Elsewhere: one line every ten seconds.
    """

    def __init__(self, err: TextIO, *, terminal: bool | None = None) -> None:
        self._err = err
        self._terminal = err.isatty() if terminal is None else terminal
        self._started: dict[str, float] = {}
        self._logged: dict[str, float] = {}
        self._drawn = ("", 0.0)  # the task on the screen, and when it was drawn
        self._shown = False  # whether anything is on the screen
        self._waits = ""
        self._next_line = 0.0  # the time of the next line about it
        self._waits_at = 0.0  # the last time that a wait was reported

    def __call__(self, task: str, done: int, total: int | None = None) -> None:
        """Report that `done` of `total` (None: unknown) is complete. At the total the task ends.

        Numbers of bytes are `Bytes`. `evaluating controls (T01)` and `evaluating controls (T02)`
        are one task.
        """
        now, key = monotonic(), _key(task)
        elapsed = now - self._started.setdefault(key, now)
        if not self._terminal:
            self._log(task, done, total, now)
        elif total is not None and done >= total:
            if self._drawn[0] == key:
                self.clear()
        elif elapsed >= DELAY:
            self._show(task, done, total, now)
        if total is not None and done >= total:
            self._started.pop(key, None)
            self._logged.pop(key, None)

    def waiting(self, server: str) -> None:
        """Show what the command waits for ("broker 3 (host:9092)"); "" ends it."""
        if not self._terminal:
            self._log_wait(server)
            return
        if self._waits == server:
            return
        self.clear()
        self._waits = server
        if server:
            self._write(f"waiting for {server} ...")

    def clear(self) -> None:
        """Hide the bar until the next report."""
        if self._shown:
            draw(self._err, "\r\x1b[K")
            self._err.flush()
        self._shown, self._waits, self._drawn = False, "", ("", 0.0)

    def close(self) -> None:
        """Erase everything shown."""
        self.clear()
        self._started.clear()
        self._logged.clear()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _show(self, task: str, done: int, total: int | None, now: float) -> None:
        key = _key(task)
        if self._drawn[0] == key and now - self._drawn[1] < _DRAW_EVERY:
            return
        self.clear()
        self._drawn = (key, now)
        elapsed = now - self._started[key]
        self._write(_line(task, done, total, elapsed, "█" if _unicode(self._err) else "#"))

    def _write(self, characters: str) -> None:
        self._err.write(escape(characters)[: terminal_size(self._err)[1] - 1])
        self._err.flush()
        self._shown = True

    def _log(self, task: str, done: int, total: int | None, now: float) -> None:
        key = _key(task)
        started = self._started[key]
        if now - self._logged.get(key, started) >= LOG_EVERY:
            self._logged[key] = now
            so_far = f": {_so_far(done, total, now - started)}" if done or total else ""
            self._err.write(f"{escape(task)}{so_far}\n")
            self._err.flush()

    def _log_wait(self, server: str) -> None:
        now = monotonic()
        if not server:
            return
        if now - self._waits_at > _BREAK:
            self._next_line = now + _LOG_WAIT_S
        elif now >= self._next_line:
            self._next_line = now + LOG_EVERY
            self._err.write(f"waiting for {escape(server)}\n")
            self._err.flush()
        self._waits_at = now


def _key(task: str) -> str:
    return task.partition(" (")[0]


def _line(task: str, done: int, total: int | None, elapsed: float, mark: str) -> str:
    """`reading topics:  25%|███████                       | 100/400 [00:03<00:09, 33/s]`."""
    if total is None:
        counted = f": {_short(done, done)}" if done else ""
        return f"{task}{counted} [{_clock(elapsed)}{_rate(done, elapsed)}]"
    share = done / total
    bar = (mark * int(share * _BAR)).ljust(_BAR)
    left = _clock(elapsed * (total - done) / done) if done else "?"
    counted = f"{_short(done, total)}/{_short(total, total)}"
    return f"{task}: {share:4.0%}|{bar}| {counted} [{_clock(elapsed)}<{left}{_rate(done, elapsed)}]"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes:02}:{rest:02}"


def _so_far(done: int, total: int | None, elapsed: float) -> str:
    """`12.3M of 40.0M, 330k/s, 1m35s left`."""
    rate = _rate(done, elapsed)
    if total is None:
        return _short(done, done) + rate
    left = format_remaining(done, total, elapsed)
    return f"{_short(done, total)} of {_short(total, total)}{rate}" + (f", {left}" if left else "")


def _rate(done: int, elapsed: float) -> str:
    """`, 330k/s`, `, 1.4MB/s`; nothing if it is small or not known yet."""
    rate = done / elapsed if elapsed > 0 else 0.0
    if isinstance(done, Bytes):
        return f", {approximate_rate(rate)}" if rate else ""
    if rate < _FAST:
        return ""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f", {rate / size:.3g}{unit}/s"
    return f", {rate:.0f}/s"


def _short(count: int, scale: int) -> str:
    if isinstance(count, Bytes):
        return approximate_bytes(count)
    return str(count) if scale < _MANY else f"{count / _MANY:,.1f}M"


def _unicode(stream: TextIO) -> bool:
    return "utf" in (getattr(stream, "encoding", None) or "").lower()
