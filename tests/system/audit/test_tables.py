"""The audit tables of real clusters: schemas, rows, and resources that cannot be read."""

from __future__ import annotations

from kafka_shell.sandbox.state import Sandbox
from tests.support import cluster_tables


def test_kafka_3_9_is_read_as_well(old_sandbox: Sandbox) -> None:
    tables = cluster_tables.read(old_sandbox.bootstrap)
    assert tables.failures == []
    assert tables.rows("quorum") and tables.rows("features")
