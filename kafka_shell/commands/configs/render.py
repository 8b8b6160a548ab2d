"""Tables of configs: a heading per resource, and the documentation below each key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

from msgspec import Struct

from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigSource, ResourceType
from kafka_shell.admin.quotas.model import Default, QuotaEntity
from kafka_shell.base.plans import Value
from kafka_shell.base.structs import replace
from kafka_shell.output.humanize import config_value
from kafka_shell.output.tables import GAP, Column, Layout, Page, draw_table, lay_out
from kafka_shell.output.text import Role, Text, pad, paragraphs, rstrip, text
from kafka_shell.output.text import width as cells

# What `config-command --describe` returns (KIP-248, KIP-649).


class ConfigTable(Struct, frozen=True):
    """The configs of one resource, printed with raw values in KIP-248's layout."""

    resource: ConfigResource
    entries: tuple[ConfigEntry, ...]


class ConfigLine(Struct, frozen=True):
    """The configs of one quota entity, printed as kafka-configs does.

    `what` starts the line: `Quota configs`, `SCRAM credential configs`.
    """

    what: str
    entity: QuotaEntity
    configs: dict[str, Value]


def _value(entry: ConfigEntry) -> Text:
    if entry.sensitive:
        return text(config_value(entry), "sensitive")
    return text(config_value(entry), "override" if entry.overridden else "value")


def _source(entry: ConfigEntry) -> Text | None:
    """Where the value is set: `topic` (on the resource itself), `default`, `static broker` ...

    None for loggers: brokers report inherited levels as set on the logger.
    """
    if entry.resource.type is ResourceType.BROKER_LOGGER:
        return None
    if entry.overridden:
        return text(entry.resource.kind, "override")
    return text(entry.source.words, "default" if entry.source is ConfigSource.DEFAULT else "")


KEY = Column("KEY", lambda e: e.name, role="key")
CONFIG = (
    Column("VALUE", _value, overflow="wrap", least=16),
    Column("SOURCE", _source),
    Column("NOTE", lambda e: "read-only" if e.read_only else None, role="read-only"),
)
OVERRIDE = (Column("CONFIG", lambda e: e.name, role="key"), CONFIG[0])


# -- pages -----------------------------------------------------------------------------------------

INDENT = 4
PROSE = 88  # cells; the widest line of documentation
VALUES = 20  # cells of the value column on a narrow terminal; fits the longest number
_FEW = 5  # one key in this many may be longer than its column

_VALUE, _SOURCE, _NOTE = CONFIG
_SHORT_SOURCE = replace(_SOURCE, overflow="cut")
# Columns to keep on a narrow terminal; the first set that fits is used.
_NARROWER = ((_VALUE, _SHORT_SOURCE, _NOTE), (_VALUE, _SHORT_SOURCE), (_VALUE,))


def config_pages(entries: Sequence[ConfigEntry], width: int | None) -> Iterator[Text]:
    """All entries, grouped by resource; as one table if each resource has a single entry."""
    groups = [(r, tuple(g)) for r, g in groupby(entries, lambda entry: entry.resource)]
    alone = 1 < len(groups) == len(entries)
    if alone and not any(entry.documentation for entry in entries):
        heading = entries[0].resource.kind.upper()
        name = Column(heading, lambda entry: entry.resource.name or "-", role="name")
        yield from draw_table((name, KEY, *CONFIG), entries, width=width)
        return
    for number, (resource, group) in enumerate(groups):
        if number:
            yield Text()
        if len(groups) > 1:
            yield text(str(resource), "heading")
        yield from _drawn(_RenderedAlike(group), width)


class _RenderedAlike:
    """The configs of one resource; equal if they render to the same table."""

    __slots__ = ("entries", "facts")

    def __init__(self, entries: Sequence[ConfigEntry]) -> None:
        self.entries = entries
        self.facts = (entries[0].resource.kind, *map(_facts, entries))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _RenderedAlike) and self.facts == other.facts

    def __hash__(self) -> int:
        return hash(self.facts)


def _facts(entry: ConfigEntry) -> object:
    """What the row of a config shows, except the resource."""
    return (entry.name, entry.value, entry.source, entry.read_only, entry.sensitive, entry.type,
            entry.documentation)  # fmt: skip


@lru_cache(maxsize=64)
def _drawn(configs: _RenderedAlike, width: int | None) -> tuple[Text, ...]:
    """The rendered table, cached: most topics of a large cluster have the same configs."""
    return tuple(map(rstrip, config_table(configs.entries, width)))


def config_table(entries: Sequence[ConfigEntry], width: int | None) -> Iterator[Text]:
    """The configs of one resource, one row each.

    On a narrow terminal the source and note columns are dropped first, then a few long keys are
    put on a line above their values; if most keys are too long, all of them are.
    """
    layout = lay_out((KEY, *CONFIG), entries, width=width)
    if width is not None and layout.width > width:
        layout = _narrow(entries, width) or _stacked(entries, width)
    yield from layout.heading()
    key_cells = layout.widths[0]
    for entry in entries:
        if cells(entry.name) > key_cells:
            yield text(entry.name, "key")
            below = Layout(layout.columns[1:], layout.widths[1:])
            yield from (text(" " * key_cells + GAP) + line for line in below.row(entry))
        else:
            yield from layout.row(entry)
        if entry.documentation:
            yield from documentation(entry.documentation, width)


