"""Tables and pages of history, journal, themes and sandbox."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from kafka_shell.base.outcome import EntryDetails, HistoryLine, JournalEntry
from kafka_shell.base.plans import Change
from kafka_shell.base.units import shorten_command
from kafka_shell.journal import change_of
from kafka_shell.output.columns import facts_page
from kafka_shell.output.humanize import count_kinds, local_time
from kafka_shell.output.outcomes import LONG, changes_lines, undo_lines
from kafka_shell.output.tables import Column, Page
from kafka_shell.output.text import Role, Text, hang, join, text
from kafka_shell.output.theme import ThemeInfo

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


class SandboxReport(Struct, frozen=True):
    """A Kafka cluster on this machine. `state`: up, down or none; `clients`: .properties files.

    `topics` counts those on the `stand_in_brokers`, which have no process.
    """

    state: str
    folder: str
    bootstrap: str = ""
    kafka_version: str = ""
    brokers: int = 0
    stand_in_brokers: int | None = None
    topics: int | None = None
    secure: bool = False
    logs: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()


def journal_page(entries: Sequence[JournalEntry], width: int | None) -> Iterator[Text]:
    """Each entry: its ID, time, cluster, status and command."""
    for entry in entries:
        yield from hang(_heading(entry, width), width, len(entry.id) + 2)


def details_page(entries: Sequence[EntryDetails], width: int | None) -> Iterator[Text]:
    """Each entry with its changes by status, many of them grouped and counted as in a plan, and its
    undo commands, unwrapped for copying."""
    for entry in entries:
        yield _heading(entry, width)
        by_status: dict[str, list[Change]] = {}
        for row in entry.changes:
            by_status.setdefault(row.get("status", "unknown"), []).append(change_of(row))
        for status, changes in by_status.items():
            resources = count_kinds(change.resource for change in changes)
            yield text(f"  {_STATUSES.get(status, status)}: ", _role(status)) + text(resources)
            for line in changes_lines(changes, LONG):
                yield from hang(text("    ") + line, width, 10)
        yield from _undo(entry)


_STATUSES = {"unknown": "outcome unknown", "skipped": "not sent"}


def _role(status: str) -> Role:
    return "good" if status == "done" else "warning"


def _heading(entry: JournalEntry, width: int | None) -> Text:
    return join(
        "  ",
        (
            text(entry.id, "dim"),
            text(local_time(int(entry.time) * 1000), "dim"),
            text(entry.bootstrap),
            text("undone" if entry.undone else entry.status, _role(entry.status)),
            text(entry.command if width is None else shorten_command(entry.command)),
        ),
    )


def _undo(entry: JournalEntry) -> Iterator[Text]:
    if entry.undoes:
        yield text("  undoes: ", "hint") + text(" ".join(entry.undoes))
    if not entry.undo and entry.changed:
        throttles = "nothing to undo: a throttle is removed when its reassignment completes"
        yield text(f"  {throttles if entry.only_throttles else 'irreversible'}", "warning")
    if entry.continuation:
        yield text("  to continue: ", "hint") + text(entry.continuation)
    for line in undo_lines(entry.undo, entry=entry.id):
        yield text("  ") + line


PAGES: dict[type, Page] = {SandboxReport: facts_page}
SEQUENCES: dict[type, Callable[[Sequence[Any], int | None], Iterator[Text]]] = {
    JournalEntry: journal_page,
    EntryDetails: details_page,
}
