"""What each noun looks like as a row: one dict, from the noun's type to its columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum

from ..nouns import (
    Broker,
    ConfigEntry,
    ConfigSource,
    Finding,
    HistoryLine,
    Partition,
    QuorumReplica,
    ResourceType,
    Topic,
    TopicSummary,
)
from .people import config_value, local_time
from .tables import Cell, Column
from .text import Role, Text, join, text
from .theme import ThemeInfo


def _brokers(ids: Iterable[int], role_of: dict[int, Role] | None = None) -> Text | None:
    """Broker ids in their order, `1,2,3`; None for no ids."""
    roles = role_of or {}
    return join(",", (text(str(broker), roles.get(broker, "")) for broker in ids)) or None


def _replicas(partition: Partition) -> Text | None:
    roles: dict[int, Role] = {
        broker: "bad" if broker in partition.offline else "warning"
        for broker in partition.replicas
        if broker not in partition.isr
    }
    return _brokers(partition.replicas, roles)


def _isr(partition: Partition) -> Text | None:
    role: Role = "warning" if partition.under_replicated else ""
    return _brokers(partition.isr, dict.fromkeys(partition.isr, role))


def _leader(partition: Partition) -> Cell:
    if partition.leader is None:
        return text("-", "bad")
    return text(str(partition.leader), "" if partition.on_preferred_leader else "warning")


def _offline(partition: Partition) -> Text | None:
    return _brokers(partition.offline, dict.fromkeys(partition.offline, "bad"))


def _not_negative(number: int) -> int | None:
    return None if number < 0 else number


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


PARTITION = (
    Column("PARTITION", lambda p: p.partition, "right"),
    Column("LEADER", _leader, "right"),
    Column("EPOCH", lambda p: _not_negative(p.leader_epoch), "right"),
    Column("REPLICAS", _replicas),
    Column("ISR", _isr),
    Column("OFFLINE", _offline),
)
KEY = Column("KEY", lambda e: e.name, role="key")
CONFIG = (
    Column("VALUE", _value, give="wrap", least=16),
    Column("SOURCE", _source),
    Column("NOTE", lambda e: "read-only" if e.read_only else None, role="read-only"),
)
_TOPIC_REST = (
    Column("INTERNAL", lambda t: "yes" if t.internal else None, give="drop"),
    Column("ID", lambda t: t.id, role="dim", give="drop"),  # a part of an id is of no use
)
OVERRIDE = (Column("CONFIG", lambda e: e.name, role="key"), CONFIG[0])

COLUMNS: dict[type, tuple[Column, ...]] = {
    TopicSummary: (
        Column("NAME", lambda t: t.name, role="name"),
        Column("PARTITIONS", lambda t: t.partitions, "right"),
        Column("REPLICAS", lambda t: t.replication_factor, "right"),
        Column("UNDER-REPLICATED", lambda t: t.under_replicated or None, "right", "warning"),
        Column("OFFLINE", lambda t: t.offline or None, "right", "bad"),
        *_TOPIC_REST,
    ),
    Topic: (
        Column("NAME", lambda t: t.name, role="name"),
        Column("PARTITIONS", lambda t: len(t.partitions), "right"),
        Column("REPLICAS", lambda t: t.replication_factor, "right"),
        *_TOPIC_REST,
    ),
    Partition: (Column("TOPIC", lambda p: p.topic, role="name"), *PARTITION),
    Broker: (
        Column("BROKER", lambda b: b.id, "right", "name"),
        Column("HOST", lambda b: b.host),
        Column("PORT", lambda b: b.port, "right"),
        Column("RACK", lambda b: b.rack),
        Column("VERSION", lambda b: b.version),
        Column("ROLE", lambda b: "controller" if b.controller else None, role="good"),
    ),
    QuorumReplica: (
        Column("ID", lambda r: r.id, "right", "name"),
        Column("ROLE", lambda r: text(r.role, "good" if r.role == "leader" else "")),
        Column("LOG-END-OFFSET", lambda r: r.log_end_offset, "right"),
        Column("LAG", lambda r: r.lag, "right"),
        Column("LAST-CAUGHT-UP", lambda r: local_time(r.last_caught_up)),
    ),
    ConfigEntry: (Column("RESOURCE", lambda e: str(e.resource), role="name"), KEY, *CONFIG),
    Finding: (
        Column("SEVERITY", lambda f: f.severity.name.lower()),
        Column("CHECK", lambda f: f.check),
        Column("COUNT", lambda f: f.count, "right"),
        Column("SUMMARY", lambda f: f.summary, give="wrap"),
        Column("LOOK", lambda f: f.look, role="hint"),
    ),
    HistoryLine: (
        Column("TIME", lambda h: None if h.time is None else local_time(int(h.time * 1000))),
        Column("LINE", lambda h: h.text),
    ),
    ThemeInfo: (
        Column("NAME", lambda t: t.name, role="name"),
        Column("MODE", lambda t: t.mode),
        Column("DESCRIPTION", lambda t: t.description),
        Column("FILE", lambda t: str(t.path) if t.user else None, role="dim"),
    ),
}


def columns_of(row: object) -> tuple[Column, ...]:
    """The columns of a noun; one not declared here gets a column a field."""
    declared = COLUMNS.get(type(row))
    if declared is not None:
        return declared
    if is_dataclass(row):
        return tuple(_field_column(field.name, getattr(row, field.name)) for field in fields(row))
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
    return Column(heading.upper(), lambda row: _plain_cell(row.get(key)))


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
        raise TypeError("a Secret is not written")
    return str(value)
