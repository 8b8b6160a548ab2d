"""Reassignments in batches: the next batch starts when the last one is in sync.

Between batches the cluster must be healthy: all brokers that receive replicas run, and no partition
is below min.insync.replicas that was not before. No file says how far it is: a plan of the same
moves contains what is left, and waits for what is being moved.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Sequence

from msgspec import Struct, field

from kafka_shell.admin.partitions.follow import Follow
from kafka_shell.admin.partitions.model import Assignment, Move, TopicPartition
from kafka_shell.admin.partitions.progress import CurrentAssignment, current_assignment, spell
from kafka_shell.admin.partitions.sizes import Sizes
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.topics.min_isr import partitions_below
from kafka_shell.base.errors import ShellError, Status, UnexpectedEnd
from kafka_shell.base.plans import SENDING, Outcomes, Report
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted, some
from kafka_shell.base.waits import PART_S, POLL_S, PROGRESS_S
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import (
    INVALID_REPLICA_ASSIGNMENT,
    REASSIGNMENT_IN_PROGRESS,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from kafka_shell.wire.failures import as_error, failure
from kafka_shell.wire.metadata_scan import MetadataScan, request, scan
from kafka_shell.wire.requests import Call, Node

_AGAIN = "Run the same command again to continue."

# Splitting moves into batches.

_LOOK_AHEAD = 100  # batches that are tried before a new one is begun


class BatchLimits(Struct, frozen=True):
    """How much is moved at a time. None: no limit."""

    partitions: int | None = None
    bytes: int | None = None
    per_broker: int | None = None  # partitions of a batch that a broker sends or receives


DEFAULT_LIMITS = BatchLimits(partitions=100, per_broker=5)


def limits_of(given: BatchLimits | None, moves: Sequence[Move]) -> BatchLimits:
    """The limits of these moves. None: none. Those given have at most 100 partitions, if they do
    not say how many; if they say nothing, only moves that copy more than that are limited."""
    if given is None:
        return BatchLimits()
    most = DEFAULT_LIMITS.partitions or 0
    if given == BatchLimits():
        return given if sum(bool(move.adding) for move in moves) <= most else DEFAULT_LIMITS
    return replace(given, partitions=given.partitions or most)


class _Batch(Struct):
    moves: list[Move] = field(default_factory=list)
    copied: int = 0
    bytes: int = 0
    busy: Counter[int] = field(default_factory=Counter)


def split(moves: Sequence[Move], sizes: Sizes, limits: BatchLimits) -> list[tuple[Move, ...]]:
    """The moves in batches, each as full as the limits allow.

    Moves that copy nothing are in the first batch. A partition that is larger than the limit, or
    whose size is unknown, has a batch of its own if bytes are limited.
    """
    batches = [_Batch([move for move in moves if not move.adding])]
    first: Counter[int] = Counter()  # by broker: the first batch in which it has room
    begin = 0  # the first batch with room for partitions
    for move in moves:
        if not move.adding:
            continue
        brokers, size = _brokers(move), _bytes(move, sizes, limits)
        at = max(begin, *(first[broker] for broker in brokers))
        end = min(len(batches), at + _LOOK_AHEAD)
        at = next((n for n in range(at, end) if _fits(batches[n], brokers, size, limits)), -1)
        if at < 0:
            at = len(batches)
            batches.append(_Batch())
        batch = batches[at]
        batch.moves.append(move)
        batch.copied += 1
        batch.bytes += size
        batch.busy.update(brokers)
        while begin < len(batches) and not _has_room(batches[begin], limits):
            begin += 1
        for id in brokers:
            while first[id] < len(batches) and _is_busy(batches[first[id]], id, limits):
                first[id] += 1
    return [tuple(batch.moves) for batch in batches if batch.moves]


def _brokers(move: Move) -> set[int]:
    """The brokers that send or receive the copies."""
    source = move.leader if move.leader is not None else move.before[0]
    return {source, *move.adding}


def _bytes(move: Move, sizes: Sizes, limits: BatchLimits) -> int:
    size = sizes.of(move.partition, move.leader)
    return (limits.bytes or 0) if size is None else size * len(move.adding)


def _has_room(batch: _Batch, limits: BatchLimits) -> bool:
    return limits.partitions is None or batch.copied < limits.partitions


def _is_busy(batch: _Batch, broker: int, limits: BatchLimits) -> bool:
    return limits.per_broker is not None and batch.busy[broker] >= limits.per_broker


def _fits(batch: _Batch, brokers: set[int], size: int, limits: BatchLimits) -> bool:
    if not batch.copied:
        return True
    small = limits.bytes is None or batch.bytes + size <= limits.bytes
    busy = any(_is_busy(batch, broker, limits) for broker in brokers)
    return small and not busy and _has_room(batch, limits)


# -- moving the batches ----------------------------------------------------------------------------


class Batch(Struct, frozen=True):
    """Moves that are started together, and the wait for their end."""

    step: MoveReplicas
    follow: Follow


def batches_of(
    step: MoveReplicas, follow: Follow, groups: Sequence[Sequence[Move]]
) -> tuple[Batch, ...]:
    """The moves of a step in these groups. Everything else that is followed belongs to the first
    one."""
    sent = {move.partition for move in step.moves}
    others = [move for move in follow.moves or () if move.partition not in sent]
    batches = []
    for number, group in enumerate(groups):
        moves = (*group, *(() if number else others))
        partitions = {move.partition for move in moves}
        dirs = {place: path for place, path in follow.dirs.items() if place[1] in partitions}
        part = replace(step, moves=tuple(group), log_dirs=step.log_dirs.of(partitions))
        if number:
            part = replace(part, throttle=None, stay={})
        batches.append(Batch(part, replace(follow, moves=moves, dirs=dirs)))
    return tuple(batches)


class StartBatches(MoveReplicas, frozen=True):
    """Starts the first of the batches; its changes are those of all. `follow` starts the others."""

    first: MoveReplicas = field(default_factory=lambda: MoveReplicas(()))

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Raises ShellError if nothing was started: then the other batches are not, either."""
        sent = self.first.send(cluster, validate_only=validate_only)
        if not sent.values:
            raise as_error(next(iter(sent.failures.values())))
        return Results.of(self.changes, (sent.failures.get(change) for change in self.changes))


