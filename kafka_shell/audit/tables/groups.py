"""Groups, their members and committed offsets."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.admin.partitions.model import LATEST, TopicPartition
from kafka_shell.admin.records.internal_topics import read_key, read_value
from kafka_shell.audit.table import (
    Names,
    ReadFailure,
    Rows,
    read_failure,
    readable,
    table,
    with_leaders,
)
from kafka_shell.base.errors import ShellError
from kafka_shell.base.structs import Resource

if TYPE_CHECKING:
    from kafka_shell.admin.groups.model import Group
    from kafka_shell.admin.records.batches import Batch
    from kafka_shell.wire.cluster import Cluster


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
    """,
    by="groups",
)
def read_groups(cluster: Cluster, names: Names) -> Rows:
    for group in (yield from _described(cluster, names)):
        yield (
            group.name, group.type.value, group.state, group.protocol or None,
            group.assignor or None, group.coordinator, len(group.members),
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


# -- The recent offset commits of each group, read from __consumer_offsets -------------------------

_TOPIC = "__consumer_offsets"
WINDOW = 10  # commits per group and partition
_TAIL = 20_000  # records at the end of each partition
_FETCH_BYTES = 1 << 20
_MOST_FETCHES = 50
_MOST_ROUNDS = 40  # two for each group that reads one partition
_COMMIT_KEYS = (0, 1)  # key versions of offset commits


class Commit(Struct, frozen=True):
    """One commit: `at` is epoch milliseconds, `position` its offset in the offsets topic."""

    group: str
    where: TopicPartition
    offset: int
    at: int
    position: int


class Deleted(Struct, frozen=True):
    """A tombstone: the committed offset was deleted or has expired."""

    group: str
    where: TopicPartition


def read_commit(key: bytes | None, value: bytes | None, position: int) -> Commit | Deleted | None:
    """Return the commit of a record, or its deletion; None for other records."""
    if key is None or int.from_bytes(key[:2], "big") not in _COMMIT_KEYS:
        return None
    of = read_key(_TOPIC, key)[1]["data"]
    group, where = of["group"] or "", TopicPartition(of["topic"] or "", of["partition"])
    if value is None:
        return Deleted(group, where)
    at = read_value(_TOPIC, key, value)[1]["data"]
    return Commit(group, where, at["offset"], at["commitTimestamp"], position)


Windows = dict[tuple[str, TopicPartition], deque[Commit]]


@table(
    "group_commits",
    "One row per commit of a group: the last ten of each partition.",
    """
    group         string  The group.
    topic         string  The topic.
    partition     int     The partition.
    offset        long    The committed offset.
    committed_at  time    When the offset was committed.
    position      long    The offset of the commit in __consumer_offsets.
    lag           long?   The lag at that time; only for the first and last commit of a partition.
    """,
)
def read_group_commits(cluster: Cluster, names: Names) -> Rows:
    windows: Windows = {}
    for found in _commits(cluster):
        if isinstance(found, ReadFailure):
            yield found
            continue
        of = (found.group, found.where)
        if isinstance(found, Deleted):
            windows.pop(of, None)
        else:
            windows.setdefault(of, deque(maxlen=WINDOW)).append(found)
    lags = _lags(cluster, windows)
    for window in windows.values():
        for commit in window:
            yield (
                commit.group, commit.where.topic, commit.where.partition, commit.offset,
                commit.at, commit.position, lags.get(commit),
            )  # fmt: skip


def _commits(cluster: Cluster) -> Iterator[Commit | Deleted | ReadFailure]:
    from kafka_shell.admin.records import batches, decode
    from kafka_shell.admin.records.offsets import ranges
    from kafka_shell.wire import metadata_scan as scan

    found = scan.scan(cluster, [_TOPIC])
    if _TOPIC not in found:
        return
    leaders = yield from with_leaders(found)
    for where, span in (yield from readable(ranges(cluster, list(leaders)), "partition")).items():
        end, place = span.latest, max(span.earliest, span.latest - _TAIL)
        for _ in range(_MOST_FETCHES):
            if place >= end:
                break
            before = place
            response = batches.fetch(cluster, leaders[where], {where: place}, _FETCH_BYTES)
            for raw in (yield from readable(response, "partition")).values():
                for batch, at in batches.headers(raw, strict=True):
                    place = max(place, batch.last_offset + 1)
                    try:
                        yield from _in_batch(where, batch, decode.body(raw, batch, at))
                    except ShellError as error:
                        yield read_failure(f"partition {where}", error)
            if place == before:
                if not response.failures:
                    reason = f"no records at offset {place} of {end}: later commits are not read"
                    yield ReadFailure(f"partition {where}", "incomplete", reason)
                break
        else:
            if place < end:
                reason = f"read only up to offset {place} of {end}: later commits are not read"
                yield ReadFailure(f"partition {where}", "incomplete", reason)


def _in_batch(where: TopicPartition, batch: Batch, data: bytes) -> Iterator[Commit | Deleted]:
    from kafka_shell.admin.records import decode

    if not batch.control:
        for record in chain.from_iterable(decode.records(where, batch, data)):
            if commit := read_commit(record.key, record.value, record.offset):
                yield commit


def _lags(cluster: Cluster, windows: Windows) -> Mapping[Commit, int]:
    """Return the lag of each group at the first and at the last commit of its window.

    Both are measured at a commit: between two commits the lag of a group that keeps up grows. The
    end offset at that time is the offset of the first record with that timestamp or a later one,
    which is exact only if record timestamps are.
    """
    from kafka_shell.admin.records.offsets import list_offsets

    left = {each for window in windows.values() for each in (window[0], window[-1])}
    lags: dict[Commit, int] = {}
    ends = list_offsets(cluster, dict.fromkeys({each.where for each in left}, LATEST))
    for _ in range(_MOST_ROUNDS):
        batch = {each.where: each for each in left if each.where in ends.values}
        if not batch:
            break
        offsets = list_offsets(cluster, {where: each.at for where, each in batch.items()})
        for where, each in batch.items():
            left.remove(each)
            if where in offsets.values:
                found = offsets[where].offset
                end = ends[where].offset or 0 if found is None else found
                lags[each] = max(0, end - each.offset)
    return lags
