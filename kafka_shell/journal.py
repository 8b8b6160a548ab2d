"""What this program changed, when, on which cluster, and the lines that take it back.

One JSON object a line: an `intent` before anything is sent, and the same id again with its end.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from kafka_shell.context import Context, open_private
from kafka_shell.errors import ShellError
from kafka_shell.language.tokens import tokenize
from kafka_shell.nouns import Change, Done, JournalEntry
from kafka_shell.nouns.masking import masked
from kafka_shell.quoting import quote

_FIELDS = JournalEntry.__slots__
_KEPT_BYTES = 8 << 20  # beyond this the journal is turned over once: journal.jsonl.old


def record_intent(
    context: Context, command: str, changes: Sequence[Change], undo: Sequence[str]
) -> JournalEntry:
    """Write down what is about to be sent. Raises ShellError where that is not possible."""
    entry = JournalEntry(
        id=os.urandom(4).hex(),
        time=context.clock(),
        cluster=context.cluster.cluster_id,
        bootstrap=",".join(map(str, context.settings.connection.bootstrap)),
        command=_without_secrets(command, changes),
        status="intent",
        changes=tuple(_row(change) for change in changes),
        undo=tuple(undo),
    )
    try:
        _append(context.paths.journal, entry)
    except OSError as error:
        raise ShellError(
            f"the journal {context.paths.journal} cannot be written: {error.strerror}",
            hint="Nothing was sent.",
            code="journal",
        ) from None
    return entry


def record_outcome(
    context: Context, intent: JournalEntry, done: Sequence[Done], undo: Sequence[str]
) -> None:
    """Write down how it ended. What was sent was sent: a full disk does not hide how that went."""
    statuses = {item.status for item in done}
    status = "unknown" if "unknown" in statuses else "done" if statuses == {"done"} else "failed"
    changes = tuple(
        _row(item.change) | {"status": item.status, "error": str(item.failure or "") or None}
        for item in done
    )
    entry = JournalEntry(
        intent.id, context.clock(), intent.cluster, intent.bootstrap, intent.command, status,
        changes, tuple(undo),
    )  # fmt: skip
    try:
        _append(context.paths.journal, entry)
    except OSError as error:
        context.note(f"the journal could not be finished: {error.strerror}")


def read(path: Path) -> tuple[list[JournalEntry], int]:
    """(entries in the order they began, number of lines that could not be read)."""
    entries: dict[str, JournalEntry] = {}
    broken = 0
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise ShellError(f"the journal {path} cannot be read: {error.strerror}") from None
    for line in filter(None, lines):
        try:
            entry = _entry(json.loads(line))
            entries[entry.id] = entry
        except (ValueError, TypeError, KeyError, RecursionError):
            broken += 1
    return list(entries.values()), broken


def _entry(row: dict[str, Any]) -> JournalEntry:
    """Raises ValueError, TypeError or KeyError where this is none of ours."""
    entry = JournalEntry(**row | {"changes": tuple(row["changes"]), "undo": tuple(row["undo"])})
    words = (entry.id, entry.cluster, entry.bootstrap, entry.command, entry.status, *entry.undo)
    if not (
        isinstance(entry.time, int | float)
        and all(isinstance(word, str) for word in words)
        and all(isinstance(change, dict) for change in entry.changes)
    ):
        raise ValueError("a field is of another type")
    return entry


def _row(change: Change) -> dict[str, Any]:
    return {
        "resource": str(change.resource),
        "verb": change.verb,
        "field": change.field,
        "before": change.before,
        "after": change.after,
    }


def _append(path: Path, entry: JournalEntry) -> None:
    if path.exists() and path.stat().st_size > _KEPT_BYTES:
        path.replace(path.with_suffix(".jsonl.old"))
    row = {name: getattr(entry, name) for name in _FIELDS}
    start = "" if _ends_whole(path) else "\n"  # a line cut short must not take this one with it
    with open_private(path, "a") as file:
        # ASCII: a name typed in another encoding fits too
        file.write(start + json.dumps(row) + "\n")


def _ends_whole(path: Path) -> bool:
    if not path.exists() or not path.stat().st_size:
        return True
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _without_secrets(command: str, changes: Iterable[Change]) -> str:
    """The command as it was typed, but for values that must not be shown."""
    from kafka_shell.admin.configs import HIDDEN

    starts = [f"{change.field}=" for change in changes if change.after == HIDDEN]
    if not starts:
        return masked(command, HIDDEN)
    for word in reversed(tokenize(command).words):
        ends = [word.text.find(start) + len(start) for start in starts if start in word.text]
        if ends:
            (first, last), hidden = word.span, word.text[: min(ends)] + HIDDEN
            command = command[:first] + quote(hidden) + command[last:]
    return masked(command, HIDDEN)
