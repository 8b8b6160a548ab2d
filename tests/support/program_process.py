"""The program in a process that tests can watch, interrupt and kill."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.program import Program
from tests.support.waiting import wait_for


class Running:
    """A run, and what it has printed so far."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.process = process
        self._folder = folder

    @property
    def out(self) -> str:
        return (self._folder / "out").read_text()

    @property
    def err(self) -> str:
        return (self._folder / "err").read_text()

    def said(self, words: str, seconds: float = 60) -> None:
        """Wait until it has printed this on standard error."""

        def is_over() -> bool:
            return self.process.poll() is not None

        wait_for(
            lambda: self._stuck(f"it says {words!r}"),
            lambda: is_over() or words in self.err,
            seconds,
        )
        assert words in self.err, self

    def ended(self, seconds: float = 60) -> int:
        """Wait for the end, and return the status."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(self._stuck(f"it has not ended in {seconds:.0f} s")) from None

    def _stuck(self, what: str) -> str:
        """What a run that waits too long has printed, and where it waits."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGABRT)  # prints the stacks of its threads
            self.process.wait(30)
        return f"{what}:\n{self}"

    def interrupt(self) -> int:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        return self.ended()

    def __repr__(self) -> str:
        return f"{self.process.args!r}\nstdout:\n{self.out}\nstderr:\n{self.err}"


@contextmanager
def running(kafka: Program, line: str, *, script: str = "") -> Iterator[Running]:
    """A run of the line, which is killed if it has not ended by itself."""
    folder = kafka.home / f"run-{len(list(kafka.home.glob('run-*')))}"
    folder.mkdir(parents=True)
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "kafka_shell", "--broker", kafka.broker, *line.split()],
            stdin=subprocess.PIPE, stdout=out, stderr=err,
            env=kafka.environment() | {"PYTHONFAULTHANDLER": "1"},
        )  # fmt: skip
    assert process.stdin is not None
    try:
        with process.stdin as stdin:
            stdin.write(script.encode())
        yield Running(process, folder)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
