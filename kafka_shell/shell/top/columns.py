"""The columns of the live views: what they show, how wide they are, and what they sort by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from kafka_shell.commands.activity import render
from kafka_shell.commands.activity.spec import BROKERS, GROUPS, TOPICS
from kafka_shell.commands.groups.render import change, lag_cell, state, time_lag
from kafka_shell.output.tables import Cell
from kafka_shell.output.text import text

GAP = 2
TREND, NOTE = "TREND", "NOTE"
_NAME_USUAL, _NAME_MOST = 40, 64
_TREND_LEAST, _TREND_MOST = 8, 40
_NOTE_LEAST = 20


class LiveColumn(Struct, frozen=True):
    """A column of `width` cells. `value` is what it is sorted by; numbers start with the largest.

    `rank` decides what is left out on a narrow terminal: the highest first.
    """

    heading: str
    width: int
    cell: Callable[[Any], Cell]
    value: Callable[[Any], Any] | None = None
    right: bool = True
    rank: int = 0

    @property
    def descending(self) -> bool:
        """Whether it is sorted from the largest to the smallest."""
        return self.right


def key_of(row: Any) -> str:
    """The name of a row: a topic, a group or the ID of a broker."""
    return str(row.id) if hasattr(row, "id") else str(row.name)


def trend_of(view: str, row: Any) -> float | None:
    """The value of a row that its sparkline shows: records per second, or the lag of a group."""
    value: float | None = row.lag if view == GROUPS else row.records_per_s
    return value


def note_of(view: str, row: Any) -> str:
    """Why a row is not complete."""
    if view == TOPICS:
        return str(row.note)
    if view == GROUPS:
        return render.group_note(row)
    if row.not_measured:
        return f"{row.not_measured:,} of {row.leaders:,} partitions not measured"
    return ""


def _name(heading: str, width: int = 14) -> LiveColumn:
    return LiveColumn(
        heading, width, lambda row: text(key_of(row), "name"), _name_value, right=False, rank=-1
    )


def _name_value(row: Any) -> Any:
    return row.id if hasattr(row, "id") else row.name


def _records(rank: int) -> LiveColumn:
    return LiveColumn("RECORDS/S", 11, _rate, lambda row: row.records_per_s, rank=rank)


def _rate(row: Any) -> Cell:
    return render.rate(row.records_per_s, getattr(row, "not_measured", 0))


def _bytes(rank: int) -> LiveColumn:
    return LiveColumn(
        "BYTES/S", 12, lambda row: render.bytes_rate(row.bytes_per_s, row.bytes_not_measured),
        lambda row: row.bytes_per_s, rank=rank,
    )  # fmt: skip


def _size(rank: int) -> LiveColumn:
    return LiveColumn("SIZE", 10, _size_cell, lambda row: row.size, rank=rank)


def _size_cell(row: Any) -> Cell:
    return render.size(row.size, getattr(row, "size_not_read", 0))


def _count(heading: str, field: str, rank: int) -> LiveColumn:
    def value(row: Any) -> Any:
        return getattr(row, field)

    return LiveColumn(heading, len(heading) + 1, value, value, rank=rank)


def _state(width: int, rank: int) -> LiveColumn:
    return LiveColumn(
        "STATE", width, lambda row: state(row.state), lambda row: row.state, False, rank
    )


def _trend(rank: int) -> LiveColumn:
    return LiveColumn(TREND, _TREND_LEAST, lambda row: None, rank=rank)


def _note(view: str) -> LiveColumn:
    return LiveColumn(
        NOTE, _NOTE_LEAST, lambda row: text(note_of(view, row), "warning"), right=False, rank=9
    )


COLUMNS: dict[str, tuple[LiveColumn, ...]] = {
    TOPICS: (
        _name("TOPIC"), _records(0), _bytes(1), _trend(3), _size(4), _count("PARTITIONS",
        "partitions", 5), _note(TOPICS),
    ),
    GROUPS: (
        _name("GROUP"),
        LiveColumn("LAG", 13, lambda row: lag_cell(row.lag), lambda row: row.lag, rank=0),
        LiveColumn("CHANGE/S", 10, change, lambda row: row.change_per_s, rank=1),
        LiveColumn("CATCH-UP", 9, render.catch_up, lambda row: row.catch_up_s, rank=2),
        _trend(4),
        LiveColumn("TIME-LAG", 10, time_lag, lambda row: row.time_lag_ms, rank=3),
        _state(12, 5),
        _records(6),
        _count("MEMBERS", "members", 7),
        _count("PARTITIONS", "partitions", 8),
        _note(GROUPS),
    ),
    BROKERS: (
        _name("BROKER", 8),
        _state(11, 0),
        _count("LEADERS", "leaders", 1),
        LiveColumn("IN-SYNC", 8, render.in_sync, lambda row: row.in_sync, rank=2),
        _bytes(3),
        _records(4),
        _trend(5),
        _size(6),
        _count("REPLICAS", "replicas", 7),
        LiveColumn("RACK", 12, lambda row: row.rack, lambda row: row.rack or "", False, 8),
        _note(BROKERS),
    ),
}  # fmt: skip
DEFAULT_SORT = {TOPICS: "RECORDS/S", GROUPS: "LAG", BROKERS: "BROKER"}


def sortable(view: str) -> list[LiveColumn]:
    """The columns that a view can be sorted by."""
    return [column for column in COLUMNS[view] if column.value is not None]


def lay_out(view: str, width: int, name: int, note: int) -> list[tuple[LiveColumn, int]]:
    """The columns that fit, with their widths. `name` and `note` are the widths of the longest name
    and note; without notes their column is left out."""
    first, *others = COLUMNS[view]
    chosen = {first: min(first.width, width)}
    room = width - chosen[first]
    for column in sorted(others, key=lambda live_column: live_column.rank):
        if column.heading == NOTE and not note:
            continue
        if column.width + GAP > room:
            break
        chosen[column] = column.width
        room -= column.width + GAP
    name = max(len(first.heading) + 1, name)
    preferred = (
        (first.heading, min(name, _NAME_USUAL)),
        (NOTE, note),
        (first.heading, min(name, _NAME_MOST)),
        (TREND, _TREND_MOST),
    )
    for heading, wanted in preferred:
        for column in [live_column for live_column in chosen if live_column.heading == heading]:
            grown = min(room, max(0, wanted - chosen[column]))
            chosen[column] += grown
            room -= grown
    return [(column, chosen[column]) for column in COLUMNS[view] if column in chosen]


def arrange(
    view: str, rows: Sequence[Any], wanted: str, column: str, *, reverse: bool
) -> tuple[Any, ...]:
    """The rows that have all words of `wanted` in their names, sorted; unknown values last."""
    words = wanted.lower().split()
    matching = [row for row in rows if all(word in key_of(row).lower() for word in words)]
    by = next(live_column for live_column in sortable(view) if live_column.heading == column)
    value = by.value
    assert value is not None
    matching.sort(key=lambda row: str(key_of(row)))
    known = [row for row in matching if value(row) is not None]
    known.sort(key=value, reverse=by.descending != reverse)
    return (*known, *(row for row in matching if value(row) is None))
