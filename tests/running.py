"""The program in a process of its own, to be watched, interrupted and killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.admin.helpers import wait_for
from tests.program import Program


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

        def has() -> bool:
            assert words in self.err or self.process.poll() is None, self
            return words in self.err

        wait_for(f"it says {words!r}:\n{self}", has, seconds)

    def ended(self, seconds: float = 60) -> int:
        """Wait for the end, and return the status."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"after {seconds:.0f} s it has not ended:\n{self}") from None

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
            stdin=subprocess.PIPE, stdout=out, stderr=err, env=kafka.environment(),
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
