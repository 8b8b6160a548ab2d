"""The recent offset commits of each group, read from __consumer_offsets.

Only old segments are compacted, so the end of the topic contains the recent commits with their
times, which no API returns. Requires READ on the topic.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.admin.partitions.model import LATEST, TopicPartition
from kafka_shell.admin.records.internal_topics import read_key, read_value
from kafka_shell.audit.table import Names, ReadFailure, Rows, readable, table, with_leaders
from kafka_shell.common.structs import replace

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster


_TOPIC = "__consumer_offsets"
WINDOW = 10  # commits per group and partition
_TAIL = 20_000  # records at the end of each partition
_FETCH_BYTES = 1 << 20
_MOST_FETCHES = 50
_MOST_ROUNDS = 20  # groups that read one partition
_COMMIT_KEYS = (0, 1)  # key versions of offset commits


class Commit(Struct, frozen=True):
    """One commit: `at` is epoch milliseconds, `position` its offset in the offsets topic."""

    group: str
    where: TopicPartition
    offset: int
    at: int
    position: int
    lag: int | None = None


def read_commit(key: bytes | None, value: bytes | None, position: int) -> Commit | None:
    """Return the commit of a record; None for a tombstone and for other records."""
    if key is None or value is None or int.from_bytes(key[:2], "big") not in _COMMIT_KEYS:
        return None
    of = read_key(_TOPIC, key)[1]["data"]
    at = read_value(_TOPIC, key, value)[1]["data"]
    where = TopicPartition(of["topic"] or "", of["partition"])
    return Commit(of["group"] or "", where, at["offset"], at["commitTimestamp"], position)


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
    lag           long?   The lag at that time; only for the first commit of each partition.
    """,
)
def read_group_commits(cluster: Cluster, names: Names) -> Rows:
    windows: Windows = {}
    for found in _commits(cluster):
        if isinstance(found, ReadFailure):
            yield found
            continue
        of = (found.group, found.where)
        windows.setdefault(of, deque(maxlen=WINDOW)).append(found)
    lags = _first_lags(cluster, windows)
    for of, window in windows.items():
        first = replace(window[0], lag=lags.get(of))
        for commit in (first, *list(window)[1:]):
            yield (
                commit.group, commit.where.topic, commit.where.partition, commit.offset,
                commit.at, commit.position, commit.lag,
            )  # fmt: skip


def _commits(cluster: Cluster) -> Iterator[Commit | ReadFailure]:
    from kafka_shell.admin.records import batches, decode
    from kafka_shell.admin.records.offsets import ranges
    from kafka_shell.admin.wire import metadata_scan as scan

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
                records, after = decode.all_records(where, raw)
                place = max(place, after)
                commits = (read_commit(each.key, each.value, each.offset) for each in records)
                yield from filter(None, commits)
            if place == before:
                if not response.failures:
                    reason = f"no records at offset {place} of {end}: later commits are not read"
                    yield ReadFailure(f"partition {where}", "incomplete", reason)
                break
        else:
            if place < end:
                reason = f"read only up to offset {place} of {end}: later commits are not read"
                yield ReadFailure(f"partition {where}", "incomplete", reason)


def _first_lags(cluster: Cluster, windows: Windows) -> Mapping[tuple[str, TopicPartition], int]:
    """Return the lag of each group at the first commit of its window.

    The end offset at that time is the offset of the first record with that timestamp or a later
    one, which is exact only if record timestamps are.
    """
    from kafka_shell.admin.records.offsets import list_offsets

    left = {of: window[0] for of, window in windows.items()}
    lags: dict[tuple[str, TopicPartition], int] = {}
    ends = list_offsets(cluster, dict.fromkeys({where for _, where in left}, LATEST))
    for _ in range(_MOST_ROUNDS):
        batch = {where: (group, where) for group, where in left if where in ends.values}
        if not batch:
            break
        offsets = list_offsets(cluster, {where: left[of].at for where, of in batch.items()})
        for where, of in batch.items():
            first = left.pop(of)
            if where in offsets.values:
                found = offsets[where].offset
                end = ends[where].offset or 0 if found is None else found
                lags[of] = max(0, end - first.offset)
    return lags
