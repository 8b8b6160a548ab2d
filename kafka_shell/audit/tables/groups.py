"""Groups: their members, and how far they have read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kafka_shell.audit.table import Column, Slice, Table, Trouble
from kafka_shell.quoting import quote

if TYPE_CHECKING:
    from kafka_shell.admin.groups.model import Group
    from kafka_shell.admin.wire.connection import Cluster

Rows = Iterator[tuple[Any, ...] | Trouble]
_GONE = "GROUP_ID_NOT_FOUND"  # deleted since it was listed


def _described(
    cluster: Cluster, part: Slice, *, offsets: bool = False
) -> Iterator[Group | Trouble]:
    from kafka_shell.admin.groups import read as groups

    found = groups.describe(cluster, part.names, offsets=offsets)
    yield from found
    for name, why in found.failures.items():
        if why.name != _GONE:
            yield Trouble(f"group {name}", why.name, why.message)


def read_groups(cluster: Cluster, part: Slice) -> Rows:
    """A row a group (API keys 15, 69, 77, 89 by its protocol)."""
    for group in _described(cluster, part):
        if isinstance(group, Trouble):
            yield group
            continue
        yield (
            group.name, group.type.value, group.state, group.protocol or None,
            group.assignor or None, group.coordinator, len(group.members),
            quote(group.name),
        )  # fmt: skip


def read_group_members(cluster: Cluster, part: Slice) -> Rows:
    """A row a member of a group."""
    for group in _described(cluster, part):
        if isinstance(group, Trouble):
            yield group
            continue
        for member in group.members:
            topics = {each.topic for each in member.assignment} | set(member.subscription)
            yield (
                group.name, member.id, member.client_id, member.host, member.instance_id,
                len(member.assignment), sorted(topics),
                sorted(map(str, member.assignment)),
            )  # fmt: skip


def read_group_offsets(cluster: Cluster, part: Slice) -> Rows:
    """A row a partition that a group has an offset in, or reads (OffsetFetch, API key 9)."""
    for group in _described(cluster, part, offsets=True):
        if isinstance(group, Trouble):
            yield group
            continue
        for each in group.offsets or ():
            yield (
                group.name, each.topic, each.partition, each.offset, each.end, each.lag,
                each.note or None, each.member_id or None,
            )  # fmt: skip


_GROUP = Column("group", "string", "The group.")

TABLES = (
    Table(
        "groups",
        "One row a group.",
        (
            _GROUP,
            Column("type", "string", "classic, consumer, share or streams."),
            Column("state", "string", "Stable, Empty ..."),
            Column("protocol", "string", "What its members agree on: consumer, connect ...",
                   required=False),
            Column("assignor", "string", "Who shares its partitions out.", required=False),
            Column("coordinator", "int", "The broker that coordinates it."),
            Column("members", "int", "How many members."),
            Column("word", "string", "The group as one word of a line."),
        ),
        read_groups,
        by="groups",
    ),
    Table(
        "group_members",
        "One row a member of a group.",
        (
            _GROUP,
            Column("member", "string", "Its id."),
            Column("client_id", "string", "What the program calls itself."),
            Column("host", "string", "Where it runs."),
            Column("instance_id", "string", "Its group.instance.id, where it has one.",
                   required=False),
            Column("partitions", "int", "How many partitions it reads."),
            Column("topics", "strings", "The topics it subscribes to or reads."),
            Column("assignment", "strings", "The partitions it reads: orders:0."),
        ),
        read_group_members,
        by="groups",
    ),
    Table(
        "group_offsets",
        "One row a partition that a group has committed an offset in, or reads.",
        (
            _GROUP,
            Column("topic", "string", "The topic."),
            Column("partition", "int", "The partition."),
            Column("offset", "long", "The committed offset; null where there is none.",
                   required=False),
            Column("latest", "long", "The partition's end; null where it cannot be told.",
                   required=False),
            Column("lag", "long", "How many offsets lie between.", required=False),
            Column("note", "string", "Why the end is not known.", required=False),
            Column("member", "string", "Who reads it.", required=False),
        ),
        read_group_offsets,
        by="groups",
    ),
)  # fmt: skip
