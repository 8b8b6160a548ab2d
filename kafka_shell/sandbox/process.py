"""A broker's process: started so that it outlives us, recognised, watched and stopped."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from kafka_shell.errors import ShellError
from kafka_shell.private import write_private

try:
    import psutil
except ImportError as missing:
    raise ShellError(
        "The sandbox needs the package psutil, and it is not installed",
        hint="pip install 'kafka-sh[sandbox]'",
        code="no-psutil",
    ) from missing

TERM_SECONDS = 20.0
KILL_SECONDS = 10.0
POLL_SECONDS = 0.02


def write_arguments(path: Path, arguments: Sequence[str]) -> None:
    """Write a Java argument file. Passwords travel in it: a command line is for all to see."""
    escaped = (argument.replace("\\", "\\\\").replace('"', '\\"') for argument in arguments)
    write_private(path, "".join(f'"{argument}"\n' for argument in escaped))


def spawn(java: Path, arguments: Path, log: Path) -> int:
    """Start a JVM in a session of its own, both its streams appended to `log`; returns its pid."""
    streams = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawn(
        java, [str(java), f"@{arguments}"], os.environ, file_actions=streams, setsid=True
    )


def is_running(pid: int | None, arguments: Path) -> bool:
    """Whether `pid` is still the JVM started with this argument file: pids are used again."""
    return pid is not None and _find(pid, arguments) is not None


def _find(pid: int, arguments: Path) -> psutil.Process | None:
    """The process, unless it has ended: a zombie is gone, and reaped if it was our child.

    One that is ending has lost its command line, but it has its ports still: it is there.
    """
    try:
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE:
            words = process.cmdline()
            return process if not words or f"@{arguments}" in words else None
        if process.num_threads() > 1:
            return process
        process.wait(0)
        return None
    except psutil.Error:
        return None


def find_all(folder: Path) -> list[tuple[int, Path]]:
    """The JVMs of the sandbox in this folder, by pid and argument file, whatever its state says."""
    words = ((p.pid, p.info["cmdline"] or []) for p in psutil.process_iter(["cmdline"]))
    marks = ((pid, Path(word[1:])) for pid, line in words for word in line if word[:1] == "@")
    return [(pid, path) for pid, path in marks if path.parent.parent == folder]


def terminate(processes: Sequence[tuple[int, Path]], patience: float = TERM_SECONDS) -> None:
    """Stop JVMs, given by pid and argument file: SIGTERM to all, SIGKILL after `patience` s."""
    _signal(processes, signal.SIGTERM)
    left = _wait_until_gone(processes, patience)
    _signal(left, signal.SIGKILL)
    _wait_until_gone(left, KILL_SECONDS)


def _signal(processes: Sequence[tuple[int, Path]], number: signal.Signals) -> None:
    for pid, arguments in processes:
        if process := _find(pid, arguments):
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)


def _wait_until_gone(
    processes: Sequence[tuple[int, Path]], seconds: float
) -> list[tuple[int, Path]]:
    """Those left after so many seconds. psutil would wait for a zombie, whose parent may sleep."""
    deadline = time.monotonic() + seconds
    left = list(processes)
    while left := [(pid, arguments) for pid, arguments in left if is_running(pid, arguments)]:
        if time.monotonic() >= deadline:
            break
        time.sleep(POLL_SECONDS)
    return left
