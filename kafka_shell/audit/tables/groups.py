"""Groups, their members and committed offsets."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING

from kafka_shell.audit.table import Names, ReadFailure, Rows, readable, table
from kafka_shell.base.structs import Resource
from kafka_shell.base.text import quote

if TYPE_CHECKING:
    from kafka_shell.admin.groups.model import Group
    from kafka_shell.wire.connection import Cluster


def _described(
    cluster: Cluster, names: Names, *, offsets: bool = False
) -> Generator[ReadFailure, None, Iterable[Group]]:
    """Yield what could not be read, and return the groups (API keys 15, 69, 77, 89 by protocol; 9
    and 90 for offsets)."""
    from kafka_shell.admin.groups import read as groups

    described = groups.describe(cluster, names, offsets=offsets)
    for about, why in list(described.failures.items()):
        # The note of each row says why its lag is unknown; no row is missing.
        if isinstance(about, Resource) and why.code is not None:
            del described.failures[about]
    found = yield from readable(described, "group", besides="GROUP_ID_NOT_FOUND")
    return found.values()


@table(
    "groups",
    "One row per group.",
    """
    group        string   The group.
    type         string   classic, consumer, share or streams.
    state        string   Stable, Empty ...
    protocol     string?  The protocol type: consumer, connect ...
    assignor     string?  The partition assignor.
    coordinator  int      The broker ID of the coordinator.
    members      int      Number of members.
    word         string   The group, quoted for a command.
    """,
    by="groups",
)
def read_groups(cluster: Cluster, names: Names) -> Rows:
    for group in (yield from _described(cluster, names)):
        yield (
            group.name, group.type.value, group.state, group.protocol or None,
            group.assignor or None, group.coordinator, len(group.members),
            quote(group.name),
        )  # fmt: skip


@table(
    "group_members",
    "One row per member of a group.",
    """
    group        string   The group.
    member       string   The member ID.
    client_id    string   The client ID.
    host         string   The client host.
    instance_id  string?  The group.instance.id of a static member.
    partitions   int      Number of assigned partitions.
    topics       strings  Subscribed and assigned topics.
    assignment   strings  Assigned partitions: orders:0.
    """,
    by="groups",
)
def read_group_members(cluster: Cluster, names: Names) -> Rows:
    for group in (yield from _described(cluster, names)):
        for member in group.members:
            topics = {each.topic for each in member.assignment} | set(member.subscription)
            yield (
                group.name, member.id, member.client_id, member.host, member.instance_id,
                len(member.assignment), sorted(topics),
                sorted(map(str, member.assignment)),
            )  # fmt: skip


@table(
    "group_offsets",
    "One row per partition with a committed offset or a member of a group.",
    """
    group      string   The group.
    topic      string   The topic.
    partition  int      The partition.
    offset     long?    The committed offset; null if there is none.
    latest     long?    The end offset of the partition; null if unknown.
    lag        long?    The difference between the two.
    note       string?  Why the end offset is unknown.
    member     string?  The ID of the assigned member.
    """,
    by="groups",
)
def read_group_offsets(cluster: Cluster, names: Names) -> Rows:
    for group in (yield from _described(cluster, names, offsets=True)):
        for each in group.offsets or ():
            yield (
                group.name, each.topic, each.partition, each.offset, each.end, each.lag,
                each.note or None, each.member_id or None,
            )  # fmt: skip
