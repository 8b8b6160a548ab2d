"""Differences between the tables of a real cluster and altered ones."""

from __future__ import annotations

import pytest

from kafka_shell.audit import drift
from kafka_shell.audit.collection import Collection
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.tables import TABLES
from kafka_shell.sandbox.state import Sandbox
from tests.support import cluster_tables
from tests.support.cluster_tables import ClusterTables


def collection(engine: Engine, tables: ClusterTables) -> Collection:
    """These tables as a collection."""
    frames = {name: engine.session.createDataFrame(each) for name, each in tables.tables.items()}
    return Collection("now", 0, ("c",), frames, {})


def test_defaults_of_brokers_are_not_compared(demo_sandbox: Sandbox, engine: Engine) -> None:
    """They depend on the version."""
    now = cluster_tables.read(demo_sandbox.bootstrap, ["clusters", "broker_configs"])
    rows = now.rows("broker_configs")
    assert {"default", "static_broker"} <= {row["source"] for row in rows}
    changed = {"log.cleaner.backoff.ms": "default", "log.dirs": "static_broker"}
    other = [row | {"value": "other"} if row["key"] in changed else row for row in rows]
    assert {row["key"]: row["source"] for row in rows if row["key"] in changed} == changed
    before, after = (
        collection(engine, each) for each in (now, now.altered("broker_configs", other))
    )
    found, complete = drift.between(before, after, TABLES)
    assert [(each.field, each.after) for each in found] == [("log.dirs", "other")] and complete


def test_only_the_first_of_many_differences_are_returned(
    demo_sandbox: Sandbox, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drift, "MOST_ROWS", 3)
    now = cluster_tables.read(demo_sandbox.bootstrap, ["clusters", "acls"])
    before, after = (collection(engine, each) for each in (now, now.altered("acls", [])))
    found, complete = drift.between(before, after, TABLES)
    assert [each.change for each in found] == ["vanished"] * 3 and not complete
