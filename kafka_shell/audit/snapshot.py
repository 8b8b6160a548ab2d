"""Collect all tables in one Spark job, and read and write snapshots.

The table `snapshots` is written last, with a row for each table of a snapshot: how many rows it
has, and where they are. A snapshot that is not in it is incomplete, and is not read. In a folder of
this machine, a table whose rows are the same as in an earlier snapshot is not written again:
elsewhere, rules that expire old objects or rows would delete it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from functools import reduce
from operator import itemgetter
from pathlib import Path
from typing import Any

from msgspec import Struct

from kafka_shell import __version__
from kafka_shell.audit.engine import tuned
from kafka_shell.audit.remedy import sql_text
from kafka_shell.audit.session import is_remote, sentence
from kafka_shell.audit.source import (
    COLLECTION,
    EVERYTHING,
    FORMAT,
    batches_of,
    pack,
    record_batch,
    unpack,
)
from kafka_shell.audit.table import Table
from kafka_shell.audit.tasks import Read, ReadTask, to_json
from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import locked
from kafka_shell.base.structs import replace
from kafka_shell.base.threads import in_threads
from kafka_shell.base.units import counted, to_path

# Where snapshots are kept: in a folder, as Parquet files, or in a schema of a Spark catalog, as
# tables in its format (Delta, Iceberg or another one).
#
# A folder contains one folder per table, with a folder for each part: the rows of one snapshot or,
# once they are compacted, of several. DuckDB can read them, too. A schema contains one table for
# each, partitioned by snapshot and cluster.

CATALOG = "catalog:"
DAMAGED = "damaged-snapshot"  # code of an error
# Spark's own catalog, and those that store tables there.
_DELEGATING = (
    "",
    "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "org.apache.iceberg.spark.SparkSessionCatalog",
)
_PARTITIONS = ("snapshot_id", "cluster")
_OF_A_SNAPSHOT = ("snapshot_id", "collected_at")  # columns that differ even if nothing changed


def address(text: str) -> tuple[str, str]:
    """Split `DIR` or `DIR@ID` into the folder (local paths absolute) and the ID or ""; the same for
    `catalog:SCHEMA`."""
    parent, slash, last = text.rpartition("/")
    name, at, snapshot_id = last.rpartition("@")
    if at and not parent.endswith(":/"):  # as in abfss://container@account
        store = f"{parent}{slash}{name}"
    else:
        store, snapshot_id = text, ""
    if is_catalog(store):
        return store, snapshot_id
    if "://" in store:
        return store.rstrip("/"), snapshot_id
    return str(to_path(store).absolute()), snapshot_id


def is_catalog(store: str) -> bool:
    """Whether it is a schema of a Spark catalog."""
    return store.startswith(CATALOG)


def is_local(store: str) -> bool:
    """Whether it is the path of a folder; with a remote Spark, that of another machine."""
    return not is_catalog(store) and "://" not in store


def may_have(store: str, table: str) -> bool:
    """Whether a store may contain a table; only Spark can check one that is not a local folder."""
    return not is_local(store) or Path(store, table).is_dir()


def append(session: Any, store: str, table: str, frame: Any, snapshot_id: str) -> None:
    """Add the rows of a snapshot to a table, which is created if it does not exist. In a catalog, a
    table written by an older version gets the columns that it does not have."""
    columns = (f"`{name}`" for name in frame.columns if name != "snapshot_id")
    rows = frame.selectExpr(*columns, f"{sql_text(snapshot_id)} AS snapshot_id")
    if is_catalog(store):
        _append_to_table(session, _quoted(store), table, rows)
    else:
        write_part(rows, f"{store}/{table}/{snapshot_id}")


def write_part(frame: Any, folder: str) -> None:
    """Write a part of a table: Spark's committer moves the files there when all are complete."""
    frame.write.option(_SUCCESS, "false").parquet(folder)


def stored(
    session: Any,
    store: str,
    table: str,
    ddl: str,
    written: Mapping[str, Mapping[str, Stored]],
    snapshot_id: str = "",
) -> Any:
    """Return a table of the `written` snapshots of a store with these columns, or its rows of one.
    Columns that an older version did not write are null. None if no snapshot has the table. Raises
    ShellError if a part of it is missing."""
    ids = [snapshot_id] if snapshot_id else [*written]
    entries = {id: written[id][table] for id in ids if table in written[id]}
    if not entries:
        return None
    empty = session.createDataFrame([], ddl)
    kept = {id: each for id, each in entries.items() if each.rows}
    if not kept:
        return empty
    found = _rows_of(session, store, table, empty.schema, kept)
    if all(id == each.source for id, each in kept.items()):
        found = found.where(found["snapshot_id"].isin([*kept]))
    else:
        found = _of_sources(session, found, kept)
    return found.select(empty.columns)


