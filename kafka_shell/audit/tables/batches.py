"""Sampled record batches: their headers, and statistics of their records.

Up to three positions of each partition are sampled, SAMPLE_BYTES each, once for both tables. A
batch header is 61 bytes (message format v2): codec, counts, sizes, timestamps and producer ID.
Requires READ on the topic.
"""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from msgspec import Struct, field

from kafka_shell.admin.records import batches, decode
from kafka_shell.admin.topics.partitions import by_leader
from kafka_shell.audit.table import (
    Names,
    ReadFailure,
    Rows,
    read_failure,
    readable,
    table,
    with_leaders,
)
from kafka_shell.audit.tasks import CURRENT, ReadTask, Target
from kafka_shell.base.errors import ShellError
from kafka_shell.wire.rounds import in_slices

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import OffsetRange, TopicPartition
    from kafka_shell.wire.cluster import Cluster


SAMPLE_BYTES = 32 << 10  # per position; a larger batch is read whole
_NEAR_THE_END = 100  # offsets
_PARTITIONS_A_REQUEST = 200
_BLOCKS_OF_A_BATCH, _MOST_RECORDS = 10, 50_000  # a partition: a few bytes can have millions
_ANY = ReadTask(Target(""), ())  # of a reader that is called outside of a task


# -- reading ---------------------------------------------------------------------------------------

Sample = tuple["TopicPartition", str, bytes]


def _samples(cluster: Cluster, names: Names) -> Iterator[Sample | ReadFailure]:
    """Yield the sample of each position of each partition that is not empty."""
    from kafka_shell.admin.records.offsets import ranges
    from kafka_shell.wire import metadata_scan as scan

    sampling = CURRENT.get(_ANY).sampling
    if not sampling.places:
        yield ReadFailure("", "not-sampled", "logs were not sampled")
        return
    found = scan.scan(cluster, list(names))
    leaders = yield from with_leaders(found)
    spans = yield from readable(ranges(cluster, list(leaders)), "partition")
    pace = _Pace(cluster, sampling.bytes_per_second)
    for place in sampling.places:
        at = {where: _offset(place, span) for where, span in spans.items() if span.max_records}
        reached: set[TopicPartition] = set()
        for sample in _fetch_all(cluster, place, at, leaders, pace):
            if not isinstance(sample, ReadFailure):
                where, _, raw = sample
                if _last_offset(raw) >= spans[where].latest - 1:
                    reached.add(where)
            yield sample
        if place == "latest":  # a batch larger than a sample can hide the end of the log
            last = {where: spans[where].latest - 1 for where in at if where not in reached}
            yield from _fetch_all(cluster, place, last, leaders, pace)


class _Pace:
    """Pauses between fetches, for at most this many bytes per second (0: no limit). The deadline
    of the slice is later by the time that this rate takes."""

    def __init__(self, cluster: Cluster, bytes_per_second: int) -> None:
        self._cluster, self._rate = cluster, bytes_per_second
        self._next = time.monotonic()

    def fetched(self, count: int) -> None:
        """Wait as long as this many bytes should have taken."""
        if self._rate:
            if self._cluster.deadline is not None:
                self._cluster.deadline += count / self._rate
            self._next = max(self._next, time.monotonic() - 1) + count / self._rate
            time.sleep(max(0.0, self._next - time.monotonic()))


def _last_offset(raw: bytes) -> int:
    return max((batch.last_offset for batch, _ in batches.headers(raw)), default=-1)


def _offset(place: str, span: OffsetRange) -> int:
    if place == "latest":
        return max(span.earliest, span.latest - _NEAR_THE_END)
    return span.earliest if place == "earliest" else (span.earliest + span.latest) // 2


def _fetch_all(
    cluster: Cluster,
    place: str,
    at: Mapping[TopicPartition, int],
    leaders: Mapping[TopicPartition, int],
    pace: _Pace,
) -> Iterator[Sample | ReadFailure]:
    for leader, wheres in by_leader({where: leaders[where] for where in at}).items():
        for some in in_slices(wheres, _PARTITIONS_A_REQUEST):
            short: list[TopicPartition] = []
            starts = {where: at[where] for where in some}
            for found in _fetch(cluster, leader, place, starts, pace):
                if isinstance(found, ReadFailure) or _last_offset(found[2]) >= 0:
                    yield found
                else:
                    short.append(found[0])
            for where in short:  # larger than a sample: fetched alone, a batch is returned whole
                yield from _fetch(cluster, leader, place, {where: at[where]}, pace)