class FollowBatches(Struct, frozen=True):
    """Waits for the end of the first batch, then starts the others one by one.

    Raises ShellError as Follow does if it is interrupted in a batch, and UnexpectedEnd if no
    further batch is started: as the cluster is not healthy (code `paused`), or interrupted.
    """

    batches: tuple[Batch, ...]
    below: frozenset[TopicPartition]  # below min.insync.replicas before it was started
    before: Assignment  # the replicas before it was started

    def __call__(self, cluster: Cluster, report: Report) -> None:
        refused: dict[TopicPartition, Failure] = {}
        for number, batch in enumerate(self.batches, 1):
            name = f"batch {number:,} of {len(self.batches):,}"
            progress = _prefixed(report, name)
            try:
                if number > 1:
                    refused |= self._start_when_healthy(cluster, batch.step, progress)
                batch.follow(cluster, progress)
            except KeyboardInterrupt:
                raise UnexpectedEnd(
                    f"interrupted at {name}", hint=_AGAIN, code="interrupted",
                    status=Status.INTERRUPTED,
                ) from None  # fmt: skip
            except UnexpectedEnd as error:
                hint = f"{error.hint} {_AGAIN}".strip()
                raise UnexpectedEnd(
                    f"paused at {name}: {error.message}", hint=hint, code="paused"
                ) from None
            except ShellError as error:
                error.message = f"paused at {name}: {error.message}"
                if error.code == "interrupted":
                    error.message = (
                        f"interrupted in {name}, which continues with its throttle; no further"
                        " batch is started"
                    )
                raise
        for each, why in refused.items():
            more = f" (and {len(refused) - 1:,} more)" if len(refused) > 1 else ""
            raise UnexpectedEnd(
                f"partition {each} was not moved{more}: {why.message}",
                hint=_AGAIN,
                code="reassignment-failed",
            )

    def _start_when_healthy(
        self, cluster: Cluster, step: MoveReplicas, report: Report
    ) -> dict[TopicPartition, Failure]:
        """Start a batch when the cluster is healthy. Returns the partitions that were refused.
        Raises UnexpectedEnd if it takes too long."""
        until, task, last = time.monotonic() + PROGRESS_S, "", ""
        if cluster.deadline is not None:
            until = min(until, cluster.deadline)
        while True:
            with SENDING:
                if not (why := problem(cluster, step.target, self.below)):
                    if task:
                        report(task, 1, 1)
                    return self._start(cluster, step)
            if cluster.deadline is not None and time.monotonic() > cluster.deadline:
                why = last or why  # not that there was no time left to look again
            if time.monotonic() + POLL_S > until:
                raise UnexpectedEnd(f"not started: {why}", code="paused")
            if task and why != last:
                report(task, 1, 1)
            task, last = f"waiting: {why}", why
            report(task, 0, None)
            time.sleep(POLL_S)

    def _start(self, cluster: Cluster, step: MoveReplicas) -> dict[TopicPartition, Failure]:
        names = {str(partition): partition for partition in step.target}
        now = current_assignment(cluster, sorted({partition.topic for partition in step.target}))
        checked = (
            (each, _moved_elsewhere(now, each, to, self.before[each]))
            for each, to in step.target.items()
        )
        refused = {each: why for each, why in checked if why is not None}
        left = set(step.target) - refused.keys()
        moves = tuple(move for move in step.moves if move.partition in left)
        step = replace(step, moves=moves, log_dirs=step.log_dirs.of(left))
        failures = step.send(cluster, validate_only=False).failures
        return refused | {names[change.resource.name]: why for change, why in failures.items()}