def without_lost(
    session: Any, store: str, table: str, written: Mapping[str, Mapping[str, Stored]]
) -> dict[str, Mapping[str, Stored]]:
    """Return the `written` snapshots without those whose part of a table is missing in a folder."""
    parts: dict[str, list[str]] = {}
    for id, of in written.items():
        if table in of and of[table].rows:
            parts.setdefault(of[table].part, []).append(id)
    gone = {id for part, ids in parts.items() if _is_lost(session, f"{store}/{table}/{part}")
            for id in ids}  # fmt: skip
    return {id: of for id, of in written.items() if id not in gone}


def _is_lost(session: Any, folder: str) -> bool:
    try:
        session.read.schema("snapshot_id STRING").parquet(folder).schema  # noqa: B018
    except Exception as error:
        if not _is_missing(error):
            raise
        return True
    return False


def _rows_of(
    session: Any, store: str, table: str, schema: Any, entries: Mapping[str, Stored]
) -> Any:
    """The rows of the parts of a table."""
    try:
        if not is_catalog(store):
            parts = sorted({f"{store}/{table}/{each.part}" for each in entries.values()})
            found = session.read.schema(schema).parquet(*parts)
            found.schema  # noqa: B018  # Spark Connect looks for the files only now
            return found
        whole = session.table(f"{_quoted(store)}.`{table}`")
        has = {*whole.columns}
        return whole.selectExpr(
            *(
                f"`{c.name}`"
                if c.name in has
                else f"CAST(NULL AS {c.dataType.simpleString()}) AS `{c.name}`"
                for c in schema
            )
        )
    except Exception as error:
        if not _is_missing(error):
            raise
        missing = f"table {table}" if is_catalog(store) else f"a part of table {table}"
        raise ShellError(
            f"{missing} is missing in {store}: {sentence(error)}",
            hint="Restore it from a backup, or read another snapshot with DIR@ID.",
            code=DAMAGED,
        ) from None


def _of_sources(session: Any, rows: Any, entries: Mapping[str, Stored]) -> Any:
    """The rows of each snapshot, also if they were stored with an earlier one: with the ID of the
    snapshot, and the time at which it read them."""
    values = [(id, each.source, each.at) for id, each in entries.items()]
    names = session.createDataFrame(values, "_of STRING, _source STRING, _at BIGINT")
    found = rows.join(names.hint("broadcast"), rows["snapshot_id"] == names["_source"])
    moved = {
        "snapshot_id": "_of",
        "collected_at": "IF(_of != _source AND _at IS NOT NULL, timestamp_millis(_at),"
        " collected_at)",
    }
    return found.selectExpr(*(f"{moved.get(n, f'`{n}`')} AS `{n}`" for n in rows.columns))


def _append_to_table(session: Any, schema: str, table: str, rows: Any) -> None:
    from pyspark.sql import functions as f

    name = f"{schema}.`{table}`"
    try:
        existing = session.table(name).schema
    except Exception as error:
        if not _is_missing(error):
            raise
        _require_lasting(session, schema)
        session.sql(f"CREATE NAMESPACE IF NOT EXISTS {schema}")
    else:
        lacking = [each for each in rows.schema if each.name not in existing.names]
        if lacking:
            columns = ", ".join(f"`{c.name}` {c.dataType.simpleString()}" for c in lacking)
            session.sql(f"ALTER TABLE {name} ADD COLUMNS ({columns})")
        older = [each for each in existing if each.name not in rows.columns]
        rows = rows.withColumns({c.name: f.lit(None).cast(c.dataType) for c in older})
        # Some formats take columns by their place.
        rows = rows.select(*existing.names, *(each.name for each in lacking))
    rows.write.mode("append").partitionBy(*_partitions(rows)).saveAsTable(name)


def _require_lasting(session: Any, schema: str) -> None:
    """Raise ShellError if the tables of the catalog would end with the session."""
    first, *more = (part.strip("`") for part in schema.split("."))
    named = session.conf.get(f"spark.sql.catalog.{first}", "") if more else ""
    catalog = named or session.conf.get("spark.sql.catalog.spark_catalog", "")
    in_memory = session.conf.get("spark.sql.catalogImplementation") == "in-memory"
    if in_memory and catalog in _DELEGATING:
        raise ShellError(
            "the catalog of this Spark session is in memory: a snapshot would be lost with it",
            hint="Configure a metastore (spark.sql.catalogImplementation=hive), or name a schema"
            " of another catalog.",
            code="catalog-in-memory",
        )


def _partitions(frame: Any) -> tuple[str, ...]:
    return tuple(name for name in _PARTITIONS if name == "snapshot_id" or name in frame.columns)