def _fetch(
    cluster: Cluster, leader: int, place: str, at: Mapping[TopicPartition, int], pace: _Pace
) -> Iterator[Sample | ReadFailure]:
    found = batches.fetch(cluster, leader, at, SAMPLE_BYTES)
    pace.fetched(sum(map(len, found.values.values())))
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
    wanted = "record_samples" in CURRENT.get(_ANY).tables
    statistics = _Statistics() if wanted else None
    seen: dict[TopicPartition, set[int]] = {}
    for found in _samples(cluster, names):
        if isinstance(found, ReadFailure):
            if statistics is not None:
                statistics.failures.append(found)
            yield found
            continue
        where, place, raw = found
        for batch, at in batches.headers(raw):
            if batch.base_offset in seen.setdefault(where, set()):
                continue
            seen[where].add(batch.base_offset)
            if statistics is not None:
                statistics.add(where, batch, raw[at : at + batch.size])
            yield (
                where.topic, where.partition, place, batch.base_offset, batch.last_offset,
                batch.records, batch.size, batch.codec, batch.append_time,
                batch.first_timestamp, batch.max_timestamp,
                batch.producer_id if batch.producer_id >= 0 else None,
                batch.transactional, batch.control,
            )  # fmt: skip
    if statistics is not None:
        _READ[cluster] = statistics


# -- records ---------------------------------------------------------------------------------------


class _Tally(Struct):
    """Statistics of the sampled records of a partition."""

    records: int = 0
    null_keys: int = 0
    keys: Counter[int] = field(default_factory=Counter)  # by hash
    unread: int = 0
    why: ShellError | None = None  # of the first batch that was not decoded
    plain_bytes: int = 0
    packed_bytes: int = 0


class _Statistics(Struct, weakref=True):
    """Statistics of the sampled records by partition, and what could not be read."""

    tallies: dict[TopicPartition, _Tally] = field(default_factory=dict)
    failures: list[ReadFailure] = field(default_factory=list)

    def add(self, where: TopicPartition, batch: batches.Batch, raw: bytes) -> None:
        """Add the records of a batch."""
        if not batch.control:
            _count(self.tallies.setdefault(where, _Tally()), where, batch, raw)


# What reading `batches` found of the records of the same slice.
_READ: WeakKeyDictionary[Cluster, _Statistics] = WeakKeyDictionary()


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
    unread           long    Number of records not decoded: their batch is corrupt or too large.
    plain_bytes      long    Size of the uncompressed batches in bytes.
    packed_bytes     long    Their size in bytes with gzip at its fastest level.
    """,
    by="topics",
)
def read_record_samples(cluster: Cluster, names: Names) -> Rows:
    if cluster not in _READ:
        for _ in read_batches.read(cluster, names):
            pass
    statistics = _READ.pop(cluster)
    yield from statistics.failures
    for where, tally in statistics.tallies.items():
        if tally.why is not None:
            yield read_failure(f"partition {where}", tally.why)
        yield (
            where.topic, where.partition, tally.records, tally.null_keys, len(tally.keys),
            max(tally.keys.values(), default=0), tally.unread,
            tally.plain_bytes, tally.packed_bytes,
        )  # fmt: skip


def _count(tally: _Tally, where: TopicPartition, batch: batches.Batch, raw: bytes) -> None:
    if batch.codec == "none":
        body = raw[batches.HEADER_BYTES :]
        tally.plain_bytes += len(raw)
        tally.packed_bytes += batches.HEADER_BYTES + len(zlib.compress(body, 1))
    try:
        data = decode.body(raw, batch, 0)
        for block in islice(decode.records(where, batch, data), _BLOCKS_OF_A_BATCH):
            if tally.records >= _MOST_RECORDS:
                break
            keys = [record.key for record in block]
            tally.records += len(keys)
            tally.null_keys += sum(key is None for key in keys)
            tally.keys.update(hash(key) for key in keys if key is not None)
    except ShellError as error:
        tally.unread += max(0, batch.records)
        tally.why = tally.why or error
