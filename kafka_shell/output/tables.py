"""Tables: aligned columns, upper-case headings, two spaces between, `-` for no value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct

from kafka_shell.plan.model import Secret

from .text import Role, Text, cut, text, wrap

Cell = Text | str | int | None
GAP = "  "
NOTHING = Text((("dim", "-"),))


class Column(Struct, frozen=True):
    """A column and the function that returns its cell of a row. None and "" are printed as `-`.

    If the terminal is too narrow, columns with `overflow="drop"` are dropped, last first. Then
    columns with `overflow` "cut" or "wrap" are narrowed (default: the last left-aligned one is
    cut), but not below their heading or `least`. Then headings are broken at hyphens.
    """

    heading: str
    cell: Callable[[Any], Cell]
    align: Literal["left", "right"] = "left"
    role: Role = ""
    overflow: Literal["", "cut", "wrap", "drop"] = ""
    least: int = 8


class Layout(Struct, frozen=True):
    """Columns with their widths; renders the heading and the rows."""

    columns: tuple[Column, ...]
    widths: tuple[int, ...]

    @property
    def width(self) -> int:
        """The width of a line in cells."""
        return sum(self.widths) + len(GAP) * (len(self.widths) - 1)

    def heading(self) -> list[Text]:
        """The heading, on several lines if a heading is wider than its column."""
        pieces = [
            _broken(column.heading, cells_wide)
            for column, cells_wide in zip(self.columns, self.widths, strict=True)
        ]
        return list(self._lines([[text(each, "heading") for each in found] for found in pieces]))

    def row(self, row: object) -> list[Text]:
        """The lines of a row; several if a cell is wrapped."""
        cells = [
            _fitted(column, cells_wide, cell_of(column, row))
            for column, cells_wide in zip(self.columns, self.widths, strict=True)
        ]
        return list(self._lines(cells))

    def _lines(self, cells: Sequence[Sequence[Text]]) -> Iterator[Text]:
        for line in range(max(map(len, cells))):
            yield self._line([cell[line] if line < len(cell) else Text() for cell in cells])

    def _line(self, cells: Sequence[Text]) -> Text:
        parts: list[tuple[Role, str]] = []
        gap = ""
        for column, cells_wide, cell in zip(self.columns, self.widths, cells, strict=True):
            space = " " * (cells_wide - cell.width)
            if column.align == "left":
                parts += (("", gap), *cell.parts, ("", space))
            else:
                parts += (("", gap + space), *cell.parts)
            gap = GAP
        return Text(tuple([part for part in parts if part[1]]))


def lay_out(
    columns: Sequence[Column],
    rows: Sequence[object],
    *,
    width: int | None = None,
    keep_empty: bool = False,
) -> Layout:
    """The layout for these rows. Columns that are empty in all rows are left out."""
    kept = [
        column
        for column in columns
        if keep_empty or not rows or any(_has_value(column, row) for row in rows)
    ] or list(columns[:1])
    widths = [
        max([len(column.heading), *(cell_of(column, row).width for row in rows)]) for column in kept
    ]
    if width is not None:
        _narrow(kept, widths, width)
        _break_headings(kept, widths, width, rows)
    return Layout(tuple(kept), tuple(widths))


def draw_table(
    columns: Sequence[Column],
    rows: Sequence[object],
    *,
    width: int | None = None,
    keep_empty: bool = False,
) -> Iterator[Text]:
    """The heading and the rows; nothing without rows."""
    if not rows:
        return
    layout = lay_out(columns, rows, width=width, keep_empty=keep_empty)
    yield from layout.heading()
    for row in rows:
        yield from layout.row(row)


def _has_value(column: Column, row: object) -> bool:
    value = column.cell(row)
    return bool(value) if isinstance(value, Text) else value is not None and value != ""


def _fitted(column: Column, room: int, cell: Text) -> list[Text]:
    if column.overflow not in ("cut", "wrap") or cell.width <= room:
        return [cell]
    return [cut(cell, room)] if column.overflow == "cut" else wrap(cell, room)


def cell_of(column: Column, row: object) -> Text:
    """The cell of a row; `-` if empty. Raises TypeError for a Secret."""
    value = column.cell(row)
    if isinstance(value, Secret):
        raise TypeError("a Secret cannot be printed")
    if isinstance(value, Text):
        return value or NOTHING
    if value is None or value == "":
        return NOTHING
    return text(str(value), column.role)


def _narrow(columns: list[Column], widths: list[int], room: int) -> None:
    """Drop and narrow columns until the table fits, as far as possible."""
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - room
    for index in reversed(range(1, len(columns))):
        if excess > 0 and columns[index].overflow == "drop":
            excess -= widths[index] + len(GAP)
            del columns[index], widths[index]
    if excess <= 0:
        return
    giving = [index for index, column in enumerate(columns) if column.overflow in ("cut", "wrap")]
    if not giving:
        left = [n for n, column in enumerate(columns) if n and column.align == "left"]
        if not left:
            return
        giving = left[-1:]
        columns[giving[0]] = _cutting(columns[giving[0]])
    for index in giving:
        least = max(columns[index].least, len(columns[index].heading))
        removed = min(excess, max(0, widths[index] - least))
        widths[index] -= removed
        excess -= removed


def _break_headings(
    columns: list[Column], widths: list[int], room: int, rows: Sequence[object]
) -> None:
    """Narrow columns whose headings are wider than their cells, widest first."""
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - room
    if excess <= 0:
        return
    minimum = {}
    for index, column in enumerate(columns):
        longest = max(map(len, _pieces(column.heading)))
        minimum[index] = max([longest, *(cell_of(column, row).width for row in rows)])
    for index in sorted(minimum, key=lambda each: minimum[each] - widths[each]):
        if excess > 0 and minimum[index] < widths[index]:
            excess -= widths[index] - minimum[index]
            widths[index] = minimum[index]


def _pieces(heading: str) -> list[str]:
    """`LOG-END-OFFSET` as `LOG-`, `END-`, `OFFSET`."""
    return [*(f"{piece}-" for piece in heading.split("-")[:-1]), heading.split("-")[-1]]


def _broken(heading: str, room: int) -> list[str]:
    """The heading broken into lines that fit."""
    lines = [""]
    for piece in _pieces(heading):
        if lines[-1] and len(lines[-1]) + len(piece) > room:
            lines.append("")
        lines[-1] += piece
    return lines


def _cutting(column: Column) -> Column:
    from kafka_shell.common.structs import replace

    return replace(column, overflow="cut")
