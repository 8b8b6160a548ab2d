"""`check-restart`: output and exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_shell.admin.cluster.restart.model import (
    Reason,
    RestartCheck,
    RestartChecks,
    Verdict,
)
from kafka_shell.commands.cluster.restart_render import checks_page
from kafka_shell.sandbox.state import Sandbox
from tests.support.in_process_shell import Shell


@pytest.fixture
def three_shell(three_brokers: Sandbox, tmp_path: Path) -> Shell:
    return Shell(tmp_path, three_brokers.bootstrap)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("check-restart 1 --plan", "--plan is for all brokers"),
        ("check-restart --wait", "--wait requires broker IDs"),
        ("check-restart 1 --wait --each", "--each cannot be used with --wait"),
    ],
)
def test_options_that_exclude_one_another(shell: Shell, line: str, message: str) -> None:
    run = shell(line)
    assert (run.status, run.out) == (2, ""), str(run)
    assert message in run.err


@pytest.mark.quick
def test_a_broker_that_does_not_exist(shell: Shell) -> None:
    run = shell("check-restart 99")
    assert run.status == 1
    assert "broker 99 does not exist" in run.err


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


@pytest.mark.quick
def test_a_narrow_page_stays_within_the_width() -> None:
    reason = Reason(Verdict.UNSAFE, "offline", "4 partitions would have no leader: " + "x " * 40, 4,
                    ("orders:0", "orders:1", "orders:2"))  # fmt: skip
    checks = tuple(
        RestartCheck((id,), Verdict.UNSAFE, 10, 30, 1, 1, id == 2, (reason,)) for id in (1, 2)
    )
    for found in (RestartChecks(checks[:1]), RestartChecks(checks)):
        lines = [line.plain.rstrip() for line in checks_page(found, 60)]
        assert max(map(len, lines)) <= 60, lines
        assert "orders:0, orders:1, orders:2 and 1 more" in "\n".join(lines)
    assert any(line.startswith("UNSAFE    all checked brokers: ") for line in lines)
