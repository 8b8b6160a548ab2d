"""`check-restart`: output and exit status."""

from __future__ import annotations

import pytest

from kafka_shell.admin.cluster.restart.judge import Reason, RestartCheck, RestartChecks, Verdict
from kafka_shell.commands.cluster.restart_render import checks_page
from tests.support.in_process_shell import Shell


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


def test_a_broker_that_does_not_exist(shell: Shell) -> None:
    run = shell("check-restart 99")
    assert run.status == 1
    assert "broker 99 does not exist" in run.err


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
