"""The Spark session of this process: started when first needed, reused, with cancellable jobs."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from kafka_shell.audit import server
from kafka_shell.audit.jvm import SparkTarget
from kafka_shell.audit.session import Opened, end, import_spark, open_session, sentence
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Report
from kafka_shell.base.waits import POLL_S

# How Spark runs queries of a few rows, and of many.

_FEW = 200_000  # rows
# Compiling and adapting a query of a few rows takes longer than running it, and tables of one
# partition need neither a broadcast nor a shuffle to be joined.
SMALL_DATA_CONFIGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.ui.explainMode": "simple",
}


def is_small_data(rows: int) -> bool:
    """Whether tables with so many rows together are small."""
    return rows < _FEW


@contextmanager
def tuned(session: Any, rows: int) -> Iterator[None]:
    """Make queries of tables with so many rows together fast, until the end. Configs that the user
    has set are not changed."""
    wanted = SMALL_DATA_CONFIGS if is_small_data(rows) else {}
    free = [key for key in wanted if session.conf.get(key, None) is None]
    for key in free:
        session.conf.set(key, wanted[key])
    try:
        yield
    finally:
        for key in free:
            session.conf.unset(key)


# Errors of Spark in a sentence, with what to do about those that users meet.

_NO_PYTHON = re.compile(r'Cannot run program "([^"]+)".*?error=(?:2|13)\b', re.DOTALL)
_NO_MODULE = re.compile(r"(?:No module named '|PACKAGE_NOT_INSTALLED\] )([\w.]+)")
_DIED = ("Connection reset", "Python worker exited unexpectedly", "Python worker failed to connect")
_INSTALL = "with pyspark, pyarrow, pandas and msgspec"


def as_shell_error(error: BaseException, log: Path) -> BaseException:
    """Return an error of Spark as a ShellError of one sentence; other errors as they are."""
    if not type(error).__module__.startswith(("py4j", "pyspark", "grpc")):
        return error
    what, hint = _executors(str(error)) or (f"Spark failed: {sentence(error)}", f"See {log}.")
    return ShellError(what, hint=hint, code="spark")


def _executors(text: str) -> tuple[str, str] | None:
    """What is wrong with the Python of the executors, and what to do."""
    if found := _NO_PYTHON.search(text):
        return (
            f"Spark executors cannot run {found[1]}",
            f"Set PYSPARK_PYTHON to a Python {_INSTALL} that exists on every executor.",
        )
    if found := _NO_MODULE.search(text):
        package = found[1].partition(".")[0].lower()
        return (
            f"{package} is not installed for the Python of the Spark executors",
            f"Run pip install {package} on every executor, or set PYSPARK_PYTHON to a Python"
            f" {_INSTALL}.",
        )
    if "Checkpoint block" in text:
        return (
            "an executor was lost, with the tables that it had read",
            "Run the command again, or set spark.checkpoint.dir to a directory that all executors"
            " share.",
        )
    if any(each in text for each in _DIED):
        return (
            f"the Python of the Spark executors does not run: {_last_line(text)}",
            f"Set PYSPARK_PYTHON to a Python {_INSTALL} on every executor, and check their logs.",
        )
    return None


def _last_line(text: str) -> str:
    causes = re.findall(r"(?m)^Caused by: ([\w.$]+: .+)$", text)
    return str(causes[-1] if causes else text.strip().splitlines()[0])[:200]


# What executors that are not on this machine need: our packages and the data source.

# The Python packages that executors need in addition to PySpark.
_PACKAGES = ("kafka_shell", "kafka")


def add_packages(session: Any) -> None:
    """Give our packages to the executors of a session, and register the data source."""
    from kafka_shell.audit.source import KafkaSource

    # Executors may start and fetch it at any time, so it is kept until the program ends.
    shipped = tempfile.mkdtemp(prefix="kafka-sh-")
    atexit.register(shutil.rmtree, shipped, ignore_errors=True)
    session.addArtifacts(str(_packages(Path(shipped))), pyfile=True)
    session.dataSource.register(KafkaSource)


def _packages(folder: Path) -> Path:
    """Write our packages into a zip file that Python can import from."""
    path = folder / "kafka_sh.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in _PACKAGES:
            spec = find_spec(package)
            assert spec is not None and spec.origin is not None
            root = Path(spec.origin).parent
            for file in sorted(root.rglob("*")):
                if file.suffix in (".py", ".json"):
                    archive.write(file, Path(package) / file.relative_to(root))
    return path


T = TypeVar("T")
Progress = Callable[[], tuple[int, int | None]]

_CANCEL_S = 30.0
_AGAIN_S = 0.5


class Engine:
    """A Spark session, which runs where `spark_target` says. It is started in the background by
    `begin`, or when it is first used."""

    def __init__(
        self,
        folder: Path,
        report: Report,
        *,
        spark_target: SparkTarget | None = None,
    ) -> None:
        self.spark_target = spark_target or SparkTarget()
        self.report = report
        self.deadline: float | None = None  # monotonic, of the current command
        self._folder = folder
        self._opened: Future[Opened] | None = None
        self._imported = threading.Event()
        self._shipped = False
        self._stages: dict[int, tuple[int, int]] = {}  # completed and all tasks, by stage ID
        self._stopped = threading.Event()
        self._cancelled = threading.Event()  # unset while work that was cancelled has not ended
        self._cancelled.set()

    # -- starting ----------------------------------------------------------------------------------

    def begin(self) -> Engine:
        """Start the session in the background. Returns this engine."""
        if self._opened is None:
            opened: Future[Opened] = Future()
            self._opened = opened

            def start() -> None:
                try:
                    import_spark()
                    self._imported.set()
                    opened.set_result(open_session(self._folder, self.spark_target))
                except BaseException as error:
                    opened.set_exception(error)
                finally:
                    self._imported.set()

            threading.Thread(target=start, name="spark-start", daemon=True).start()
        return self

    def wait_for_import(self) -> None:
        """Wait until the session, if it was begun, has imported Spark: Python does not import
        modules safely in two threads at once."""
        if self._opened is not None:
            self._imported.wait()

    @property
    def failed(self) -> bool:
        """Whether the session did not start."""
        found = self._opened
        return found is not None and found.done() and found.exception() is not None

    @property
    def opened(self) -> Opened:
        """The session and how it was started; waits for it."""
        self.begin()
        assert self._opened is not None
        return self._opened.result()

    @property
    def session(self) -> Any:
        """The Spark session; waits for it."""
        return self.opened.session

    @property
    def runs_locally(self) -> bool:
        """Whether executors are on this machine only; waits for the session if necessary."""
        local = self.spark_target.runs_locally()
        if local is None or (self._opened is not None and self._opened.done()):
            self._wait_for("starting Spark", self._started, lambda: (0, None))
            return self.opened.local
        return local

    def prepare_executors(self) -> None:
        """Give executors our packages."""
        if not self._shipped:
            self.run("preparing Spark", lambda: add_packages(self.session))
            self._shipped = True

    # -- running -----------------------------------------------------------------------------------

    def run(
        self,
        task: str,
        work: Callable[[], T],
        progress: Progress | None = None,
        part: Callable[[], str] = str,
    ) -> T:
        """Return the result of `work`, which runs in a thread so that Ctrl-C cancels its jobs at
        once.

        `progress` returns the completed and total amount; default: the number of Spark tasks.
        `part` returns what is being worked on.
        Raises ShellError if the deadline of the command passes.
        """
        self._wait_for("starting Spark", self._started, lambda: (0, None))
        return self.run_without_spark(task, work, progress or self._tasks, part)

    def run_without_spark(
        self,
        task: str,
        work: Callable[[], T],
        progress: Progress,
        part: Callable[[], str] = str,
    ) -> T:
        """The same for work that does not use Spark, which may still be starting."""
        self._await_cancelled(task)
        self._stopped = threading.Event()
        self._stages = {}
        result: Future[T] = Future()

        def target() -> None:
            try:
                result.set_result(work())
            except BaseException as error:
                result.set_exception(error)

        threading.Thread(target=target, name="spark", daemon=True).start()
        return self._wait_for(task, lambda: result, progress, part)

    def _started(self) -> Future[Opened]:
        self.begin()
        assert self._opened is not None
        return self._opened

    def _wait_for(
        self,
        task: str,
        work: Callable[[], Future[T]],
        progress: Progress,
        part: Callable[[], str] = str,
    ) -> T:
        """Wait for the result, and report progress."""
        future = work()
        if future.done() and future.exception() is None:
            return future.result()
        try:
            while not future.done():
                named = part()
                self.report(f"{task} ({named})" if named else task, *progress())
                if self.spark_target.server_folder:
                    server.used(Path(self.spark_target.server_folder))
                if self.deadline is not None and time.monotonic() >= self.deadline:
                    raise ShellError(f"{task}: deadline exceeded", code="deadline")
                with suppress(TimeoutError):
                    future.exception(POLL_S)
        except (KeyboardInterrupt, ShellError):
            self.cancel(future)
            raise
        finally:
            self.report(task, 1, 1)
        error = future.exception()
        if error is not None:
            raise as_shell_error(error, self._folder / "spark.log")
        return future.result()

    def stopped(self) -> bool:
        """Whether the current work was cancelled: it must not begin other jobs."""
        return self._stopped.is_set()

    def cancel(self, work: Future[Any]) -> None:
        """Cancel all jobs of this work, also those that it is about to begin; keep the session."""
        self._stopped.set()
        found = self._opened
        if found is None or not found.done() or found.exception() is not None or work is found:
            return
        session = found.result().session
        self._cancelled = ended = threading.Event()

        def interrupt() -> None:
            until = time.monotonic() + _CANCEL_S
            while not work.done() and time.monotonic() < until:
                with suppress(Exception):
                    session.interruptAll()
                with suppress(BaseException):
                    work.exception(_AGAIN_S)
            time.sleep(_AGAIN_S)  # Spark cancels jobs with a short delay
            ended.set()

        threading.Thread(target=interrupt, name="spark-cancel", daemon=True).start()

    def _await_cancelled(self, task: str) -> None:
        """Wait until work that was cancelled has ended: its jobs are cancelled as those of the
        session, and so would be those of other work."""
        # Not by joining the thread: if Ctrl-C interrupts join(), Python reports it as ended.
        while not self._cancelled.wait(POLL_S):
            self.report(task, 0, None)

    def stop(self) -> None:
        """Stop the session, and its JVM if this program started it."""
        found, self._opened, self._shipped = self._opened, None, False
        if found is None or (found.done() and found.exception() is not None):
            return
        with suppress(Exception):
            opened = found.result()
            if opened.ends_with_program:
                end(opened.session, self.spark_target.remote)
                _end_jvm(opened.session)

    def _tasks(self) -> tuple[int, int | None]:
        """Return completed and total tasks of the stages of the current work so far; unknown with
        Spark Connect."""
        if self.spark_target.remote:
            return 0, None
        with suppress(Exception):  # Py4J may lose a connection; if Spark has ended, the work fails
            tracker = self.session.sparkContext.statusTracker()
            self._stages = {stage: (total, total) for stage, (_, total) in self._stages.items()}
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info is not None:
                    self._stages[stage] = info.numCompletedTasks, info.numTasks
        done = sum(each for each, _ in self._stages.values())
        total = sum(each for _, each in self._stages.values())
        return (min(done, total - 1), total) if total else (0, None)


def _end_jvm(session: Any) -> None:
    """End the JVM of a stopped session: its options cannot be changed."""
    from pyspark import SparkContext

    gateway = getattr(SparkContext, "_gateway", None)
    if gateway is None or getattr(gateway, "proc", None) is None:  # of Spark Connect, spark-submit
        return
    SparkContext._gateway = SparkContext._jvm = None
    with suppress(Exception):
        gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()
