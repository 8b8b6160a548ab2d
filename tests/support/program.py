"""The program as its users run it: arguments, standard streams and environment.

`Program` calls the entry point in this process, which takes a tenth of the time. `Process` starts a
new process, to test signals, imports, closed streams, limits and concurrency.
"""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from kafka_shell import app


@dataclass(frozen=True)
class Run:
    """How one run of the program ended."""

    argv: tuple[str, ...]
    status: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """Standard output, read as JSON."""
        return json.loads(self.stdout)

    @property
    def lines(self) -> list[str]:
        """The lines of standard output."""
        return self.stdout.splitlines()

    def __str__(self) -> str:
        return (
            f"kafka.sh {' '.join(self.argv)}\n-> {self.status}\n"
            f"stdout:\n{self.stdout}\nstderr:\n{self.stderr}"
        )


@dataclass(frozen=True)
class Program:
    """Runs kafka.sh against `broker` (empty: none is named) with all its files below `home`."""

    home: Path
    broker: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)

    def __call__(
        self, *argv: str, stdin: str | bytes = "", environ: Mapping[str, str] | None = None
    ) -> Run:
        """One run. `stdin` is no terminal, so nothing can be asked."""
        words = (*(("--broker", self.broker) if self.broker else ()), *argv)
        fed = stdin.encode() if isinstance(stdin, str) else stdin
        status, out, err = self._run(words, fed, self.environment() | dict(environ or {}))
        assert "Traceback" not in err, f"a traceback reached the user:\n{err}"
        return Run(words, status, out, err)

    def _run(
        self, words: tuple[str, ...], stdin: bytes, environ: Mapping[str, str]
    ) -> tuple[int, str, str]:
        with ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            files[0].write(stdin)
            files[0].seek(0)
            with _streams(files), _environment(environ), _interpreter():
                try:
                    status = app.main(words)
                except SystemExit as ended:
                    status = int(ended.code or 0)
            for file in files:
                file.seek(0)
            return status, files[1].read().decode(), files[2].read().decode()

    def ok(self, *argv: str, stdin: str | bytes = "") -> Run:
        """A run that must end well."""
        run = self(*argv, stdin=stdin)
        assert run.status == 0, str(run)
        return run

    def environment(self) -> dict[str, str]:
        """What the process sees: nothing of this machine's user but the path, and Kafka's jars."""
        jars = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        kept = ("PATH", "PYTHONPATH", "VIRTUAL_ENV", "JAVA_HOME", "TMPDIR", "SSL_CERT_FILE")
        return (
            {name: os.environ[name] for name in kept if name in os.environ}
            | {"KAFKA_SH_HOME": str(self.home), "HOME": str(self.home), "TERM": "xterm-256color"}
            | {"LANG": "C.UTF-8", "TZ": "UTC", "XDG_CACHE_HOME": jars}
            | dict(self.environ)
        )


class Process(Program):
    """The same in a process of its own."""

    def _run(
        self, words: tuple[str, ...], stdin: bytes, environ: Mapping[str, str]
    ) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-m", "kafka_shell", *words],
            input=stdin, capture_output=True, timeout=120, env=environ, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout.decode(), done.stderr.decode()


@contextmanager
def _streams(files: list[IO[bytes]]) -> Iterator[None]:
    """Standard streams are these files, also to programs that are started meanwhile."""
    before = sys.stdin, sys.stdout, sys.stderr
    for stream in before[1:]:
        stream.flush()
    kept = [os.dup(number) for number in range(3)]
    try:
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        sys.stdin, sys.stdout, sys.stderr = (
            io.TextIOWrapper(open(number, mode, closefd=False), encoding="utf-8")  # noqa: SIM115
            for number, mode in enumerate(("rb", "wb", "wb"))
        )
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdin, sys.stdout, sys.stderr = before
        for number, copy in enumerate(kept):
            os.dup2(copy, number)
            os.close(copy)


@contextmanager
def _environment(environ: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    _replace_environment(environ)
    try:
        yield
    finally:
        _replace_environment(before)


def _replace_environment(environ: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()


@contextmanager
def _interpreter() -> Iterator[None]:
    """What the entry point sets for the rest of a process of its own is put back."""
    signals = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
    handlers = [signal.getsignal(each) for each in signals]
    threshold = gc.get_threshold()
    try:
        yield
    finally:
        for each, handler in zip(signals, handlers, strict=True):
            signal.signal(each, handler)
        gc.set_threshold(*threshold)
        gc.unfreeze()
