"""Expire the snapshots of a folder, and merge the small files of the others.

A part of a table that no snapshot refers to any more is deleted when the next snapshot is written,
because others may still read it.
"""

from __future__ import annotations

import calendar
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_shell.audit.snapshot import LOCK, MANIFEST, Stored, manifest_rows, write_part
from kafka_shell.audit.snapshot import written as written_to
from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import locked
from kafka_shell.base.structs import replace

# The name of a part: the ID of a snapshot or, of merged ones, of the newest with a number.
_PART = re.compile(r"(\d{8}T\d{6})\.\d{3}Z-[0-9a-f]{4}(\+\d+)?")
_LOOSE = 8  # parts of a table that are not merged yet
_LARGE = 2_000_000  # rows: a part with so many is not written again

_Snapshots = dict[str, dict[str, Stored]]


def taken_at(snapshot_id: str) -> float | None:
    """Return when a snapshot was begun, as seconds since the epoch; None for an ID of another
    form."""
    named = _PART.fullmatch(snapshot_id)
    if named is None:
        return None
    try:
        return calendar.timegm(time.strptime(named[1], "%Y%m%dT%H%M%S"))
    except ValueError:
        return None


def expired(ids: list[str], keep_s: float, now: float) -> list[str]:
    """Return the snapshots older than `keep_s` seconds; never the newest."""
    times = {id: at for id in sorted(ids) if (at := taken_at(id)) is not None}
    return [id for id in [*times][:-1] if times[id] < now - keep_s]


def tidy(session: Any, folder: str, keep_s: float | None = None) -> list[str]:
    """Expire the snapshots of a local folder that are older than this, and merge small parts if
    there are many. Return the IDs of expired ones. Nothing is done while another process writes."""
    try:
        with locked(Path(folder, LOCK), wait=False):
            known = written_to(session, folder)
            _delete_unused(folder, known)
            gone = [] if keep_s is None else expired([*known], keep_s, time.time())
            kept = {id: tables for id, tables in known.items() if id not in gone}
            small = _small_parts(kept)
            files = len(_parts(folder, MANIFEST))
            if gone or max(files, *map(len, small.values())) > _LOOSE:
                _write(session, folder, _merged(session, folder, kept, small))
            return gone
    except BlockingIOError:
        return []


def _small_parts(known: Mapping[str, Mapping[str, Stored]]) -> dict[str, dict[str, int]]:
    """The rows of the parts of each table, without large ones."""
    sources = {
        (name, each.part, each.source): each.rows
        for tables in known.values()
        for name, each in tables.items()
        if each.rows
    }
    found: dict[str, dict[str, int]] = {}
    for (name, part, _), rows in sources.items():
        parts = found.setdefault(name, {})
        parts[part] = parts.get(part, 0) + rows
    return {
        name: {part: rows for part, rows in parts.items() if rows < _LARGE}
        for name, parts in found.items()
    }


def _merged(
    session: Any, folder: str, known: _Snapshots, small: Mapping[str, Mapping[str, int]]
) -> _Snapshots:
    """The snapshots, after the small parts of each table were written as one. A table whose parts
    do not have the rows that were written stays as it is."""
    into = f"{max(known)}+{time.time_ns()}"
    moved: dict[tuple[str, str], str] = {}
    for name, parts in small.items():
        if len(parts) < 2:
            continue
        sources = {
            each.source
            for tables in known.values()
            if (each := tables.get(name)) is not None and each.part in parts
        }
        paths = [f"{folder}/{name}/{part}" for part in sorted(parts)]
        if not all(Path(path).is_dir() for path in paths):
            continue
        rows = session.read.option("mergeSchema", "true").parquet(*paths)
        rows = rows.where(rows["snapshot_id"].isin(sorted(sources)))
        write_part(rows.coalesce(1).sortWithinPartitions("snapshot_id"), f"{folder}/{name}/{into}")
        if session.read.parquet(f"{folder}/{name}/{into}").count() == sum(parts.values()):
            moved |= {(name, part): into for part in parts}
    return {
        id: {n: replace(each, part=moved.get((n, each.part), each.part)) for n, each in of.items()}
        for id, of in known.items()
    }


def _write(session: Any, folder: str, known: _Snapshots) -> None:
    """Replace the table of snapshots. Until the old files are deleted, both are read: they name
    parts that exist."""
    old = _parts(folder, MANIFEST)
    into = f"{max(known)}+{time.time_ns()}"
    write_part(manifest_rows(session, known), f"{folder}/{MANIFEST}/{into}")
    if len(written_to(session, folder)) < len(known):
        raise ShellError(f"the table of snapshots in {folder} could not be replaced")
    for path in old:
        shutil.rmtree(path)


def _delete_unused(folder: str, known: _Snapshots) -> None:
    """Delete the parts of tables that no snapshot refers to. Keeps files with other names."""
    entries = [each for tables in known.values() for each in tables.items()]
    used = {(name, each.part) for name, each in entries if each.rows}
    for name in {name for name, _ in entries}:
        for part in _parts(folder, name):
            if (name, part.name) not in used:
                shutil.rmtree(part)


def _parts(folder: str, table: str) -> list[Path]:
    """The directories of the parts of a table, which their names tell."""
    paths = Path(folder, table).glob("*")
    return [path for path in paths if taken_at(path.name) is not None and path.is_dir()]
