"""Tables and pages of history, journal, themes and sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kafka_shell.commands.program.model import SandboxReport
from kafka_shell.output.humanize import local_time
from kafka_shell.output.page import facts_page
from kafka_shell.output.plans import undo_lines
from kafka_shell.output.renderers import Page
from kafka_shell.output.tables import Column
from kafka_shell.output.text import Role, Text, join, text
from kafka_shell.output.theme import ThemeInfo
from kafka_shell.plan.outcome import HistoryLine, JournalEntry

COLUMNS: dict[type, tuple[Column, ...]] = {
    HistoryLine: (
        Column("TIME", lambda h: None if h.time is None else local_time(int(h.time * 1000))),
        Column("LINE", lambda h: h.text, overflow="wrap"),
    ),
    ThemeInfo: (
        Column("NAME", lambda t: t.name, role="name"),
        Column("MODE", lambda t: t.mode),
        Column("DESCRIPTION", lambda t: t.description, overflow="wrap"),
        Column("FILE", lambda t: str(t.path) if t.user else None, role="dim"),
    ),
}


def journal_page(entries: Sequence[JournalEntry], width: int | None) -> Iterator[Text]:
    """Each change with time and cluster, then its undo commands, unwrapped for copying."""
    for entry in entries:
        role: Role = "good" if entry.status == "done" else "warning"
        yield join(
            "  ",
            (
                text(entry.id, "dim"),
                text(local_time(int(entry.time) * 1000), "dim"),
                text(entry.bootstrap),
                text("undone" if entry.undone else entry.status, role),
                text(entry.command),
            ),
        )
        if entry.undoes:
            yield text("  undoes: ", "hint") + text(" ".join(entry.undoes))
        if not entry.undo and entry.changed:
            throttles = "nothing to undo: a throttle ends with its reassignment"
            yield text(f"  {throttles if entry.only_throttles else 'irreversible'}", "warning")
        if entry.continuation:
            yield text("  to continue: ", "hint") + text(entry.continuation)
        for line in undo_lines(entry.undo, entry=entry.id):
            yield text("  ") + line


PAGES: dict[type, Page] = {SandboxReport: facts_page}
SEQUENCES: dict[type, Callable[[Sequence[Any], int | None], Iterator[Text]]] = {
    JournalEntry: journal_page,
}
