"""No false alarms for topics of Connect, Streams, MirrorMaker and others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.audit.control import load
from kafka_shell.audit.engine import Engine
from kafka_shell.audit.model import AuditFinding
from kafka_shell.sandbox.state import Sandbox
from tests.support import cluster_tables, places, typical_topics
from tests.support.in_process_shell import Shell

CONTROLS = load(places.CONTROLS)


@pytest.fixture(scope="module")
def tables(
    sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[cluster_tables.ClusterTables]:
    """The tables of a cluster with typical topics, a Streams application and a Connect worker."""
    shell = Shell(tmp_path_factory.mktemp("home"), sandbox.bootstrap)
    try:
        typical_topics.create(sandbox, shell)
        yield cluster_tables.read(sandbox.bootstrap)
    finally:
        typical_topics.delete(shell)


def about(found: list[AuditFinding]) -> set[tuple[str, str]]:
    """The alarms on typical topics and what uses them."""
    names = (*typical_topics.TOPICS, "newapp", "copied-from-west")
    return {
        (each.control, each.resource)
        for each in found
        if each.status == "alarm" and any(name in each.resource for name in names)
    }


def test_what_is_normal_is_no_alarm(
    tables: cluster_tables.ClusterTables, engine: Engine, tmp_path: Path
) -> None:
    found = tables.judge(engine.session, tmp_path, CONTROLS.values())
    assert [each for each in found if each.status == "error"] == []
    alarms = {(control, name) for control, name in about(found) if control != "T01"}
    assert alarms == set()  # one broker can only keep one copy: T01
    shown = {(each.control, each.resource): each for each in found}
    fresh = shown["T29", "just.created"]
    assert fresh.status == "info" and "the creation time is unknown" in fresh.reason
    assert shown["G07", "group copied-from-west"].status == "info"
    assert shown["S08", "allow User:shop All on prefixed topic newapp-"].status == "info"