def _quoted(store: str) -> str:
    """`catalog:lakehouse.audits` as an identifier of SQL."""
    parts = store.removeprefix(CATALOG).split(".")
    if not all(parts):
        raise ShellError(
            f"{store!r} does not name a schema of a catalog",
            hint=f"For example: {CATALOG}lakehouse.audits",
            code="invalid-catalog",
        )
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)


def _is_missing(error: Exception) -> bool:
    missing = ("PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND")
    return any(f"[{each}" in str(error) for each in missing)


MANIFEST = "snapshots"
LOCK = ".lock"  # of a folder: shared by those that write
_SUCCESS = "mapreduce.fileoutputcommitter.marksuccessfuljobs"
_MANIFEST_DDL = (
    "`table` STRING, `rows` BIGINT, `part` STRING, `source` STRING, `digest` STRING, `at` BIGINT,"
    " `version` STRING, `snapshot_id` STRING"
)
_WRITES_AT_ONCE = 4
_FRAMES_AT_ONCE = 4
CHECKPOINTS = "spark.checkpoint.dir"
_SHORT = 300  # rows of a table
LOCAL_BYTES = 32 << 20  # collections up to this size are handled in the driver


class Stored(Struct, frozen=True):
    """Where the rows of a table of a snapshot are: in a part of the table, with the ID of the
    snapshot that wrote them, the `source`. `digest` is of their values, and `at` when the snapshot
    read them, in epoch milliseconds."""

    rows: int
    part: str
    source: str
    digest: str = ""
    at: int | None = None


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
    """Read a collection, once; return the data frame of each table, and the data frames cached by
    Spark.

    What was read is a checkpoint: Spark would read lost rows of a cache from Kafka again, so that
    tables would be of different times. With spark.checkpoint.dir it outlives the executors;
    otherwise, a query fails when the executor that keeps a part of it is lost. The driver decodes a
    small collection itself, without a Python worker per table and slice. Spark deletes a checkpoint
    when no data frame refers to it.
    """
    from pyspark.sql import functions as f

    shared = session.conf.get(CHECKPOINTS, "")
    whole = whole.checkpoint() if shared else whole.localCheckpoint()
    size = whole.agg(f.sum(f.length("batch"))).collect()[0][0] or 0
    if size > LOCAL_BYTES:
        found = {name: table_of(whole, table).persist() for name, table in tables.items()}
        return found, (whole, *found.values())
    rows = whole.select("table", "batch").collect()

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
    local: bool = False,
) -> dict[str, int]:
    """Write the data frames of all tables as a snapshot, and return their numbers of rows.
    `written` is called after each table. A table that is not `large` becomes one file. In a `local`
    folder, a table that has not changed is not written. Raises ShellError if a file cannot be
    written."""

    def one(name: str) -> None:
        frame = tables[name]
        frame = frame.hint("rebalance", "cluster") if large else frame.coalesce(1)
        append(session, store, name, frame, snapshot_id)
        written()

    try:
        with locked(Path(store, LOCK), shared=True) if local else nullcontext():
            found = _fingerprints(tables)
            earlier = _written(session, store) if local else {}
            known = {
                (name, each.digest): each for of in earlier.values() for name, each in of.items()
            }
            entries: dict[str, Stored] = {}
            for name, (count, digest, at) in found.items():
                same = known.get((name, digest))
                if same is not None and same.rows == count and _exists(store, name, same):
                    entries[name] = replace(same, at=at)
                else:
                    entries[name] = Stored(count, snapshot_id, snapshot_id, digest, at)
            new = [n for n, each in entries.items() if each.source == snapshot_id and each.rows]
            in_threads(one, new, _WRITES_AT_ONCE)
            rows = manifest_rows(session, {snapshot_id: entries})
            append(session, store, MANIFEST, rows, snapshot_id)
    except ShellError:
        raise
    except Exception as error:
        raise ShellError(
            f"cannot write the snapshot to {store}: {sentence(error)} (the incomplete snapshot is"
            " ignored)",
            code="no-file",
        ) from None
    return {name: each.rows for name, each in entries.items()}


def _exists(store: str, table: str, entry: Stored) -> bool:
    """Whether the files of a table are in a local folder."""
    return any(Path(store, table, entry.part).glob("*.parquet"))


def manifest_rows(session: Any, written: Mapping[str, Mapping[str, Stored]]) -> Any:
    """Return the rows of the table of snapshots for these."""
    rows = [
        (name, each.rows, each.part, each.source, each.digest, each.at, __version__, id)
        for id, tables in written.items()
        for name, each in tables.items()
    ]
    return session.createDataFrame(rows, _MANIFEST_DDL).coalesce(1)


