"""Configs of one or more resources: a heading a resource, its table, documentation below a key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ..nouns import ConfigEntry
from .columns import CONFIG, KEY
from .tables import lay_out
from .text import Text, paragraphs, text

INDENT = 4
PROSE = 88  # documentation is prose: no wider than eyes read well


def config_pages(entries: Sequence[ConfigEntry], width: int | None) -> Iterator[Text]:
    """All entries, grouped by resource where there are several."""
    groups = [(r, tuple(g)) for r, g in groupby(entries, lambda entry: entry.resource)]
    for number, (resource, group) in enumerate(groups):
        if number:
            yield Text()
        if len(groups) > 1:
            yield text(str(resource), "heading")
        yield from config_table(group, width)


def config_table(entries: Sequence[ConfigEntry], width: int | None) -> Iterator[Text]:
    """One resource's configs; where keys leave no room for values, each key on a line above."""
    layout = lay_out((KEY, *CONFIG), entries, width=width)
    stacked = width is not None and layout.width > width
    if stacked:
        layout = lay_out(CONFIG, entries, width=(width or 0) - INDENT)
        yield lay_out((KEY,), ()).heading()
        yield _indented(layout.heading())
    else:
        yield layout.heading()
    for entry in entries:
        if stacked:
            yield text(entry.name, "key")
            yield from map(_indented, layout.row(entry))
        else:
            yield from layout.row(entry)
        if entry.documentation:
            yield from documentation(entry.documentation, width)


def documentation(prose: str, width: int | None) -> Iterator[Text]:
    """A key's documentation, wrapped and indented."""
    room = max(20, min(PROSE, (width or PROSE) - INDENT))
    for line in paragraphs(prose, room, "dim"):
        yield _indented(line)


def _indented(line: Text) -> Text:
    return text(" " * INDENT) + line
