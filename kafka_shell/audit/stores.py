"""Where snapshots are kept: in a folder, as Parquet files, or in a schema of a Spark catalog, as
tables in its format (Delta, Iceberg or another one).

A folder contains one folder per table, partitioned by `snapshot_id` and `cluster`, which DuckDB can
read, too. A schema contains one table for each, partitioned by the same columns.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kafka_shell.audit.session import CONFIG, SQL
from kafka_shell.common.private import open_private, private_folder
from kafka_shell.common.units import to_path
from kafka_shell.errors import ShellError

CATALOG = "catalog:"
# Spark's own catalog, and those that store tables there.
_DELEGATING = (
    "",
    "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "org.apache.iceberg.spark.SparkSessionCatalog",
)
_PARTITIONS = ("snapshot_id", "cluster")
# How Spark writes files: its configs, and where those of Hadoop are.
_OF_FILES = ("spark.hadoop.", "spark.sql.parquet.", "spark.sql.sources.")
_HADOOP = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")
# What Spark and Hive escape in the values of partitions, and the name of one without a value.
_IN_PATH = re.compile(r"""[\x00-\x1f\x7f"#%'*/:=?\\{[\]^]""")
_NULL = "__HIVE_DEFAULT_PARTITION__"


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


def may_have(store: str, table: str) -> bool:
    """Whether a store may contain a table; only Spark can check one that is not a local folder."""
    return is_catalog(store) or "://" in store or Path(store, table).is_dir()


def append(session: Any, store: str, table: str, frame: Any, snapshot_id: str) -> None:
    """Add the rows of a snapshot to a table, which is created if it does not exist. In a catalog, a
    table written by an older version gets the columns that it does not have."""
    if is_catalog(store):
        _append_to_table(session, _quoted(store), table, frame, snapshot_id)
        return
    # In a folder of its own: Spark's committer moves the files there when all are complete.
    writer = frame.drop("snapshot_id").write.partitionBy(*_partitions(frame)[1:])
    writer.parquet(_part(store, table, snapshot_id))


def writes_locally(session: Any, store: str, keep: Iterable[str] = ()) -> bool:
    """Whether Spark on this machine would write the store as files of this machine, in the way of
    `append_locally`: not if the user (configs in `keep`) has set another file system or format."""
    if is_catalog(store) or "://" in store or any(map(os.environ.get, _HADOOP)):
        return False
    theirs = (key for key in keep if key.startswith(_OF_FILES))
    return all(session.conf.get(key, None) == {**SQL, **CONFIG}.get(key) for key in theirs)


def append_locally(store: str, table: str, rows: Any, snapshot_id: str) -> None:
    """Add the rows of a snapshot, an Arrow table, to a table in a local folder, as Spark would."""
    from pyarrow import parquet

    part = Path(_part(store, table, snapshot_id))
    new = private_folder(part.with_name(f"_{part.name}"))  # Spark does not read it
    for folder, some in _by_cluster(rows):
        file = new / folder / "part-00000.snappy.parquet"
        # Time is in microseconds, as Spark has it, with every version of Arrow.
        with open_private(file, "xb") as stream:
            parquet.write_table(some, stream, coerce_timestamps="us")
    new.rename(part)


def _by_cluster(rows: Any) -> Iterator[tuple[str, Any]]:
    """The folder and the rows of each cluster, without the columns that are in the path."""
    if "cluster" not in rows.column_names:
        yield "", rows
        return
    ordered, start = rows.sort_by("cluster"), 0
    data = ordered.drop_columns([each for each in _PARTITIONS if each in ordered.column_names])
    for each in ordered["cluster"].value_counts().to_pylist():  # in their order
        name = _IN_PATH.sub(lambda c: f"%{ord(c[0]):02X}", each["values"] or "") or _NULL
        yield f"cluster={name}", data.slice(start, each["counts"])
        start += each["counts"]


def stored(session: Any, store: str, table: str, ddl: str, snapshot_id: str = "") -> Any:
    """Return a table of a store with these columns, or its rows of one snapshot (of a folder, only
    these files are listed). Columns that an older version did not write are null. None if the table
    does not exist."""
    try:
        if is_catalog(store):
            return _table(session, _quoted(store), table, ddl, snapshot_id)
        whole = f"{store}/{table}"
        reader = session.read.schema(ddl).option("basePath", whole)
        found = reader.parquet(_part(store, table, snapshot_id) if snapshot_id else whole)
        found.schema  # noqa: B018  # Spark Connect looks for the files only now
    except Exception as error:
        if _is_missing(error):
            return None
        raise
    return found


def _table(session: Any, schema: str, table: str, ddl: str, snapshot_id: str) -> Any:
    from pyspark.sql import functions as f
    from pyspark.sql.types import StructType

    found = session.table(f"{schema}.`{table}`")
    has = {*found.columns}
    columns = (
        f.col(each.name) if each.name in has else f.lit(None).cast(each.dataType).alias(each.name)
        for each in StructType.fromDDL(ddl)
    )
    rows = found.where(f.col("snapshot_id") == snapshot_id) if snapshot_id else found
    return rows.select(*columns)


def _append_to_table(session: Any, schema: str, table: str, frame: Any, snapshot_id: str) -> None:
    from pyspark.sql import functions as f

    name = f"{schema}.`{table}`"
    rows = frame.withColumn("snapshot_id", f.lit(snapshot_id))
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


def _part(folder: str, table: str, snapshot_id: str) -> str:
    return f"{folder}/{table}/snapshot_id={snapshot_id}"


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
