"""What `top` draws: the lines of a screen of any size. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from kafka_shell.base.results import Failure
from kafka_shell.base.units import approximate_rate, counted
from kafka_shell.commands.activity.spec import GROUPS
from kafka_shell.output.tables import NOTHING
from kafka_shell.output.text import Text, cut, join, pad, text
from kafka_shell.shell.top.columns import GAP, NOTE, TREND, LiveColumn, key_of, lay_out, note_of
from kafka_shell.shell.top.keys import help_line
from kafka_shell.shell.top.state import TopState

_SLOW_S = 2.0  # a measurement that takes longer is mentioned


class Screen(Struct, frozen=True):
    """Lines from top to bottom; a plain string is a line of another command, with its colors.

    `selected` is the number of the line of the selected row, or None.
    """

    lines: tuple[Text | str, ...]
    selected: int | None = None


def body_rows(state: TopState, height: int) -> int:
    """The number of rows between the heading and the last line."""
    head = 2 if state.page is None else 1
    return max(1, height - head - bool(_status(state, 0.0)) - 1)


def draw(state: TopState, width: int, height: int, now: float) -> Screen:
    """The lines of the screen: as many as its height, none wider than its width. `now` is the
    time of a monotonic clock."""
    room = body_rows(state, height)
    status = [line] if (line := _status(state, now)) else []
    if state.page is not None:
        shown = state.page.lines[state.page.top : state.page.top + room]
        top: list[Text | str] = [_page_title(state), *shown]
        return _fitted(top, _last_line(state, width, ""), width, height)
    layout = lay_out(state.view, width, *state.widest)
    start = state.index // room * room
    rows = state.shown[start : start + room]
    head = [_title(state, width, now), *status, _heading(state, layout)]
    body = [_row(state, layout, row) for row in rows] or [text(_nothing(state), "dim")]
    at = len(head) + state.index - start if rows else None
    return _fitted(
        [*head, *body], _last_line(state, width, _note(state, layout)), width, height, at
    )


def _fitted(
    lines: Iterable[Text | str], last: Text, width: int, height: int, selected: int | None = None
) -> Screen:
    """The lines cut to the screen, with the last line at its bottom."""
    cut_lines = [line if isinstance(line, str) else cut(line, width) for line in lines]
    if height > 1:
        cut_lines = cut_lines[: height - 1]
        cut_lines += [Text()] * (height - 1 - len(cut_lines))
        cut_lines.append(cut(last, width))
    kept = tuple(cut_lines[:height])
    return Screen(kept, selected if selected is not None and selected < height - 1 else None)


# -- the head --------------------------------------------------------------------------------------


def _title(state: TopState, width: int, now: float) -> Text:
    """The view, the cluster and its totals; on the right the time. What does not fit is left out,
    from the right to the left."""
    right = text(_progress(state, now), "dim")
    facts = [text(f"top {state.view}", "heading"), text(state.cluster), *_totals(state)]
    while len(facts) > 1 and join("  ", facts).width + GAP + right.width > width:
        del facts[1 if len(facts) == 2 else -1]
    left = join("  ", facts)
    if left.width + GAP + right.width > width:
        return left
    return pad(left, width - right.width) + right


def _progress(state: TopState, now: float) -> str:
    if state.paused:
        return state.paused
    if state.began and now - state.began > max(_SLOW_S, 2 * state.interval):
        return f"measuring for {now - state.began:.0f} s"
    every = f"every {state.interval:g} s"
    return f"{every}  {state.clock}" if state.clock else f"{every}  measuring"


def _totals(state: TopState) -> list[Text]:
    measurement = state.measurement
    if measurement is None:
        return []
    count = counted(len(measurement.rows), state.view.removesuffix("s"))
    if state.filter:
        count = f"{len(state.shown):,} of {count}"
    if state.view == GROUPS:
        lags = [row.lag for row in measurement.rows if row.lag is not None]
        partial = "+" if any(row.lag is None or row.unknown for row in measurement.rows) else ""
        return [text(count), text(f"lag {sum(lags):,}{partial}" if lags else "")]
    records = _sum(row.records_per_s for row in measurement.rows)
    size = _sum(row.bytes_per_s for row in measurement.rows)
    partial = "+" if any(row.not_measured for row in measurement.rows) else ""
    more = "+" if any(row.bytes_not_measured for row in measurement.rows) else ""
    return [
        text(count),
        text("" if records is None else f"{records:,.0f}{partial} records/s"),
        text("" if size is None else f"{approximate_rate(size)}{more}"),
    ]


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _status(state: TopState, now: float) -> Text:
    """What is missing: the failure of the measurement, of brokers, or the note of the row."""
    if state.error:
        return text(f"not measured: {state.error}", "bad")
    failures = state.measurement.failures if state.measurement is not None else {}
    if failures:
        said = [f"{about}: {_reason(why)}" for about, why in failures.items()]
        return text("; ".join(dict.fromkeys(said)), "warning")
    return Text()


def _reason(why: Failure) -> str:
    """The missing permission, or what happened."""
    return why.hint if why.requires else why.message


def _heading(state: TopState, layout: list[tuple[LiveColumn, int]]) -> Text:
    cells = []
    for column, width in layout:
        name = column.heading
        if name == state.sort[state.view]:
            down = column.descending != state.reverse
            name += "▼" if down else "▲"
        cells.append(pad(cut(text(name, "heading"), width), width, _align(column)))
    return join(" " * GAP, cells)


# -- the rows --------------------------------------------------------------------------------------


def _row(state: TopState, layout: list[tuple[LiveColumn, int]], row: Any) -> Text:
    cells = [
        pad(cut(_cell(state, column, width, row), width), width, _align(column))
        for column, width in layout
    ]
    return join(" " * GAP, cells)


def _cell(state: TopState, column: LiveColumn, width: int, row: Any) -> Text:
    if column.heading == TREND:
        history = state.histories[state.view]
        return pad(text(history.sparkline(key_of(row), width), "value"), width, "right")
    value = column.cell(row)
    if isinstance(value, Text):
        return value or (Text() if column.heading == NOTE else NOTHING)
    return NOTHING if value is None or value == "" else text(str(value))


def _align(column: LiveColumn) -> Any:
    return "right" if column.right else "left"


def _nothing(state: TopState) -> str:
    if state.measurement is None:
        return "" if state.error else "measuring"
    if state.filter:
        return f"no {state.view} match the filter"
    return f"no {state.view} ({state.view} without DESCRIBE permission are hidden)"


# -- the last line, and a page ---------------------------------------------------------------------


def _note(state: TopState, layout: list[tuple[LiveColumn, int]]) -> str:
    """The note of the selected row, where there is no room for the column of notes."""
    if state.row is None or any(column.heading == NOTE for column, _ in layout):
        return ""
    return note_of(state.view, state.row)


def _last_line(state: TopState, width: int, note: str) -> Text:
    if state.typing:
        return text("/") + text(state.filter) + text("█")
    if state.page is not None:
        return text("Up and Down scroll  Esc back", "hint")
    if note:
        return text(f"{key_of(state.row)}: {note}", "warning")
    kept = f"/{state.filter}  Esc remove filter  " if state.filter else ""
    return text(kept, "key") + text(help_line(max(0, width - len(kept))), "hint")


def _page_title(state: TopState) -> Text:
    assert state.page is not None
    return text(state.page.title, "heading")
