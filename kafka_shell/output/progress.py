"""Progress on standard error: bars on a terminal, an occasional line elsewhere."""

from __future__ import annotations

from time import monotonic
from types import TracebackType
from typing import Any, TextIO

from kafka_shell.characters import escape
from kafka_shell.units import format_remaining

from .pane import columns_of
from .terminal import Drawing, draw

DELAY = 0.4  # seconds before a bar appears
_MANY = 1_000_000  # counts from here on are shortened
LOG_EVERY = 10.0  # seconds between lines if there is no terminal


class Progress:
    """Reports progress when called with (task, done, total or None). Writes to stderr only.

    On a terminal: one bar per task, erased when the task or command ends; `clear` hides the bars
    until the next report. Elsewhere: one line every ten seconds.
    """

    def __init__(self, err: TextIO, *, terminal: bool | None = None, unit: str = "") -> None:
        self._err = err
        self._terminal = err.isatty() if terminal is None else terminal
        self._unit = unit
        self._bars: dict[str, Any] = {}
        self._started: dict[str, float] = {}
        self._logged: dict[str, float] = {}
        self._waits = ""

    def __call__(self, task: str, done: int, total: int | None = None) -> None:
        """Report that `done` of `total` (None: unknown) is complete. At the total the task ends."""
        if self._terminal:
            self._show(task, done, total)
        else:
            self._log(task, done, total)

    def waiting(self, server: str) -> None:
        """Show on a terminal what the command waits for ("broker 3 (host:9092)"); "" ends it."""
        if not self._terminal or self._waits == server:
            return
        for bar in self._bars.values():
            bar.clear(nolock=True)
        self._wipe()
        self._waits = server
        if server:
            room = (columns_of(self._err) or 80) - 1
            self._err.write(escape(f"waiting for {server} ...")[:room])
            self._err.flush()

    def _wipe(self) -> None:
        if self._waits:
            draw(self._err, "\r\x1b[K")
            self._err.flush()
            self._waits = ""

    def clear(self) -> None:
        """Hide the bars until the next report."""
        self._wipe()
        for bar in self._bars.values():
            bar.clear(nolock=True)

    def close(self) -> None:
        """Erase everything shown."""
        self._wipe()
        for task in list(self._bars):
            self._end(task)
        self._started.clear()
        self._logged.clear()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _show(self, task: str, done: int, total: int | None) -> None:
        self._wipe()
        started, bar = self._since(task), self._bars.get(task)
        over = total is not None and done >= total
        if bar is None and not over and monotonic() - started >= DELAY:
            bar = self._bars[task] = self._bar(task, done, total)
        if bar is not None:
            bar.bar_format = None if self._unit else _counting(done, total)
            bar.total = total
            bar.update(done - bar.n)
        if over:
            self._end(task)

    def _since(self, task: str) -> float:
        """The time of the first report of a task."""
        return self._started.setdefault(task, monotonic())

    def _end(self, task: str) -> None:
        self._started.pop(task, None)
        self._logged.pop(task, None)
        bar = self._bars.pop(task, None)
        if bar is not None:
            bar.close()

    def _bar(self, task: str, done: int, total: int | None) -> Any:
        # Imported here because it is slow and most commands show no bar.
        from tqdm import tqdm

        tqdm.monitor_interval = 0  # no thread of its own
        return tqdm(
            desc=escape(task),
            total=total,
            file=Drawing(self._err),
            unit=self._unit or "it",
            unit_scale=self._unit == "B" or (total or 0) >= _MANY,  # 28.0M/45.0M
            unit_divisor=1024 if self._unit == "B" else 1000,
            miniters=1,
            leave=False,
            dynamic_ncols=True,
            ascii=None if _unicode(self._err) else True,
            bar_format=None if self._unit else _counting(done, total),
        )

    def _log(self, task: str, done: int, total: int | None) -> None:
        last = self._logged.get(task, self._since(task))
        now = monotonic()
        if now - last >= LOG_EVERY:
            self._logged[task] = now
            self._err.write(f"{escape(task)}: {_so_far(done, total, now - self._since(task))}\n")
            self._err.flush()
        if total is not None and done >= total:
            self._end(task)


def _so_far(done: int, total: int | None, elapsed: float) -> str:
    """`12.3M of 40.0M, 1m35s left`."""
    if total is None:
        return _short(done, done)
    left = format_remaining(done, total, elapsed)
    return f"{_short(done, total)} of {_short(total, total)}" + (f", {left}" if left else "")


def _short(count: int, scale: int) -> str:
    return str(count) if scale < _MANY else f"{count / _MANY:,.1f}M"


def _unicode(stream: TextIO) -> bool:
    return "utf" in (getattr(stream, "encoding", None) or "").lower()


def _counting(done: int, total: int | None) -> str:
    if total is None and not done:
        return "{desc} [{elapsed}]"
    if total is None:
        return "{desc}: {n_fmt} [{elapsed}]"
    return "{desc}: {percentage:3.0f}%|{bar:30}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}]"
