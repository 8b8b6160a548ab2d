"""The one Spark session of this program: started when first needed, kept, its jobs cancellable."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Report

from .session import open_session, sentence

T = TypeVar("T")
Progress = Callable[[], tuple[int, int | None]]

_POLL_S = 0.1


class Engine:
    """A Spark session. `master` and `remote` say where; neither: this machine's cores."""

    def __init__(self, folder: Path, report: Report, *, master: str = "", remote: str = "") -> None:
        self.where = (master, remote)
        self.report = report
        self.session: Any = None
        self._log = folder / "spark.log"
        self.session = self.run(
            "starting Spark", lambda: open_session(folder, master=master, remote=remote)
        )

    def run(self, task: str, work: Callable[[], T], progress: Progress | None = None) -> T:
        """What `work` returns. It runs in a thread, so that Ctrl-C cancels its jobs at once.

        `progress` tells how much is done and of how much; else the tasks of Spark do.
        """
        outcome: list[T] = []
        failed: list[BaseException] = []

        def target() -> None:
            try:
                outcome.append(work())
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=target, name="spark", daemon=True)
        thread.start()
        how_far = progress or self._tasks
        try:
            while thread.is_alive():
                thread.join(_POLL_S)
                self.report(task, *how_far())
        except KeyboardInterrupt:
            self.cancel()
            raise
        finally:
            self.report(task, 1, 1)
        if failed:
            raise self._explained(failed[0])
        return outcome[0]

    def _explained(self, error: BaseException) -> BaseException:
        """Spark's own errors, which run over pages, as one sentence."""
        if not type(error).__module__.startswith(("py4j", "pyspark", "grpc")):
            return error
        return ShellError(
            f"Spark failed: {sentence(error)}", hint=f"What it said: {self._log}", code="spark"
        )

    def cancel(self) -> None:
        """End every job that runs; the session stays."""
        if self.session is not None:
            with suppress(Exception):
                self.session.interruptAll()

    def stop(self) -> None:
        """End the session, its JVM with it."""
        if self.session is not None:
            with suppress(Exception):
                self.session.stop()
            self.session = None

    def _tasks(self) -> tuple[int, int | None]:
        """Tasks done and all tasks of what runs now; Connect does not tell."""
        tracker = self._tracker()
        if tracker is None:
            return 0, None
        done = total = 0
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is not None:
                done, total = done + info.numCompletedTasks, total + info.numTasks
        return (min(done, total - 1), total) if total else (0, None)

    def _tracker(self) -> Any:
        if self.session is None or self.where[1]:
            return None
        return self.session.sparkContext.statusTracker()


class Starting:
    """A session on this machine's cores that starts in the background, before it is needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._future: Future[Engine] = Future()
        threading.Thread(target=self._start, name="spark-start", daemon=True).start()

    def _start(self) -> None:
        try:
            self._future.set_result(Engine(self._folder, lambda task, done, total: None))
        except BaseException as error:
            self._future.set_exception(error)

    def engine(self, report: Report) -> Engine | None:
        """The session, waited for; None where it did not start: whoever needs it tries again, and
        hears why."""
        try:
            while not self._future.done():
                report("starting Spark", 0, None)
                with suppress(TimeoutError):
                    self._future.exception(_POLL_S)
        finally:
            report("starting Spark", 1, 1)
        return None if self._future.exception() else self._future.result()
