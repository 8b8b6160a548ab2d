"""`top` while a broker hangs: values that are not known are marked, and keys work."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import connect, described
from tests.support.in_process_shell import Answer, Shell
from tests.support.outages import frozen, silent
from tests.support.terminal import Open, cell, top
from tests.support.waiting import wait_for


def row_of(run: Answer, name: str) -> dict[str, Any]:
    (row,) = [row for row in run.json if row.get("name") == name or row.get("id") == name]
    return row


def test_a_silent_broker_is_marked(three_brokers: Sandbox, tmp_path: Path) -> None:
    topic, alone = f"top-{uuid4().hex[:6]}", f"top-{uuid4().hex[:6]}"
    shell = Shell(tmp_path, ",".join(three_brokers.bootstrap.split(",")[:2]))
    shell.ok(f"create-topic {topic} --replica-assignment 1,2,3")
    shell.ok(f"create-topic {alone} --replica-assignment 3")

    def led() -> bool:
        with connect(three_brokers) as cluster:
            return [p.leader for p in described(cluster, topic).partitions] == [1, 2, 3]

    wait_for("each broker leads a partition", led)
    with silent(three_brokers):
        run = shell("top --once --interval 500ms --output json --deadline 4s")
        brokers = shell("top brokers --once --interval 200ms --output json --deadline 4s")
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


def test_keys_work_while_brokers_hang(
    open_terminal: Open, three_brokers: Sandbox, tmp_path: Path
) -> None:
    terminal = top(open_terminal, three_brokers.bootstrap, "brokers", rows=20, columns=80)
    terminal.until(lambda: cell(terminal, "3", 1) == "up", "broker 3 up")
    with frozen(three_brokers, 3):
        terminal.until(lambda: cell(terminal, "3", 1) == "down", "broker 3 down")
        terminal.press("tab")
        terminal.sees("top topics", "RECORDS/S")
        terminal.type("?")
        terminal.sees("keys of top")
        terminal.press("escape")
        terminal.type("q")
        assert terminal.ends() == 0
