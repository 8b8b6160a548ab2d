"""One Spark session and one shell in this process for all tests of audits."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.audit import control, drift, report
from kafka_shell.audit.collection import STATUS
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.tables import TABLES
from kafka_shell.context import Resources
from kafka_shell.sandbox.state import Sandbox
from tests.support.in_process_shell import Shell
from tests.support.places import CONTROLS


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Spark on this machine's cores."""
    started = Engine(tmp_path_factory.mktemp("spark"), lambda task, done, total: None)
    yield started
    started.stop()


@pytest.fixture
def shell(demo_sandbox: Sandbox, engine: Engine, tmp_path: Path) -> Shell:
    """The demo company's cluster."""
    return Shell(tmp_path, demo_sandbox.bootstrap, Resources(spark=engine))


def keep_few_controls(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Keep only a few of the controls of the program: commands without --controls evaluate all."""
    kept = folder / "few-controls"
    kept.mkdir()
    for name in ("S01", "T03", "T13", "T05", "T22"):
        shutil.copy(CONTROLS / f"{name}.sql", kept)
    patch.setattr(control, "_FOLDER", kept)


@pytest.fixture
def few_controls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep only a few of the controls of the program."""
    keep_few_controls(monkeypatch, tmp_path)


@pytest.fixture
def few_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Collect only tables that are compared or drawn: each costs Spark time in every snapshot."""
    trends = {"partitions", "log_dirs", "reassignments"}
    for name in TABLES.keys() - trends - {"clusters", STATUS, *drift.KEYS, *report.TABLES}:
        monkeypatch.delitem(TABLES, name)
