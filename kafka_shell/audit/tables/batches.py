"""Sampled record batches: their headers, and statistics of their records.

Three positions of each partition are sampled, SAMPLE_BYTES each. A batch header is 61 bytes
(message format v2): codec, counts, sizes, timestamps and producer ID. Requires READ on the topic.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.admin.records import batches, decode
from kafka_shell.admin.wire.chunks import in_slices
from kafka_shell.audit.table import Names, Rows, Trouble, readable, table
from kafka_shell.errors import ShellError

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import OffsetRange, TopicPartition
    from kafka_shell.admin.wire.connection import Cluster


SAMPLE_BYTES = 32 << 10  # per position; a larger batch is read whole
_NEAR_THE_END = 100  # offsets
_PARTITIONS_A_REQUEST = 200
_PLACES = ("earliest", "middle", "latest")


# -- reading ---------------------------------------------------------------------------------------

Sample = tuple["TopicPartition", str, bytes]


def _samples(cluster: Cluster, names: Names) -> Iterator[Sample | Trouble]:
    """Yield the sample of each position of each partition that is not empty."""
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.admin.records.delete import ranges
    from kafka_shell.admin.wire import metadata_scan as scan

    found = scan.scan(cluster, list(names))
    leaders: dict[TopicPartition, int] = {}
    for name in found.names:
        for each in found.topic(name).partitions:
            where = TopicPartition(name, each.partition)
            if each.leader is None:
                yield Trouble(
                    f"partition {where}", "LEADER_NOT_AVAILABLE", "the partition has no leader"
                )
            else:
                leaders[where] = each.leader
    spans = yield from readable(ranges(cluster, list(leaders)), "partition")
    for place in _PLACES:
        at = {where: _offset(place, span) for where, span in spans.items() if span.records}
        reached: set[TopicPartition] = set()
        for sample in _fetch_all(cluster, place, at, leaders):
            if not isinstance(sample, Trouble):
                where, _, raw = sample
                if _last_offset(raw) >= spans[where].latest - 1:
                    reached.add(where)
            yield sample
    # A batch larger than a sample can hide the end of the log.
    last = {where: spans[where].latest - 1 for where in at if where not in reached}
    yield from _fetch_all(cluster, place, last, leaders)


def _last_offset(raw: bytes) -> int:
    return max((batch.last_offset for batch, _ in batches.headers(raw)), default=-1)


def _offset(place: str, span: OffsetRange) -> int:
    if place == "earliest":
        return span.earliest
    if place == "middle":
        return (span.earliest + span.latest) // 2
    return max(span.earliest, span.latest - _NEAR_THE_END)


def _fetch_all(
    cluster: Cluster,
    place: str,
    at: Mapping[TopicPartition, int],
    leaders: Mapping[TopicPartition, int],
) -> Iterator[Sample | Trouble]:
    by_leader: dict[int, list[TopicPartition]] = {}
    for where in at:
        by_leader.setdefault(leaders[where], []).append(where)
    for leader, wheres in by_leader.items():
        for some in in_slices(wheres, _PARTITIONS_A_REQUEST):
            short: list[TopicPartition] = []
            for found in _fetch(cluster, leader, place, {where: at[where] for where in some}):
                if isinstance(found, Trouble) or _last_offset(found[2]) >= 0:
                    yield found
                else:
                    short.append(found[0])
            for where in short:  # larger than a sample: fetched alone, a batch is returned whole
                yield from _fetch(cluster, leader, place, {where: at[where]})


def _fetch(
    cluster: Cluster, leader: int, place: str, at: Mapping[TopicPartition, int]
) -> Iterator[Sample | Trouble]:
    found = batches.fetch(cluster, leader, at, SAMPLE_BYTES)
    for where, raw in (yield from readable(found, "partition")).items():
        yield where, place, raw


@table(
    "batches",
    "One row per sampled record batch, from its header. Not all batches of the log.",
    """
    topic           string   The topic.
    partition       int      The partition.
    place           string   Sampled position: earliest, middle or latest.
    base_offset     long     First offset.
    last_offset     long     Last offset.
    records         int      Number of records.
    size            int      Size in bytes.
    codec           string   none, gzip, snappy, lz4 or zstd.
    append_time     boolean  Whether the broker wrote the timestamps.
    base_timestamp  time?    Timestamp of the first record.
    max_timestamp   time?    The largest timestamp.
    producer_id     long?    The producer ID; null if the producer is not idempotent.
    transactional   boolean  Whether the batch belongs to a transaction.
    control         boolean  Whether the batch is a transaction marker.
    """,
    by="topics",
)
def read_batches(cluster: Cluster, names: Names) -> Rows:
    seen: dict[TopicPartition, set[int]] = {}
    for found in _samples(cluster, names):
        if isinstance(found, Trouble):
            yield found
            continue
        where, place, raw = found
        for batch, _ in batches.headers(raw):
            if batch.base_offset in seen.setdefault(where, set()):
                continue
            seen[where].add(batch.base_offset)
            yield (
                where.topic, where.partition, place, batch.base_offset, batch.last_offset,
                batch.records, batch.size, batch.codec, batch.append_time,
                batch.base_timestamp, batch.max_timestamp,
                batch.producer_id if batch.producer_id >= 0 else None,
                batch.transactional, batch.control,
            )  # fmt: skip


# -- records ---------------------------------------------------------------------------------------


class _Tally(Struct):
    """Statistics of the sampled records of a partition."""

    records: int = 0
    null_keys: int = 0
    keys: Counter[bytes] | None = None
    unread: int = 0
    plain_bytes: int = 0
    packed_bytes: int = 0


@table(
    "record_samples",
    "One row per partition with records: statistics of the sampled records.",
    """
    topic            string  The topic.
    partition        int     The partition.
    records          int     Number of sampled records.
    null_keys        int     Number of records without a key.
    distinct_keys    int     Number of distinct keys.
    top_key_records  int     Number of records with the most frequent key.
    unread           int     Number of records not decoded: their batch is corrupt.
    plain_bytes      long    Size of the uncompressed batches in bytes.
    packed_bytes     long    Their size in bytes with gzip at its fastest level.
    """,
    by="topics",
)
def read_record_samples(cluster: Cluster, names: Names) -> Rows:
    tallies: dict[TopicPartition, _Tally] = {}
    seen: set[tuple[TopicPartition, int]] = set()
    for found in _samples(cluster, names):
        if isinstance(found, Trouble):
            yield found
            continue
        where, _, raw = found
        tally = tallies.setdefault(where, _Tally(keys=Counter()))
        for batch, at in batches.headers(raw):
            if batch.control or (where, batch.base_offset) in seen:
                continue
            seen.add((where, batch.base_offset))
            _count(tally, where, batch, raw[at : at + batch.size])
    for where, tally in tallies.items():
        keys = tally.keys or Counter()
        yield (
            where.topic, where.partition, tally.records, tally.null_keys, len(keys),
            max(keys.values(), default=0), tally.unread, tally.plain_bytes, tally.packed_bytes,
        )  # fmt: skip


def _count(tally: _Tally, where: TopicPartition, batch: batches.Batch, raw: bytes) -> None:
    if batch.codec == "none":
        body = raw[batches.HEADER_BYTES :]
        tally.plain_bytes += len(raw)
        tally.packed_bytes += batches.HEADER_BYTES + len(zlib.compress(body, 1))
    try:
        keys = [record.key for record in decode.all_records(where, raw)[0]]
    except ShellError:
        tally.unread += batch.records
        return
    assert tally.keys is not None
    tally.records += len(keys)
    tally.null_keys += sum(key is None for key in keys)
    tally.keys.update(key for key in keys if key is not None)
