"""Stores of snapshots: addresses, and the tables of a Spark catalog."""

from __future__ import annotations

import pytest

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


def test_a_catalog_in_memory_is_refused(shell: Shell) -> None:
    run = shell("spark snapshot catalog:audits --no-findings")
    assert run.status == 1 and "would be lost" in run.err, str(run)
    run = shell("spark trend --snapshot catalog:audits")
    assert run.status == 1 and "no complete snapshot in catalog:audits" in run.err, str(run)


def test_a_catalog_of_an_older_version_has_no_snapshots(shell: Shell, engine: Engine) -> None:
    engine.session.sql("CREATE NAMESPACE older")
    engine.session.sql("CREATE TABLE older.snapshots USING parquet AS SELECT 'a' AS snapshot_id")
    try:
        run = shell("spark trend --snapshot catalog:older")
    finally:
        engine.session.sql("DROP NAMESPACE older CASCADE")
    assert run.status == 1 and "no complete snapshot in catalog:older" in run.err, str(run)
