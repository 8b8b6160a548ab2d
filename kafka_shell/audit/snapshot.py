"""Collect all tables in one Spark job, and read and write Parquet snapshots.

A snapshot folder contains one folder per table, partitioned by `snapshot_id` and `cluster`, which
Spark and DuckDB can read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka_shell.errors import ShellError
from kafka_shell.units import to_path

from .collect import Read
from .source import COLLECTION, EVERYTHING, FORMAT, batches_of, pack, unpack
from .table import Table
from .work import Work, to_json

STATUS = "collection_status"
LOCAL_BYTES = 32 << 20  # collections up to this size are handled in the driver


def collect(
    session: Any,
    works: Sequence[Work],
    snapshot_id: str,
    tables: Mapping[str, Table],
    known: Sequence[Read] = (),
) -> Any:
    """Read all tables of these tasks in one job. Each row contains a batch of rows of one table.

    `known` are rows to add: the status rows of what the survey could not read.
    """
    rows = [pack(tables[each.table], each.rows, each.rows[0][0]) for each in known if each.rows]
    local = session.createDataFrame(rows, COLLECTION)
    if not works:
        return local
    read = (
        session.read.format(FORMAT)
        .option("table", EVERYTHING)
        .option("work", to_json(works))
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
    return {name: _local(session, table, rows) for name, table in tables.items()}, ()


def _local(session: Any, table: Table, rows: Sequence[Any]) -> Any:
    import pyarrow

    batches = list(batches_of(row["batch"] for row in rows if row["table"] == table.name))
    if not batches:
        return session.createDataFrame([], table.ddl)
    # With one partition, joins and groups need no shuffle, which halves the time of an audit.
    return session.createDataFrame(pyarrow.Table.from_batches(batches)).coalesce(1)


def table_of(collection: Any, table: Table) -> Any:
    """Return one table of a collection."""
    return (
        collection.where(collection["table"] == table.name)
        .select("batch")
        .mapInArrow(unpack, table.ddl)
    )


def write(frame: Any, table: Table, folder: str) -> None:
    """Add the rows of a table to a snapshot folder."""
    frame.hint("rebalance", "cluster").write.mode("append").partitionBy(
        "snapshot_id", "cluster"
    ).parquet(f"{folder}/{table.name}")


def address(text: str) -> tuple[str, str]:
    """Split `DIR` or `DIR@ID` into the folder (local paths absolute) and the ID or ""."""
    folder, at, snapshot_id = text.rpartition("@")
    if not at:
        folder, snapshot_id = text, ""
    if "://" in folder:
        return folder.rstrip("/"), snapshot_id
    return str(to_path(folder).absolute()), snapshot_id


def is_snapshot(text: str) -> bool:
    """Return whether the text names a folder with snapshots."""
    folder, _ = address(text)
    return "://" in folder or Path(folder, STATUS).is_dir()


def ids(session: Any, folder: str, tables: Mapping[str, Table]) -> list[str]:
    """Return the snapshot IDs of a folder, oldest first. Raises ShellError if there are none."""
    frame = _frame(session, folder, tables[STATUS])
    found = [] if frame is None else frame.select("snapshot_id").distinct().collect()
    if not found:
        raise ShellError(
            f"no snapshot in {folder}",
            hint=f"Run spark snapshot {folder} to write one.",
            code="no-snapshot",
        )
    return sorted(row[0] for row in found)


def read(session: Any, text: str, tables: Mapping[str, Table]) -> tuple[str, dict[str, Any]]:
    """Read `DIR@ID`, or the newest snapshot of `DIR`. Return its ID and its tables."""
    folder, wanted = address(text)
    known = ids(session, folder, tables)
    if wanted and wanted not in known:
        raise ShellError(
            f"snapshot {wanted} does not exist in {folder}",
            hint=f"Newest snapshots: {', '.join(known[-5:])}.",
            code="no-snapshot",
        )
    chosen = wanted or known[-1]
    frames = {}
    for name, table in tables.items():
        frame = _frame(session, folder, table)
        if frame is None:
            frame = session.createDataFrame([], table.ddl)
        frames[name] = frame.where(frame["snapshot_id"] == chosen)
    return chosen, frames


def _frame(session: Any, folder: str, table: Table) -> Any:
    """Return a table of a folder, or None if it does not exist."""
    try:
        columns = [column.name for column in table.all_columns]
        return session.read.schema(table.ddl).parquet(f"{folder}/{table.name}").select(columns)
    except Exception as error:
        if "PATH_NOT_FOUND" in str(error):
            return None
        raise
