"""`command | program` and `! program`: programs that are run by /bin/sh."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, TextIO, cast

from msgspec import Struct

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.files import replace_file
from kafka_shell.base.text import quoted
from kafka_shell.context import Context, confirmed

if TYPE_CHECKING:
    from subprocess import Popen


class Pipe(Struct):
    """A program that reads the output of a command. `status` is set when the program has ended."""

    stdin: TextIO
    status: Status = Status.OK


@contextmanager
def open_pipe(program: str, out: TextIO) -> Iterator[Pipe]:
    """Run a program that writes to `out`, and wait for it at the end."""
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
    stdin = subprocess.DEVNULL if context.script.from_stdin else None
    with _started(program, context.out, stdin) as process:
        code = process.wait()
    return Status.FAILED if code else Status.OK


@contextmanager
def _started(program: str, out: TextIO, stdin: int | None) -> Iterator[Popen[bytes]]:
    """Start a program. If `out` has no file descriptor, a thread copies the output to it."""
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


# `> file` and `>> file`: write the output of a command to a file.
#
# The output goes to a temporary file, readable by its owner only, that replaces the target and gets
# its mode when the command has ended. An error leaves the target unchanged; if something could not
# be read, the target is kept as well, and the output is in FILE.partial. Devices and named pipes
# are written directly.


class Redirected:
    """The stream to write to, and whether the output is complete."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.complete = True


@contextmanager
def redirected(path: Path, append: bool, context: Context) -> Iterator[Redirected]:
    """Yield the stream to write to. Raises ShellError first if the file cannot be written."""
    path = Path(os.path.realpath(path))  # keep symbolic links
    current = _status(path)
    if current is not None and not stat.S_ISREG(current.st_mode):
        with _opened(path, os.O_WRONLY) as file:
            yield Redirected(file)
        return
    if current is not None and not append:
        _ask(path, context)
    if current is not None and not os.access(path, os.W_OK):
        raise _unwritable(path, "Permission denied")
    temporary = path.with_name(f".{path.name[:200]}.{os.urandom(4).hex()}")
    file = _opened(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, shown=path)
    output = Redirected(file)
    try:
        try:
            yield output
        except KeyboardInterrupt:  # ends commands that follow a log: keep what was written
            if file.tell():
                file.close()
                replace_file(temporary, path, append=append)
            raise
        file.close()
        if output.complete or current is None or append:
            replace_file(temporary, path, append=append)
        else:
            _keep_apart(temporary, path, context)
    finally:
        with suppress(OSError):
            file.close()
        temporary.unlink(missing_ok=True)


def _ask(path: Path, context: Context) -> None:
    """Ask before a file is overwritten at the prompt; scripts overwrite files without a
    question."""
    if context.shell is None or context.ask is None or context.script.files:
        return
    if not confirmed(context.ask, f"Overwrite {quoted(str(path))}?"):
        raise ShellError(
            f"{path} already exists",
            hint="Use >> to append to the file.",
            code="file-exists",
        )


def _keep_apart(temporary: Path, path: Path, context: Context) -> None:
    """Do not replace a file by output that lacks something."""
    partial = path.with_name(f"{path.name}.partial")
    temporary.replace(partial)
    context.note(f"{path} was not replaced: the output is incomplete, and is in {partial.name}")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unwritable(path, error.strerror) from None


def _opened(path: Path, flags: int, shown: Path | None = None) -> TextIO:
    try:
        return os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8")
    except OSError as error:
        raise _unwritable(shown or path, error.strerror) from None


def _unwritable(path: Path, why: str | None) -> ShellError:
    return ShellError(f"cannot write to {path}: {why} (the command was not run)")
