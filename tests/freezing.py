"""A broker that hangs: its process is stopped, its connections stay open."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kafka_shell.sandbox.cluster import status
from kafka_shell.sandbox.state import Sandbox
from tests.admin.helpers import wait_for


def freeze(pid: int) -> None:
    """Stop a process (SIGSTOP), and wait until none of its threads runs any more."""
    os.kill(pid, signal.SIGSTOP)
    wait_for(f"process {pid} has stopped", lambda: set(_states(pid)) == {"T"})


def thaw(pid: int) -> None:
    """Let it go on, if it is still there."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


@contextmanager
def frozen(sandbox: Sandbox, broker: int = 1) -> Iterator[int]:
    """The process id of a broker that hangs meanwhile."""
    now = status(sandbox.folder)  # other tests restart brokers
    assert now is not None, "the sandbox does not run"
    pid = now.broker(broker).pid
    assert pid is not None, f"broker {broker} does not run"
    freeze(pid)
    try:
        yield pid
    finally:
        thaw(pid)


def _states(pid: int) -> Iterator[str]:
    """The state of each thread, by its letter in /proc (T: stopped)."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError):
            yield (thread / "stat").read_text().rpartition(")")[2].split()[0]
