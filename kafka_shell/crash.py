"""Report internal errors of kafka.sh: a message on stderr, and details in crash.log."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import TextIO

from kafka_shell.base.errors import Status
from kafka_shell.base.files import open_private
from kafka_shell.base.text import masked
from kafka_shell.context import Paths


def report_crash(error: BaseException, paths: Paths, err: TextIO) -> Status:
    """Report an internal error on `err`, with the file that contains the details."""
    where = write_details(error, paths)
    err.write(
        f"error: internal error in kafka.sh: {type(error).__name__}\n"
        f"hint: This is a bug in kafka.sh. Please report it with the details in {where}"
        " and the command you ran. Run journal to see whether changes were sent.\n"
    )
    return Status.FAILED


def write_details(error: BaseException, paths: Paths) -> str:
    """Add the error to crash.log and return its path, or the code location if it is not
    writable."""
    path = paths.state / "crash.log"
    try:
        with open_private(path, "a") as file:
            file.write(masked("\n".join(_details(error)) + "\n", "[hidden]"))
        return str(path)
    except OSError:
        at = traceback.extract_tb(error.__traceback__)[-1]
        return f"{at.filename}:{at.lineno}"


def _details(error: BaseException) -> Iterator[str]:
    """Yield the types and tracebacks of the error and its causes.

    Messages are omitted because they can contain values such as passwords.
    """
    seen: set[int] = set()
    chained: BaseException | None = error
    while chained is not None and id(chained) not in seen:
        seen.add(id(chained))
        yield f"{'caused by' if len(seen) > 1 else 'error'}: {type(chained).__qualname__}"
        for frame in traceback.extract_tb(chained.__traceback__):
            yield f"  {frame.filename}:{frame.lineno} in {frame.name}: {frame.line}"
        chained = chained.__cause__ or chained.__context__
