"""Config entries: whose a value is, what it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...nouns.config_table import ConfigTable
from ...nouns.configs import ConfigEntry, ConfigSource, ResourceType
from ..page import Page
from ..people import config_value
from ..tables import Column
from ..text import Text, text


def _value(entry: ConfigEntry) -> Text:
    if entry.sensitive:
        return text(config_value(entry), "sensitive")
    return text(config_value(entry), "override" if entry.overridden else "value")


def _source(entry: ConfigEntry) -> Text | None:
    """Whose the value is: `set here`, at the resource itself, or `Default`, `Static broker` ...

    Of a logger brokers call every level the logger's own, also one it inherits.
    """
    if entry.resource.type is ResourceType.BROKER_LOGGER:
        return None
    if entry.overridden:
        return text("set here", "override")
    words = entry.source.label.removesuffix(" config")
    return text(words, "default" if entry.source is ConfigSource.DEFAULT else "")


KEY = Column("KEY", lambda e: e.name, role="key")
CONFIG = (
    Column("VALUE", _value, give="wrap", least=16),
    Column("SOURCE", _source),
    Column("NOTE", lambda e: "read-only" if e.read_only else None, role="read-only"),
)
OVERRIDE = (Column("CONFIG", lambda e: e.name, role="key"), CONFIG[0])

COLUMNS: dict[type, tuple[Column, ...]] = {
    ConfigEntry: (Column("RESOURCE", lambda e: str(e.resource), role="name"), KEY, *CONFIG),
}


def _table(table: ConfigTable, width: int | None) -> Iterator[Text]:
    from ..kip248 import kip248_table

    return kip248_table(table, width)


def _pages(entries: Sequence[ConfigEntry], width: int | None) -> Iterator[Text]:
    from ..config_pages import config_pages

    return config_pages(entries, width)


PAGES: dict[type, Page] = {ConfigTable: _table}
SEQUENCES: dict[type, Callable[[Sequence[Any], int | None], Iterator[Text]]] = {
    ConfigEntry: _pages,
}
ROWS = {ConfigTable: lambda table: table.entries}
