"""The data source as used by a notebook, and the tasks that Spark receives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_shell.audit.engine import Engine
from kafka_shell.audit.source import FORMAT
from kafka_shell.sandbox.state import Sandbox


def test_a_notebook_reads_the_tables_of_profiles(
    engine: Engine, demo_sandbox: Sandbox, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(
        f'[profiles.dev]\nbootstrap = "{demo_sandbox.bootstrap}"\n'
        '[profiles.gone]\nbootstrap = "127.0.0.1:1"\n'
    )
    engine.prepare_executors()  # registers the data source
    spark = engine.session

    def read(table: str, profile: str) -> Any:
        options = {"profile": profile, "table": table, "config_file": str(config)}
        return spark.read.format(FORMAT).options(**options).load()

    # The cluster that is not needed is not read: it would fail.
    chosen = read("partitions", "dev,gone").where("cluster = 'dev' and topic = 'orders.placed'")
    rows = chosen.select("cluster", "topic").distinct().collect()
    assert [tuple(row) for row in rows] == [("dev", "orders.placed")]
    assert read("topics", "dev").where("topic = 'no such topic'").count() == 0
    with pytest.raises(Exception, match="gone: "):
        read("topics", "gone").count()
    with pytest.raises(Exception, match="Did you mean topics"):
        read("topic", "dev").count()
