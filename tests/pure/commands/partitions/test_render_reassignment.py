"""Tables of moves, broker loads and throttles."""

from __future__ import annotations

import io
import json

import pytest

from kafka_shell.admin.partitions.model import (
    BrokerLoad,
    MoveSize,
    MoveState,
    MoveStatus,
    PartitionMove,
    Reassignment,
    Throttle,
)
from kafka_shell.base.outcome import Outcome
from kafka_shell.base.plans import Advice, Change, Effect, Plan, Resource
from kafka_shell.output import progress
from kafka_shell.output.change_kinds import undo_lines
from kafka_shell.output.outcomes import plan_lines
from kafka_shell.output.writer import Writer
from tests.support.samples import RENDERERS

MIB = 1 << 20
MOVE = Change(Resource("partition", "orders:0"), "alter", before="1,2", after="2,3")
FIGURES = (
    MoveSize(1, 1, 3 * MIB, 500_000, 7),
    BrokerLoad(1, "a", 10, 9, 4, 3, 30 * MIB, 27 * MIB, 0),
    BrokerLoad(3, None, 9, 10, 4, 4, None, None, 3 * MIB),
)


def drawn(value: object, format: str = "table") -> str:
    out = io.StringIO()
    Writer(out, io.StringIO(), format, renderers=RENDERERS).write(value)
    return out.getvalue()


def test_a_plan_shows_its_figures_below_its_changes() -> None:
    plan = Plan(Effect.CHANGE, (), unchanged=(MOVE,), advice=Advice(figures=FIGURES))
    text = "\n".join(line.plain for line in plan_lines(plan, (), RENDERERS))
    assert text == (
        "partition orders:0: 1,2 -> 2,3\n"
        "\n"
        "move   1 partition   1 replica to copy   3.0 MiB to copy   throttle 500kB/s"
        "   about 7s\n"
        "\n"
        "BROKER  RACK  REPLICAS  PREFERRED-LEADERS                 BYTES  TO-COPY\n"
        "     1  a      10 -> 9             4 -> 3  30.0 MiB -> 27.0 MiB        -\n"
        "     3  -      9 -> 10                  4                     -  3.0 MiB\n"
        "\n"
        "nothing to change"
    )


def test_a_plans_figures_are_data_too_and_a_plan_without_any_has_none() -> None:
    plan = Plan(Effect.CHANGE, (), advice=Advice(figures=FIGURES))
    data = json.loads(drawn(Outcome(plan, ()), "json"))
    assert data["figures"][0]["bytes"] == 3 * MIB
    assert data["figures"][1]["leaders_after"] == 3
    assert "figures" not in json.loads(drawn(Outcome(Plan(Effect.CHANGE, ()), ()), "json"))


def test_a_state_shows_partitions_and_leftover_throttles() -> None:
    rows = (
        PartitionMove("orders", 0, MoveStatus.IN_PROGRESS, 0, (2, 3, 1), (2, 3), MIB, 4 * MIB),
        PartitionMove("orders", 1, MoveStatus.FAILED, -1, (1,), (2,), note="nothing moves it"),
        PartitionMove("orders", 2, MoveStatus.COMPLETED, 1, (2,), (2,)),
    )
    left = (Throttle("broker 1", "leader.replication.throttled.rate", "5000000"),)
    state = MoveState(rows, left)
    assert not state.ok and not MoveState(rows[2:], left).ok and MoveState(rows[2:]).ok
    assert drawn(state) == (
        "TOPIC   PARTITION  STATUS       REPLICAS  TARGET  COPIED          NOTE\n"
        "orders          0  in progress  2,3,1     2,3     25% of 4.0 MiB  -\n"
        "orders          1  failed       1         2       -               nothing moves it\n"
        "orders          2  completed    2         2       -               -\n"
        "\n"
        "leftover throttles (to remove them, run verify-reassign-partitions --finish)\n"
        "RESOURCE  KEY                                VALUE\n"
        "broker 1  leader.replication.throttled.rate  5MB/s\n"
    )
    data = json.loads(drawn(state, "json"))
    assert [(row["status"], row["code"]) for row in data["partitions"]] == [
        ("in_progress", 0), ("failed", -1), ("completed", 1),
    ]  # fmt: skip


def test_a_running_move_is_never_at_100_percent() -> None:
    text = drawn((Reassignment("orders", 0, (2, 3, 1), (3,), (1,), 4 * MIB, 4 * MIB),))
    assert text.splitlines()[1].split() == ["orders", "0", "2,3,1", "3", "1", "99%", "of", "4.0",
                                            "MiB"]  # fmt: skip


def test_a_move_is_taken_back_by_its_rollback_file() -> None:
    file = Change(Resource("rollback-file", "/a b/x-rollback.json"), "create", after="1 partition")
    assert undo_lines([file, MOVE]) == (
        "reassign-partitions --reassignment-json-file '/a b/x-rollback.json'",
    )


def test_log_lines_show_the_remaining_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    err = io.StringIO()
    with progress.Progress(err) as report:
        for done in (0, 4_000_000, 12_000_000):
            report("Moving 1 partition", done, 16_000_000)
            now[0] += 20.0
    assert err.getvalue() == (
        "Moving 1 partition: 4.0M of 16.0M, 200k/s, 1m left\n"
        "Moving 1 partition: 12.0M of 16.0M, 300k/s, 13s left\n"
    )
