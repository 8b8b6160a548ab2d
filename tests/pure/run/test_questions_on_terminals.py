"""Plans that are confirmed on a terminal, and run at once without one."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.base.errors import ShellError
from kafka_shell.output.outcomes import next_lines
from tests.support.recorded_execution import make_recorded_execution


@pytest.mark.parametrize(
    ("kind", "field", "names", "asked"),
    [
        ("rollback-file", "", ["r"], True),
        ("replica", "log directory", ["t:0 on broker 1"], True),
        ("topic", "partitions", ["t"], True),
        ("partition", "leader", ["a:0", "b:0"], True),
        ("partition", "leader", ["a:0", "a:1"], False),
        ("topic", "segment.ms", ["a", "b"], False),
    ],
)
def test_moves_ask_only_on_a_terminal(
    tmp_path: Path, kind: str, field: str, names: list[str], asked: bool
) -> None:
    execution = make_recorded_execution(tmp_path, answers=["n"])
    plan = execution.plan(*(execution.step(name, kind=kind, fields=(field,)) for name in names))
    if asked:
        with pytest.raises(ShellError, match="not confirmed: nothing was changed"):
            execution.run(plan)
    else:
        assert execution.run(plan).ok
    assert ("send" in execution.did()) is not asked
    assert execution.run(plan, yes=True).ok
    assert make_recorded_execution(tmp_path, answers=None).run(plan).ok


def test_the_start_of_a_move_prints_how_to_continue(tmp_path: Path) -> None:
    execution = make_recorded_execution(tmp_path, answers=None)
    plan = execution.plan(execution.step("orders:0", kind="partition"), resume="how it goes")
    lines = [line.plain for line in next_lines(execution.run(plan))]
    assert lines == ["to continue: how it goes"]
