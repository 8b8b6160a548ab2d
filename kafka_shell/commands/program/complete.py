"""Completion of themes, settings and journal entries."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import islice
from pathlib import Path

from kafka_shell import journal as book
from kafka_shell.base.errors import ShellError
from kafka_shell.base.outcome import JournalEntry
from kafka_shell.commands.program.spec import SETTINGS
from kafka_shell.language.cursor import CompletionRequest
from kafka_shell.output.theme import available, pygments_themes
from kafka_shell.view.candidates import Candidates, Catalog, pick


@cache
def _themes(folder: Path) -> Mapping[str, str]:
    files = {info.name: info.description for info in available(user=folder)}
    return {**files, **dict.fromkeys(pygments_themes(), "a style of Pygments")}


def offer_themes(request: CompletionRequest, known: Catalog) -> Candidates:
    """The themes of this program and of the user, and the styles of Pygments."""
    themes = _themes(known.config / "themes")
    return pick(themes, request.prefix)


def offer_values(request: CompletionRequest, known: Catalog) -> Candidates:
    """The values of the setting that the line names."""
    name = next(iter(request.words.get("name", ())), "")
    return pick(getattr(SETTINGS.get(name), "choices", ()), request.prefix)


_OFFERED = 30  # entries to complete; each is a file


def offer_entries(request: CompletionRequest, known: Catalog) -> Candidates:
    """The newest entries of this cluster with their commands, newest first."""
    entries = {
        entry.id: f"{'undone: ' if entry.undone else ''}{entry.command}"
        for entry in _of_cluster(known)
    }
    return pick(entries, request.prefix)


def offer_undoable(request: CompletionRequest, known: Catalog) -> Candidates:
    """Those that can be undone."""
    entries = {
        entry.id: entry.command for entry in _of_cluster(known) if entry.undo and not entry.undone
    }
    return pick(entries, request.prefix)


def _of_cluster(known: Catalog) -> list[JournalEntry]:
    """The newest entries of this cluster, or of all clusters if it is not known yet."""
    try:
        newest = islice(book.newest(known.journal, cluster=known.view.cluster_id or None), _OFFERED)
        return [entry for entry in newest if not isinstance(entry, Path)]
    except ShellError:
        return []
