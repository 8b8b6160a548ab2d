"""Parts of pages: a summary line, and a model as `field  value` lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kafka_shell.output.columns import columns_of
from kafka_shell.output.tables import NOTHING, cell_of
from kafka_shell.output.text import Text, hang, pad, text, wrap


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
