"""What the topics that a plan deletes contain, and who uses them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_shell.admin.groups.model import TopicReader
from kafka_shell.admin.topics.model import TopicsUse, TopicUse
from kafka_shell.common.units import approximate_bytes, counted, format_time, some
from kafka_shell.output.tables import Column, draw_table
from kafka_shell.output.text import Role, Text, hang, pad, text

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
        yield "groups", _few([_reader(each) for each in topic.readers], "group")
    if topic.producers:
        last = f", last record {format_time(topic.last_written)}" if topic.last_written else ""
        known = counted(topic.producers, "idempotent producer")
        yield "producers", [text(f"{known}{last}", "warning")]
    if topic.acls:
        yield "remaining ACLs", _few([text(each) for each in topic.acls], "ACL")


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
    named = f" ({some(clients, _MOST_NAMES)})" if clients else ""
    offsets = (
        f", committed offsets of {counted(reader.offsets, 'partition')}" if reader.offsets else ""
    )
    return text(reader.group or "''", "name") + text(f": {members}{named}", role) + text(offsets)


def _few(lines: Sequence[Text], noun: str) -> list[Text]:
    if len(lines) <= _MOST_NAMES + 1:
        return list(lines)
    more = f"... and {counted(len(lines) - _MOST_NAMES, f'more {noun}')}"
    return [*lines[:_MOST_NAMES], text(more, "dim")]


def _groups(topic: TopicUse) -> Text | None:
    """`billing (3 members), audit`: the groups with members come first."""
    named = [
        f"{each.group} ({counted(each.members, 'member')})" if each.members else each.group
        for each in topic.readers or ()
    ]
    active = any(each.members for each in topic.readers or ())
    return text(some(named, _MOST_NAMES), "warning" if active else "") if named else None


USE = (
    Column("TOPIC", lambda t: t.topic, role="name"),
    Column("MAX-RECORDS", _records, "right"),
    Column("ON-DISK", _bytes, "right"),
    Column("PRODUCERS", lambda t: t.producers or None, "right"),
    Column("ACLS", lambda t: len(t.acls or ()) or None, "right"),
    Column("GROUPS", _groups, overflow="wrap"),
)
