"""Records copied from one topic to another, and what a later run needs to continue.

Records are copied in windows. When all records of a window are written, the offsets after it are
saved: an interrupted copy continues there, so that none is lost, and some of the next window may be
copied twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field, to_builtins

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.codecs import NONE
from kafka_shell.admin.records.decode import ALL, Decoder
from kafka_shell.admin.records.encode import encoded_size
from kafka_shell.admin.records.fetching import Chunk, Fetching, Span, fetching
from kafka_shell.admin.records.formats import Formats
from kafka_shell.admin.records.mask import NO_MASK, Mask
from kafka_shell.admin.records.model import NewRecord, Record
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
from kafka_shell.base.units import approximate_bytes, counted, format_bytes
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig

COPIED_FROM = "copied-from"
"""The header with the source of a record: topic:partition:offset."""

_WINDOW_BYTES = 8 << 20  # uncompressed


class Progress(Struct, frozen=True):
    """How far a copy is: the offset after the last window that was written, and the end, by source
    partition.

    `topics` are the IDs of the source and the target; empty for brokers before Kafka 2.8.
    `partitions` is the number that the target had at the beginning. If `same`, a record is copied
    to the partition of its number.
    """

    spans: dict[int, tuple[int, int]]
    topics: tuple[str, str]
    partitions: int
    same: bool

    @property
    def complete(self) -> bool:
        """Whether all was copied."""
        return all(at >= end for at, end in self.spans.values())


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
        try:
            with Cluster(self.config) as source:
                source.join(cluster)
                _Copier(self, cluster, tally).run(source)
        except KeyboardInterrupt:
            raise StepInterrupted(tally.interrupted()) from None
        except ShellError as error:
            return tally.end(error)
        if tally.total or tally.failed:
            return tally.results()
        change = Change(
            Resource("topic", self.target), "copy", "no records",
            note="the records no longer exist in the source", reversible=False, records=0,
        )  # fmt: skip
        return Results({change: change})


class _Copier:
    """One run of a copy."""

    def __init__(self, step: CopyRecords, cluster: Cluster, tally: Tally[str]) -> None:
        self._step, self._tally = step, tally
        self._writer = Writer(cluster, step.target, step.codec)
        self._spans = dict(step.progress.spans)
        self._total = sum(step.counts.values())

    def run(self, source: Cluster) -> None:
        self._save()
        spans = {
            TopicPartition(self._step.source, number): Span(at, end, self._step.progress.topics[0])
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
        self._save()

    def _refuse_lost(self, reading: Fetching) -> None:
        """Add the records that retention or another client deleted before they were read."""
        for where, first, end in reading.lost:
            deleted = Failure("deleted", "deleted before they could be copied")
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

    def _copy(self, records: Sequence[Record], ends: Mapping[int, int]) -> bool:
        """Write the records of a window. Returns whether to continue."""
        grouped = self._grouped(records)
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
        self._tally.add(outcomes, origins)
        self._step.monitor.report("copying records", self._tally.total, self._total)
        if any(map(stops, outcomes)):
            return False
        for number, end in ends.items():
            self._spans[number] = (end, self._spans[number][1])
        self._save()
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

    def _save(self) -> None:
        progress = replace(self._step.progress, spans=dict(self._spans))
        self._step.monitor.save(
            self._step.saved
            | {"complete": progress.complete, "progress": to_builtins(progress, str_keys=True)}
        )


# Plans that copy records from one topic to another, perhaps of another cluster.

_COUNTED = 100_000  # so many offsets are read to count their records; more only if they are chosen
_SAMPLE, _KEY = 5, 40  # keys, and bytes of a key


class CopyRequest(Struct, frozen=True):
    """What to copy. Without `numbers`, all partitions of the source; `limit` is the largest number
    of records, the oldest by timestamp. `saved` is what to save with the progress. `mask` is for
    the keys that the plan shows."""

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
    mask: Mask = NO_MASK


class _Survey(Struct):
    """What the spans contain."""

    spans: dict[TopicPartition, Span]
    counts: dict[TopicPartition, int] = field(default_factory=dict)
    size: int | None = None
    first: dict[bytes | None, Record] = field(default_factory=dict)  # by key
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
    number if both topics have as many partitions, else to the partition of its key.
    Applied to `target`.
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
    shown = request.mask.shown([*survey.first.values()], Formats())
    keys = dict.fromkeys(record.key for record in shown)
    yield f"first keys: {', '.join(map(_shown, keys))}"


def _shown(key: bytes | None) -> str:
    if key is None:
        return "(no key)"
    text = escape(key[:_KEY].decode("utf-8", "backslashreplace"))
    return text + ("…" if len(key) > _KEY else "") or '""'


def plan_continue(
    source: Cluster, target: Cluster, request: CopyRequest, progress: Progress
) -> Plan:
    """Copy what an interrupted copy left, from the end of the last window that it has written."""
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
    twice = f"the last {format_bytes(_WINDOW_BYTES)} of records may be copied twice"
    return _plan(source, request, progress, left).advised(Advice(warnings=(twice,)))


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
        _sample(next((block for block in blocks if block), []), survey)
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
    _sample(records, survey)


def _sample(records: Iterable[Record], survey: _Survey) -> None:
    """Add the first records of different keys."""
    for record in records:
        if len(survey.first) == _SAMPLE:
            break
        survey.first.setdefault(record.key, record)
