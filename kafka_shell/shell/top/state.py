"""The state of the screen of `top`. Keys and measurements return a new one."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import isnan, nan
from typing import Any

from msgspec import Struct, field

from kafka_shell.base.structs import replace
from kafka_shell.commands.activity.run import Measurement
from kafka_shell.commands.activity.spec import TOPICS, VIEWS
from kafka_shell.output.text import text
from kafka_shell.shell.top.columns import DEFAULT_SORT, arrange, key_of, note_of, sortable, trend_of

# The last measurements of each row, as sparklines.

LENGTH = 120  # measurements: four minutes, two seconds apart
_BLOCKS = "▁▂▃▄▅▆▇█"
_UNKNOWN = " "
_MOST_EACH = 4  # measurements in a cell: a narrow line shows less time, not less detail


class History:
    """The last values of the rows of one view. A row that is gone is forgotten."""

    def __init__(self) -> None:
        self._values: dict[str, array[float]] = {}
        self._added = 0

    def add(self, values: Iterable[tuple[str, float | None]]) -> None:
        """Add one measurement: the value of each row, None if unknown."""
        kept: dict[str, array[float]] = {}
        for name, value in values:
            row = self._values.get(name)
            if row is None:
                row = array("f")
            elif len(row) == LENGTH:
                del row[0]
            row.append(nan if value is None else value)
            kept[name] = row
        self._values = kept
        self._added += 1

    def sparkline(self, name: str, width: int) -> str:
        """The values of a row in at most `width` cells, newest last; a blank is an unknown value.

        A cell is the mean of some measurements. Which ones are in a cell together does not change
        with time, so that the line moves and does not flicker.
        """
        row = self._values.get(name)
        if not row or width <= 0:
            return ""
        each = min(_MOST_EACH, -(-LENGTH // width))
        cells = _means(row, each, newest=(self._added - 1) % each + 1)[-width:]
        top = max((cell for cell in cells if not isnan(cell)), default=0.0)
        return "".join(_UNKNOWN if isnan(cell) else _level(cell, top) for cell in cells)


def _means(values: Sequence[float], each: int, newest: int) -> list[float]:
    """The means of groups of `each` values, of which the last has the `newest` ones."""
    ends = range(len(values) - newest, 0, -each)
    bounds = [0, *reversed(ends), len(values)]
    return [_mean(values[begin:end]) for begin, end in pairwise(bounds)]


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not isnan(value)]
    return sum(known) / len(known) if known else nan


def _level(value: float, top: float) -> str:
    if value <= 0 or top <= 0:
        return _BLOCKS[0]
    most = len(_BLOCKS) - 1
    return _BLOCKS[min(most, max(1, round(value / top * most)))]


class Page(Struct, frozen=True):
    """A text over the view: the description of a row, or the keys. `lines` may contain colors."""

    title: str
    lines: tuple[str, ...] = ()
    top: int = 0


class TopState(Struct, frozen=True):
    """What is on the screen. `shown` are the rows of the last measurement that match the filter,
    sorted, and `widest` the widths of their longest name and note. `selected` is the name of a row,
    or empty for the first one.

    `measurement` is None before the first one, `clock` its time, and `error` why the last one
    failed. `began` is when the one in progress began (monotonic seconds), 0 for none. `paused` is
    the reason for a pause, or empty. `request` is what the loop does next: quit, interrupt, suspend
    or describe.
    """

    view: str = TOPICS
    cluster: str = ""
    interval: float = 2.0
    measurement: Measurement | None = None
    shown: tuple[Any, ...] = ()
    widest: tuple[int, int] = (0, 0)
    error: str = ""
    clock: str = ""
    began: float = 0.0
    paused: str = ""
    filter: str = ""
    typing: bool = False
    sort: Mapping[str, str] = field(default_factory=lambda: dict(DEFAULT_SORT))
    reverse: bool = False
    selected: str = ""
    page: Page | None = None
    request: str = ""
    histories: Mapping[str, History] = field(
        default_factory=lambda: {view: History() for view in VIEWS}
    )

    @property
    def index(self) -> int:
        """The position of the selected row."""
        if not self.selected:
            return 0
        return next((n for n, row in enumerate(self.shown) if key_of(row) == self.selected), 0)

    @property
    def row(self) -> Any:
        """The selected row, or None."""
        return self.shown[self.index] if self.shown else None


def measured(state: TopState, measurement: Measurement, clock: str) -> TopState:
    """The state with a measurement; one of a view that was left is ignored."""
    if measurement.view != state.view:
        return state
    history = state.histories[measurement.view]
    history.add((key_of(row), trend_of(measurement.view, row)) for row in measurement.rows)
    return arranged(replace(state, measurement=measurement, error="", clock=clock, began=0.0))


def arranged(state: TopState) -> TopState:
    """The state with its rows filtered and sorted again."""
    rows = state.measurement.rows if state.measurement is not None else ()
    shown = arrange(state.view, rows, state.filter, state.sort[state.view], reverse=state.reverse)
    name = max((text(key_of(row)).width for row in shown), default=0)
    note = max((text(note_of(state.view, row)).width for row in shown), default=0)
    return replace(state, shown=shown, widest=(name, note))


# -- keys ------------------------------------------------------------------------------------------


def move(state: TopState, by: int) -> TopState:
    """Select another row, or scroll the page."""
    if state.page is not None:
        last = max(0, len(state.page.lines) - 1)
        return replace(state, page=replace(state.page, top=min(max(0, state.page.top + by), last)))
    if not state.shown:
        return state
    index = min(max(0, state.index + by), len(state.shown) - 1)
    return replace(state, selected=key_of(state.shown[index]) if index else "")


def switch(state: TopState, view: str) -> TopState:
    """Show another view."""
    if view == state.view:
        return state
    return arranged(
        replace(
            state,
            view=view,
            measurement=None,
            error="",
            filter="",
            selected="",
            reverse=False,
            page=None,
            clock="",
            began=0.0,
        )
    )


def next_view(state: TopState, by: int = 1) -> TopState:
    """Show the next view."""
    return switch(state, VIEWS[(VIEWS.index(state.view) + by) % len(VIEWS)])


def sort_next(state: TopState, by: int = 1) -> TopState:
    """Sort by the next column."""
    headings = [column.heading for column in sortable(state.view)]
    chosen = headings[(headings.index(state.sort[state.view]) + by) % len(headings)]
    return arranged(replace(state, sort={**state.sort, state.view: chosen}, reverse=False))


def close(state: TopState) -> TopState:
    """Close the page, else remove the filter."""
    if state.page is not None:
        return replace(state, page=None)
    return arranged(replace(state, filter="", typing=False))


def type_filter(state: TopState, typed: str) -> TopState:
    """Add text to the filter."""
    return arranged(replace(state, filter=state.filter + typed, selected=""))


def erase(state: TopState) -> TopState:
    """Remove the last character of the filter, or leave an empty one."""
    if not state.filter:
        return replace(state, typing=False)
    return arranged(replace(state, filter=state.filter[:-1], selected=""))
