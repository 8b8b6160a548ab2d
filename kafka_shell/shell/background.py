"""Long changes that nobody waits for, followed while the prompt is there for other things."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, Thread
from time import monotonic

from kafka_shell.plan.model import Report
from kafka_shell.units import format_remaining

Work = Callable[[Report], str]


class Background:
    """Works on threads of their own: what each is at, and what is said at its end. A work raises
    nothing.

    `changed` is called whenever there is something new to show; `said` with the last word of a
    work. Both on the work's thread. Nothing is waited for: a process that ends takes them with it.
    """

    def __init__(self, changed: Callable[[], None], said: Callable[[str], None]) -> None:
        self._changed, self._said = changed, said
        self._lock = Lock()
        self._at: dict[int, str] = {}
        self._look: dict[int, str] = {}

    def start(self, work: Work, look: str) -> None:
        """Begin. `look` is the line that tells of it, or picks it up, without this program."""
        with self._lock:
            number = max(self._look, default=0) + 1
            self._look[number] = look
        Thread(target=self._run, args=(number, work), daemon=True).start()

    @property
    def shown(self) -> str:
        """How far they are: `Moving 3 partitions 45%, 20s left`; empty where there is none."""
        with self._lock:
            return ", ".join(self._at.values())

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The lines that pick up what is not at its end."""
        with self._lock:
            return tuple(dict.fromkeys(self._look.values()))

    def _run(self, number: int, work: Work) -> None:
        began: dict[str, float] = {}

        def report(task: str, done: int, total: int | None) -> None:
            elapsed = monotonic() - began.setdefault(task, monotonic())
            with self._lock:
                before = self._at.get(number)
                self._at[number] = task + _so_far(done, total, elapsed)
                same = before == self._at[number]
            if not same:
                self._changed()

        try:
            word = work(report)
        finally:
            with self._lock:
                self._at.pop(number, None)
                self._look.pop(number, None)
        self._said(word)


def _so_far(done: int, total: int | None, elapsed: float) -> str:
    if not total:
        return ""
    left = format_remaining(done, total, elapsed)
    return f" {100 * done // total}%" + (f", {left}" if left else "")