def _fingerprints(tables: Mapping[str, Any]) -> dict[str, tuple[int, str, int | None]]:
    """The number of rows of each data frame, the digest of what they say whatever their order, and
    when the first was read, in one job."""

    def values(name: str, frame: Any) -> Any:
        columns = (f"`{each}`" for each in frame.columns if each not in _OF_A_SNAPSHOT)
        at = (
            "unix_millis(collected_at)" if "collected_at" in frame.columns else "CAST(NULL AS LONG)"
        )
        return frame.selectExpr(
            f"'{name}' AS `table`",
            # as JSON: a hash of columns would skip nulls
            f"CAST(xxhash64(to_json(struct({', '.join(columns)}))) AS DECIMAL(38, 0)) AS hash",
            f"{at} AS at",
        )

    whole = reduce(lambda a, b: a.union(b), (values(*each) for each in sorted(tables.items())))
    rows = whole.groupBy("table").agg({"*": "count", "hash": "sum", "at": "min"}).collect()
    found = {row["table"]: (row["count(1)"], str(row["sum(hash)"]), row["min(at)"]) for row in rows}
    return {name: found.get(name, (0, "", None)) for name in sorted(tables)}


def _counted(tables: Mapping[str, Any]) -> dict[str, int]:
    """The number of rows of each data frame, in one job."""
    names = (frame.selectExpr(f"'{name}' AS `table`") for name, frame in sorted(tables.items()))
    counts = reduce(lambda a, b: a.union(b), names).groupBy("table").count().collect()
    return dict.fromkeys(sorted(tables), 0) | {row["table"]: row["count"] for row in counts}


def is_snapshot(text: str) -> bool:
    """Return whether the text names a store with snapshots."""
    store, _ = address(text)
    return may_have(store, MANIFEST)


def _written(session: Any, store: str) -> dict[str, dict[str, Stored]]:
    """The complete snapshots of a store, oldest first; none if there is no store, or only one of an
    older version."""
    try:
        if is_catalog(store):
            rows = session.table(f"{_quoted(store)}.`{MANIFEST}`")
            if "source" not in rows.columns:
                return {}
        else:
            reader = session.read.schema(_MANIFEST_DDL).option("recursiveFileLookup", "true")
            rows = reader.parquet(f"{store}/{MANIFEST}")
        rows = rows.where("source IS NOT NULL").collect()  # sorted here: Spark would shuffle them
    except Exception as error:
        if _is_missing(error):
            return {}
        raise
    found: dict[str, dict[str, Stored]] = {}
    for row in sorted(rows, key=itemgetter("snapshot_id", "part")):  # the newest part is the last
        each = Stored(*(row[name] for name in Stored.__struct_fields__))
        found.setdefault(row["snapshot_id"], {})[row["table"]] = each
    return found


def written(session: Any, store: str) -> dict[str, dict[str, Stored]]:
    """Return where the tables of the complete snapshots of a store are, by ID, oldest first. Raises
    ShellError if there are none."""
    found = _written(session, store)
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
    known: Mapping[str, Mapping[str, Stored]],
    tables: Mapping[str, Table],
    clusters: Sequence[str] = (),
) -> tuple[str, dict[str, Any]]:
    """Read `DIR@ID`, or the newest of the `known` snapshots of `DIR` (see `written`), if possible
    with one of these clusters (their IDs). Return its ID and its tables. Raises ShellError if a
    table does not have the rows that were written."""
    store, wanted = address(text)
    if wanted and wanted not in known:
        raise ShellError(
            f"snapshot {wanted} does not exist in {store}, or is incomplete",
            hint=f"Use a snapshot such as: {', '.join([*known][-5:])}.",
            code="no-snapshot",
        )
    chosen = wanted or max(_with_clusters(session, store, tables, clusters, known))
    frames = {}
    for name, table in tables.items():
        frame = stored(session, store, name, table.ddl, known, chosen)
        if frame is None:
            frame = local_frame(session, table, [])
        frames[name] = frame.select([column.name for column in table.all_columns])
    counts = {name: each.rows for name, each in known[chosen].items()}
    with tuned(session, sum(counts.values())):
        found = _counted(frames)
    check(store, chosen, counts, found)
    return chosen, frames


def _with_clusters(
    session: Any,
    store: str,
    tables: Mapping[str, Table],
    clusters: Sequence[str],
    known: Mapping[str, Mapping[str, Stored]],
) -> Collection[str]:
    """Return the snapshots with one of these clusters; all if there are none."""
    if not clusters or "clusters" not in tables:
        return known
    frame = stored(session, store, "clusters", tables["clusters"].ddl, known)
    if frame is None:
        return known
    rows = frame.where(frame["cluster_id"].isin(list(clusters))).select("snapshot_id")
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
                code=DAMAGED,
            )
