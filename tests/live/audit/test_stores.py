"""Stores of snapshots: addresses, and the tables of a Spark catalog."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.sql import Row

from kafka_shell.audit import snapshot as stores
from kafka_shell.audit.engine import Engine
from tests.support.in_process_shell import Shell


@pytest.mark.parametrize(
    ("text", "folder", "id"),
    [
        ("/data/state@20260131T120000.000Z-1a2b", "/data/state", "20260131T120000.000Z-1a2b"),
        ("/data/state", "/data/state", ""),
        ("s3a://bucket/state@X", "s3a://bucket/state", "X"),
        ("abfss://container@account.dfs.core.windows.net/state",
         "abfss://container@account.dfs.core.windows.net/state", ""),
        ("abfss://container@account.dfs.core.windows.net/state@X",
         "abfss://container@account.dfs.core.windows.net/state", "X"),
        ("abfss://container@account", "abfss://container@account", ""),
        ("catalog:lakehouse.audits", "catalog:lakehouse.audits", ""),
        ("catalog:lakehouse.audits@X", "catalog:lakehouse.audits", "X"),
    ],
)  # fmt: skip
def test_the_address_of_a_snapshot(text: str, folder: str, id: str) -> None:
    assert stores.address(text) == (folder, id)


DDL = (
    "cluster STRING, collected_at TIMESTAMP, snapshot_id STRING, name STRING NOT NULL, n INT,"
    " size BIGINT, rate DOUBLE, is_up BOOLEAN, ids ARRAY<INT>, names ARRAY<STRING>"
)
LATE = datetime(2026, 1, 31, 12, 0, 0, 123456, UTC)
ROWS = [
    ("a", LATE, "X", "first", 1, 1 << 40, 0.5, True, [1, 2], ["x", ""]),
    ("b", None, "X", "of b", None, None, None, None, None, None),
    ("a", LATE, "X", "second", -1, 0, -0.0, False, [], []),
    ("10.0.0.1:9092,b=c/d%e#f?g [h]'{^", LATE, "X", "a\nb", 2, 3, 4.0, True, [3], ["é"]),
    ("Ünïcode", LATE, "X", "name", 2, 3, 4.0, True, [3], ["z"]),
    ("", LATE, "X", "of no cluster", 2, 3, 4.0, True, [3], ["z"]),
]


def test_files_of_this_program_are_like_those_of_spark(engine: Engine, tmp_path: Path) -> None:
    session = engine.session
    frame = session.createDataFrame(ROWS, DDL)
    stores.append(session, f"{tmp_path}/spark", "t", frame, "X")
    stores.append_locally(f"{tmp_path}/here", "t", frame.toArrow(), "X")

    def rows(store: str) -> list[Row]:
        found = stores.stored(session, f"{tmp_path}/{store}", "t", DDL, "X").collect()
        return sorted(found, key=lambda row: str(row["name"]))

    def folders(store: str) -> list[str]:
        return sorted(
            each.name for each in (tmp_path / store / "t" / "snapshot_id=X").glob("cluster=*")
        )

    assert rows("here") == rows("spark")
    assert len(rows("here")) == len(ROWS)
    assert folders("here") == folders("spark")
    open_to_others = [each for each in (tmp_path / "here").rglob("*") if each.stat().st_mode & 0o77]
    assert not open_to_others


def test_spark_writes_where_or_how_only_it_can(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, keep = engine.session, engine.opened.keep
    assert stores.writes_locally(session, "/data/state", keep)
    with monkeypatch.context() as environment:
        environment.setenv("HADOOP_CONF_DIR", "/etc/hadoop/conf")
        assert not stores.writes_locally(session, "/data/state", keep), "the default may be HDFS"
    assert not stores.writes_locally(session, "s3a://bucket/state", keep)
    assert not stores.writes_locally(session, "catalog:lakehouse", keep)
    session.conf.set("spark.sql.parquet.compression.codec", "zstd")
    try:
        assert not stores.writes_locally(
            session, "/data/state", {"spark.sql.parquet.compression.codec"}
        )
    finally:
        session.conf.unset("spark.sql.parquet.compression.codec")


def test_a_catalog_in_memory_is_refused(shell: Shell) -> None:
    run = shell("spark snapshot catalog:audits --no-findings")
    assert run.status == 1 and "would be lost" in run.err, str(run)
    run = shell("spark trend --snapshot catalog:audits")
    assert run.status == 1 and "no complete snapshot in catalog:audits" in run.err, str(run)
