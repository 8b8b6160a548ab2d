"""A mistake of this program's own: its details go to a file, not to the user's face."""

from __future__ import annotations

import traceback
from typing import TextIO

from kafka_shell.context import Paths, open_private
from kafka_shell.errors import Status


def report_crash(error: BaseException, paths: Paths, err: TextIO) -> Status:
    """Say on `err` that it happened and where the details are."""
    path = paths.state / "crash.log"
    try:
        with open_private(path, "a") as file:
            file.write("".join(traceback.format_exception(error)))
        details = f"The details are in {path}; please report them."
    except OSError:
        at = traceback.extract_tb(error.__traceback__)[-1]
        details = f"It happened at {at.filename}:{at.lineno}; please report it."
    err.write(
        f"error: this is a mistake of kafka.sh itself: {type(error).__name__}\n"
        f"hint: {details} Whether a change was sent is in the journal.\n"
    )
    return Status.FAILED
