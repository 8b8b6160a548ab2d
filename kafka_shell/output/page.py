"""What pages are made of: a line of facts, a noun as `field  value` lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .columns import columns_of
from .tables import NOTHING, cell_of
from .text import Text, hang, pad, text

Page = Callable[[Any, int | None], Iterator[Text]]
Rows = Callable[[Any], Iterable[object]]


def summary(width: int | None, *facts: Text | str) -> Iterator[Text]:
    """Facts three spaces apart, so that the eye parts them; on more lines where they need it."""
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


def facts_page(noun: Any, width: int | None) -> Iterator[Text]:
    """Any noun as `field  value` lines; fields that are empty are left out."""
    pairs = [(column.heading.lower(), cell_of(column, noun)) for column in columns_of(noun)]
    shown = [(name, value) for name, value in pairs if value is not NOTHING]
    room = max([0, *(len(name) for name, _ in shown)])
    for name, value in shown:
        yield from hang(pad(text(name, "key"), room + 2) + value, width, room + 2)
