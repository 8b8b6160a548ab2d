"""Faults that take a cluster down, planted on three brokers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from py4j import java_gateway, protocol

from kafka_shell.audit.engine import Engine
from kafka_shell.context import Resources
from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import connect
from tests.support.group_data import commit
from tests.support.in_process_shell import Shell
from tests.support.keyed_records import produce
from tests.support.sandbox_brokers import stop_broker

# What somebody does wrong -> the findings.
FAULTS = {
    "create-topic _schemas {copies} --config cleanup.policy=delete": [("T31", "_schemas")],
    "create-topic connect-offsets {copies} --config cleanup.policy=delete": [
        ("T31", "connect-offsets")
    ],
    "alter-configs __consumer_offsets cleanup.policy=delete --yes": [("T31", "__consumer_offsets")],
    "alter-configs --broker-id 2 log.retention.ms=600000 --yes": [
        ("B11", "broker 2 log.retention.ms")
    ],
    "alter-acls --add 'allow User:ANONYMOUS Write on topic orders'": [
        ("S05", "allow User:ANONYMOUS Write on topic orders")
    ],
    "alter-acls --add 'allow User:* All on topic orders'": [
        ("S05", "allow User:* All on topic orders")
    ],
    "alter-acls --add 'allow User:app Alter on cluster'": [
        ("S18", "allow User:app Alter on cluster")
    ],
    "alter-quotas --user app consumer_byte_rate=10": [("Q07", "user app consumer_byte_rate")],
    "create-topic small {copies} --config max.message.bytes=1000": [("T33", "small")],
    "create-topic lossy {copies} --config unclean.leader.election.enable=true": [("T05", "lossy")],
    "create-topic short {copies} --config retention.ms=60000": [("T13", "short")],
    "create-topic alone --replication-factor 1": [("T01", "alone")],
    "create-topic blocked {copies} --config min.insync.replicas=3": [("T03", "blocked")],
}
COPIES = "--replication-factor 3"
LATE = ("G09", "group late orders:0")
OFFLINE = ("B24", "broker 3")
NEARLY_A_DAY_MS = 23 * 3_600_000


@pytest.fixture
def shell(three_brokers: Sandbox, tmp_path: Path) -> Iterator[Shell]:
    engine = Engine(tmp_path / "spark", lambda task, done, total: None)
    yield Shell(tmp_path, three_brokers.bootstrap, Resources(spark=engine))
    engine.stop()
    # PySpark reads the answers of every JVM from then on, also those of the tests' own.
    java_gateway.get_return_value = protocol.get_return_value


def alarms(shell: Shell, *controls: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The alarms of an audit with these controls."""
    line = f"spark audit --output json --fail-on any --controls {','.join(controls)}"
    found = shell(line).json["findings"]
    return {(f["control"], f["resource"]): f for f in found if f["status"] == "alarm"}


def test_faults_are_found(shell: Shell, three_brokers: Sandbox) -> None:
    shell.ok(f"create-topic orders --partitions 1 {COPIES} --config retention.ms=1d")
    long_ago = int(time.time() * 1000) - NEARLY_A_DAY_MS
    produce(three_brokers.bootstrap, "orders", [b"k"] * 5, partition=0, at=long_ago)
    with connect(three_brokers) as cluster:
        commit(cluster, "late", "orders", 0)
    planted = {LATE, *(each for some in FAULTS.values() for each in some)}
    controls = {control for control, _ in planted}
    healthy = alarms(shell, *controls)
    assert LATE in healthy and not (planted - {LATE}) & healthy.keys()
    for line in FAULTS:
        shell.ok(line.format(copies=COPIES))
    found = alarms(shell, *controls)
    assert found.keys() - healthy.keys() >= planted - {LATE}
    stop_broker(three_brokers.folder, 3)
    down = alarms(shell, "B24", "T07", "T08", "T09")
    assert OFFLINE in down and "under-replicated" in down[OFFLINE]["reason"]
    others = {key: each["reason"] for key, each in down.items() if key[0] in ("T07", "T08", "T09")}
    assert not others, "B24 counts the partitions of the broker"
