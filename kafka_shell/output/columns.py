"""The table columns of a model, and parts of its page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any

from msgspec import Struct

from kafka_shell.base.structs import fields
from kafka_shell.output.data import plain
from kafka_shell.output.tables import NO_RENDERERS, NOTHING, Cell, Column, Renderers, cell_of
from kafka_shell.output.text import Text, hang, pad, text, wrap


def columns_of(row: object, renderers: Renderers = NO_RENDERERS) -> tuple[Column, ...]:
    """The columns of a row: the declared ones, or one per field."""
    declared = renderers.columns(type(row))
    if declared is not None:
        return declared
    if isinstance(row, Struct):
        return tuple(_field_column(name, getattr(row, name)) for name in fields(row))
    if isinstance(row, dict):
        return tuple(_key_column(str(key), key) for key in row)
    return (Column("VALUE", lambda value: _plain_cell(value)),)


def _field_column(name: str, sample: object) -> Column:
    number = isinstance(sample, int | float) and not isinstance(sample, bool | Enum)
    heading = name.replace("_", "-").upper()
    return Column(
        heading, lambda row: _plain_cell(getattr(row, name)), "right" if number else "left"
    )


def _key_column(heading: str, key: object) -> Column:
    return Column(heading.upper(), lambda row: _query_cell(row.get(key)))


def _query_cell(value: object) -> Cell:
    """A value of a query: false is not null, and a value with parts is JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    nested = isinstance(value, list) and any(
        item is None or isinstance(item, dict | list) for item in value
    )
    if nested or isinstance(value, dict):
        import json

        return json.dumps(plain(value), ensure_ascii=False)
    if isinstance(value, list):
        return ",".join(str(_query_cell(item)) for item in value)
    return _plain_cell(value)


def _plain_cell(value: object) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else None
    if value is None or isinstance(value, str | Text):
        return value
    if isinstance(value, Enum):
        return value.name.lower()
    if isinstance(value, int):
        return value
    if isinstance(value, tuple | list | set | frozenset):
        return ",".join(str(_plain_cell(item)) for item in value)
    if type(value).__name__ == "Secret":
        raise TypeError("a Secret cannot be printed")
    return str(value)


# Parts of pages: a summary line, and a model as `field  value` lines.


def summary(width: int | None, *facts: Text | str) -> Iterator[Text]:
    """The facts on one line, three spaces apart; wrapped if needed."""
    line = Text()
    for fact in facts:
        piece = text(fact) if isinstance(fact, str) else fact
        if piece and line and width is not None and line.width + 3 + piece.width > width:
            yield from hang(line, width, 4)
            line = Text()
            piece = text("  ") + piece
        if piece:
            line = line + ("   " if line else "") + piece
    yield from hang(line, width, 4)


def labeled_lines(
    label: Text, column: int, summary: str, examples: Sequence[str], count: int, width: int | None
) -> Iterator[Text]:
    """The label, `column` cells wide, and next to it a summary and the names of examples, of so
    many."""
    room = max(20, (width or 10_000) - column)
    lines = wrap(text(summary), room)
    if examples:
        more = count - len(examples)
        names = ", ".join(examples) + (f" and {more:,} more" if more > 0 else "")
        lines += wrap(text(names, "name"), room)
    for number, line in enumerate(lines):
        yield pad(Text() if number else label, column) + line


def facts_page(model: Any, width: int | None) -> Iterator[Text]:
    """A model as `field  value` lines, without empty fields."""
    pairs = [(column.heading.lower(), cell_of(column, model)) for column in columns_of(model)]
    shown = [(name, value) for name, value in pairs if value is not NOTHING]
    room = max([0, *(len(name) for name, _ in shown)])
    for name, value in shown:
        yield from hang(pad(text(name, "key"), room + 2) + value, width, room + 2)
