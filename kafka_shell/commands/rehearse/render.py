"""The page of a rehearsal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from kafka_shell.base.errors import Status
from kafka_shell.base.units import counted
from kafka_shell.commands import render_module
from kafka_shell.commands.state.model import StateDiff
from kafka_shell.commands.state.render import diff_page
from kafka_shell.output.outcomes import plan_lines
from kafka_shell.output.tables import Column, Page, Renderers
from kafka_shell.output.text import Role, Text, hang, text

# What a rehearsal found.

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
        """0 if all lines succeeded, 1 if any failed, else 4: something is unknown."""
        statuses = {line.status for line in self.lines}
        if FAILED in statuses:
            return Status.FAILED
        return Status.UNKNOWN if UNKNOWN in statuses or self.diff.unread else Status.OK


class KnownLimit(Struct, frozen=True):
    """What a rehearsal cannot check: `what` it is about, and `why`."""

    what: str
    why: str


_ROLES: dict[str, Role] = {OK: "good", FAILED: "bad", UNKNOWN: "warning"}
_MARGIN = "  "


def rehearsal_page(rehearsal: Rehearsal, width: int | None) -> Iterator[Text]:
    """Each line with its plan, the difference, and the script that undoes it."""
    renderers = Renderers(render_module)
    for number, line in enumerate(rehearsal.lines, 1):
        yield from _line(number, line, renderers, width)
    yield Text()
    yield from diff_page(rehearsal.diff, width)
    if rehearsal.undo:
        yield Text()
        yield text("undo:", "heading")
        for undo in rehearsal.undo:
            yield text(f"{_MARGIN}{undo}")
    yield Text()
    yield text(_closing(rehearsal), "heading")


def _line(
    number: int, line: RehearsedLine, renderers: Renderers, width: int | None
) -> Iterator[Text]:
    label = text(f"{line.status:<8}", _ROLES[line.status])
    shown = " ".join(line.line.replace("\\\n", " ").split())
    yield from hang(label + text(f"{number}: {shown}"), width, 8)
    room = None if width is None else width - len(_MARGIN)
    if line.plan is not None:
        for plan_line in plan_lines(line.plan.plan, (), renderers, room=room, refused=False):
            yield text(_MARGIN) + plan_line
    if line.error:
        role: Role = "error" if line.status == FAILED else "hint"
        head = "error: " if line.status == FAILED else "unknown: "
        yield from (
            text(_MARGIN) + row for row in hang(text(head, role) + text(line.error), room, 2)
        )


def _closing(rehearsal: Rehearsal) -> str:
    counts = Counter(line.status for line in rehearsal.lines)
    parts = [f"{counts[status]:,} {status}" for status in (OK, FAILED, UNKNOWN) if counts[status]]
    lines = counted(len(rehearsal.lines), "line")
    return f"{lines}: {', '.join(parts)}. Nothing was changed on the cluster."


PAGES: dict[type, Page] = {Rehearsal: rehearsal_page}
COLUMNS = {
    KnownLimit: (
        Column("ABOUT", lambda limit: limit.what),
        Column("WHY", lambda limit: limit.why, overflow="wrap"),
    )
}