def _narrow(entries: Sequence[ConfigEntry], width: int) -> Layout | None:
    """A layout in which all but a few keys fit; None if there is none."""
    for columns in _NARROWER:
        rest = lay_out(columns, entries)
        widths = [_least(*pair) for pair in zip(rest.columns, rest.widths, strict=True)]
        room = width - sum(widths) - len(GAP) * len(widths)
        keys = sorted(cells(entry.name) for entry in entries)
        fitting = [key for key in keys if key <= room]
        if fitting and (len(keys) - len(fitting)) * _FEW <= len(keys):
            key_cells = max(len(KEY.heading), fitting[-1])
            _widen(widths, rest.widths, room - key_cells)
            return Layout((KEY, *rest.columns), (key_cells, *widths))
    return None


def _widen(widths: list[int], natural: Sequence[int], left: int) -> None:
    """Widen the columns to their natural widths while cells are left, first column first."""
    for index, wanted in enumerate(natural):
        more = max(0, min(wanted - widths[index], left))
        widths[index] += more
        left -= more


def _least(column: Column, natural: int) -> int:
    if column.heading == _VALUE.heading:
        return min(natural, VALUES)
    return min(natural, column.least) if column.overflow == "cut" else natural


def _stacked(entries: Sequence[ConfigEntry], width: int) -> Layout:
    """A layout with each key on a line above its value."""
    rest = lay_out(CONFIG, entries, width=width - len(KEY.heading) - len(GAP))
    return Layout((KEY, *rest.columns), (len(KEY.heading), *rest.widths))


def documentation(prose: str, width: int | None) -> Iterator[Text]:
    """The documentation of a key, wrapped and indented."""
    room = max(20, min(PROSE, (width or PROSE) - INDENT))
    for line in paragraphs(prose, room, "dim"):
        yield _indented(line)


def _indented(line: Text) -> Text:
    return text(" " * INDENT) + line


def _table(table: ConfigTable, width: int | None) -> Iterator[Text]:
    return kip248_table(table, width)


def _lines(lines: Sequence[ConfigLine], width: int | None) -> Iterator[Text]:
    """The lines, without blank lines between them."""
    for line in lines:
        yield from config_line(line, width)


PAGES: dict[type, Page] = {ConfigTable: _table}
SEQUENCES: dict[type, Callable[[Sequence[Any], int | None], Iterator[Text]]] = {
    ConfigEntry: config_pages,
    ConfigLine: _lines,
}
ROWS = {ConfigTable: lambda table: table.entries}


# The output of `config-command --describe`, exactly as in KIP-248: raw values and labels.
#
# Users, client IDs and IPs are printed one per line, as in KIP-649 and kafka-configs.

MARGIN = 2
VALUE = 37  # in the KIP's sample the flags start 40 cells after the "="
SENSITIVE, READ_ONLY, SOURCE = "Sensitive", "Read-only", "Source"
SOURCE_WIDTH = len("Dynamic topic config")


def kip248_table(table: ConfigTable, width: int | None = None) -> Iterator[Text]:
    """The table of a resource's configs. Sensitive values are empty, as in Kafka."""
    del width  # the KIP's layout has one width
    names = max([len("Name"), *(text(entry.name).width for entry in table.entries)]) + MARGIN
    values = max([VALUE, *(text(entry.value or "").width for entry in table.entries)])
    sources = max([SOURCE_WIDTH, *(len(entry.source.label) for entry in table.entries)])
    yield text(f"   CONFIGS FOR {_title(table)}", "heading")
    yield Text()
    yield _heading(names, values, sources)
    for entry in table.entries:
        yield _line(entry, names, values, sources)


def _title(table: ConfigTable) -> str:
    kind = table.resource.kind.replace("-", " ").upper()
    return f"{kind} {table.resource.name}".rstrip()


def _heading(names: int, values: int, sources: int) -> Text:
    return text(
        f"{'Name':>{names}}   {'Value':<{values}}  {SENSITIVE}  {READ_ONLY} {SOURCE:>{sources}}",
        "heading",
    )


def _line(entry: ConfigEntry, names: int, values: int, sources: int) -> Text:
    role: Role = "override" if entry.overridden else ""
    return (
        pad(text(entry.name, "key"), names, "right")
        + text(" = ")
        + pad(text(entry.value or "", role), values)
        + "  "
        + _flag(entry.sensitive, SENSITIVE, "sensitive")
        + "  "
        + _flag(entry.read_only, READ_ONLY, "read-only")
        + " "
        + pad(text(entry.source.label, role or "default"), sources, "right")
    )


def _flag(value: bool, heading: str, role: Role) -> Text:
    """`true` or `false` centered under its heading, as in the KIP's sample."""
    word = "true" if value else "false"
    left = (len(heading) - len("false")) // 2
    return pad(Text((("", " " * left),)) + text(word, role if value else ""), len(heading))


def config_line(line: ConfigLine, width: int | None = None) -> Iterator[Text]:
    """`Quota configs for user-principal 'alice' are producer_byte_rate=50000.0` (KIP-649)."""
    del width
    values = ", ".join(f"{key}={value}" for key, value in line.configs.items())
    yield text(f"{line.what} for {_entity(line.entity)} are {values}")


def _entity(entity: QuotaEntity) -> str:
    """`user-principal 'alice', the default client-id`."""
    return ", ".join(
        f"the default {_WORDS[kind]}" if isinstance(name, Default) else f"{_WORDS[kind]} '{name}'"
        for kind, name in entity.parts
    )


_WORDS = {"user": "user-principal", "client-id": "client-id", "ip": "ip"}
