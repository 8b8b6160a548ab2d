"""A mistake of this program's own: its details go to a file, not to the user's face."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import TextIO

from .context import Paths
from .errors import Status
from .masking import masked
from .private import open_private


def report_crash(error: BaseException, paths: Paths, err: TextIO) -> Status:
    """Say on `err` that it happened and where the details are."""
    where = write_details(error, paths)
    err.write(
        f"error: internal error in kafka.sh: {type(error).__name__}\n"
        f"hint: This is a bug: please report it with the details in {where}. Whether a change was"
        " sent is in the journal.\n"
    )
    return Status.FAILED


def write_details(error: BaseException, paths: Paths) -> str:
    """Add the error to crash.log; the file, or the place in the code where it cannot be written."""
    path = paths.state / "crash.log"
    try:
        with open_private(path, "a") as file:
            file.write(masked("\n".join(_details(error)) + "\n", "[hidden]"))
        return str(path)
    except OSError:
        at = traceback.extract_tb(error.__traceback__)[-1]
        return f"{at.filename}:{at.lineno}"


def _details(error: BaseException) -> Iterator[str]:
    """The error and its causes: their types, and the places in the code.

    The messages are left out: Python quotes in them the value it stumbled on, and that may be a
    password.
    """
    seen: set[int] = set()
    chained: BaseException | None = error
    while chained is not None and id(chained) not in seen:
        seen.add(id(chained))
        yield f"{'caused by' if len(seen) > 1 else 'error'}: {type(chained).__qualname__}"
        for frame in traceback.extract_tb(chained.__traceback__):
            yield f"  {frame.filename}:{frame.lineno} in {frame.name}: {frame.line}"
        chained = chained.__cause__ or chained.__context__
