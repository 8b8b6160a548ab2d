"""The Spark session of this process: started when first needed, reused, with cancellable jobs."""

from __future__ import annotations

import threading
import time
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
    """A Spark session on a `master`, a `remote`, or by default on the local cores."""

    def __init__(self, folder: Path, report: Report, *, master: str = "", remote: str = "") -> None:
        self.where = (master, remote)
        self.report = report
        self.deadline: float | None = None  # monotonic, of the current command
        self.session: Any = None
        self._stopped = threading.Event()
        self._log = folder / "spark.log"
        self.session = self.run(
            "starting Spark", lambda: open_session(folder, master=master, remote=remote)
        )

    def run(self, task: str, work: Callable[[], T], progress: Progress | None = None) -> T:
        """Return the result of `work`, which runs in a thread so that Ctrl-C cancels its jobs at
        once.

        `progress` returns the completed and total amount; default: the number of Spark tasks.
        Raises ShellError if the deadline of the command passes.
        """
        self._stopped = threading.Event()
        outcome: list[T] = []
        failed: list[BaseException] = []

        def target() -> None:
            try:
                outcome.append(work())
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=target, name="spark", daemon=True)
        thread.start()
        measure = progress or self._tasks
        try:
            while thread.is_alive():
                thread.join(_POLL_S)
                self.report(task, *measure())
                if self.deadline is not None and time.monotonic() >= self.deadline:
                    raise ShellError(f"{task}: deadline exceeded", code="deadline")
        except (KeyboardInterrupt, ShellError):
            self.cancel()
            raise
        finally:
            self.report(task, 1, 1)
        if failed:
            raise self._translated(failed[0])
        return outcome[0]

    def _translated(self, error: BaseException) -> BaseException:
        """Return an error of Spark as a ShellError of one sentence."""
        if not type(error).__module__.startswith(("py4j", "pyspark", "grpc")):
            return error
        return ShellError(
            f"Spark failed: {sentence(error)}", hint=f"See {self._log}.", code="spark"
        )

    def stopped(self) -> bool:
        """Whether the current work was cancelled: it must not begin other jobs."""
        return self._stopped.is_set()

    def cancel(self) -> None:
        """Cancel all running jobs; keep the session."""
        self._stopped.set()
        if self.session is not None:
            with suppress(Exception):
                self.session.interruptAll()

    def stop(self) -> None:
        """Stop the session and its JVM."""
        if self.session is not None:
            with suppress(Exception):
                self.session.stop()
            self.session = None

    def _tasks(self) -> tuple[int, int | None]:
        """Return completed and total tasks of the active stages; unknown with Spark Connect."""
        if self.session is None or self.where[1]:
            return 0, None
        tracker = self.session.sparkContext.statusTracker()
        done = total = 0
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is not None:
                done, total = done + info.numCompletedTasks, total + info.numTasks
        return (min(done, total - 1), total) if total else (0, None)


class BackgroundStart:
    """Starts a local session in the background, before it is needed."""

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
        """Wait for the session. Return None if it did not start: a second attempt reports the
        error."""
        try:
            while not self._future.done():
                report("starting Spark", 0, None)
                with suppress(TimeoutError):
                    self._future.exception(_POLL_S)
        finally:
            report("starting Spark", 1, 1)
        return None if self._future.exception() else self._future.result()
