"""Collecting once: every table of every slice as one job; and snapshots kept as Parquet.

A snapshot's folder holds a folder a table, partitioned by `snapshot_id` and `cluster`, so that any
Spark or DuckDB reads it.
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
SMALL = 32 << 20  # bytes of a collection


def collect(
    session: Any,
    works: Sequence[Work],
    snapshot_id: str,
    tables: Mapping[str, Table],
    known: Sequence[Read] = (),
) -> Any:
    """Every table of these works, as one job: rows that each hold a batch of one table.

    `known` are rows that are there already: what the survey could not read.
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
    """Each table of a collection, which is read now, once; and what Spark keeps of it.

    A small collection is handed from the driver, which spares a Python worker a table and slice.
    """
    from pyspark.sql import functions as f

    whole = whole.persist()
    size = whole.agg(f.sum(f.length("batch"))).collect()[0][0] or 0
    if size > SMALL:
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
    # One partition: joins and groups then need no shuffle, which halves the time of an audit.
    return session.createDataFrame(pyarrow.Table.from_batches(batches)).coalesce(1)


def table_of(collection: Any, table: Table) -> Any:
    """One table out of a collection."""
    return (
        collection.where(collection["table"] == table.name)
        .select("batch")
        .mapInArrow(unpack, table.ddl)
    )


def write(frame: Any, table: Table, folder: str) -> None:
    """Add a table's rows to a snapshot's folder."""
    frame.hint("rebalance", "cluster").write.mode("append").partitionBy(
        "snapshot_id", "cluster"
    ).parquet(f"{folder}/{table.name}")


def address(text: str) -> tuple[str, str]:
    """`DIR` or `DIR@ID` -> the folder, absolute where it is of this machine, and the id or ""."""
    folder, at, snapshot_id = text.rpartition("@")
    if not at:
        folder, snapshot_id = text, ""
    if "://" in folder:
        return folder.rstrip("/"), snapshot_id
    return str(to_path(folder).absolute()), snapshot_id


def is_snapshot(text: str) -> bool:
    """Whether this names a folder that holds snapshots."""
    folder, _ = address(text)
    return "://" in folder or Path(folder, STATUS).is_dir()


def ids(session: Any, folder: str, tables: Mapping[str, Table]) -> list[str]:
    """The snapshots of a folder, the oldest first. Raises ShellError where it holds none."""
    frame = _frame(session, folder, tables[STATUS])
    found = [] if frame is None else frame.select("snapshot_id").distinct().collect()
    if not found:
        raise ShellError(
            f"there is no snapshot in {folder}",
            hint=f"spark snapshot {folder} takes one.",
            code="no-snapshot",
        )
    return sorted(row[0] for row in found)


def read(session: Any, text: str, tables: Mapping[str, Table]) -> tuple[str, dict[str, Any]]:
    """A snapshot (`DIR`: the newest, or `DIR@ID`): its id, and its tables."""
    folder, wanted = address(text)
    known = ids(session, folder, tables)
    if wanted and wanted not in known:
        raise ShellError(
            f"there is no snapshot {wanted} in {folder}",
            hint=f"There are: {', '.join(known[-5:])}",
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
    """A table of a folder; None where it has none."""
    try:
        columns = [column.name for column in table.all_columns]
        return session.read.schema(table.ddl).parquet(f"{folder}/{table.name}").select(columns)
    except Exception as error:
        if "PATH_NOT_FOUND" in str(error):
            return None
        raise
