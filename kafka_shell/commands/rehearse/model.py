"""What a rehearsal found."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from kafka_shell.commands.state.model import StateDiff
from kafka_shell.errors import Status

OK, FAILED, UNKNOWN = "ok", "failed", "unknown"


class RehearsedLine(Struct, frozen=True):
    """A line of a script on the twin. `plan` is the Outcome of its plans, or None if it has none.

    `error` is why it failed, or why its outcome on the original is unknown.
    """

    line: str
    status: str
    plan: Any = None
    error: str | None = None


class Rehearsal(Struct, frozen=True):
    """The lines of a script on a twin, the difference that they make there, and the script that
    undoes it."""

    lines: tuple[RehearsedLine, ...]
    diff: StateDiff
    undo: tuple[str, ...]

    @property
    def exit_status(self) -> int:
        """0 if all lines succeeded, 1 if any failed, else 4: some are unknown."""
        statuses = {line.status for line in self.lines}
        if FAILED in statuses:
            return Status.FAILED
        return Status.UNKNOWN if UNKNOWN in statuses else Status.OK


class KnownLimit(Struct, frozen=True):
    """What a rehearsal cannot check: `what` it is about, and `why`."""

    what: str
    why: str
