"""Stop a process with its connections open (SIGSTOP), as if it hangs."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.waiting import wait_for

_PTRACE_SEIZE, _PTRACE_INTERRUPT, _PTRACE_DETACH = 0x4206, 0x4207, 17


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


@contextmanager
def thread_frozen(pid: int, name: str) -> Iterator[None]:
    """One thread of a process hangs, by the start of its name; the others run on.

    It is stopped while it sleeps. The first garbage collection would wait for a thread of a JVM
    that is stopped while it runs Java code, and so would all other threads.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    (thread,) = _threads(pid, name)

    def trace(request: int) -> None:
        if libc.ptrace(request, thread, None, None):
            raise OSError(ctypes.get_errno(), f"thread {name} of {pid} could not be traced")

    trace(_PTRACE_SEIZE)
    try:
        wait_for(f"thread {name} sleeps", lambda: _state_of(pid, thread) == "S")
        trace(_PTRACE_INTERRUPT)
        wait_for(f"thread {name} has stopped", lambda: _state_of(pid, thread) == "t")
        yield
    finally:
        trace(_PTRACE_DETACH)


def _threads(pid: int, name: str) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(task.name) for task in tasks if (task / "comm").read_text().startswith(name)]


def _state_of(pid: int, thread: int) -> str:
    stat = Path(f"/proc/{pid}/task/{thread}/stat").read_text()
    return stat.rpartition(")")[2].split()[0]
