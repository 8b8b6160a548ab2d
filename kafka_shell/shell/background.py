"""Background tasks of the prompt: changes that are followed to their end."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, Thread
from time import monotonic

from kafka_shell.base.plans import Report
from kafka_shell.base.units import format_remaining

Work = Callable[[Report], str]


class Background:
    """Runs tasks in threads. A task must not raise exceptions.

    `changed` is called when the progress changes, `finished` with the result of a task, both in the
    thread of the task. Tasks end with the process.
    """

    def __init__(self, changed: Callable[[], None], finished: Callable[[str], None]) -> None:
        self._changed, self._finished = changed, finished
        self._lock = Lock()
        self._progress: dict[int, str] = {}
        self._clusters: dict[int, str] = {}
        self._resume: dict[int, str] = {}

    def start(self, work: Work, resume: str, cluster: str) -> None:
        """Start a task on this cluster. `resume` is the command that continues it in another
        session."""
        with self._lock:
            number = len(self._clusters) + 1
            self._resume[number], self._clusters[number] = resume, cluster
        Thread(target=self._run, args=(number, work), daemon=True).start()

    def shown(self, current: str) -> str:
        """The progress of all tasks: `Moving 3 partitions 45%, 20s left`; empty without tasks.
        Those on another cluster than the current one have its name."""
        with self._lock:
            return ", ".join(
                named(self._clusters[number], current, progress)
                for number, progress in self._progress.items()
            )

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The commands that resume unfinished tasks."""
        with self._lock:
            return tuple(dict.fromkeys(self._resume.values()))

    def _run(self, number: int, work: Work) -> None:
        began: dict[str, float] = {}

        def report(task: str, done: int, total: int | None) -> None:
            elapsed = monotonic() - began.setdefault(task, monotonic())
            with self._lock:
                before = self._progress.pop(number, "")
                # At the end, whether it succeeded is not known yet: it may have been cancelled.
                now = "" if total and done >= total else task + _percentage(done, total, elapsed)
                if now:
                    self._progress[number] = now
            if now != before:
                self._changed()

        try:
            result = work(report)
        finally:
            with self._lock:
                self._progress.pop(number, None)
                self._resume.pop(number, None)
        self._finished(result)


def named(cluster: str, current: str, text: str) -> str:
    """Return the text about a task, with the name of its cluster if that is not the current one."""
    return text if cluster == current else f"{cluster}: {text}"


def _percentage(done: int, total: int | None, elapsed: float) -> str:
    if not total:
        return ""
    left = format_remaining(done, total, elapsed)
    return f" {100 * done // total}%" + (f", {left}" if left else "")
