"""`command | program` and `! program`: programs that are run by /bin/sh."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from threading import Thread
from typing import IO, TYPE_CHECKING, TextIO, cast

from msgspec import Struct

from kafka_shell.context import Context
from kafka_shell.errors import Status

if TYPE_CHECKING:
    from subprocess import Popen


class Pipe(Struct):
    """A program that reads the output of a command. `status` is set when the program has ended."""

    stdin: TextIO
    status: Status = Status.OK


@contextmanager
def open_pipe(program: str, out: TextIO) -> Iterator[Pipe]:
    """Run a program that writes to `out`, and wait for it at the end."""
    import subprocess

    with _started(program, out, subprocess.PIPE) as process:
        pipe = Pipe(TextIOWrapper(cast(IO[bytes], process.stdin), encoding="utf-8"))
        try:
            yield pipe
        finally:
            with suppress(BrokenPipeError):
                pipe.stdin.close()
            pipe.status = Status.FAILED if process.wait() else Status.OK


def run_program(program: str, context: Context) -> Status:
    """Run a program that writes to the output of the context, and wait for it."""
    import subprocess

    stdin = subprocess.DEVNULL if context.script.from_stdin else None
    with _started(program, context.out, stdin) as process:
        code = process.wait()
    return Status.FAILED if code else Status.OK


@contextmanager
def _started(program: str, out: TextIO, stdin: int | None) -> Iterator[Popen[bytes]]:
    """Start a program. If `out` has no file descriptor, a thread copies the output to it."""
    import subprocess

    direct = _has_descriptor(out)
    stdout = out if direct else subprocess.PIPE
    with subprocess.Popen(["/bin/sh", "-c", program], stdin=stdin, stdout=stdout) as process:
        copier = None if direct else Thread(target=_copy, args=(process.stdout, out), daemon=True)
        if copier is not None:
            copier.start()
        yield process
        if copier is not None:
            copier.join()


def _copy(source: IO[bytes], out: TextIO) -> None:
    for row in TextIOWrapper(source, encoding="utf-8", errors="replace"):
        out.write(row)


def _has_descriptor(stream: TextIO) -> bool:
    try:
        stream.flush()
        stream.fileno()
    except (OSError, ValueError):
        return False
    return True
