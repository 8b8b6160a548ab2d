"""The journal of the changes made with this program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from kafka_shell import journal as book
from kafka_shell.base import units
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.outcome import EntryDetails, JournalEntry
from kafka_shell.base.results import Failure, Rows, with_failures
from kafka_shell.base.structs import fields
from kafka_shell.base.text import is_printable, short
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.language.kinds import is_pattern

_DURATION = re.compile(r"P|\d+(\.\d+)?[a-z]")


def journal(invocation: Invocation, context: Context) -> Rows[JournalEntry] | NoRows | str:
    """The entries of the journal, newest last, or the commands that undo them."""
    if invocation["id"]:
        chosen = tuple(entries(invocation["id"], context))
        return _commands(chosen) if invocation["undo"] else tuple(map(_details, chosen))
    if invocation["undo"]:
        raise UsageError(
            "--undo requires the ID of an entry",
            hint="To undo the last change, run undo. To see the IDs, run journal.",
            span=invocation.span("undo"),
        )
    shown = [*islice(_selected(invocation, context), invocation["last"])][::-1]
    readable = [entry for entry in shown if not isinstance(entry, Path)]
    invalid = {entry: _invalid(entry) for entry in shown if isinstance(entry, Path)}
    if not shown:
        if not any(invocation[name] for name in ("session", "since", "resource")):
            return NoRows("the journal is empty: no changes were made from this machine")
        return NoRows(f"no matching journal entry{_pattern_hint(invocation['resource'])}")
    return with_failures(readable, invalid)


def entries(ids: Sequence[str], context: Context) -> Iterator[JournalEntry]:
    """The entries with these IDs. Raises ShellError if one does not exist or cannot be read."""
    for id in dict.fromkeys(ids):
        entry = book.find(context.paths.journal, id)
        if isinstance(entry, Path):
            raise ShellError(f"{entry} is not a valid journal entry", code="journal")
        if entry is None:
            raise ShellError(
                f"journal entry {id} does not exist",
                hint="Run journal to see the entries.",
                code="no-entry",
            )
        yield entry


def _details(entry: JournalEntry) -> EntryDetails:
    return EntryDetails(**{name: getattr(entry, name) for name in fields(JournalEntry)})


def _pattern_hint(resource: str | None) -> str:
    if not resource or is_pattern(resource):
        return ""
    return f"; use '*{short(resource)}*' to match part of a name"


def _invalid(file: Path) -> Failure:
    return Failure("journal", f"{file} is not a valid journal entry")


def _selected(invocation: Invocation, context: Context) -> Iterator[JournalEntry | Path]:
    """The entries that the options select, newest first, each read when needed. The path of an
    entry that cannot be read."""
    since = _since(invocation, context)
    wanted = _matcher(invocation["resource"]) if invocation["resource"] else None
    for entry in book.newest(context.paths.journal):
        if isinstance(entry, Path):
            yield entry
            continue
        if since is not None and entry.time < since:
            continue
        if invocation["session"] and entry.session != context.script.session:
            continue
        if wanted is None or any(wanted(row["resource"], row["kind"]) for row in entry.changes):
            yield entry


def _since(invocation: Invocation, context: Context) -> float | None:
    """The time of --since in seconds since the epoch. `2h` and `-2h` are both before now."""
    text = invocation["since"]
    if text is None:
        return None
    now = int(context.clock() * 1000)
    try:
        time = units.parse_time(f"-{text}" if _DURATION.match(text) else text, now=now)
    except ShellError:
        raise UsageError(
            f"--since must be a duration such as 2h or a time such as 2026-01-31T10:00, got {text}",
            span=invocation.span("since"),
        ) from None
    if note := units.odd_hour(text, time, now):
        context.note(note)
    return time / 1000


def _matcher(text: str) -> Callable[[str, str], bool]:
    """Whether a resource is the one of --resource: its name, its kind and name, or a glob."""

    def matches(resource: str, kind: str) -> bool:
        name = resource.removeprefix(kind).removeprefix(" ")
        topic = name.rpartition(":")[0] if kind == "partition" else ""
        return any(fnmatchcase(word, text) for word in (resource, name, topic) if word)

    return matches


def _commands(chosen: Sequence[JournalEntry]) -> str | NoRows:
    """The commands that undo the entries, newest change first."""
    hidden = [entry.id for entry in chosen if not all(map(is_printable, entry.undo))]
    if hidden:
        raise ShellError(
            f"the undo of {', '.join(hidden)} contains control characters and is not printed",
            hint=f"To undo the change, run undo {' '.join(hidden)}",
            code="not-printable",
        )
    newest = sorted(chosen, key=lambda entry: entry.time, reverse=True)
    lines = [line for entry in newest for line in entry.undo]
    return "\n".join(lines) if lines else NoRows("no command undoes these changes")
