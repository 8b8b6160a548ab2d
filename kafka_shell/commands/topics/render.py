"""Tables and pages of topics and their partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafka_shell.admin.groups.model import TopicReader
from kafka_shell.admin.topics.model import TopicDescription, TopicsUse, TopicUse
from kafka_shell.base.text import named
from kafka_shell.base.units import approximate_bytes, counted, format_time, some
from kafka_shell.commands.configs.render import OVERRIDE
from kafka_shell.output.columns import summary
from kafka_shell.output.tables import Cell, Column, Page, draw_table
from kafka_shell.output.text import Role, Text, hang, join, pad, text
from kafka_shell.wire.model import Partition, Topic, TopicSummary

# What the topics that a plan deletes contain, and who uses them.

MOST_TOPICS = 20
_MOST_NAMES = 5
_ROOM = 16


def use_page(use: TopicsUse, width: int | None) -> Iterator[Text]:
    """One topic as lines; several as a table of those that are used, of very many only those that
    are used most, and a line with the totals of the others."""
    used = sorted(filter(_is_used, use.topics), key=_order)
    if not used:
        yield text("  no records", "dim")
        return
    if len(use.topics) == 1:
        yield from _one(use.topics[0], width)
        return
    yield from draw_table(USE, used[:MOST_TOPICS], width=width)
    rest = used[MOST_TOPICS:]
    if rest:
        records = sum(topic.max_records or 0 for topic in rest)
        unread = sum(topic.unread_partitions for topic in rest)
        more = f"... and {counted(len(rest), 'more topic')} with up to {counted(records, 'record')}"
        more += f" ({counted(unread, 'partition')} not checked)" if unread else ""
        yield text(f"{more} (for the full list, use --dry-run --output json)", "dim")
    unused = [topic for topic in use.topics if not _is_used(topic)]
    if unused:
        yield text(_unused(unused), "dim")


def _unused(topics: Sequence[TopicUse]) -> str:
    """`4,980 topics without records, groups and producers`: what is known of all of them."""
    facts = {"groups": "readers", "producers": "producers", "ACLs": "acls"}
    known = [
        noun
        for noun, name in facts.items()
        if all(getattr(topic, name) is not None for topic in topics)
    ]
    *first, last = ["records", *known]
    nouns = f"{', '.join(first)} or {last}" if first else last
    size = sum(topic.bytes or 0 for topic in topics)
    on_disk = f" ({approximate_bytes(size)} on disk)" if size else ""
    return f"{counted(len(topics), 'topic')} without {nouns}{on_disk}"


def _is_used(topic: TopicUse) -> bool:
    """Whether anything is lost with it, or it is not known."""
    return (
        topic.max_records != 0
        or topic.unread_partitions > 0
        or bool(topic.readers or topic.producers or topic.acls)
    )


def _order(topic: TopicUse) -> tuple[int, int, int, str]:
    """Topics with members first, then those with offsets and records."""
    members = sum(reader.members for reader in topic.readers or ())
    return -members, -len(topic.readers or ()), -(topic.max_records or 0), topic.topic


def _one(topic: TopicUse, width: int | None) -> Iterator[Text]:
    for key, values in _facts(topic):
        for number, value in enumerate(values):
            lead = pad(text("" if number else key, "key"), _ROOM)
            yield from hang(lead + value, width, _ROOM)


def _facts(topic: TopicUse) -> Iterator[tuple[str, Sequence[Text]]]:
    if topic.max_records is not None:
        size = "" if topic.bytes is None else f", {_bytes(topic)} on disk"
        yield (
            "records",
            [text(f"up to {_records(topic)}{size}", "warning" if topic.max_records else "")],
        )
    if topic.readers:
        yield "groups", _few([_reader(reader) for reader in topic.readers], "group")
    if topic.producers:
        last = f", last record {format_time(topic.last_written)}" if topic.last_written else ""
        known = counted(topic.producers, "idempotent producer")
        yield "producers", [text(f"{known}{last}", "warning")]
    if topic.acls:
        yield "remaining ACLs", _few([text(acl) for acl in topic.acls], "ACL")


def _records(topic: TopicUse) -> str | None:
    """`1,200`, or `1,200+` if not all partitions were read."""
    more = "+" if topic.unread_partitions else ""
    return None if topic.max_records is None else f"{topic.max_records:,}{more}"


def _bytes(topic: TopicUse) -> str | None:
    more = "+" if topic.unread_replicas else ""
    return None if topic.bytes is None else f"{approximate_bytes(topic.bytes)}{more}"


def _reader(reader: TopicReader) -> Text:
    role: Role = "warning" if reader.members else ""
    members = counted(reader.members, "member") if reader.members else "no members"
    clients = [client for client in reader.clients if client]
    listed = f" ({some(clients, _MOST_NAMES)})" if clients else ""
    offsets = (
        f", committed offsets of {counted(reader.offsets, 'partition')}" if reader.offsets else ""
    )
    return text(named(reader.group), "name") + text(f": {members}{listed}", role) + text(offsets)


def _few(lines: Sequence[Text], noun: str) -> list[Text]:
    if len(lines) <= _MOST_NAMES + 1:
        return list(lines)
    more = f"... and {counted(len(lines) - _MOST_NAMES, f'more {noun}')}"
    return [*lines[:_MOST_NAMES], text(more, "dim")]


def _groups(topic: TopicUse) -> Text | None:
    """`billing (3 members), audit`: the groups with members come first."""
    named = [
        f"{reader.group} ({counted(reader.members, 'member')})" if reader.members else reader.group
        for reader in topic.readers or ()
    ]
    active = any(reader.members for reader in topic.readers or ())
    return text(some(named, _MOST_NAMES), "warning" if active else "") if named else None


USE = (
    Column("TOPIC", lambda t: t.topic, role="name"),
    Column("MAX-RECORDS", _records, "right"),
    Column("ON-DISK", _bytes, "right"),
    Column("PRODUCERS", lambda t: t.producers or None, "right"),
    Column("ACLS", lambda t: len(t.acls or ()) or None, "right"),
    Column("GROUPS", _groups, overflow="wrap"),
)


def _brokers(ids: Iterable[int], role_of: dict[int, Role] | None = None) -> Text | None:
    """Broker IDs in their order, `1,2,3`; None for no IDs."""
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


PARTITION = (
    Column("PARTITION", lambda p: p.partition, "right"),
    Column("LEADER", _leader, "right"),
    Column("EPOCH", lambda p: _not_negative(p.leader_epoch), "right"),
    Column("REPLICAS", _replicas),
    Column("ISR", _isr),
    Column("OFFLINE", _offline),
    Column("ADDING", lambda p: _brokers(p.adding)),
    Column("REMOVING", lambda p: _brokers(p.removing)),
)
COLUMNS: dict[type, tuple[Column, ...]] = {
    TopicSummary: (
        Column("NAME", lambda t: t.name, role="name"),
        Column("PARTITIONS", lambda t: t.partitions, "right"),
        Column(
            "REPLICAS",
            lambda t: replication_factor(t.replication_factor, t.max_replication_factor),
            "right",
        ),
        Column("UNDER-REPLICATED", lambda t: t.under_replicated or None, "right", "warning"),
        Column("OFFLINE", lambda t: t.offline or None, "right", "bad"),
        Column("INTERNAL", lambda t: "yes" if t.internal else None, overflow="drop"),
        Column("ID", lambda t: t.id, role="dim", overflow="drop"),
    ),
    Partition: (Column("TOPIC", lambda p: p.topic, role="name"), *PARTITION),
}


def replication_factor(least: int, most: int) -> str:
    """`3`, or `mixed (1-3)` if partitions differ."""
    return f"mixed ({least}-{most})" if least < most else str(least)


def topic_page(description: TopicDescription, width: int | None) -> Iterator[Text]:
    """Summary, partitions that matched the filter, and overridden configs of a topic."""
    yield from _topic_summary(description.topic, width)
    partitions = _partitions_of(description)
    if partitions:
        yield Text()
        yield from draw_table(PARTITION, partitions, width=width)
    if description.overrides:
        yield Text()
        yield from draw_table(OVERRIDE, description.overrides, width=width)


def _topic_summary(topic: Topic, width: int | None) -> Iterator[Text]:
    leaderless = sum(partition.leader is None for partition in topic.partitions)
    under = sum(partition.under_replicated for partition in topic.partitions)
    moving = sum(bool(row.adding or row.removing) for row in topic.partitions)
    yield from summary(
        width,
        text(f"topic {topic.name}", "heading"),
        counted(len(topic.partitions), "partition"),
        f"replication factor {replication_factor(*topic.replication_factors)}",
        "internal" if topic.internal else "",
        text(f"{leaderless} offline", "bad") if leaderless else "",
        text(f"{under} under-replicated", "warning") if under else "",
        f"{moving} being reassigned" if moving else "",
        text(f"id {topic.id}", "dim") if topic.id else "",
    )


def bare_topic_page(topic: Topic, width: int | None) -> Iterator[Text]:
    """A topic without its configs."""
    yield from topic_page(TopicDescription(topic), width)


PAGES: dict[type, Page] = {
    TopicDescription: topic_page,
    Topic: bare_topic_page,
    TopicsUse: use_page,
}


def _partitions_of(description: TopicDescription) -> Sequence[Partition]:
    shown = description.shown
    return description.topic.partitions if shown is None else shown


ROWS = {
    Topic: lambda topic: topic.partitions,
    TopicDescription: _partitions_of,
    TopicsUse: lambda use: use.topics,
}
