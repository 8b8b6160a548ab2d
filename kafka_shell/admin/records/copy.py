"""Records copied from one topic to another, and what a later run needs to continue.

Before a window of records is written, its offsets and the sequence numbers of its batches are
saved. If the copy is interrupted, the batches of this producer in the target show which records of
the window were written: none is lost and none is copied twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.partitions.model import LATEST, TopicPartition
from kafka_shell.admin.records.codecs import NONE
from kafka_shell.admin.records.decode import ALL, Decoder
from kafka_shell.admin.records.encode import ProducerId, encoded_size, sequences_between
from kafka_shell.admin.records.fetching import Chunk, Fetching, Span, fetching
from kafka_shell.admin.records.model import NewRecord, Record
from kafka_shell.admin.records.offsets import leader_log_end, list_offsets
from kafka_shell.admin.records.produce import stops
from kafka_shell.admin.records.read import FROM_EARLIEST, TO_LATEST, Position, Reading, spans
from kafka_shell.admin.records.write import Tally, WriteInterrupted, Writer, partition_of
from kafka_shell.admin.steps import BaseStep, refused_of
from kafka_shell.admin.topics import read as topics
from kafka_shell.admin.topics.partitions import find
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import (
    Advice,
    Bookkeeping,
    Change,
    Effect,
    Monitor,
    Outcomes,
    Plan,
    Report,
    Resource,
    StepInterrupted,
)
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.text import escape
from kafka_shell.base.units import approximate_bytes, counted
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig
from kafka_shell.wire.failures import as_error

# Which records of a window an interrupted copy has written, by the batches of its producers.


class ProducedBatches(Struct, frozen=True):
    """The producer of batches in one partition, the sequence number of its first record, and an
    offset that is not after it."""

    producer: int
    epoch: int
    sequence: int
    start: int


def written(
    cluster: Cluster, where: TopicPartition, topic_id: str, marks: Sequence[ProducedBatches]
) -> list[Record]:
    """The records of these producers that a partition of the target has, in their order.

    Raises ShellError if it is not known: what is not among them is written again.
    """
    if not marks:
        return []
    first = {(mark.producer, mark.epoch): mark.sequence for mark in marks}
    # Also batches that are not replicated yet: they stay if their followers return.
    span = Span(min(mark.start for mark in marks), leader_log_end(cluster, where), topic_id)
    found: list[Record] = []
    expected: dict[tuple[int, int], int] = {}  # records up to the last batch
    with fetching(cluster, {where: span}) as reading:
        while (chunk := reading.chunk()) is not None:
            for batch, at in chunk.batches(empty=True):
                producer = (batch.producer_id, batch.producer_epoch)
                sequence = first.get(producer)
                if sequence is None:
                    continue
                passed = sequences_between(sequence, batch.base_sequence)
                if passed >= 0:
                    found += chain.from_iterable(chunk.records(batch, at))
                    expected[producer] = passed + batch.last_offset - batch.base_offset + 1
    for why in reading.failures.values():
        raise as_error(why)
    # Compaction keeps the last batch of a producer, if only its header.
    unseen = first.keys() - expected.keys()
    if len(found) < sum(expected.values()) or (reading.lost and unseen):
        raise ShellError(
            f"cannot resume: records written by the interrupted copy were deleted from partition"
            f" {where} of the target",
            hint="Compare both topics and start a new copy.",
            code="incomplete",
        )
    return found


def without(
    records: Sequence[Record], found: Sequence[Record], new: Callable[[Record], NewRecord]
) -> list[Record]:
    """The records that are not among those that were found, which have the same order."""
    places: dict[tuple[Any, ...], deque[int]] = {}
    for number, each in enumerate(found):
        places.setdefault(_content(each), deque()).append(number)
    left: list[Record] = []
    at = 0
    for record in records:
        positions = places.get(_content(new(record)), deque())
        while positions and positions[0] < at:  # of records that the source no longer has
            positions.popleft()
        if positions:
            at = positions.popleft() + 1
        else:
            left.append(record)
    return left


def _content(record: NewRecord | Record) -> tuple[Any, ...]:
    return record.key, record.value, record.headers


COPIED_FROM = "copied-from"
"""The header with the source of a record: topic:partition:offset."""

_WINDOW_BYTES = 8 << 20  # uncompressed
_BEFORE_READ = "after the copy began, before they were read"


class Window(Struct, frozen=True):
    """Records that were being written when the copy ended: the offsets after them by source
    partition, and by target partition how each producer marked its batches."""

    ends: dict[int, int]
    marks: dict[int, list[ProducedBatches]]


class Progress(Struct, frozen=True):
    """How far a copy is: the next offset and the end by source partition, and the window that may
    have been written in part.

    `topics` are the IDs of the source and the target; empty for brokers before Kafka 2.8.
    `partitions` is the number that the target had at the beginning. If `same`, a record is copied
    to the partition of its number.
    """

    spans: dict[int, tuple[int, int]]
    topics: tuple[str, str]
    partitions: int
    same: bool
    window: Window | None = None

    @property
    def complete(self) -> bool:
        """Whether all was copied."""
        return self.window is None and all(at >= end for at, end in self.spans.values())


class CopyRecords(Struct, BaseStep, frozen=True):
    """Copies the records between two offsets of each partition of `source`.

    `decoder` says which of them. `counts` are the numbers of records by partition. `saved` is what
    else to save with the progress.
    """

    source: str
    target: str
    config: ConnectionConfig
    progress: Progress
    counts: dict[int, int]
    monitor: Monitor
    saved: dict[str, Any] = field(default_factory=dict)
    decoder: Decoder = ALL
    committed: bool = True
    keep_timestamps: bool = False
    add_headers: bool = False
    codec: int = NONE

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(
                Resource("topic", self.target), "copy", f"{self.source}:{number}", None,
                f"offset {at}" if end == at + 1 else f"offsets {at}-{end - 1}",
                note=counted(self.counts[number], "record"),
                reversible=False, records=self.counts[number],
            )
            for number, (at, end) in self.progress.spans.items()
            if self.counts.get(number)
        )  # fmt: skip

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        tally: Tally[str] = Tally(self.target, "copy", "record")
        copier = _Copier(self, cluster, tally)
        try:
            with Cluster(self.config) as source:
                source.join(cluster)
                copier.run(source)
        except KeyboardInterrupt:
            raise StepInterrupted(tally.interrupted()) from None
        except ShellError as error:
            return tally.end(error)
        done = tally.total or tally.failed
        return tally.results() if done else self._nothing(copied=copier.found)

    def _nothing(self, *, copied: bool) -> Outcomes:
        """The changes, if an earlier run has copied all records, or compaction left none."""
        why = "all were copied already" if copied else "the source no longer has any of them"
        change = Change(
            Resource("topic", self.target), "copy", "no records", note=why, reversible=False,
            records=0,
        )  # fmt: skip
        return Results({change: change})


class _Copier:
    """One run of a copy. `found`: the target has records that an earlier run did not count."""

    def __init__(self, step: CopyRecords, cluster: Cluster, tally: Tally[str]) -> None:
        self._step, self._cluster, self._tally = step, cluster, tally
        self._writer = Writer(cluster, step.target, step.codec, self._mark_producer)
        self._spans, self._ids = dict(step.progress.spans), step.progress.topics
        self._targets: dict[int, int] = {}  # by partition, an offset not after what is written next
        self._window: Window | None = None  # which is being written
        self._total = sum(step.counts.values())
        self.found = False

    def run(self, source: Cluster) -> None:
        window = self._step.progress.window
        if window is not None:
            self._finish(source, window)
        spans = {
            TopicPartition(self._step.source, number): Span(at, end, self._ids[0])
            for number, (at, end) in self._spans.items()
            if at < end
        }
        with fetching(source, spans, committed=self._step.committed) as reading:
            try:
                for records, ends in self._windows(reading):
                    if not self._copy(records, ends):
                        return
            finally:  # an interrupted copy continues after them
                self._refuse_lost(reading)
        self._pass_lost(reading)
        for where, why in reading.failures.items():
            at, end = self._spans[where.partition]
            self._tally.refuse(f"{where} offsets {at}-{end - 1}", why)
        self._save(None)

    def _refuse_lost(self, reading: Fetching, when: str = _BEFORE_READ) -> None:
        """Add the records that retention or another client deleted before they were read."""
        for where, first, end in reading.lost:
            deleted = Failure("deleted", f"deleted {when}")
            self._tally.refuse(f"{where} offsets {first}-{end - 1}", deleted)

    def _pass_lost(self, reading: Fetching) -> None:
        """Nothing is left to copy of a partition whose last records were deleted."""
        for where, _, end in reading.lost:
            at, last = self._spans[where.partition]
            if where not in reading.failures:
                self._spans[where.partition] = (max(at, end), last)

    def _windows(self, reading: Fetching) -> Iterator[tuple[list[Record], dict[int, int]]]:
        """Records in lists of bounded size, with the offsets after them by source partition. A
        compressed batch may be 1,000 times as large in memory, so that it may be divided."""
        records: list[Record] = []
        ends: dict[int, int] = {}
        size = 0
        while (chunk := reading.chunk()) is not None:
            number = chunk.where.partition
            try:
                for found, end, more in self._blocks(chunk):
                    records += found
                    ends[number] = min(end, chunk.next)
                    size += more
                    if size >= _WINDOW_BYTES:
                        yield records, ends
                        records, ends, size = [], {}, 0
            except ShellError as error:
                records = [each for each in records if each.partition != number]
                ends.pop(number, None)
                reading.fail(chunk.where, error)
                continue
            ends[number] = chunk.next
        if ends:
            yield records, ends

    def _blocks(self, chunk: Chunk) -> Iterator[tuple[list[Record], int, int]]:
        """Records, the offset after them, and their uncompressed size. With a filter, the size of a
        batch is added, so that progress is saved even if no record is copied."""
        for batch, at in chunk.batches():
            for found in chunk.records(batch, at, self._step.decoder):
                if found:
                    yield found, found[-1].offset + 1, sum(map(encoded_size, found))
            yield [], batch.last_offset + 1, 0 if self._step.decoder.keep is None else batch.size

    # -- one window --------------------------------------------------------------------------------

    def _copy(
        self, records: Sequence[Record], ends: Mapping[int, int], first: Window | None = None
    ) -> bool:
        """Write the records of a window. Returns whether to continue. `first` is the window if an
        earlier run has written a part of it."""
        grouped = self._grouped(records)
        self._window = self._marked(grouped, ends, first)
        self._save(self._window)
        origins = {
            number: [f"{self._step.source}:{each.partition} offset {each.offset}" for each in some]
            for number, some in grouped.items()
        }
        outgoing = {number: list(map(self._new, some)) for number, some in grouped.items()}
        try:
            outcomes = self._writer.write(outgoing)
        except WriteInterrupted as interrupted:
            self._tally.add(interrupted.written, origins)
            raise
        self._window = None
        self._tally.add(outcomes, origins)
        self._step.monitor.report("copying records", self._tally.total, self._total)
        if any(map(stops, outcomes)):
            return False
        for each in outcomes:
            if each.offset is not None:
                self._targets[each.partition] = each.offset + each.count
        for number, end in ends.items():
            self._spans[number] = (end, self._spans[number][1])
        return True

    def _grouped(self, records: Sequence[Record]) -> dict[int, list[Record]]:
        """The records by target partition, in an order that depends on nothing else."""
        grouped: dict[int, list[Record]] = {}
        for each in sorted(records, key=lambda each: (each.partition, each.offset)):
            grouped.setdefault(self._target(each), []).append(each)
        return grouped

    def _target(self, record: Record) -> int:
        progress = self._step.progress
        if progress.same:
            return record.partition
        if record.key is None:
            return (record.partition + record.offset) % progress.partitions
        return partition_of(record.key, progress.partitions)

    def _new(self, record: Record) -> NewRecord:
        headers = record.headers
        if self._step.add_headers:
            where = f"{record.topic}:{record.partition}:{record.offset}"
            headers = (*headers, (COPIED_FROM, where.encode()))
        keep = self._step.keep_timestamps and record.timestamp >= 0
        return NewRecord(
            record.key, record.value, headers, None, record.timestamp if keep else None
        )

    # -- progress ----------------------------------------------------------------------------------

    def _marked(
        self,
        grouped: Mapping[int, Sequence[Record]],
        ends: Mapping[int, int],
        first: Window | None,
    ) -> Window:
        unknown = [number for number in grouped if number not in self._targets]
        self._targets |= self._ends_of_target(unknown)
        marks = {} if first is None else dict(first.marks)
        for number in grouped:
            producer, sequence = self._writer.position(number)
            mark = ProducedBatches(producer.id, producer.epoch, sequence, self._targets[number])
            marks[number] = [*marks.get(number, ()), mark]
        return Window(dict(ends), marks)

    def _mark_producer(self, number: int, producer: ProducerId) -> None:
        """Save the mark of a producer that replaces another one within a window: the leader has
        lost the state of that one."""
        if self._window is not None:
            mark = ProducedBatches(producer.id, producer.epoch, 0, self._targets[number])
            self._window.marks[number] = [*self._window.marks[number], mark]
            self._save(self._window)

    def _ends_of_target(self, numbers: Sequence[int]) -> dict[int, int]:
        wanted = {TopicPartition(self._step.target, number): LATEST for number in numbers}
        if not wanted:
            return {}
        found = list_offsets(self._cluster, wanted)
        for why in found.failures.values():
            raise as_error(why)
        return {each.partition: at.offset or 0 for each, at in found.values.items()}

    def _save(self, window: Window | None) -> None:
        from msgspec import to_builtins

        progress = replace(self._step.progress, spans=dict(self._spans), window=window)
        self._step.monitor.save(
            self._step.saved
            | {"complete": progress.complete, "progress": to_builtins(progress, str_keys=True)}
        )

    # -- continuing --------------------------------------------------------------------------------

    def _finish(self, source: Cluster, window: Window) -> None:
        """Write what is missing of the window in which an earlier run ended."""
        spans = {
            TopicPartition(self._step.source, number): Span(
                self._spans[number][0], end, self._ids[0]
            )
            for number, end in window.ends.items()
        }
        with fetching(source, spans, committed=self._step.committed) as reading:
            records = [each for some, _ in self._windows(reading) for each in some]
        self._refuse_lost(reading, "before the copy was continued; some may have been copied")
        for why in reading.failures.values():
            raise as_error(why)
        missing = []
        for number, some in self._grouped(records).items():
            where = TopicPartition(self._step.target, number)
            found = written(self._cluster, where, self._ids[1], window.marks.get(number, ()))
            missing += without(some, found, self._new)
            self.found |= bool(found)
        if not self._copy(missing, window.ends, window):
            raise ShellError("the copy could not be continued", code="incomplete")


# Plans that copy records from one topic to another, perhaps of another cluster.

_COUNTED = 100_000  # so many offsets are read to count their records; more only if they are chosen
_SAMPLE, _KEY = 5, 40  # keys, and bytes of a key


class CopyRequest(Struct, frozen=True):
    """What to copy. Without `numbers`, all partitions of the source; `limit` is the largest number
    of records, the oldest by timestamp. `saved` is what to save with the progress."""

    source: str
    target: str
    numbers: Sequence[int] | None = None
    start: Position = FROM_EARLIEST
    end: Position = TO_LATEST
    limit: int | None = None
    decoder: Decoder = ALL
    committed: bool = True
    keep_timestamps: bool = False
    add_headers: bool = False
    codec: int = NONE
    saved: Mapping[str, Any] = field(default_factory=dict)


class _Survey(Struct):
    """What the spans contain."""

    spans: dict[TopicPartition, Span]
    counts: dict[TopicPartition, int] = field(default_factory=dict)
    size: int | None = None
    keys: list[bytes | None] = field(default_factory=list)
    failures: dict[TopicPartition, Failure] = field(default_factory=dict)


def plan_copy(
    source: Cluster,
    target: Cluster,
    request: CopyRequest,
    *,
    report: Report = lambda task, done, total: None,
) -> Plan:
    """Copy what the source has now, up to its current end (API keys 0, 1, 2 and 22).

    Keys, values and headers are the same bytes. A record is copied to the partition of the same
    number if both topics have as many partitions, else to that of its key. Applied to `target`.
    """
    found = topics.describe(source, [request.source])
    there = topics.describe(target, [request.target])
    failures = refused_of("topic", {**found.failures, **there.failures})
    if not failures.ok:
        return Plan(Effect.CHANGE, (), refused=failures)
    topic, other = found[request.source], there[request.target]
    every = [each.partition for each in topic.partitions]
    chosen = every if request.numbers is None else request.numbers
    wanted = [TopicPartition(request.source, number) for number in chosen]
    refused = find(source, wanted).failures
    warnings: list[str] = []
    ranges = spans(
        source, [each for each in wanted if each not in refused], request.start, request.end,
        committed=request.committed, warn=warnings.append, unread="not copied",
    )  # fmt: skip
    survey = _survey(source, ranges.values, request, report)
    refused = {**refused, **ranges.failures, **survey.failures}
    progress = Progress(
        {
            where.partition: (span.start, span.end or 0)
            for where, span in survey.spans.items()
            if where not in refused and survey.counts.get(where)
        },
        (topic.id, other.id),
        len(other.partitions),
        len(other.partitions) == len(topic.partitions),
    )
    counts = {where.partition: count for where, count in survey.counts.items()}
    plan = _plan(source, request, progress, counts)
    about = tuple(_about(request, progress, counts, survey)) if progress.spans else ()
    return replace(
        plan,
        refused=Results({}, {where.resource: why for where, why in refused.items()}),
        advice=Advice(about=about, warnings=tuple(warnings)),
    )


def _about(
    request: CopyRequest, progress: Progress, counts: Mapping[int, int], survey: _Survey
) -> Iterator[str]:
    """How many records of how many partitions are copied, and the first keys."""
    total = sum(counts[number] for number in progress.spans)
    size = "at most, not counted" if survey.size is None else approximate_bytes(survey.size)
    yield (
        f"copy {counted(total, 'record')} ({size}) of"
        f" {counted(len(progress.spans), 'partition')} of topic {request.source} to topic"
        f" {request.target}"
    )
    yield f"first keys: {', '.join(map(_shown, survey.keys))}"


def _shown(key: bytes | None) -> str:
    if key is None:
        return "(no key)"
    text = escape(key[:_KEY].decode("utf-8", "backslashreplace"))
    return text + ("…" if len(key) > _KEY else "") or '""'


def plan_continue(
    source: Cluster, target: Cluster, request: CopyRequest, progress: Progress
) -> Plan:
    """Copy what an interrupted copy left. Nothing that it has written is written again."""
    found = topics.describe(source, [request.source])
    there = topics.describe(target, [request.target])
    failures = refused_of("topic", {**found.failures, **there.failures})
    if not failures.ok:
        return Plan(Effect.CHANGE, (), refused=failures)
    now = (found[request.source].id, there[request.target].id)
    for name, before, id in zip(
        (request.source, request.target), progress.topics, now, strict=True
    ):
        if before != id:
            raise ShellError(
                f"topic {name} was recreated since the copy began",
                hint="Start a new copy.",
                code="recreated",
            )
    left = {number: end - at for number, (at, end) in progress.spans.items() if at < end}
    return _plan(source, request, progress, left)


def _plan(
    source: Cluster, request: CopyRequest, progress: Progress, counts: dict[int, int]
) -> Plan:
    if progress.complete:
        return Plan(Effect.CHANGE, ())
    monitor = Monitor()
    step = CopyRecords(
        request.source, request.target, source.config, progress, counts, monitor,
        dict(request.saved), request.decoder, request.committed, request.keep_timestamps,
        request.add_headers, request.codec,
    )  # fmt: skip
    return Plan(Effect.CHANGE, (step,), bookkeeping=Bookkeeping(monitor=monitor))


# -- what there is to copy -------------------------------------------------------------------------


def _survey(
    cluster: Cluster,
    ranges: Mapping[TopicPartition, Span],
    request: CopyRequest,
    report: Report,
) -> _Survey:
    reading = Reading(
        cluster, Results(dict(ranges)), committed=request.committed, decoder=request.decoder,
        progress=lambda reading: report("counting records", reading.done, reading.offsets),
    )  # fmt: skip
    survey = _Survey(dict(ranges))
    if request.decoder.keep is None and request.limit is None and reading.offsets > _COUNTED:
        survey.counts = {where: (span.end or 0) - span.start for where, span in ranges.items()}
        blocks = reading.ordered()
        survey.keys = _sample(next((block for block in blocks if block), []))
        blocks.close()  # type: ignore[attr-defined]
        survey.failures = reading.failures
        return survey
    survey.size = 0
    last: dict[TopicPartition, int] = {}
    left = request.limit
    for block in reading.ordered():
        taken = block if left is None else block[:left]
        _count(taken, survey, last)
        left = None if left is None else left - len(taken)
        if left == 0:
            break
    survey.failures = reading.failures
    if left == 0:  # exactly these
        survey.spans = {where: replace(ranges[where], end=at + 1) for where, at in last.items()}
    return survey


def _count(records: Sequence[Record], survey: _Survey, last: dict[TopicPartition, int]) -> None:
    for record in records:
        where = TopicPartition(record.topic, record.partition)
        survey.counts[where] = survey.counts.get(where, 0) + 1
        survey.size = (survey.size or 0) + encoded_size(record)
        last[where] = record.offset
    if len(survey.keys) < _SAMPLE:
        survey.keys = _sample(records, survey.keys)


def _sample(records: Sequence[Record], keys: Sequence[bytes | None] = ()) -> list[bytes | None]:
    """The first different keys."""
    return list(dict.fromkeys([*keys, *(record.key for record in records)]))[:_SAMPLE]
