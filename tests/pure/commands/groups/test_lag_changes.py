"""A repeated lag of one group shows the change in each partition."""

from __future__ import annotations

from typing import Any

from kafka_shell.admin.groups.model import Group, GroupKey, GroupOffset, GroupType
from kafka_shell.base.results import Results
from kafka_shell.commands.groups.describe import with_changes
from kafka_shell.commands.groups.render import COLUMNS
from kafka_shell.output.tables import draw_table


def _groups(*lags: int) -> Results[GroupKey, Group]:
    rows = tuple(
        GroupOffset("g", "t", number, 100 - lag, 100, lag) for number, lag in enumerate(lags)
    )
    return Results({"g": Group("g", GroupType.CLASSIC, "Stable", "", "", 1, offsets=rows)})


def _heading(groups: Results[GroupKey, Group]) -> str:
    return next(draw_table(COLUMNS[GroupOffset], groups.values["g"].offsets or ())).plain


def test_the_second_run_has_changes() -> None:
    previous: dict[str, Any] = {}
    first = with_changes(_groups(5, 7), 10.0, ["g"], previous)
    assert [row.change_per_s for row in first.values["g"].offsets or ()] == [None, None]
    assert "CHANGE/S" not in _heading(first)
    second = with_changes(_groups(4, 7), 12.0, ["g"], previous)
    shrinks, same = (row.change_per_s for row in second.values["g"].offsets or ())
    assert (shrinks, same) == (-0.5, 0)
    assert "CHANGE/S" in _heading(second)


def test_a_single_run_has_no_changes() -> None:
    groups = _groups(5)
    assert with_changes(groups, 10.0, ["g"], None) is groups
