"""`top --once` on real brokers: rates match the producers, and unknown values are marked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from kafka_shell.sandbox.cluster import wipe
from kafka_shell.sandbox.session import options_from, start_with_data
from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import connect, described
from tests.support.in_process_shell import Answer, Shell
from tests.support.outages import frozen
from tests.support.waiting import wait_for

MANY = 10_000


def row_of(run: Answer, name: str) -> dict[str, Any]:
    (row,) = [row for row in run.json if row.get("name") == name or row.get("id") == name]
    return row


def test_a_frozen_broker_is_marked(three_brokers: Sandbox, tmp_path: Path) -> None:
    topic, alone = f"top-{uuid4().hex[:6]}", f"top-{uuid4().hex[:6]}"
    shell = Shell(tmp_path, ",".join(three_brokers.bootstrap.split(",")[:2]))
    shell.ok(f"create-topic {topic} --replica-assignment 1,2,3")
    shell.ok(f"create-topic {alone} --replica-assignment 3")

    def led() -> bool:
        with connect(three_brokers) as cluster:
            return [p.leader for p in described(cluster, topic).partitions] == [1, 2, 3]

    wait_for("each broker leads a partition", led)
    with frozen(three_brokers, 3):
        run = shell("top --once --interval 500ms --output json")
        brokers = shell("top brokers --once --interval 200ms --output json")
    assert run.status == 1
    assert "broker 3" in run.err and "broker 1" not in run.err, run
    row = row_of(run, topic)
    assert (row["records_per_s"], row["not_measured"]) == (0, 1), row
    assert row["note"] in ("1 of 3 partitions: no response from broker 3",
                           "1 of 3 partitions: no leader"), row  # fmt: skip
    assert row_of(run, alone)["records_per_s"] is None, "not counted as zero"
    state = row_of(brokers, 3)
    assert state["state"] in ("not responding", "down") and state["size"] is None, state
    assert state["records_per_s"] is None
    assert row_of(brokers, 1)["state"] == "up"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Ten thousand topics on stand-in brokers."""
    folder = tmp_path_factory.mktemp("many")
    options = options_from(folder, port=0, topics=MANY, stand_in_brokers=3)
    try:
        yield start_with_data(options, lambda task, done, total: None, empty=True)
    finally:
        wipe(folder)


def test_ten_thousand_topics_are_measured(many: Sandbox, tmp_path: Path) -> None:
    shell = Shell(tmp_path, many.bootstrap)
    run = shell("top --once --interval 200ms --output json")
    rows = [row for row in run.json if "partitions" in row]
    assert len(rows) >= MANY
    led = [row for row in rows if row["note"] == "NOT_LEADER_OR_FOLLOWER"]
    assert len(led) >= MANY, "the stand-ins have no logs: nothing is counted as zero"
    assert all(row["records_per_s"] is None for row in led)
