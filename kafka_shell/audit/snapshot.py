"""Collect all tables in one Spark job, and read and write snapshots.

The table `snapshots` is written last, with the number of rows of each table: a snapshot that is not
in it is incomplete, and is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from functools import reduce
from typing import Any

from kafka_shell import __version__
from kafka_shell.audit.collect import Read
from kafka_shell.audit.read_tasks import ReadTask, to_json
from kafka_shell.audit.source import (
    COLLECTION,
    EVERYTHING,
    FORMAT,
    batches_of,
    pack,
    record_batch,
    unpack,
)
from kafka_shell.audit.stores import address, append, append_locally, may_have, stored
from kafka_shell.audit.table import Table
from kafka_shell.audit.threads import in_threads
from kafka_shell.audit.tuning import tuned
from kafka_shell.common.units import counted
from kafka_shell.errors import ShellError

MANIFEST = "snapshots"
_MANIFEST_COLUMNS = ("table", "rows", "version")
_MANIFEST_DDL = "`table` STRING, `rows` BIGINT, `version` STRING, `snapshot_id` STRING"
_WRITES_AT_ONCE = 4
_FRAMES_AT_ONCE = 4
_SHORT = 300  # rows of a table
LOCAL_BYTES = 32 << 20  # collections up to this size are handled in the driver


def collect(
    session: Any,
    tasks: Sequence[ReadTask],
    snapshot_id: str,
    tables: Mapping[str, Table],
    known: Sequence[Read] = (),
) -> Any:
    """Read all tables of these tasks in one job. Each row contains a batch of rows of one table.

    `known` are rows to add: the status rows of what `list_tasks` could not read.
    """
    rows = [pack(tables[each.table], each.rows, each.rows[0][0]) for each in known if each.rows]
    local = session.createDataFrame(rows, COLLECTION)
    if not tasks:
        return local
    read = (
        session.read.format(FORMAT)
        .option("table", EVERYTHING)
        .option("tasks", to_json(tasks))
        .option("snapshot_id", snapshot_id)
        .load()
    )
    return read.union(local) if rows else read


def frames(
    session: Any, whole: Any, tables: Mapping[str, Table]
) -> tuple[dict[str, Any], tuple[Any, ...]]:
    """Read a collection; return the data frame of each table, and the data frames cached by Spark.

    The driver decodes a small collection itself, without a Python worker per table and slice.
    """
    from pyspark.sql import functions as f

    whole = whole.persist()
    size = whole.agg(f.sum(f.length("batch"))).collect()[0][0] or 0
    if size > LOCAL_BYTES:
        found = {name: table_of(whole, table).persist() for name, table in tables.items()}
        return found, (whole, *found.values())
    rows = whole.select("table", "batch").collect()
    whole.unpersist()

    def batches(name: str) -> list[Any]:
        return list(batches_of(row["batch"] for row in rows if row["table"] == name))

    return {name: local_frame(session, table, batches(name)) for name, table in tables.items()}, ()


def frames_of(
    session: Any, batches: Mapping[str, Any], tables: Mapping[str, Table]
) -> dict[str, Any]:
    """Return the data frames of tables of which these are the record batches.

    A server keeps the rows of all but short tables: it would compare those in a plan again and
    again while it plans the queries of controls.
    """
    from pyspark.sql.utils import is_remote

    def one(name: str) -> Any:
        table, rows = tables[name], batches[name]
        frame = local_frame(session, table, [rows] if rows.num_rows else [])
        return frame.localCheckpoint() if rows.num_rows > _SHORT and is_remote() else frame

    names = [*tables]
    return dict(zip(names, in_threads(one, names, _FRAMES_AT_ONCE), strict=True))


def record_batches(
    rows: Mapping[str, Sequence[tuple[Any, ...]]], tables: Mapping[str, Table]
) -> dict[str, Any]:
    """Return the record batch of each table, of these rows."""
    return {name: record_batch(table, rows.get(name, ())) for name, table in tables.items()}


def local_frame(session: Any, table: Table, batches: Sequence[Any]) -> Any:
    """Return the data frame of the rows of a table, which starts no Python workers."""
    import pyarrow
    from pyspark.sql.utils import is_remote

    if not batches and is_remote():  # Spark Connect takes no empty Arrow table
        return session.createDataFrame([], table.ddl)
    found = batches or [record_batch(table, [])]
    frame = session.createDataFrame(pyarrow.Table.from_batches(found))
    # With one partition, joins and groups need no shuffle, which halves the time of an audit.
    # Spark leaves out what an empty table makes empty.
    return frame.coalesce(1) if batches else frame


def table_of(collection: Any, table: Table) -> Any:
    """Return one table of a collection."""
    return (
        collection.where(collection["table"] == table.name)
        .select("batch")
        .mapInArrow(unpack, table.ddl)
    )


def write(
    session: Any,
    tables: Mapping[str, Any],
    store: str,
    snapshot_id: str,
    written: Callable[[], None] = lambda: None,
    *,
    large: bool = True,
) -> dict[str, int]:
    """Write the data frames of all tables as a snapshot, and return their numbers of rows.
    `written` is called after each table. A table that is not `large` becomes a file for each
    cluster."""

    def one(name: str) -> None:
        frame = tables[name]
        frame = frame.hint("rebalance", "cluster") if large else frame.coalesce(1)
        append(session, store, name, frame, snapshot_id)
        written()

    in_threads(one, sorted(tables), _WRITES_AT_ONCE)
    rows = _counted(tables)
    frame = session.createDataFrame(_manifest_of(rows)).coalesce(1)
    append(session, store, MANIFEST, frame, snapshot_id)
    return rows


def _manifest_of(rows: Mapping[str, int]) -> Any:
    """The rows of a snapshot with these tables in the table of snapshots."""
    import pyarrow

    return pyarrow.table([[*rows], [*rows.values()], [__version__] * len(rows)], _MANIFEST_COLUMNS)


def write_locally(
    tables: Mapping[str, Any],
    store: str,
    snapshot_id: str,
    written: Callable[[], None] = lambda: None,
) -> dict[str, int]:
    """Write Arrow tables as a snapshot to a local folder, without Spark, which takes seconds for a
    few rows. Return their numbers of rows. Raises ShellError if a file cannot be written."""
    counts = {name: rows.num_rows for name, rows in sorted(tables.items())}
    try:
        for name, rows in sorted(tables.items()):
            append_locally(store, name, rows, snapshot_id)
            written()
        append_locally(store, MANIFEST, _manifest_of(counts), snapshot_id)
    except OSError as error:
        raise ShellError(
            f"cannot write the snapshot to {store}: {error.strerror or error}",
            hint="The snapshot is incomplete and will not be read.",
            code="no-file",
        ) from None
    return counts


def _counted(tables: Mapping[str, Any]) -> dict[str, int]:
    """The number of rows of each data frame, in one job."""
    from pyspark.sql import functions as f

    names = (frame.select(f.lit(name).alias("table")) for name, frame in sorted(tables.items()))
    counts = reduce(lambda a, b: a.union(b), names).groupBy("table").count().collect()
    return dict.fromkeys(sorted(tables), 0) | {row["table"]: row["count"] for row in counts}


def is_snapshot(text: str) -> bool:
    """Return whether the text names a store with snapshots."""
    store, _ = address(text)
    return may_have(store, MANIFEST)


def manifest(session: Any, store: str) -> Any:
    """Return the table of complete snapshots, one row for each of their tables; None if there is
    none."""
    return stored(session, store, MANIFEST, _MANIFEST_DDL)


def written(session: Any, store: str) -> dict[str, dict[str, int]]:
    """Return the number of rows of each table of the complete snapshots of a store, by ID, oldest
    first. Raises ShellError if there are none."""
    rows = manifest(session, store)
    found: dict[str, dict[str, int]] = {}
    for row in [] if rows is None else rows.orderBy("snapshot_id").collect():
        found.setdefault(row["snapshot_id"], {})[row["table"]] = row["rows"]
    if not found:
        raise ShellError(
            f"no complete snapshot in {store}",
            hint=f"Run spark snapshot {store} to write one.",
            code="no-snapshot",
        )
    return found


def read(
    session: Any,
    text: str,
    known: Mapping[str, Mapping[str, int]],
    tables: Mapping[str, Table],
    clusters: Sequence[str] = (),
    keep: Container[str] = (),
) -> tuple[str, dict[str, Any]]:
    """Read `DIR@ID`, or the newest of the `known` snapshots of `DIR` (see `written`), if possible
    with one of these clusters (their IDs). Return its ID and its tables. Spark configs in `keep`
    are not changed. Raises ShellError if a table does not have the rows that were written."""
    store, wanted = address(text)
    if wanted and wanted not in known:
        raise ShellError(
            f"snapshot {wanted} does not exist in {store}, or is incomplete",
            hint=f"Newest snapshots: {', '.join([*known][-5:])}.",
            code="no-snapshot",
        )
    chosen = wanted or max(_with_clusters(session, store, tables, clusters, known))
    frames = {}
    for name, table in tables.items():
        frame = stored(session, store, name, table.ddl, chosen)
        if frame is None:
            frame = local_frame(session, table, [])
        frames[name] = frame.select([column.name for column in table.all_columns])
    with tuned(session, sum(known[chosen].values()), keep):
        found = _counted(frames)
    check(store, chosen, known[chosen], found)
    return chosen, frames


def _with_clusters(
    session: Any,
    store: str,
    tables: Mapping[str, Table],
    clusters: Sequence[str],
    known: Collection[str],
) -> Collection[str]:
    """Return the snapshots with one of these clusters; all if there are none."""
    if not clusters or "clusters" not in tables:
        return known
    frame = stored(session, store, "clusters", tables["clusters"].ddl)
    if frame is None:
        return known
    rows = frame.where(frame["cluster_id"].isin(list(clusters))).select("snapshot_id").distinct()
    return sorted({row[0] for row in rows.collect()} & set(known)) or known


def check(
    store: str, snapshot_id: str, written: Mapping[str, int], found: Mapping[str, int]
) -> None:
    """Raise ShellError if a table of a snapshot does not have the number of rows that was written.
    `found` may contain tables that an older snapshot does not have."""
    for name, count in found.items():
        if count != written.get(name, count):
            raise ShellError(
                f"snapshot {snapshot_id} in {store} is damaged: {name} has"
                f" {counted(count, 'row')}, and {written[name]:,} were written",
                hint="Read another snapshot with DIR@ID, or write a new one.",
                code="damaged-snapshot",
            )
