"""The journal: what this program changed, when, on which cluster, and the commands that undo it.

One file per entry in one directory per cluster: `journal/<cluster ID>/<microseconds>-<ID>.json`.
Names sort by time, so the newest entries are found without reading the others. An entry is written
as an `intent` before anything is sent, and replaced when the outcome is known. A file with the same
name and the suffix `.undone` marks an entry that was undone.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from kafka_shell.admin.configs.model import HIDDEN
from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import locked, open_private, private_folder, write_private
from kafka_shell.base.outcome import ChangeResult, JournalEntry
from kafka_shell.base.plans import Change, Resource
from kafka_shell.base.structs import fields, replace
from kafka_shell.base.text import masked, quote
from kafka_shell.context import Context
from kafka_shell.language.tokens import tokenize

MAX_ENTRIES = 1_000  # per cluster
MAX_DAYS = 400

_MICROSECONDS = 1_000_000
_NAME = re.compile(r"(\d{17})-([0-9a-f]{8})\.json")
_CLUSTER_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_UNDONE = ".undone"
_LOCK = "undo.lock"
_ENTRY_LOCK = ".lock"


def record_intent(
    context: Context,
    command: str,
    changes: Sequence[Change],
    undo: Sequence[str],
    undoes: Sequence[str] = (),
) -> JournalEntry:
    """Write an entry before anything is sent. `undoes` are the entries that it undoes. Raises
    ShellError if it cannot be written."""
    entry = JournalEntry(
        id=os.urandom(4).hex(),
        time=context.clock(),
        cluster=context.cluster.cluster_id,
        bootstrap=",".join(map(str, context.settings.connection.bootstrap)),
        command=_without_secrets(command, changes),
        status="intent",
        changes=tuple(_row(change) for change in changes),
        undo=tuple(undo),
        undoes=tuple(undoes),
        session=context.script.session,
    )
    folder = _folder(context, entry.cluster)
    try:
        private_folder(context.paths.journal)
        private_folder(folder)
        names = _names(folder)
        _write(folder / _name(entry, names), entry)
        _prune(folder, names, entry.time)
    except OSError as error:
        raise _unwritable(context, error) from None
    return entry


def _unwritable(context: Context, error: OSError) -> ShellError:
    return ShellError(
        f"cannot write the journal {context.paths.journal}: {error.strerror} (nothing was changed)",
        hint="Make it a directory that you can write to, or set KAFKA_SH_HOME to another one.",
        code="journal",
    )


def record_outcome(
    context: Context, intent: JournalEntry, done: Sequence[ChangeResult], undo: Sequence[str]
) -> JournalEntry:
    """Replace the entry with the outcome, and return it. If it cannot be written, only a warning is
    printed."""
    statuses = {item.status for item in done}
    status = "unknown" if "unknown" in statuses else "done" if statuses == {"done"} else "failed"
    changes = tuple(
        _row(item.change) | {"status": item.status, "error": str(item.failure or "") or None}
        for item in done
    )
    entry = replace(intent, status=status, changes=changes, undo=tuple(undo))
    folder = _folder(context, intent.cluster)
    try:
        path = _path(folder, intent.id) or folder / _name(intent, _names(folder))
        _write(path, entry)
    except OSError as error:
        context.note(f"cannot write the outcome to the journal: {error.strerror}")
    return entry


def record_progress(
    context: Context, intent: JournalEntry, progress: dict[str, Any]
) -> JournalEntry:
    """Add to the entry what a later command needs to continue, and return it. Raises ShellError if
    it cannot be written."""
    entry = replace(intent, progress=progress)
    folder = _folder(context, intent.cluster)
    try:
        _write(_path(folder, intent.id) or folder / _name(intent, _names(folder)), entry)
    except OSError as error:
        raise _unwritable(context, error) from None
    return entry


def newest(folder: Path, *, cluster: str | None = None) -> Iterator[JournalEntry | Path]:
    """The entries of one cluster (by ID) or of all clusters, newest first, each read when needed.
    The path of an entry that cannot be read."""
    try:
        if cluster is None:
            folders = (
                [path for path in folder.iterdir() if path.is_dir()] if _exists(folder) else []
            )
        else:
            folders = [folder / _folder_name(cluster)]
        paths = [part / name for part in folders for name in _names(part)]
    except OSError as error:
        raise ShellError(f"the journal {folder} cannot be read: {error.strerror}") from None
    for path in sorted(paths, key=lambda path: path.name, reverse=True):
        yield _read(path)


def find(folder: Path, id: str) -> JournalEntry | Path | None:
    """The entry with this ID, its path if it cannot be read, or None."""
    for part in folder.iterdir() if _exists(folder) else ():
        path = _path(part, id) if part.is_dir() else None
        if path is not None:
            return _read(path)
    return None


def mark_undone(context: Context, ids: Sequence[str]) -> None:
    """Mark entries of this cluster as undone. Entries that they had undone are unmarked."""
    if not ids:
        return
    folder = _folder(context, context.cluster.cluster_id)
    try:
        for path in filter(None, (_path(folder, id) for id in ids)):
            open_private(path.with_suffix(_UNDONE), "w").close()
            entry = _read(path)
            for id in () if isinstance(entry, Path) else entry.undoes:
                if (undone := _path(folder, id)) is not None:
                    undone.with_suffix(_UNDONE).unlink(missing_ok=True)
    except OSError as error:
        context.note(f"cannot write the journal: {error.strerror}")


@contextmanager
def undoing(context: Context, ids: Sequence[str]) -> Iterator[None]:
    """Lock this cluster's journal while entries are undone: two shells undo one after the other.
    Raises ShellError if one of the entries is already undone. Without IDs it does nothing."""
    if not ids:
        yield
        return
    folder = _folder(context, context.cluster.cluster_id)
    with ExitStack() as held:
        try:
            held.enter_context(locked(folder / _LOCK))
        except OSError as error:
            raise _unwritable(context, error) from None
        for id in ids:
            if (path := _path(folder, id)) and path.with_suffix(_UNDONE).exists():
                raise ShellError(
                    f"{id} was already undone by another shell",
                    hint="Run journal to see the changes.",
                    code="undone",
                )
        yield


@contextmanager
def continuing(context: Context, id: str) -> Iterator[None]:
    """Lock the entry of an interrupted plan while it is continued, by one process. Without an ID it
    does nothing. Raises ShellError (code `in-use` or `continued`)."""
    if not id:
        yield
        return
    with in_use(context, id):
        check_continuable(context, id)
        yield


@contextmanager
def in_use(context: Context, id: str) -> Iterator[None]:
    """Lock an entry while its plan is applied or continued. Raises ShellError (code `in-use`)."""
    path = _path(_folder(context, context.cluster.cluster_id), id)
    if path is None:  # it was removed
        yield
        return
    lock = path.with_suffix(_ENTRY_LOCK)
    with ExitStack() as held:
        try:
            held.enter_context(locked(lock, wait=False))
        except BlockingIOError:
            raise ShellError(
                f"journal entry {id} is still being applied by another process",
                hint="Stop that process first, or wait until it ends.",
                code="in-use",
            ) from None
        except OSError as error:
            raise _unwritable(context, error) from None
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def check_continuable(context: Context, id: str) -> None:
    """Raise ShellError if a later entry has continued this one, or may have: it cannot be read."""
    continued = find(context.paths.journal, id)
    cluster = continued.cluster if isinstance(continued, JournalEntry) else None
    for entry in newest(context.paths.journal, cluster=cluster):
        if isinstance(entry, Path):
            raise ShellError(
                f"{entry} is not a valid journal entry; it may continue entry {id}",
                hint="If it does not continue that entry, move the file and retry.",
                code="journal",
            )
        if entry.id == id:
            return
        if entry.progress.get("continues") == id:
            raise ShellError(
                f"the plan of journal entry {id} was continued by {entry.id}",
                hint=f"To continue that one: {entry.continuation}" if entry.continuation else "",
                code="continued",
            )


# -- files -----------------------------------------------------------------------------------------


def _exists(folder: Path) -> bool:
    """Whether there is a journal. Raises ShellError if the path is not a directory."""
    if folder.exists() and not folder.is_dir():
        raise ShellError(f"the journal {folder} cannot be read: Not a directory")
    return folder.exists()


def _folder(context: Context, cluster: str) -> Path:
    return context.paths.journal / _folder_name(cluster)


def _folder_name(cluster: str) -> str:
    """The cluster ID, or a hash of it if it is not a valid file name."""
    if _CLUSTER_ID.fullmatch(cluster):
        return cluster
    return "id." + hashlib.sha256(cluster.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _names(folder: Path) -> list[str]:
    """The file names of the entries, oldest first."""
    try:
        return sorted(name for name in os.listdir(folder) if _NAME.fullmatch(name))  # noqa: PTH208
    except FileNotFoundError:
        return []


def _name(entry: JournalEntry, names: Sequence[str]) -> str:
    """A file name that sorts after all existing ones, even if the clock was set back."""
    after = int(names[-1][:17]) + 1 if names else 0
    return f"{max(int(entry.time * _MICROSECONDS), after):017d}-{entry.id}.json"


def _path(folder: Path, id: str) -> Path | None:
    name = next((name for name in _names(folder) if name[18:26] == id), None)
    return None if name is None else folder / name


def _prune(folder: Path, names: Sequence[str], now: float) -> None:
    """Remove entries that are too old or too many."""
    oldest = f"{max(int((now - MAX_DAYS * 86_400) * _MICROSECONDS), 0):017d}"
    excess = len(names) + 1 - MAX_ENTRIES  # with the new entry
    for number, name in enumerate(names):
        if number >= excess and name >= oldest:
            break
        for suffix in (".json", _UNDONE):
            (folder / name).with_suffix(suffix).unlink(missing_ok=True)
        lock = (folder / name).with_suffix(_ENTRY_LOCK)
        if lock.exists():  # of a process that was killed, or still runs
            with suppress(BlockingIOError), locked(lock, wait=False):
                lock.unlink(missing_ok=True)


def _write(path: Path, entry: JournalEntry) -> None:
    row = json.dumps({name: getattr(entry, name) for name in _FIELDS})
    write_private(path, row)  # an interrupted write keeps the old content


def _read(path: Path) -> JournalEntry | Path:
    try:
        entry = _entry(json.loads(path.read_text(encoding="utf-8", errors="replace")))
        return replace(entry, undone=path.with_suffix(_UNDONE).exists())
    except (OSError, ValueError, msgspec.ValidationError, RecursionError):
        return path


_FIELDS = tuple(name for name in fields(JournalEntry) if name != "undone")
_CHANGE = ("verb", "field", "before", "after", "note", "reversible", "lost")


def _entry(row: object) -> JournalEntry:
    """The entry of a JSON object. Raises ValidationError or ValueError if it is invalid."""
    entry = msgspec.convert(row, JournalEntry)
    if not all(change.keys() >= {"resource", "kind", *_CHANGE} for change in entry.changes):
        raise ValueError("a field of a change is missing")
    return entry


def _row(change: Change) -> dict[str, Any]:
    return {
        "resource": str(change.resource),
        "kind": change.resource.kind,
        "verb": change.verb,
        "field": change.field,
        "before": change.before,
        "after": change.after,
        "note": change.note,
        "reversible": change.reversible,
        "lost": change.lost,
        **({"records": change.records} if change.records else {}),
    }


def change_of(row: dict[str, Any]) -> Change:
    """The change of a row of an entry."""
    kind = row["kind"]
    name = row["resource"].removeprefix(kind).removeprefix(" ")
    given = {name: row[name] for name in _CHANGE}
    return Change(Resource(kind, name), **given)


def _without_secrets(command: str, changes: Iterable[Change]) -> str:
    """The typed command with secret values masked."""
    starts = [f"{change.field}=" for change in changes if change.after == HIDDEN]
    if not starts:
        return masked(command, HIDDEN)
    for word in reversed(tokenize(command).words):
        ends = [word.text.find(start) + len(start) for start in starts if start in word.text]
        if ends:
            (first, last), hidden = word.span, word.text[: min(ends)] + HIDDEN
            command = command[:first] + quote(hidden) + command[last:]
    return masked(command, HIDDEN)
