"""A collection of clusters as views of the Spark session, from the brokers or from a snapshot."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from . import snapshot
from .engine import Engine
from .model import AuditSnapshot
from .survey import new_id, survey
from .table import Table
from .work import Target

_WRITES_AT_ONCE = 4
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Collection:
    """What was collected. `frames` are Spark's data frames by table; `unread` are clusters of
    which nothing could be read, and why.
    """

    snapshot_id: str
    collected_at: int  # epoch milliseconds
    clusters: tuple[str, ...]
    frames: Mapping[str, Any]
    unread: Mapping[str, str] = field(default_factory=dict)
    held: tuple[Any, ...] = ()

    def show(self, prefix: str = "") -> None:
        """Name the tables for SQL: temporary views of the session."""
        for name, frame in self.frames.items():
            frame.createOrReplaceTempView(prefix + name)

    def release(self) -> None:
        """Let go of what Spark keeps of it."""
        for frame in self.held:
            frame.unpersist()


def mentioned(sql: str, tables: Mapping[str, Table]) -> set[str]:
    """The tables that a query may read: a word too many costs a read, none is missed."""
    return {word.lower() for word in _WORD.findall(sql)} & tables.keys()


def collect(
    engine: Engine,
    targets: Sequence[Target],
    tables: Mapping[str, Table],
    names: Iterable[str],
) -> Collection:
    """Read these tables of these clusters now; what cannot be read is in collection_status."""
    wanted = {name: tables[name] for name in tables if name in {*names, snapshot.STATUS}}
    started = time.time()
    snapshot_id = new_id(started)
    surveyed = engine.run(
        "looking at the clusters",
        lambda: survey(targets, tuple(wanted.values())),
        lambda: (0, len(targets)),
    )

    def read() -> tuple[Mapping[str, Any], tuple[Any, ...], dict[str, str]]:
        works = [work for each in surveyed for work in each.works]
        lost = [each.status_rows(snapshot_id) for each in surveyed]
        whole = snapshot.collect(engine.session, works, snapshot_id, tables, lost)
        frames, held = snapshot.frames(engine.session, whole, wanted)
        unreached = {e.target.name: e.lost[0][1].reason for e in surveyed if not e.reached}
        return frames, held, {**unreached, **_nothing_of(frames[snapshot.STATUS])}

    frames, held, unread = engine.run("collecting", read)
    names_of = tuple(target.name for target in targets)
    return Collection(snapshot_id, int(started * 1000), names_of, frames, unread, held)


def of_snapshot(engine: Engine, text: str, tables: Mapping[str, Table]) -> Collection:
    """The tables of a snapshot: `DIR`, or `DIR@ID`."""

    from pyspark.sql import functions as f

    def read() -> Collection:
        snapshot_id, frames = snapshot.read(engine.session, text, tables)
        rows = (
            frames[snapshot.STATUS]
            .groupBy("cluster")
            .agg(f.unix_millis(f.min("collected_at")))
            .orderBy("cluster")
            .collect()
        )
        at = min(row[1] for row in rows)
        names = tuple(row[0] for row in rows)
        unread = _nothing_of(frames[snapshot.STATUS])
        return Collection(snapshot_id, at, names, frames, unread)

    return engine.run("reading the snapshot", read)


def _nothing_of(status: Any) -> dict[str, str]:
    """The clusters of which no table was read, and the first reason."""
    rows = (
        status.groupBy("cluster")
        .agg({"status": "max", "reason": "first"})  # "ok" sorts after "error"
        .collect()
    )
    return {row[0]: row["first(reason)"] or "" for row in rows if row["max(status)"] == "error"}


def store(
    engine: Engine, found: Collection, tables: Mapping[str, Table], text: str
) -> AuditSnapshot:
    """Add a collection to a folder of snapshots."""
    folder, _ = snapshot.address(text)
    written: list[str] = []

    def one(name: str) -> None:
        snapshot.write(found.frames[name], tables[name], folder)
        written.append(name)

    def write() -> dict[str, int]:
        with ThreadPoolExecutor(_WRITES_AT_ONCE) as pool:
            list(pool.map(one, sorted(found.frames)))
        status = found.frames[snapshot.STATUS].groupBy("table").agg({"rows": "sum"})
        return {row[0]: row[1] for row in status.orderBy("table").collect()}

    rows = engine.run("writing", write, lambda: (len(written), len(found.frames)))
    return AuditSnapshot(found.snapshot_id, folder, found.clusters, dict(found.unread), rows)
