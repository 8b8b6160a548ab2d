"""A local Spark Connect server that keeps running, so that audits need not start Spark.

A process of its own keeps it: it starts the JVM, prepares it with queries like those of audits, and
ends it after an idle time. Only this user can connect: it listens on the loopback interface, and
its token is in a file that only its owner may read. Another user may listen on any port, so clients
learn the port when the JVM has it, and connect to the very address of the JVM.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from kafka_shell.audit import jvm
from kafka_shell.audit.session import THIS_MACHINE
from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import locked, open_private, private_folder, write_private
from kafka_shell.base.processes import start_module
from kafka_shell.base.waits import LOCAL_POLL_S, until

IDLE_S = 3600
_START_S = 180.0
_STOP_S = 30.0
_STATE, _LOCK, _USED, _LOG = "server.json", "server.lock", "server.used", "server.log"


class Server(Struct, frozen=True):
    """A running server. `remote` contains its token; `pid` is the process that keeps it."""

    pid: int
    port: int
    token: str
    idle_s: int
    started_at: int  # epoch milliseconds

    @property
    def address(self) -> str:
        """The URL without the token."""
        return f"sc://{THIS_MACHINE}:{self.port}"

    @property
    def remote(self) -> str:
        """The URL for Spark Connect."""
        return f"{self.address}/;token={self.token}"


def running(folder: Path) -> Server | None:
    """Return the server whose state is in this folder, or None if there is none."""
    if not _is_running(folder):
        return None
    try:
        return msgspec.json.decode((folder / _STATE).read_bytes(), type=Server)
    except (OSError, msgspec.DecodeError):  # it is starting or ending
        return None


def used(folder: Path) -> None:
    """Postpone the end of the server."""
    with suppress(OSError):
        (folder / _USED).touch()


def last_used(folder: Path) -> float:
    """Return when the server was last used, in seconds since the epoch."""
    try:
        return (folder / _USED).stat().st_mtime
    except OSError:
        return 0.0


def start(folder: Path, idle_s: int = IDLE_S) -> Generator[None]:
    """Start a server; iterate until it accepts connections. Raises ShellError if it does not. It
    ends if the iteration is interrupted or closed."""
    private_folder(folder)
    (folder / _STATE).unlink(missing_ok=True)
    with open_private(folder / _LOG, "w") as log:
        process = start_module(
            "kafka_shell.audit.server_process", folder, idle_s,
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    latest = time.monotonic() + _START_S
    try:
        while running(folder) is None:
            ended = process.poll() is not None and not _is_running(folder)  # another may start too
            if ended or time.monotonic() > latest:
                cause = jvm.cause_in(folder / _LOG)
                raise ShellError(
                    "the Spark server did not start" + (f": {cause}" if cause else ""),
                    hint=jvm.hint(folder / _LOG),
                    code="spark",
                )
            time.sleep(LOCAL_POLL_S)
            yield
    except BaseException:  # also Ctrl-C: nobody would know of the JVM
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        raise


def stop(folder: Path) -> bool:
    """Stop the server. False if there is none."""
    if (found := running(folder)) is None:
        return False
    os.kill(found.pid, signal.SIGTERM)
    if not until(lambda: not _is_running(folder), _STOP_S):
        raise ShellError(f"the Spark server (process {found.pid}) does not stop", code="spark")
    return True


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Be the one process that keeps a server in this folder, and remove what it published. Raises
    ShellError if there is another."""
    with ExitStack() as held:
        try:
            held.enter_context(locked(folder / _LOCK, wait=False))
        except BlockingIOError:
            raise ShellError("a Spark server is running", code="running") from None
        held.callback((folder / _STATE).unlink, missing_ok=True)
        used(folder)
        yield


def publish(folder: Path, server: Server) -> None:
    """Let clients find the server."""
    write_private(folder / _STATE, msgspec.json.encode(server))


def _is_running(folder: Path) -> bool:
    if not (folder / _LOCK).exists():
        return False
    try:
        with locked(folder / _LOCK, wait=False, shared=True):
            return False
    except BlockingIOError:
        return True
