"""Records of many partitions: between two positions in the order of their timestamps, the last
ones, or as they arrive."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import TypeVar

from msgspec import Struct

from kafka_shell.admin.partitions.model import EARLIEST, LATEST, TopicPartition
from kafka_shell.admin.records.batches import Batch
from kafka_shell.admin.records.decode import ALL, Decoder, body, values
from kafka_shell.admin.records.fetching import (
    PARTITION_BYTES,
    Chunk,
    Fetching,
    LargeRecord,
    Span,
    failure_in,
    fetching,
)
from kafka_shell.admin.records.model import NewRecord, Record
from kafka_shell.admin.records.offsets import list_offsets, ranges
from kafka_shell.admin.records.write import Writer
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import as_error, raise_first
from kafka_shell.wire.metadata_scan import scan

T = TypeVar("T")

_BLOCK, _BLOCKS = 1_000, 16  # records, and blocks, that are merged before they are returned
_WAITING_BYTES, _LEAST_SHARE = 64 << 20, 1 << 16  # decompressed, of all records that wait
Waiting = Record | LargeRecord


class Position(Struct, frozen=True):
    """Where to begin or end in every partition: an offset, or the first record of a `time` or later
    (epoch milliseconds, EARLIEST or LATEST)."""

    offset: int | None = None
    time: int = LATEST


FROM_EARLIEST, TO_LATEST = Position(time=EARLIEST), Position(time=LATEST)


def spans(
    cluster: Cluster,
    partitions: Sequence[TopicPartition],
    start: Position = FROM_EARLIEST,
    end: Position = TO_LATEST,
    *,
    committed: bool = False,
    warn: Callable[[str], None] = lambda message: None,
    unread: str = "not read",
) -> Results[TopicPartition, Span]:
    """The offsets from `start` up to, not including, `end`, as far as there are records now: with
    `committed` up to the last stable offset, with a warning that those after it are `unread`. An
    offset before the log start begins at the log start, with a warning."""
    topics = scan(cluster, list(dict.fromkeys(where.topic for where in partitions)))
    # Before the last stable offsets: of what is written in between, no transaction is open.
    log_ends = list_offsets(cluster, dict.fromkeys(partitions, LATEST)) if committed else Results()
    found = ranges(cluster, partitions, committed=committed)
    results: Results[TopicPartition, Span] = Results({}, dict(found.failures))
    starts = _offsets(cluster, list(found.values), start, committed, results)
    ends = _offsets(cluster, list(found.values), end, committed, results)
    for where, limits in found.values.items():
        if where in results.failures:
            continue
        first, last = limits.earliest, limits.latest
        begin, to = starts[where], ends[where]
        begin, to = last if begin is None else begin, last if to is None else to
        if start.offset is not None and begin < first:
            warn(f"partition {where} starts at offset {first:,}, not {begin:,}")
        elif start.offset is not None and begin > last:
            warn(f"partition {where} ends at offset {last:,}, before {begin:,}")
        begin = max(begin, first)
        topic_id = topics.summary(where.topic).id if where.topic in topics else ""
        results.values[where] = Span(begin, max(begin, min(to, last)), topic_id)
    open_ = {
        where: (found[where].latest, at.offset)
        for where, at in log_ends.values.items()
        if where in results.values and at.offset is not None and at.offset > found[where].latest
    }
    _warn_of_open(cluster, open_, start, end, lambda message: warn(f"{message} {unread}"))
    return results


def _warn_of_open(
    cluster: Cluster,
    open_: Mapping[TopicPartition, tuple[int, int]],
    start: Position,
    end: Position,
    warn: Callable[[str], None],
) -> None:
    """Say what is wanted after the first open transaction: `open_` has its first offset and the
    high watermark."""
    ignored: Results[TopicPartition, Span] = Results()
    starts = _offsets(cluster, list(open_), start, False, ignored)
    ends = _offsets(cluster, list(open_), end, False, ignored)
    for where, (first, last) in open_.items():
        if where in ignored.failures:
            continue
        begin, to = starts[where], ends[where]
        begin, to = last if begin is None else begin, last if to is None else to
        left = min(to, last) - max(begin, first)
        if left > 0:
            warn(
                f"partition {where}: an open transaction begins at offset {first:,};"
                f" {counted(left, 'offset')} from there {'is' if left == 1 else 'are'}"
            )


def _offsets(
    cluster: Cluster,
    partitions: Sequence[TopicPartition],
    position: Position,
    committed: bool,
    results: Results[TopicPartition, Span],
) -> dict[TopicPartition, int | None]:
    """The offset of the position in each partition; None for its end."""
    if position.offset is not None:
        return dict.fromkeys(partitions, position.offset)
    if position.time in (EARLIEST, LATEST):
        return dict.fromkeys(partitions, 0 if position.time == EARLIEST else None)
    found = list_offsets(cluster, dict.fromkeys(partitions, position.time), committed=committed)
    results.failures.update(found.failures)
    return {where: at.offset for where, at in found.values.items()}


class Reading:
    """Reads the spans of partitions. While and after it does, `scanned` is the number of records
    read, `done` that of offsets passed, and `failures` are the partitions that could not be read to
    their end, or without some batches that cannot be decoded.

    `decoder` says which records to return, `warn` is called with what changed meanwhile, and
    `progress` after every response. New partitions of the topics in `grows` are read, too, without
    end.
    """

    def __init__(
        self,
        cluster: Cluster,
        found: Results[TopicPartition, Span],
        *,
        committed: bool = False,
        decoder: Decoder = ALL,
        warn: Callable[[str], None] = lambda message: None,
        progress: Callable[[Reading], None] = lambda reading: None,
        grows: Collection[str] = (),
    ) -> None:
        self.cluster = cluster
        self.spans = found.values
        self.ended: dict[TopicPartition, Failure] = dict(found.failures)
        self._skipped: dict[TopicPartition, tuple[Failure, set[int]]] = {}
        self.committed = committed
        self.decoder = decoder
        self.warn = warn
        self.scanned = self.done = 0
        self._loaded: tuple[tuple[TopicPartition, int] | None, bytes] = None, b""
        self._passed = {where: span.start for where, span in self.spans.items()}
        self._progress = progress
        self._grows = grows

    @property
    def offsets(self) -> int:
        """The number of offsets in all spans that have an end."""
        return sum(span.end - span.start for span in self.spans.values() if span.end is not None)

    @property
    def failures(self) -> dict[TopicPartition, Failure]:
        """Why partitions could not be read to their end, or without which batches."""
        return {where: self._without(where) for where in self._skipped} | self.ended

    def ordered(self) -> Iterator[list[Record]]:
        """The records in the order of their timestamps; those of a partition by offset. In blocks,
        as soon as every partition has sent its next records."""
        share = _share(len(self.spans))
        with self._fetching() as source:
            waiting = [self._of_partition(source, where, share) for where in self.spans]
            for block in merge(waiting):
                yield from loaded(block)

    def arriving(self) -> Iterator[list[Record]]:
        """The records by partition and offset as they arrive, also of spans without end."""
        with self._fetching() as source:
            while (chunk := source.chunk()) is not None:
                yield from self.blocks(source, chunk)

    def values(self) -> Iterator[list[bytes | None]]:
        """Only the values, by partition and offset, in the order of arrival. Twice as fast, as
        nothing else is decoded; not filtered."""
        with self._fetching() as source:
            while (chunk := source.chunk()) is not None:
                yield from self._read(source, chunk, self._values)

    def count(self) -> int:
        """How many records there are, without those that the filter does not keep. Batches are
        decoded only for the filter."""
        with self._fetching() as source:
            total = 0
            while (chunk := source.chunk()) is not None:
                total += sum(self._read(source, chunk, self._count))
            return total

    @contextmanager
    def _fetching(self) -> Iterator[Fetching]:
        with fetching(
            self.cluster, self.spans, committed=self.committed, warn=self.warn,
            on_response=lambda: self._progress(self), grows=self._grows,
        ) as source:  # fmt: skip
            try:
                yield source
            finally:
                self.ended |= source.failures

    def _of_partition(
        self, source: Fetching, where: TopicPartition, share: int
    ) -> Iterator[list[Waiting]]:
        while (chunk := source.chunk(where)) is not None:
            yield from self.waiting(source, chunk, share)

    def blocks(self, source: Fetching, chunk: Chunk) -> Iterator[list[Record]]:
        """The records of a chunk."""
        return self._read(source, chunk, self._records)

    def waiting(self, source: Fetching, chunk: Chunk, share: int) -> Iterator[list[Waiting]]:
        """The records of a chunk, of which at most `share` bytes wait in memory."""

        def read(chunk: Chunk, batch: Batch, at: int) -> Iterator[list[Waiting]]:
            return chunk.waiting(batch, partial(self._load, chunk, batch, at), self.decoder, share)

        return self._read(source, chunk, read)

    def _load(self, chunk: Chunk, batch: Batch, at: int) -> bytes:
        """The decompressed records of a batch; the last one is kept."""
        of = chunk.where, batch.base_offset
        if self._loaded[0] != of:
            self._loaded = None, b""  # before the next one needs its memory
            self._loaded = of, body(chunk.raw, batch, at, self.decoder.most_bytes)
        return self._loaded[1]

    def _read(
        self, source: Fetching, chunk: Chunk, read: Callable[[Chunk, Batch, int], Iterator[T]]
    ) -> Iterator[T]:
        """What `read` yields for each batch. A batch that cannot be decoded is skipped; a marker of
        a transaction ends the partition, as it decides about the records after it."""
        try:
            for batch, at in chunk.batches():
                try:
                    yield from read(chunk, batch, at)
                except ShellError as error:
                    self._skip(chunk.where, batch, error)
                self.scanned += batch.records
        except ShellError as error:
            source.fail(chunk.where, error)
        before = self._passed.get(chunk.where, 0)  # a new partition is read from its beginning
        self.done += chunk.next - before  # also what was deleted meanwhile
        self._passed[chunk.where] = chunk.next

    def _skip(self, where: TopicPartition, batch: Batch, error: ShellError) -> None:
        """Remember a batch by its offset, as it may be read twice."""
        _, offsets = self._skipped.setdefault(where, (failure_in(where, error), set()))
        offsets.add(batch.base_offset)

    def _without(self, where: TopicPartition) -> Failure:
        first, offsets = self._skipped[where]
        more = f"; {counted(len(offsets) - 1, 'other batch')} cannot be read, either"
        return replace(first, message=first.message + more) if len(offsets) > 1 else first

    def _records(self, chunk: Chunk, batch: Batch, at: int) -> Iterator[list[Record]]:
        return chunk.records(batch, at, self.decoder)

    def _count(self, chunk: Chunk, batch: Batch, at: int) -> Iterator[int]:
        if self.decoder.keep is None and chunk.whole(batch):
            return iter([batch.records])
        return map(len, chunk.records(batch, at, self.decoder))

    def _values(self, chunk: Chunk, batch: Batch, at: int) -> Iterator[list[bytes | None]]:
        if chunk.whole(batch):
            return values(batch, body(chunk.raw, batch, at, self.decoder.most_bytes))
        return ([record.value for record in block] for block in self._records(chunk, batch, at))


def _share(waiting: int) -> int:
    """The bytes for each of so many that wait at the same time."""
    return max(_LEAST_SHARE, _WAITING_BYTES // max(1, waiting))


def loaded(block: list[Waiting]) -> Iterator[list[Record]]:
    """The records of a block; a large one is decoded when it is asked for."""
    small: list[Record] = []
    for record in block:
        if isinstance(record, LargeRecord):
            yield small
            small = []
            yield [record.load()]
        else:
            small.append(record)
    yield small


def merge(sources: Iterable[Iterator[list[Waiting]]]) -> Iterator[list[Waiting]]:
    """The records of all sources by timestamp, in blocks. Each source keeps its own order."""
    heads = []
    for order, source in enumerate(sources):
        block = _next_block(source)
        if block:
            heads.append((block[0].timestamp, order, 0, block, source))
    heapify(heads)
    out: list[Waiting] = []
    ended = 0
    while heads:
        _, order, first, block, source = heappop(heads)
        if not heads:
            yield out + block[first:]
            yield from source
            return
        limit, size, at = heads[0][0], len(block), first + 1
        while at < size and block[at].timestamp <= limit:
            at += 1
        out += block[first:at]
        if at == size:
            ended += 1
            if len(out) >= _BLOCK or ended == _BLOCKS:
                yield out
                out, ended = [], 0
            block, at = _next_block(source), 0
        if block:
            heappush(heads, (block[at].timestamp, order, at, block, source))
    yield out


def _next_block(source: Iterator[list[Waiting]]) -> list[Waiting]:
    """The next records of a source that has any, else an empty list."""
    return next((block for block in source if block), [])


# The last records of partitions, read backwards in windows of offsets.
#
# A window grows while the log has few records (compaction and transactions leave gaps), and shrinks
# if it has many, so that the time does not depend on the size of the log.

_CHUNK_BYTES = 1 << 18  # of one response for one partition
_WINDOW_BYTES = 1 << 21  # of a window; with a filter 16 times as many
_GROWTH = 4


class _Tail:
    """The last records of one partition so far: all from offset `low` on."""

    def __init__(self, span: Span, count: int) -> None:
        assert span.end is not None
        self.first, self.low, self.width = span.start, span.end, count
        self.topic_id = span.topic_id
        self.records: list[Waiting] = []

    @property
    def window(self) -> Span:
        return Span(max(self.first, self.low - self.width), self.low, self.topic_id)


def last(reading: Reading, count: int) -> Iterator[list[Record]]:
    """The last records of the spans, at most `count`, in the order of their timestamps. Failures
    are added to those of the reading."""
    tails = {where: _Tail(span, count) for where, span in reading.spans.items()}
    while open_ := {
        where: tail
        for where, tail in tails.items()
        if tail.low > tail.first and len(tail.records) < count and where not in reading.ended
    }:
        _read_windows(reading, open_, count)
    blocks = merge([iter([tail.records]) for tail in tails.values()])
    found = [record for block in blocks for record in block]
    return loaded(found[-count:])


def _read_windows(reading: Reading, tails: dict[TopicPartition, _Tail], count: int) -> None:
    every = reading.decoder.keep is None
    chunk_bytes = _CHUNK_BYTES if every else PARTITION_BYTES
    most = _WINDOW_BYTES if every else 16 * _WINDOW_BYTES
    share = _share(count * len(reading.spans))
    found: dict[TopicPartition, list[Waiting]] = {where: [] for where in tails}
    sizes = dict.fromkeys(tails, 0)
    with fetching(
        reading.cluster,
        {where: tail.window for where, tail in tails.items()},
        committed=reading.committed,
        warn=reading.warn,
        partition_bytes=chunk_bytes,
    ) as source:
        while (chunk := source.chunk()) is not None:
            where = chunk.where
            sizes[where] += len(chunk.raw)
            if sizes[where] > most and tails[where].width > count:
                source.stop(where)
                continue
            for block in reading.waiting(source, chunk, share):
                found[where] += block
                del found[where][:-count]
        reading.ended |= source.failures
    for where, tail in tails.items():
        if sizes[where] > most and tail.width > count:
            tail.width = max(count, tail.width // _GROWTH)
            continue
        tail.records = (found[where] + tail.records)[-count:]
        tail.low = tail.window.start
        if sizes[where] < most // (2 * _GROWTH):
            tail.width *= _GROWTH


# Records for Python programs: an iterator with a connection of its own.

Blocks = Callable[[Reading], Iterator[list[Record]]]


class RecordStream:
    """Iterates over records. Each iteration reads again, through a connection of its own, so that
    other calls need not wait for it.

    `failures` are the partitions that could not be read, or not to their end: complete after the
    last record. `warnings` are what changed meanwhile, such as records that were deleted.
    """

    def __init__(
        self,
        connect: Callable[[], Cluster],
        partitions: Sequence[TopicPartition],
        start: Position | None,
        end: Position | None,
        committed: bool,
        blocks: Blocks = Reading.ordered,
    ) -> None:
        self.failures: dict[TopicPartition, Failure] = {}
        self.warnings: list[str] = []
        self._connect, self._blocks = connect, blocks
        self._partitions = partitions
        self._start, self._end = start or FROM_EARLIEST, end or TO_LATEST
        self._committed = committed

    def __iter__(self) -> Iterator[Record]:
        self.failures, self.warnings = {}, []
        warn = self.warnings.append
        with self._connect() as cluster:
            found = spans(
                cluster, self._partitions, self._start, self._end, committed=self._committed,
                warn=warn,
            )  # fmt: skip
            reading = Reading(cluster, Results(found.values), committed=self._committed, warn=warn)
            try:
                for block in self._blocks(reading):
                    yield from block
            finally:
                self.failures |= {**found.failures, **reading.failures}


def last_of(count: int) -> Blocks:
    """The last records of a reading."""
    return lambda reading: last(reading, count)


# The log of one partition, read to its end or appended to (API keys 0, 1 and 22).
#
# For small topics with records of this program.


def read(cluster: Cluster, topic: str, partition: int = 0) -> tuple[Record, ...]:
    """Every record, from the log start offset to the high watermark as it is now.

    Raises ShellError for an unknown topic, without READ on it, without a leader, or if the end is
    not reached. Never returns a part of the records.
    """
    where = TopicPartition(topic, partition)
    span = ranges(cluster, [where])
    raise_first(span.failures)
    limits = span[where]
    found: list[Record] = []
    with fetching(cluster, {where: Span(limits.earliest, limits.latest)}) as reading:
        while (chunk := reading.chunk()) is not None:
            for batch, at in chunk.batches():
                found += chain.from_iterable(chunk.records(batch, at))
    raise_first(reading.failures)
    if reading.lost:
        raise ShellError(
            f"topic {topic} partition {partition}: records were deleted while they were read",
            hint="Try again.",
            code="incomplete",
        )
    return tuple(found)


def append(
    cluster: Cluster,
    topic: str,
    records: Sequence[tuple[bytes | None, bytes | None]],
    partition: int = 0,
) -> int:
    """Append the records as one batch, all or none, to every in-sync replica; the first's offset.

    Raises ShellError without WRITE, with too few in-sync replicas until the deadline, or if the
    outcome is unknown at the deadline ("outcome-unknown").
    """
    (written,) = Writer(cluster, topic).write(
        {partition: [NewRecord(key, value) for key, value in records]}, whole=True
    )
    if written.failure is not None:
        raise as_error(written.failure)
    return written.offset or 0
