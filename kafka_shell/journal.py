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
from kafka_shell.nouns import Change, Done, JournalEntry

_FIELDS = JournalEntry.__slots__
_KEPT_BYTES = 8 << 20  # beyond this the journal is turned over once: journal.jsonl.old


def record_intent(
    context: Context, command: str, changes: Iterable[Change], undo: Sequence[str]
) -> JournalEntry:
    """Write down what is about to be sent."""
    entry = JournalEntry(
        id=os.urandom(4).hex(),
        time=context.clock(),
        cluster=context.cluster.cluster_id,
        bootstrap=",".join(map(str, context.settings.connection.bootstrap)),
        command=command,
        status="intent",
        changes=tuple(_row(change) for change in changes),
        undo=tuple(undo),
    )
    _append(context.paths.journal, entry)
    return entry


def record_outcome(
    context: Context, intent: JournalEntry, done: Sequence[Done], undo: Sequence[str]
) -> None:
    """Write down how it ended."""
    statuses = {item.status for item in done}
    status = "unknown" if "unknown" in statuses else "done" if statuses == {"done"} else "failed"
    changes = tuple(
        _row(item.change) | {"status": item.status, "error": str(item.failure or "") or None}
        for item in done
    )
    _append(
        context.paths.journal,
        JournalEntry(
            intent.id, context.clock(), intent.cluster, intent.bootstrap, intent.command, status,
            changes, tuple(undo),
        ),
    )  # fmt: skip


def read(path: Path) -> tuple[list[JournalEntry], int]:
    """(entries in the order they began, number of lines that could not be read)."""
    entries: dict[str, JournalEntry] = {}
    broken = 0
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return [], 0
    for line in lines:
        try:
            row = json.loads(line)
            entry = JournalEntry(
                **row | {"changes": tuple(row["changes"]), "undo": tuple(row["undo"])}
            )
        except (ValueError, TypeError, KeyError):
            broken += 1
            continue
        entries[entry.id] = entry
    return list(entries.values()), broken


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
    with open_private(path, "a") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
