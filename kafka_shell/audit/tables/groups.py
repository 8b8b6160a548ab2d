"""Groups, their members and committed offsets."""

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
    """Yield a row per group (API keys 15, 69, 77, 89 by its protocol)."""
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
    """Yield a row per member of a group."""
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
    """Yield a row per partition a group reads or has committed (OffsetFetch, API key 9)."""
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
        "One row per group.",
        (
            _GROUP,
            Column("type", "string", "classic, consumer, share or streams."),
            Column("state", "string", "Stable, Empty ..."),
            Column(
                "protocol", "string", "The protocol type: consumer, connect ...", required=False
            ),
            Column("assignor", "string", "The partition assignor.", required=False),
            Column("coordinator", "int", "The broker ID of the coordinator."),
            Column("members", "int", "Number of members."),
            Column("word", "string", "The group, quoted for a command."),
        ),
        read_groups,
        by="groups",
    ),
    Table(
        "group_members",
        "One row per member of a group.",
        (
            _GROUP,
            Column("member", "string", "The member ID."),
            Column("client_id", "string", "The client ID."),
            Column("host", "string", "The client host."),
            Column(
                "instance_id", "string", "The group.instance.id of a static member.", required=False
            ),
            Column("partitions", "int", "Number of assigned partitions."),
            Column("topics", "strings", "Subscribed and assigned topics."),
            Column("assignment", "strings", "Assigned partitions: orders:0."),
        ),
        read_group_members,
        by="groups",
    ),
    Table(
        "group_offsets",
        "One row per partition with a committed offset or a member of a group.",
        (
            _GROUP,
            Column("topic", "string", "The topic."),
            Column("partition", "int", "The partition."),
            Column(
                "offset", "long", "The committed offset; null if there is none.", required=False
            ),
            Column(
                "latest",
                "long",
                "The end offset of the partition; null if unknown.",
                required=False,
            ),
            Column("lag", "long", "The difference between the two.", required=False),
            Column("note", "string", "Why the end offset is unknown.", required=False),
            Column("member", "string", "The ID of the assigned member.", required=False),
        ),
        read_group_offsets,
        by="groups",
    ),
)
