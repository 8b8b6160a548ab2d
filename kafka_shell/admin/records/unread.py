"""Which groups have not read the records that a plan deletes, as far as can be read in a few
seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from kafka_shell.admin.facts import Budget, attempt, in_batches, not_checked, not_checked_of
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import GroupListing
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.common.units import counted
from kafka_shell.plan.model import NotChecked
from kafka_shell.plan.results import Failure

_GROUPS_AT_ONCE = 500
_NAMED = 5  # groups that a warning names

Deleted = Mapping[TopicPartition, tuple[int, int]]
"""The first offset that is deleted, and the first one that is kept."""


class Unread(Struct):
    """The number of deleted records that each group has not read, at most; what could not be
    read."""

    groups: dict[str, int] = field(default_factory=dict)
    not_checked: list[NotChecked] = field(default_factory=list)

    @property
    def warning(self) -> str:
        """`2 groups have not read all of these records: ...`, the largest number first; empty if
        there are none."""
        if not self.groups:
            return ""
        ordered = sorted(self.groups.items(), key=lambda item: (-item[1], item[0]))
        named = [f"{name} (up to {counted(count, 'record')})" for name, count in ordered[:_NAMED]]
        more = f" and {len(ordered) - _NAMED:,} more" if len(ordered) > _NAMED else ""
        have = "has" if len(ordered) == 1 else "have"
        lead = f"{counted(len(ordered), 'group')} {have} not read all of these records"
        return f"{lead}: {', '.join(named)}{more}"


def read(cluster: Cluster, deleted: Deleted) -> Unread:
    """The groups whose committed offsets are before the end of what is deleted."""
    found = Unread()
    if not deleted:
        return found
    with Budget(cluster).until(1):
        listed = attempt(lambda: groups.list_groups(cluster))
        if isinstance(listed, Failure):
            found.not_checked.append(not_checked("groups", listed))
            return found
        found.not_checked += not_checked_of(
            "the groups of", listed.failures.values(), "coordinator"
        )
        if hidden := attempt(lambda: groups.hidden(cluster)):
            found.not_checked.append(not_checked("other groups", hidden))
        parts, left = in_batches(
            list(listed), _GROUPS_AT_ONCE, lambda batch: _behind(cluster, batch, deleted)
        )
    failures = [*left]
    for counts, missing in parts:
        found.groups |= counts
        failures += missing
    found.not_checked += not_checked_of("the offsets of", failures, "group")
    return found


def _behind(
    cluster: Cluster, listed: Sequence[GroupListing], deleted: Deleted
) -> tuple[dict[str, int], list[Failure]]:
    """The unread records of each of these groups that has some, and the failures."""
    offsets = groups.committed_offsets(cluster, listed)
    counts = {}
    for name, committed in offsets.values.items():
        unread = sum(
            max(0, to - max(first, committed[each]))
            for each in deleted.keys() & committed.keys()
            for first, to in [deleted[each]]
        )
        if unread:
            counts[name] = unread
    return counts, list(offsets.failures.values())
