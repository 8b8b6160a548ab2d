"""Tables: aligned columns, upper-case headings, two spaces between, `-` for no value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any, Literal

from msgspec import Struct

from kafka_shell.base.plans import Secret
from kafka_shell.base.structs import replace
from kafka_shell.output.text import Role, Text, cut, cut_start, hang, text, wrap

Cell = Text | str | int | None
GAP = "  "
NOTHING = Text((("dim", "-"),))
NAME = 16  # names are not wrapped to fewer cells


class Column(Struct, frozen=True):
    """A column and the function that returns its cell of a row. None and "" are printed as `-`.

    If the terminal is too narrow, headings are broken at hyphens. Then columns with
    `overflow="drop"` are dropped, last first, and a line below the table names them. Then columns
    with `overflow` "cut", "cut-start" or "wrap" are narrowed, but not below their heading or
    `least`. If there are none, other left-aligned columns but keys are narrowed, widest first:
    names are wrapped, other text is cut.
    """

    heading: str
    cell: Callable[[Any], Cell]
    align: Literal["left", "right"] = "left"
    role: Role = ""
    overflow: Literal["", "cut", "cut-start", "wrap", "drop"] = ""
    least: int = 8


class Layout(Struct, frozen=True):
    """Columns with their widths; renders the heading and the rows."""

    columns: tuple[Column, ...]
    widths: tuple[int, ...]
    dropped: tuple[Column, ...] = ()

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
        return list(self._lines([[text(each, "heading") for each in row] for row in pieces]))

    def row(self, row: object) -> list[Text]:
        """The lines of a row; several if a cell is wrapped."""
        cells = [
            _fitted(column, cells_wide, cell_of(column, row))
            for column, cells_wide in zip(self.columns, self.widths, strict=True)
        ]
        return list(self._lines(cells))

    def footer(self, width: int | None) -> Iterator[Text]:
        """A line that names the dropped columns, if any."""
        if self.dropped:
            headings = ", ".join(column.heading for column in self.dropped)
            yield from hang(text(f"hidden (narrow terminal): {headings}", "dim"), width, 2)

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
    contents = [max([0, *(cell_of(column, row).width for row in rows)]) for column in kept]
    dropped = _drop_columns(kept, contents, width) if width is not None else []
    widths = _widths(kept, contents, width)
    if width is not None and _excess(widths, width) > 0:
        _narrow(kept, widths, width)
    return Layout(tuple(kept), tuple(widths), tuple(dropped))


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
    yield from layout.footer(width)


def _has_value(column: Column, row: object) -> bool:
    value = column.cell(row)
    return bool(value) if isinstance(value, Text) else value is not None and value != ""


def _fitted(column: Column, room: int, cell: Text) -> list[Text]:
    if cell.width <= room:
        return [cell]
    if column.overflow == "wrap":
        return wrap(cell, room)
    if column.overflow == "cut-start":
        return [cut_start(cell, room)]
    return [cut(cell, room)] if column.overflow == "cut" else [cell]


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


def _excess(widths: Sequence[int], room: int) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1) - room


def _drop_columns(columns: list[Column], contents: list[int], room: int) -> list[Column]:
    """Drop columns until the table fits, as far as possible; return them in order."""
    dropped: list[Column] = []
    for index in reversed(range(1, len(columns))):
        if _excess(_widths(columns, contents, room), room) <= 0:
            break
        if columns[index].overflow == "drop":
            dropped.insert(0, columns.pop(index))
            del contents[index]
    return dropped


def _widths(columns: Sequence[Column], contents: list[int], room: int | None) -> list[int]:
    """The widths of the columns; if the table is too wide, its headings are broken."""
    for width_of in (len, lambda heading: max(map(len, _pieces(heading)))):
        widths = [
            max(width_of(column.heading), cells)
            for column, cells in zip(columns, contents, strict=True)
        ]
        if room is None or _excess(widths, room) <= 0:
            break
    return widths


def _narrow(columns: list[Column], widths: list[int], room: int) -> None:
    """Narrow columns until the table fits, as far as possible."""
    giving = [n for n, column in enumerate(columns) if column.overflow not in ("", "drop")]
    if not giving:
        giving = [
            n for n, column in enumerate(columns) if column.align == "left" and column.role != "key"
        ]
        giving.sort(key=lambda each: -widths[each])
        for index in giving:
            columns[index] = _narrowed(columns[index], first=index == 0)
    for index in giving:
        excess = _excess(widths, room)
        if excess <= 0:
            return
        least = max(columns[index].least, len(columns[index].heading))
        widths[index] -= min(excess, max(0, widths[index] - least))


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


def _narrowed(column: Column, *, first: bool) -> Column:
    """The column with what identifies a row wrapped, because a name cut short may be that of
    another row; and other text cut."""
    if column.role == "name":
        return replace(column, overflow="wrap", least=max(column.least, NAME))
    return replace(column, overflow="wrap" if first else "cut")


# The renderers of a model, declared in the render module of its family.
#
# A render module may declare, by type of the model: COLUMNS (table columns), PAGES (a page for one
# model), SEQUENCES (a page for several models), ROWS (the CSV rows of a model).

Page = Callable[[Any, int | None], Iterator[Text]]
SequencePage = Callable[[Sequence[Any], int | None], Iterator[Text]]
Rows = Callable[[Any], Iterable[object]]


class Renderers(Struct, frozen=True):
    """Finds renderers in the module that `module_of` returns for a type of model, if any."""

    module_of: Callable[[type], ModuleType | None]

    def columns(self, kind: type) -> tuple[Column, ...] | None:
        """The table columns declared for this model, or None."""
        declared: tuple[Column, ...] | None = self._declared("COLUMNS", kind)
        return declared

    def page(self, kind: type) -> Page | None:
        """The function that renders this model as a page, or None."""
        declared: Page | None = self._declared("PAGES", kind)
        return declared

    def sequence(self, kind: type) -> SequencePage | None:
        """The function that renders several of this model together, or None."""
        declared: SequencePage | None = self._declared("SEQUENCES", kind)
        return declared

    def rows(self, kind: type) -> Rows | None:
        """The function that returns the CSV rows of this model, or None."""
        declared: Rows | None = self._declared("ROWS", kind)
        return declared

    def _declared(self, table: str, kind: type) -> Any:
        return getattr(self.module_of(kind), table, {}).get(kind)


NO_RENDERERS = Renderers(lambda kind: None)
