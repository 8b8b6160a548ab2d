"""The screen of `top` for any state and size; its keys and sparklines."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.activity.model import BrokerActivity, GroupActivity, TopicActivity
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import Resource, replace
from kafka_shell.commands.activity.run import Measurement
from kafka_shell.commands.activity.spec import BROKERS, GROUPS, TOPICS, VIEWS
from kafka_shell.output.text import Text, width
from kafka_shell.shell.top import state as states
from kafka_shell.shell.top.columns import COLUMNS, key_of, lay_out, sortable
from kafka_shell.shell.top.screen import KEYS, body_rows, draw, help_line, help_lines
from kafka_shell.shell.top.state import LENGTH, History, TopState

RATES = st.none() | st.floats(0, 1e12)
COUNTS = st.integers(0, 1 << 50)
NAMES = st.text(max_size=80) | st.sampled_from(["orders", "\x1b[2J", "\u202e.x", "日本語" * 12])
ROWS: dict[str, st.SearchStrategy[Any]] = {
    TOPICS: st.builds(
        TopicActivity, NAMES, COUNTS, RATES, RATES, st.none() | COUNTS, st.integers(0, 3),
        st.sampled_from(["", "recreated", "1 of 2 partitions: no response from broker 3"]),
    ),
    GROUPS: st.builds(
        GroupActivity, NAMES, st.sampled_from(["Stable", "Empty", "x" * 40]),
        st.none() | COUNTS, COUNTS, st.none() | COUNTS, st.none() | st.floats(-1e9, 1e9), RATES,
        RATES, st.integers(0, 5), st.sampled_from(["", "NOT_COORDINATOR"]),
    ),
    BROKERS: st.builds(
        BrokerActivity, COUNTS, st.sampled_from(["up", "down", "not responding"]),
        st.none() | NAMES, COUNTS, COUNTS, COUNTS, RATES, RATES, st.none() | COUNTS,
        st.integers(0, 3),
    ),
}  # fmt: skip
FAILURES = st.dictionaries(
    st.builds(Resource, st.just("broker"), NAMES), NAMES.map(lambda name: Failure("x", name)),
    max_size=2,
)  # fmt: skip


def rows_of(view: str) -> st.SearchStrategy[list[Any]]:
    return st.lists(ROWS[view], max_size=30, unique_by=key_of)


@st.composite
def measurements(draw_: Any, view: str) -> Measurement:
    return Measurement(view, 2.0, tuple(draw_(rows_of(view))), draw_(FAILURES))


@st.composite
def screens(draw_: Any) -> TopState:
    """The state after some measurements and key presses."""
    view = draw_(st.sampled_from(VIEWS))
    state = TopState(view, cluster=draw_(NAMES))
    for _ in range(draw_(st.integers(0, 3))):
        state = states.measured(state, draw_(measurements(state.view)), "12:34:56")
        for key in draw_(st.lists(st.sampled_from(KEYS), max_size=4)):
            state = key.act(state, 10)
        if state.typing:
            state = states.type_filter(state, draw_(st.text(max_size=3)))
    return replace(state, error=draw_(st.sampled_from(["", "no broker answers"])))


@given(screens(), st.integers(1, 220), st.integers(1, 60))
def test_the_lines_fit_any_screen(state: TopState, columns: int, rows: int) -> None:
    screen = draw(state, columns, rows, 5.0)
    assert len(screen.lines) <= rows
    if rows > 1:
        assert len(screen.lines) == rows, "the last line is at the bottom"
    for line in screen.lines:
        plain = line.plain if isinstance(line, Text) else line
        assert plain.isprintable(), "no control character of a name reaches the terminal"
        if isinstance(line, Text):
            assert width(plain) <= columns, (columns, plain)
    if state.page is None and state.shown and screen.selected is not None:
        assert 0 < screen.selected < rows


@given(screens(), st.lists(st.sampled_from(KEYS), max_size=12), st.integers(1, 50))
def test_any_keys_leave_a_state_that_can_be_drawn(
    state: TopState, keys: list[Any], rows: int
) -> None:
    for key in keys:
        state = key.act(replace(state, request=""), rows)
        draw(state, 80, 24, 0.0)
        assert state.view in VIEWS
        assert 0 <= state.index <= max(0, len(state.shown) - 1)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("columns", [1, 20, 40, 60, 80, 120, 200])
def test_the_columns_fit(view: str, columns: int) -> None:
    layout = lay_out(view, columns, 30, 50)
    assert sum(cells for _, cells in layout) + 2 * (len(layout) - 1) <= columns
    if columns >= 60:
        assert len(layout) >= 4, "the figures that matter are there"
    if columns == 200:
        assert len(layout) == len(COLUMNS[view])


TOPIC_ROWS = (
    TopicActivity("orders", 3, 20.0, 5_000.0, 10, 0),
    TopicActivity("payments", 3, 300.0, 100.0, 20, 1, "1 of 3 partitions: no leader"),
    TopicActivity("audit", 3, None, None, None, 3, "recreated"),
)
TOP = states.measured(TopState(), Measurement(TOPICS, 2.0, TOPIC_ROWS), "12:00:00")


def names(state: TopState) -> list[str]:
    return [row.name for row in state.shown]


def press(state: TopState, *names: str) -> TopState:
    table = {name: key.act for key in KEYS for name in key.keys}
    for name in names:
        state = table[name](state, 10)
    return state


def test_sorting_puts_the_unknown_last() -> None:
    assert names(TOP) == ["payments", "orders", "audit"]
    assert names(press(TOP, "r")) == ["orders", "payments", "audit"]
    by_bytes = press(TOP, "s")
    assert by_bytes.sort[TOPICS] == "BYTES/S" and names(by_bytes) == ["orders", "payments", "audit"]
    assert names(press(TOP, "S")) == ["audit", "orders", "payments"], "by name"
    for view in VIEWS:
        assert TopState().sort[view] in [column.heading for column in sortable(view)]


def test_the_selected_row_is_kept_when_the_order_changes() -> None:
    state = press(TOP, "down")
    assert state.row.name == "orders"
    assert press(state, "s").row.name == "orders" and press(state, "s").index == 0
    assert press(state, "end").row.name == "audit" and press(state, "end", "home").index == 0
    assert press(TOP, "enter").request == "describe" and press(TOP, "q").request == "quit"


def test_a_filter_has_all_its_parts() -> None:
    typed = states.type_filter(press(TOP, "/"), "AY en")
    assert names(typed) == ["payments"]
    assert names(states.erase(typed)) == ["payments"]
    assert names(press(typed, "escape")) == names(TOP)
    nothing = states.type_filter(typed, "zzz")
    assert press(nothing, "enter").request == ""
    assert "no topics match the filter" in [line.plain for line in draw(nothing, 80, 9, 0).lines]  # type: ignore[union-attr]


def test_what_is_partly_known_is_marked() -> None:
    lines = [str(getattr(line, "plain", line)) for line in draw(TOP, 120, 12, 0.0).lines]
    assert "300+" in lines[2] and "no leader" in lines[2]
    assert lines[4].split()[:3] == ["audit", "-", "-"] and "recreated" in lines[4]
    assert "320+ records/s" in lines[0]
    narrow = [str(getattr(line, "plain", line)) for line in draw(TOP, 60, 15, 0.0).lines]
    assert "300+" in narrow[2] and len(narrow) == 15


def test_failures_are_above_the_table() -> None:
    failures = {Resource("broker", "3"): Failure("timeout", "no response within 4 s")}
    state = states.measured(TopState(), Measurement(TOPICS, 2.0, TOPIC_ROWS, failures), "12:00:00")
    lines = [str(getattr(line, "plain", line)) for line in draw(state, 60, 15, 0.0).lines]
    assert lines[1] == "broker 3: no response within 4 s"
    assert body_rows(state, 15) == body_rows(TOP, 15) - 1


def test_the_help_has_every_key_once() -> None:
    keys = [name for key in KEYS for name in key.keys]
    assert len(keys) == len(set(keys))
    assert len(help_lines()) == len(KEYS)
    for columns in range(200):
        assert len(help_line(columns)) <= columns
    assert help_line(60).endswith("? keys")


@given(
    st.lists(st.none() | st.floats(0, 1e9), min_size=1, max_size=3 * LENGTH), st.integers(0, 200)
)
def test_a_sparkline_fits_and_ends_with_the_newest(
    values: list[float | None], columns: int
) -> None:
    history = History()
    for value in values:
        history.add([("x", value), ("gone", 1.0)] if value is None else [("x", value)])
    line = history.sparkline("x", columns)
    assert len(line) <= columns
    assert set(line) <= set(" ▁▂▃▄▅▆▇█")
    history.add([])
    assert history.sparkline("x", columns) == "", "a row that is gone is forgotten"


def test_a_sparkline_moves_and_does_not_flicker() -> None:
    history = History()
    seen = []
    for number in range(40):
        history.add([("x", float(number % 7))])
        seen.append(history.sparkline("x", 30))
    assert seen[7] == seen[7].strip() and len(seen[39]) == 10, "four in a cell"
    assert seen[38][:-1] == seen[39][:-1], "only the last cell changes"
