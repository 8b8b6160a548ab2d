"""The keys of `top`: one table for the bindings, the last line of the screen, and the help."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from kafka_shell.base.structs import replace
from kafka_shell.shell.top import state as states
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
