"""Collections: the tables of clusters as Spark data frames, read from brokers or a snapshot."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from msgspec import Struct, field

from kafka_shell.audit import snapshot
from kafka_shell.audit.engine import Engine, tuned
from kafka_shell.audit.model import AuditSnapshot
from kafka_shell.audit.table import Table
from kafka_shell.audit.tasks import (
    SAMPLING,
    ClusterTasks,
    Read,
    ReadTask,
    Sampling,
    Target,
    is_small,
    list_tasks,
    new_id,
    read_in_process,
)
from kafka_shell.base.results import Failure
from kafka_shell.base.threads import in_threads

# What a collection has read, and what it could not read: the table `collection_status`, summed.

STATUS = "collection_status"
# The columns of the table that are summed.
COLUMNS = ("cluster", "table", "status", "rows", "error", "reason", "failures")


class TableStatus(Struct):
    """What was read of a table of a cluster: whether a part of it was read, the number of rows, and
    the number of errors, with the name and the message of the first one."""

    is_read: bool = False
    rows: int = 0
    errors: int = 0
    error: str = ""
    reason: str = ""

    @property
    def why(self) -> str:
        """The first error, and how many more there are."""
        first = ": ".join(filter(None, (self.error, self.reason)))
        return first if self.errors == 1 else f"{first} (and {self.errors - 1} more)"


# The tables of a collection by cluster and table.
Status = dict[tuple[str, str], TableStatus]


def summed(rows: Iterable[tuple[Any, ...]]) -> Status:
    """Return the status of each table of each cluster, of rows with the values of COLUMNS."""
    found: Status = {}
    for cluster, table, status, count, error, reason, failures in rows:
        at = found.setdefault((cluster, table), TableStatus())
        at.rows += count
        if status == "ok":
            at.is_read = True
        else:
            if not at.errors:
                at.error, at.reason = error or "", reason or ""
            at.errors += failures or 1
    return found


def rows_of(status: Status) -> int:
    """Return the number of rows of all tables together."""
    return sum(each.rows for each in status.values())


def unread_tables(status: Status) -> dict[tuple[str, str], str]:
    """Return why tables could not be read, fully or partly, by cluster and table."""
    return {key: each.why for key, each in status.items() if each.errors}


def unread_clusters(status: Status) -> dict[str, str]:
    """Return the clusters of which no table could be read, with the first reason."""
    read = {cluster for (cluster, _), each in status.items() if each.is_read}
    found: dict[str, str] = {}
    for (cluster, _), each in status.items():
        if cluster not in read:
            found.setdefault(cluster, each.reason)
    return found


_VIEWS_AT_ONCE = 8
_WORD = re.compile(r"\w+")
_OLDER = "the snapshot does not contain this table (written by an older version of kafka.sh)"


class Collection(Struct, frozen=True):
    """The collected tables. `frames` are Spark data frames by table; `status` is what was read;
    `unread` are the clusters that could not be read, with the reason; `cached` are the data frames
    Spark keeps in memory; `stored` are those of a snapshot.
    """

    snapshot_id: str
    collected_at: int  # epoch milliseconds
    clusters: tuple[str, ...]
    frames: Mapping[str, Any]
    status: Status
    unread: Mapping[str, str] = field(default_factory=dict)
    cached: tuple[Any, ...] = ()
    stored: bool = False

    @property
    def cluster_ids(self) -> dict[str, str]:
        """The IDs of the clusters by name. A cluster that could not be read has none."""
        rows = self.frames["clusters"].select("cluster", "cluster_id").collect()
        return {row["cluster"]: row["cluster_id"] for row in rows}

    def failures(self, tables: Iterable[str]) -> dict[str, Failure]:
        """What is missing in these tables: whole clusters, and tables of others, with the reason
        of the first error."""
        wanted = {*tables}
        found = {cluster: Failure("not-read", reason) for cluster, reason in self.unread.items()}
        for (cluster, table), status in self.status.items():
            if status.errors and table in wanted and cluster not in self.unread:
                found[f"table {table} of {cluster}"] = Failure("not-read", status.reason)
        return found

    @property
    def rows(self) -> int:
        """The number of rows of all tables together."""
        return rows_of(self.status)

    def show(self) -> None:
        """Create a temporary view for every table."""

        def one(name: str) -> None:
            self.frames[name].createOrReplaceTempView(name)

        in_threads(one, [*self.frames], _VIEWS_AT_ONCE)

    def release(self) -> None:
        """Release the data frames that Spark keeps in memory."""
        for frame in self.cached:
            frame.unpersist()


def mentioned(sql: str, tables: Mapping[str, Table]) -> set[str]:
    """Return the tables that a query mentions, possibly in a comment or string only."""
    return {word.lower() for word in _WORD.findall(sql)} & tables.keys()


def collect(
    engine: Engine,
    targets: Sequence[Target],
    tables: Mapping[str, Table],
    names: Iterable[str],
    sampling: Sampling = SAMPLING,
) -> Collection:
    """Read these tables from the clusters. Failures are rows of collection_status."""
    wanted = {name: tables[name] for name in tables if name in {*names, STATUS}}
    started = time.time()
    snapshot_id = new_id(started)
    engine.begin().wait_for_import()  # while the JVM starts, this process reads what is small
    listed = engine.run_without_spark(
        "listing topics, brokers and groups",
        lambda: list_tasks(targets, tuple(wanted.values()), sampling=sampling),
        lambda: (0, len(targets)),
    )
    read = _read_in_process if engine.runs_locally and is_small(listed) else _read_by_executors
    frames, status, cached = read(engine, listed, wanted, snapshot_id)
    return Collection(
        snapshot_id,
        int(started * 1000),
        tuple(target.name for target in targets),
        frames,
        status,
        {each.target.name: each.unreached for each in listed if each.unreached},
        cached,
    )


# Data frames, status, and data frames that Spark keeps in memory.
_Tables = tuple[dict[str, Any], Status, tuple[Any, ...]]


def _read_in_process(
    engine: Engine, listed: Sequence[ClusterTasks], tables: Mapping[str, Table], snapshot_id: str
) -> _Tables:
    tasks, lost = _tasks(listed, snapshot_id)
    left = [task.target.name for task in tasks]
    rows = engine.run_without_spark(
        "reading the clusters",
        lambda: read_in_process(
            tasks,
            tables,
            snapshot_id,
            lost,
            lambda task: left.remove(task.target.name),
            engine.stopped,
        ),
        lambda: (len(tasks) - len(left), len(tasks)),
        lambda: next(iter(left), ""),
    )
    batches = snapshot.record_batches(rows, tables)
    frames = engine.run("collecting", lambda: snapshot.frames_of(engine.session, batches, tables))
    columns = [column.name for column in tables[STATUS].all_columns]
    values = itemgetter(*map(columns.index, COLUMNS))
    return frames, summed(map(values, rows.get(STATUS, ()))), ()


def _read_by_executors(
    engine: Engine, listed: Sequence[ClusterTasks], tables: Mapping[str, Table], snapshot_id: str
) -> _Tables:
    engine.prepare_executors()
    tasks, lost = _tasks(listed, snapshot_id)

    def read() -> _Tables:
        whole = snapshot.collect(engine.session, tasks, snapshot_id, tables, lost)
        frames, cached = snapshot.frames(engine.session, whole, tables)
        return frames, summed(frames[STATUS].select(*COLUMNS).collect()), cached

    return engine.run("reading the clusters", read)


def _tasks(listed: Sequence[ClusterTasks], snapshot_id: str) -> tuple[list[ReadTask], list[Read]]:
    tasks = [task for each in listed for task in each.tasks]
    return tasks, [each.status_rows(snapshot_id) for each in listed]


def of_snapshot(
    engine: Engine,
    text: str,
    tables: Mapping[str, Table],
    names: Iterable[str],
    of: Collection | None = None,
) -> Collection:
    """Return these tables of a snapshot: `DIR@ID`, or the newest of `DIR`; of those with a cluster
    of another collection, if there are any."""
    from pyspark.sql import functions as f

    task = "reading the snapshot"
    store, _ = snapshot.address(text)
    known = engine.run(task, lambda: snapshot.written(engine.session, store))
    chosen = {name: tables[name] for name in tables if name in {*names, STATUS}}

    def read() -> Collection:
        wanted = () if of is None else tuple(of.cluster_ids.values())
        snapshot_id, frames = snapshot.read(engine.session, text, known, chosen, wanted)
        at = f.unix_millis("collected_at")
        rows = [tuple(row) for row in frames[STATUS].select(at, *COLUMNS).collect()]
        status = summed(row[1:] for row in rows)
        unread = unread_clusters(status)
        names = tuple(sorted({cluster for cluster, _ in status}))
        absent = {*chosen} - {*known[snapshot_id]}  # of an older version
        for key in itertools.product(names, sorted(absent)):
            status[key] = TableStatus(errors=1, error="not-in-snapshot", reason=_OLDER)
        began = min(row[0] for row in rows)
        return Collection(snapshot_id, began, names, frames, status, unread, stored=True)

    return engine.run(task, read)


def is_local(engine: Engine, store: str) -> bool:
    """Return whether a store is a folder of this machine, where Spark runs, too."""
    return snapshot.is_local(store) and engine.runs_locally


def store(engine: Engine, found: Collection, text: str) -> AuditSnapshot:
    """Write a collection to a snapshot folder."""
    folder, _ = snapshot.address(text)
    local = is_local(engine, folder)
    written: list[None] = []

    def write() -> dict[str, int]:
        def done() -> None:
            written.append(None)

        id, session, large = found.snapshot_id, engine.session, bool(found.cached)
        with tuned(session, found.rows):
            return snapshot.write(session, found.frames, folder, id, done, large=large, local=local)

    rows = engine.run("writing the snapshot", write, lambda: (len(written), len(found.frames)))
    failures = found.failures(found.frames).items()
    incomplete = {about: why.message for about, why in failures if about not in found.unread}
    unread = dict(found.unread)
    return AuditSnapshot(found.snapshot_id, folder, found.clusters, unread, rows, incomplete)
