"""Plans that copy records from one topic to another, perhaps of another cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.chunk import Filter, Span
from kafka_shell.admin.records.codecs import NONE
from kafka_shell.admin.records.copy import CopyRecords, Progress
from kafka_shell.admin.records.encode import encoded_size
from kafka_shell.admin.records.model import Record
from kafka_shell.admin.records.read import FROM_EARLIEST, TO_LATEST, Position, Reading, spans
from kafka_shell.admin.steps import refused_of
from kafka_shell.admin.topics import read as topics
from kafka_shell.admin.topics.partitions import find
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.common.escaping import escape
from kafka_shell.common.structs import replace
from kafka_shell.common.units import approximate_bytes, counted
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Effect, Monitor, Plan, Report
from kafka_shell.plan.results import Failure, Results

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
    keep: Filter | None = None
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
    return Plan(
        plan.effect, plan.steps, monitor=plan.monitor,
        about=tuple(_about(request, progress, counts, survey)) if progress.spans else (),
        refused=Results({}, {where.resource: why for where, why in refused.items()}),
        warnings=tuple(warnings),
    )  # fmt: skip


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
                f"topic {name} was deleted and created again since the copy began",
                hint="Nothing was sent. Begin a new copy, if there is still something to copy.",
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
        dict(request.saved), request.keep, request.committed, request.keep_timestamps,
        request.add_headers, request.codec,
    )  # fmt: skip
    return Plan(Effect.CHANGE, (step,), monitor=monitor)


# -- what there is to copy -------------------------------------------------------------------------


def _survey(
    cluster: Cluster,
    ranges: Mapping[TopicPartition, Span],
    request: CopyRequest,
    report: Report,
) -> _Survey:
    reading = Reading(
        cluster, Results(dict(ranges)), committed=request.committed, keep=request.keep,
        progress=lambda reading: report("counting records", reading.done, reading.offsets),
    )  # fmt: skip
    survey = _Survey(dict(ranges))
    if request.keep is None and request.limit is None and reading.offsets > _COUNTED:
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