def _prefixed(report: Report, name: str) -> Report:
    return lambda task, done, total: report(f"{name}: {task[:1].lower()}{task[1:]}", done, total)


def _moved_elsewhere(
    now: CurrentAssignment, partition: TopicPartition, to: Sequence[int], before: Sequence[int]
) -> Failure | None:
    """Why a partition is not moved: it no longer exists, or another client moved or moves it."""
    if partition not in now.current:
        return failure(UNKNOWN_TOPIC_OR_PARTITION, text=f"partition {partition} does not exist")
    replicas = now.current[partition][1]
    if partition in now.moving:
        after = now.moving[partition].after
        if set(after) == set(to):
            return None
        text = f"partition {partition} is being reassigned to {spell(after)} instead"
        return failure(REASSIGNMENT_IN_PROGRESS, text=text)
    # With the replicas of both, it is being moved: a controller that has just lost its election
    # does not list that.
    if set(replicas) in (set(to), set(before), {*to, *before}):
        return None
    return failure(
        INVALID_REPLICA_ASSIGNMENT,
        text=f"partition {partition} has replicas {spell(replicas)}: another client has moved it",
    )


def in_batches(
    cluster: Cluster,
    step: MoveReplicas,
    follow: Follow,
    groups: Sequence[Sequence[Move]],
    metadata: MetadataScan,
) -> tuple[StartBatches, FollowBatches]:
    """The step that starts these groups of moves, and what moves the others. `metadata` is the
    metadata before it."""
    batches = batches_of(step, follow, groups)
    before = {move.partition: move.before for move in step.moves}
    moves = tuple(move for group in groups for move in group)
    start = StartBatches(moves, None, False, step.log_dirs, step.stay, batches[0].step)
    return start, FollowBatches(batches, below_min_isr(cluster, metadata), before)


# -- the health of the cluster ---------------------------------------------------------------------
#
# Every broker answers from its own copy of the metadata, which may be old; KRaft controllers do not
# answer such requests at all. So each leader is asked about its own topics, as it is the leader
# that accepts or refuses acks=all writes. What any of the answers reports counts.

_MOST_NAMES = 3


def below_min_isr(cluster: Cluster, metadata: MetadataScan) -> frozenset[TopicPartition]:
    """The partitions that acks=all producers cannot write to, as far as leaders respond."""
    return partitions_below(cluster, [metadata, *_ask(cluster, metadata)[0]])


def problem(cluster: Cluster, target: Assignment, known: frozenset[TopicPartition]) -> str:
    """Why a batch with these target replicas cannot be started now; empty if it can. `known` are
    the partitions below min.insync.replicas before the reassignment."""
    try:
        metadata = scan(cluster)
        receiving = _receiving(metadata, target)
        answers, silent = _ask(cluster, metadata, receiving)
        below = sorted(partitions_below(cluster, [metadata, *answers]) - known)
    except ShellError as error:
        return error.message
    running = set.intersection(*({each.id for each in one.brokers} for one in (metadata, *answers)))
    if down := sorted(receiving - running):
        return f"broker {down[0]} is down"
    if below:
        names = some(below, _MOST_NAMES)
        return f"{counted(len(below), 'partition')} below min.insync.replicas: {names}"
    return silent[0].message if silent else ""


def _ask(
    cluster: Cluster, metadata: MetadataScan, others: Collection[int] = ()
) -> tuple[Sequence[MetadataScan], Sequence[Failure]]:
    """The metadata that each leader has of its topics, and why brokers did not respond: leaders,
    and others that run."""
    topics = {broker.id: list[str]() for broker in metadata.brokers if broker.id in others}
    topics |= metadata.topics_by_leader()
    calls = [Call(request(names), Node(id), timeout=PART_S) for id, names in topics.items()]
    answers, silent = list[MetadataScan](), list[Failure]()
    for answer in cluster.send_all(calls):
        if isinstance(answer, Failure):
            silent.append(answer)
        else:
            answers.append(answer)
    return answers, silent


def _receiving(metadata: MetadataScan, target: Assignment) -> set[int]:
    """The brokers that get replicas which they do not have."""
    now = {
        TopicPartition(name, row.partition): row.replicas
        for name in {partition.topic for partition in target}
        if name in metadata
        for row in metadata.topic(name).partitions
    }
    return {id for each, after in target.items() for id in after if id not in now.get(each, after)}
