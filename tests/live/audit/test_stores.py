"""Stores of snapshots: addresses, and the tables of a Spark catalog."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row

from kafka_shell.audit import stores
from kafka_shell.audit.engine import Engine
from kafka_shell.sandbox.state import Sandbox
from tests.support import short_jvm
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


SCHEMA = "catalog:lakehouse"
NEWEST = "spark sql 'select distinct snapshot_id from topics' --output json --snapshot"
METASTORE = """
spark.sql.catalogImplementation hive
spark.sql.warehouse.dir {folder}/warehouse
spark.hadoop.javax.jdo.option.ConnectionURL jdbc:derby:;databaseName={folder}/metastore;create=true
spark.hadoop.datanucleus.schema.autoCreateAll true
spark.hadoop.hive.metastore.schema.verification false
spark.driver.extraJavaOptions {options}
"""

# A table without one of our columns and with another one, and a snapshot that was not finished.
# Then kafka.sh runs in the same session.
OLDER = """
import sys
from pyspark.sql import SparkSession, functions as f
from kafka_shell.app import main
from kafka_shell.audit.tables import TABLES
session = SparkSession.builder.master("local[2]").getOrCreate()
fields = session.createDataFrame([], TABLES["topics"].ddl).schema
columns = [f.lit(None).cast(each.dataType).alias(each.name) for each in fields]
row = session.range(1).select(*columns).drop("topic_id").withColumns({
    "snapshot_id": f.lit("20990101T000000.000Z-0000"), "of_a_newer_version": f.lit("a")})
session.sql("CREATE DATABASE lakehouse")
row.write.partitionBy("snapshot_id", "cluster").saveAsTable("lakehouse.topics")
"""
# Each table costs seconds in Derby, and all are written alike: these are kept.
FEW = """
import sys
from kafka_shell.app import main
from kafka_shell.audit.tables import TABLES
KEPT = {"clusters", "topics", "topic_configs", "broker_configs", "partitions", "collection_status"}
for name in TABLES.keys() - KEPT:
    del TABLES[name]
sys.exit(main())
"""


def run(program: Sequence[str], folder: Path, bootstrap: str, *lines: str) -> list[Any]:
    """The answers of a script that kafka.sh runs in a process of its own."""
    done = subprocess.run(
        [sys.executable, *program, "--broker", bootstrap, "--output", "json"],
        input="\n".join(lines), text=True, capture_output=True, timeout=300, check=False,
        cwd=folder, env=os.environ | {"SPARK_CONF_DIR": str(folder), "KAFKA_SH_HOME": str(folder)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    decoder, rest, answers = json.JSONDecoder(), done.stdout.strip(), []
    while rest:
        answer, end = decoder.raw_decode(rest)
        answers.append(answer)
        rest = rest[end:].strip()
    return answers


def test_snapshots_in_a_catalog(demo_sandbox: Sandbox, tmp_path: Path) -> None:
    """They outlive the session. The rows of one that was not written to its end are ignored, and a
    table of an older version gets the columns that it does not have."""
    (tmp_path / "spark-defaults.conf").write_text(
        METASTORE.format(folder=tmp_path, options=short_jvm.options())
    )
    first, second = run(
        ("-c", OLDER + FEW),
        tmp_path,
        demo_sandbox.bootstrap,
        f"spark snapshot {SCHEMA} --no-findings",
        f"spark snapshot {SCHEMA}",
    )
    assert first["folder"] == SCHEMA and first["rows"]["topics"] > 40
    ids = [{"snapshot_id": each["snapshot_id"]} for each in (first, second)]
    counted = "spark sql 'select count(*) as n, count(topic_id) as ids from topics' --snapshot"
    newest, one, rows, drifts, findings, partitions = run(
        ("-c", FEW),
        tmp_path,
        demo_sandbox.bootstrap,
        f"{NEWEST} {SCHEMA}",
        f"{NEWEST} {SCHEMA}@{first['snapshot_id']}",
        f"{counted} {SCHEMA}",
        f"spark diff {SCHEMA}@{first['snapshot_id']} {SCHEMA}",
        f"spark trend findings --snapshot {SCHEMA}",
        f"spark trend partitions --snapshot {SCHEMA}",
    )
    assert ([newest], [one]) == ([ids[1:]], [ids[:1]])
    assert rows == [{"n": second["rows"]["topics"], "ids": second["rows"]["topics"]}]
    assert drifts == []
    assert {row["state"] for row in findings} == {"open"}
    assert [(row["name"], row["snapshots"]) for row in partitions] == [("partitions", 2)]


def test_a_catalog_in_memory_is_refused(shell: Shell) -> None:
    run = shell("spark snapshot catalog:audits --no-findings")
    assert run.status == 1 and "would be lost" in run.err, str(run)
    run = shell("spark trend --snapshot catalog:audits")
    assert run.status == 1 and "no complete snapshot in catalog:audits" in run.err, str(run)
