"""`check-restart`: output and exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_shell.sandbox.state import Sandbox
from tests.support.in_process_shell import Shell


@pytest.fixture
def three_shell(three_brokers: Sandbox, tmp_path: Path) -> Shell:
    return Shell(tmp_path, three_brokers.bootstrap)


def test_one_broker_of_three_and_two_of_three(three_shell: Shell) -> None:
    three_shell.ok("create-topic restart.page --partitions 3 --replication-factor 3"
                   " --config min.insync.replicas=2")  # fmt: skip
    try:
        one = three_shell("check-restart 1 --output json")
        (check,) = json.loads(one.out)["checks"]
        assert check["brokers"] == [1]
        assert "restart.page" not in one.out, "other tests may have left topics"
        assert one.status == (check["verdict"] != "safe")
        two = three_shell("check-restart 1 2")
        assert two.status == 1
        assert two.out.startswith("brokers 1, 2: unsafe")
        assert "would be under min ISR" in two.out
        assert "the metadata quorum would lose its majority" in two.out
        each = three_shell("check-restart 1 2 --each --output csv")
        assert [row.split(",")[0] for row in each.out.splitlines()] == ["brokers", "1", "2"]
    finally:
        three_shell.ok("delete-topic restart.page --yes")


def test_the_order_has_each_broker_once(three_shell: Shell) -> None:
    run = three_shell("check-restart --plan --output json")
    order = json.loads(run.out)
    assert set(order) == {"batches", "checks", "left_out"}
    found = [id for batch in order["batches"] for id in batch]
    assert sorted(found + [each["broker"] for each in order["left_out"]]) == [1, 2, 3]
    assert run.status == bool(order["left_out"])
