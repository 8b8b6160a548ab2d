"""What `top` draws: the lines of a screen of any size. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct

from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.base.units import approximate_rate, counted
from kafka_shell.commands.activity.spec import GROUPS
from kafka_shell.output.tables import NOTHING
from kafka_shell.output.text import Text, cut, join, pad, text
from kafka_shell.shell.top import state as states
from kafka_shell.shell.top.columns import GAP, NOTE, TREND, LiveColumn, key_of, lay_out, note_of
from kafka_shell.shell.top.state import Page, TopState

Act = Callable[[TopState, int], TopState]


class Key(Struct, frozen=True):
    """Keys by their names in prompt_toolkit. `act` returns the new state for the state and the
    number of rows on the screen. `short` is their text in the last line, if they are in it."""

    keys: tuple[str, ...]
    label: str
    about: str
    act: Act
    short: str = ""


def _request(what: str) -> Act:
    return lambda state, rows: replace(state, request=what)


def _quit(state: TopState, rows: int) -> TopState:
    return states.close(state) if state.page is not None else replace(state, request="quit")


def _pause(state: TopState, rows: int) -> TopState:
    return replace(state, paused="" if state.paused else "paused")


def _help(state: TopState, rows: int) -> TopState:
    return replace(state, page=Page("keys of top", help_lines()))


def _start_filter(state: TopState, rows: int) -> TopState:
    return replace(state, typing=True, page=None)


def _reverse(state: TopState, rows: int) -> TopState:
    return states.arranged(replace(state, reverse=not state.reverse))


def _describe(state: TopState, rows: int) -> TopState:
    if state.page is not None:
        return states.close(state)
    return replace(state, request="describe") if state.row is not None else state


def _to_end(state: TopState, rows: int) -> TopState:
    return states.move(state, len(state.page.lines if state.page else state.shown))


def _to_start(state: TopState, rows: int) -> TopState:
    if state.page is not None:
        return replace(state, page=replace(state.page, top=0))
    return replace(state, selected="")


KEYS: tuple[Key, ...] = (
    Key(("q", "c-d"), "q", "quit, or close a page", _quit, "quit"),
    Key(("c-c", "<sigint>"), "Ctrl-C", "quit", _request("interrupt")),
    Key(("tab",), "Tab", "next view: topics, groups, brokers",
        lambda state, rows: states.next_view(state), "view"),
    Key(("s-tab",), "Shift-Tab", "previous view",
        lambda state, rows: states.next_view(state, -1)),
    Key(("s", "right"), "s, Right", "sort by the next column",
        lambda state, rows: states.sort_next(state), "sort"),
    Key(("S", "left"), "S, Left", "sort by the previous column",
        lambda state, rows: states.sort_next(state, -1)),
    Key(("r",), "r", "reverse the order", _reverse, "reverse"),
    Key(("/",), "/", "filter by parts of the name; Esc removes the filter", _start_filter,
        "filter"),
    Key(("enter",), "Enter", "describe the selected row", _describe, "describe"),
    Key((" ",), "Space", "pause and resume", _pause, "pause"),
    Key(("escape",), "Esc", "close a page, or remove the filter",
        lambda state, rows: states.close(state)),
    Key(("up", "k"), "Up, k", "previous row", lambda state, rows: states.move(state, -1)),
    Key(("down", "j"), "Down, j", "next row", lambda state, rows: states.move(state, 1)),
    Key(("pageup",), "PgUp", "previous page", lambda state, rows: states.move(state, -rows)),
    Key(("pagedown",), "PgDn", "next page", lambda state, rows: states.move(state, rows)),
    Key(("home", "g"), "Home, g", "first row", _to_start),
    Key(("end", "G"), "End, G", "last row", _to_end),
    Key(("c-z",), "Ctrl-Z", "suspend, and stop measuring", _request("suspend")),
    Key(("?", "h", "f1"), "?, h, F1", "show the keys", _help, "keys"),
)  # fmt: skip


def help_lines() -> tuple[str, ...]:
    """All keys, one per line."""
    width = max(len(key.label) for key in KEYS) + 2
    return tuple(f"{key.label:<{width}}{key.about}" for key in KEYS)


def help_line(width: int) -> str:
    """The most important keys, as many as fit."""
    shown = [f"{key.label.partition(',')[0]} {key.short}" for key in KEYS if key.short]
    while len(shown) > 1 and len("  ".join(shown)) > width:
        del shown[-2]  # how to see all keys is kept
    return "  ".join(shown)[:width]


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
