"""Processes of brokers: start them detached, find them by PID and arguments, stop them."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

from kafka_shell.base.errors import ShellError, missing_package
from kafka_shell.base.files import write_private
from kafka_shell.base.waits import until

try:
    import psutil
except ImportError as missing:
    raise missing_package("the sandbox", "psutil", "sandbox") from missing

TERM_SECONDS = 20.0
KILL_SECONDS = 10.0
SPAWN_SECONDS = 60.0


def write_arguments(path: Path, arguments: Sequence[str]) -> None:
    """Write a Java argument file, because passwords on a command line are public."""
    escaped = (argument.replace("\\", "\\\\").replace('"', '\\"') for argument in arguments)
    write_private(path, "".join(f'"{argument}"\n' for argument in escaped))


def spawn(java: Path, arguments: Path, log: Path) -> int:
    """Start a JVM with this argument file, detached, and return its PID."""
    return detach([str(java), f"@{arguments}"], log)


def detach(words: list[str], log: Path) -> int:
    """Start a program in its own session, with its output appended to `log`. Returns its PID."""
    streams = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawn(words[0], words, os.environ, file_actions=streams, setsid=True)


def is_running(pid: int | None, arguments: Path) -> bool:
    """Return whether `pid` is the JVM started with this argument file; PIDs are reused."""
    return pid is not None and _find(pid, arguments) is not None


def _find(pid: int, arguments: Path) -> psutil.Process | None:
    """Return the process unless it has ended. A zombie has ended and is reaped if it is a child.

    A process that is exiting has no command line but still uses its ports, so it is returned, also
    if it becomes a zombie meanwhile: its main thread may end before the others.
    """
    try:
        process = psutil.Process(pid)
        if words := _command_line(process):
            return process if f"@{arguments}" in words else None
        # The PID may be that of another process. The JVM was started when the file was written.
        if abs(process.create_time() - arguments.stat().st_mtime) > SPAWN_SECONDS:
            return None
        if process.status() != psutil.STATUS_ZOMBIE or process.num_threads() > 1:
            return process
        process.wait(0)
        return None
    except (psutil.Error, FileNotFoundError):
        return None


def _command_line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.ZombieProcess:
        return []


def find_all(folder: Path) -> list[tuple[int, Path]]:
    """Return the JVMs of the sandbox in this folder, by PID and argument file."""
    words = ((p.pid, p.info["cmdline"] or []) for p in psutil.process_iter(["cmdline"]))
    files = ((pid, Path(word[1:])) for pid, line in words for word in line if word[:1] == "@")
    return [(pid, path) for pid, path in files if path.parent.parent == folder]


def terminate(processes: Sequence[tuple[int, Path]], patience: float = TERM_SECONDS) -> None:
    """Stop JVMs, given by PID and argument file: SIGTERM, then SIGKILL after `patience` seconds."""
    _signal(processes, signal.SIGTERM)
    left = _wait_until_ended(processes, patience)
    _signal(left, signal.SIGKILL)
    _wait_until_ended(left, KILL_SECONDS)


def _signal(processes: Sequence[tuple[int, Path]], number: signal.Signals) -> None:
    for pid, arguments in processes:
        if process := _find(pid, arguments):
            try:
                process.send_signal(number)
            except psutil.NoSuchProcess:
                pass
            except psutil.AccessDenied:
                raise ShellError(
                    f"process {pid} of the sandbox belongs to another user",
                    hint="Stop the sandbox as that user.",
                    code="not-permitted",
                ) from None


def _wait_until_ended(
    processes: Sequence[tuple[int, Path]], seconds: float
) -> list[tuple[int, Path]]:
    """Return the processes left after so many seconds. psutil would wait for zombies as well."""

    def left() -> list[tuple[int, Path]]:
        return [(pid, arguments) for pid, arguments in processes if is_running(pid, arguments)]

    return [] if until(lambda: not left(), seconds) else left()
