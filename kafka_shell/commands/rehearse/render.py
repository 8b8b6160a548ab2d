"""The page of a rehearsal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafka_shell.commands import render_module
from kafka_shell.commands.rehearse.model import (
    FAILED,
    OK,
    UNKNOWN,
    KnownLimit,
    Rehearsal,
    RehearsedLine,
)
from kafka_shell.commands.state.render import diff_page
from kafka_shell.common.units import counted
from kafka_shell.output.plans import plan_lines
from kafka_shell.output.renderers import Page, Renderers
from kafka_shell.output.tables import Column
from kafka_shell.output.text import Role, Text, hang, text

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
        for each in plan_lines(line.plan.plan, (), renderers, room=room, refused=False):
            yield text(_MARGIN) + each
    if line.error:
        role: Role = "error" if line.status == FAILED else "hint"
        head = "error: " if line.status == FAILED else "unknown: "
        yield from (
            text(_MARGIN) + each for each in hang(text(head, role) + text(line.error), room, 2)
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
