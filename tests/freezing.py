"""A process that hangs: it is stopped, its connections stay open."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.admin.helpers import wait_for


def freeze(pid: int) -> None:
    """Stop a process (SIGSTOP), and wait until none of its threads runs any more."""
    os.kill(pid, signal.SIGSTOP)
    wait_for(f"process {pid} has stopped", lambda: set(_states(pid)) == {"T"})


def thaw(pid: int) -> None:
    """Let it go on, if it is still there."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def is_frozen(pid: int) -> bool:
    return "T" in _states(pid)


def _states(pid: int) -> Iterator[str]:
    """The state of each thread, by its letter in /proc (T: stopped)."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError):
            yield (thread / "stat").read_text().rpartition(")")[2].split()[0]
