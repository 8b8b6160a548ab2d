"""Write snapshots of a few rows as files, without the seconds that Spark takes for each table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import parquet

from kafka_shell.audit.snapshot import MANIFEST


def write(tables: Mapping[str, Any], folder: str, snapshot_id: str) -> None:
    """Write Arrow tables as the parts of a snapshot."""
    at, id = pyarrow.scalar(None, pyarrow.int64()), pyarrow.scalar(snapshot_id)
    rows = [
        {"table": name, "rows": rows.num_rows, "part": snapshot_id, "source": snapshot_id,
         "digest": "", "at": None, "version": "0"}
        for name, rows in tables.items()
    ]  # fmt: skip
    kinds = dict.fromkeys(rows[0], pyarrow.string()) | {"rows": at.type, "at": at.type}
    manifest = pyarrow.Table.from_pylist(rows, pyarrow.schema(kinds))
    for name, given in {**tables, MANIFEST: manifest}.items():
        if "snapshot_id" in given.column_names:
            given = given.drop_columns(["snapshot_id"])
        given = given.append_column("snapshot_id", pyarrow.repeat(id, given.num_rows))
        part = Path(folder, name, snapshot_id)
        part.mkdir(parents=True)
        parquet.write_table(given, part / "part-0.parquet", coerce_timestamps="us")
