"""Following reassignments to their end: their progress, and what they wait for (KIP-455)."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from msgspec import Struct, field

from kafka_shell.admin.partitions.batch_state import Batch
from kafka_shell.admin.partitions.log_dir_targets import Dirs
from kafka_shell.admin.partitions.log_dir_targets import follow as follow_dirs
from kafka_shell.admin.partitions.model import Move, MoveStatus, Reassignment, TopicPartition
from kafka_shell.admin.partitions.progress import (
    CONFIRM_S,
    NOT_MOVING,
    assignment_of,
    settled_rows,
    spell,
    under_way,
    with_sizes,
)
from kafka_shell.admin.partitions.stalls import Stall, StallWatch
from kafka_shell.admin.partitions.throttles import ThrottleRecord, on_down_brokers, remove_own
from kafka_shell.admin.topics.min_isr import partitions_below
from kafka_shell.base.errors import ShellError, Status, UnexpectedEnd
from kafka_shell.base.plans import SENDING, Report
from kafka_shell.base.results import Failure
from kafka_shell.base.units import Bytes, counted, some
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.metadata_scan import MetadataScan, request, scan
from kafka_shell.wire.requests import Call, Node

_FIRST_POLL_S, _POLL_S = 0.1, 1.0  # between two looks; doubled each time
_MAX_SILENCE_S = 60.0  # without a response, for example while brokers restart
_READ_S = 10.0  # for reading the reassignments once, whatever hangs

StallAdvice = Callable[[Sequence[Stall]], Sequence[str]]
"""Lines that say how to continue without the brokers that are waited for, for the hint of an
interrupted wait. The plan has the commands that cancel and continue it."""


def no_advice(stalls: Sequence[Stall]) -> Sequence[str]:
    """Return no lines."""
    return ()


class Follow(Struct, frozen=True):
    """Wait for the end of moves (None: of all reassignments in progress) and report copied bytes.

    Then wait until replicas are in their target log directories. A broker that restarts is waited
    for, and named. Raises ShellError if interrupted or at the deadline, and UnexpectedEnd if a move
    was cancelled or changed; with `patience` (seconds), also (code `paused`) if every move that is
    left has waited that long for a broker that is down.
    """

    moves: tuple[Move, ...] | None = None
    advice: StallAdvice = no_advice
    dirs: Dirs = field(default_factory=dict)
    patience: float | None = None

    def __call__(self, cluster: Cluster, report: Report) -> None:
        watch = _Waiting(self, cluster, report)
        try:
            self._check(cluster, watch.until_ended())
            follow_dirs(cluster, self.dirs, report)
        except KeyboardInterrupt:
            raise ShellError(
                "interrupted: the reassignment continues, and its throttle is still set",
                hint="\n".join(self.advice(watch.stalls)),
                code="interrupted",
                status=Status.INTERRUPTED,
            ) from None

    def moving(self, cluster: Cluster) -> Mapping[TopicPartition, Reassignment]:
        """The moves in progress."""
        moving = under_way(cluster).values
        if self.moves is None:
            return moving
        ours = {move.partition for move in self.moves}
        return {key: each for key, each in moving.items() if key in ours}

    def are_at_their_targets(self, cluster: Cluster) -> bool:
        """Whether all partitions have the target replicas of these moves, in sync, and no others.
        Not known of all reassignments: which there were is not."""
        if self.moves is None:
            return False
        wanted = assignment_of(self.moves)
        found = scan(cluster, sorted({each.topic for each in wanted}))
        ended = {
            TopicPartition(name, partition.partition): partition.replicas
            for name in found.names
            for partition in found.topic(name).partitions
            if set(partition.replicas) <= set(partition.isr)
        }
        return all(ended.get(each) == after for each, after in wanted.items())

    def _check(self, cluster: Cluster, seen: Collection[TopicPartition]) -> None:
        wanted = assignment_of(self.moves or ())
        failed = [
            row
            for row in settled_rows(cluster, wanted)
            if row.status is MoveStatus.FAILED and TopicPartition(row.topic, row.partition) in seen
        ]
        if failed:
            row = failed[0]
            more = f" (and {len(failed) - 1:,} more)" if len(failed) > 1 else ""
            state = "no longer exists"
            if row.replicas:
                replicas, target = spell(row.replicas), spell(row.wanted or ())
                state = f"has replicas {replicas} instead of {target}, and is {NOT_MOVING}"
            raise UnexpectedEnd(
                f"partition {row.topic}:{row.partition} {state}{more}",
                hint="The reassignment was cancelled or changed by another client.",
                code="reassignment-failed",
            )


class _Waiting:
    """One wait for the end of moves. `stalls` are those of the last check."""

    def __init__(self, follow: Follow, cluster: Cluster, report: Report) -> None:
        self.stalls: list[Stall] = []
        self._follow, self._cluster = follow, cluster
        self._progress, self._watch = _Progress(report), StallWatch()
        self._left: Collection[TopicPartition] = ()

    def until_ended(self) -> set[TopicPartition]:
        """The partitions that were being reassigned (others were refused, or had ended already)."""
        seen = set[TopicPartition]()
        last_response, pause = time.monotonic(), _FIRST_POLL_S
        none_since: float | None = None
        while True:
            try:
                with self._cluster.within(_READ_S):
                    moving = self._follow.moving(self._cluster)
                    if moving:
                        none_since = None
                        self._left = moving
                        seen.update(moving)
                        self._report_progress(list(moving.values()))
                    else:
                        none_since = none_since or time.monotonic()
                        if self._has_ended(none_since):
                            self._progress.end()
                            return seen
                last_response = time.monotonic()
            except ShellError as error:
                self._check_deadline()
                refused = getattr(error, "kafka_code", None) is not None
                if refused or time.monotonic() > last_response + _MAX_SILENCE_S:
                    raise
            self._check_deadline()
            self._check_patience()
            time.sleep(min(pause, self._seconds_left))
            pause = min(2 * pause, _POLL_S)

    def _has_ended(self, none_since: float) -> bool:
        """Whether moves of which the controller has listed none since then have ended."""
        return time.monotonic() > none_since + CONFIRM_S or self._follow.are_at_their_targets(
            self._cluster
        )

    @property
    def _seconds_left(self) -> float:
        until = self._cluster.deadline
        return _POLL_S if until is None else max(0.0, until - time.monotonic())

    def _check_deadline(self) -> None:
        """Raise ShellError if the deadline has passed."""
        if self._seconds_left > 0:
            return
        left = f"{counted(len(self._left), 'partition')} still being reassigned"
        reasons = "; ".join(stall.reason for stall in self.stalls)
        raise ShellError(
            f"deadline exceeded: {reasons or left}",
            hint="\n".join(self._follow.advice(self.stalls)),
            code="deadline",
        )

    def _check_patience(self) -> None:
        """Raise ShellError if all remaining moves waited too long for brokers that are down."""
        patience = self._follow.patience
        if patience is None:
            return
        down = [stall for stall in self.stalls if stall.down and stall.seconds >= patience]
        if down and sum(len(stall.partitions) for stall in down) == len(self._left):
            reasons = "; ".join(stall.reason for stall in down)
            hint = "\n".join(self._follow.advice(down))
            raise ShellError(reasons, hint=hint, code="paused")

    def _report_progress(self, moving: Sequence[Reassignment]) -> None:
        """Report how much is copied, or what is waited for: then no remaining time is known."""
        sized = with_sizes(self._cluster, moving)
        self.stalls = self._watch.see(sized)
        if self.stalls:
            self._progress.waiting("; ".join(map(str, self.stalls)))
        else:
            self._progress.report(sized)


def until_back(cluster: Cluster, record: ThrottleRecord, report: Report) -> None:
    """Wait until all brokers with a recorded throttle that is no longer needed are up. Raises
    ShellError at the deadline."""
    task = ""
    while down := on_down_brokers(cluster, under_way(cluster).values, record.read()):
        task = f"waiting until {down[0].resource} is up again to remove its throttle"
        report(task, 0, None)
        cluster.pause(_POLL_S, task)
    if task:
        report(task, 1, 1)


class RemoveThrottleLater(Struct, frozen=True):
    """Removes the recorded throttle when the brokers that were down are up again. Returns whether
    nothing of it is left. Raises ShellError at the deadline."""

    record: ThrottleRecord

    def __call__(self, cluster: Cluster, report: Report) -> bool:
        until_back(cluster, self.record, report)
        with SENDING:
            return remove_own(cluster, self.record, ()).ok


class _Progress:
    """Reports the bytes copied since waiting began, so that the remaining time can be estimated."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._task = ""
        self._waits = ""
        self._start: int | None = None
        self._bytes: dict[TopicPartition, tuple[int, int]] = {}  # copied, size

    def report(self, moving: Sequence[Reassignment]) -> None:
        """Report the progress of these; others that were reported before have ended."""
        self._end_wait()
        now = {each.topic_partition: each for each in moving}
        self._task = self._task or f"Moving {counted(len(now), 'partition')}"
        for key, (_, size) in self._bytes.items():
            if key not in now:
                self._bytes[key] = (size, size)
        for key, each in now.items():
            if each.size is not None and each.copied is not None:
                self._bytes[key] = (each.copied, each.size)
        copied = sum(copied for copied, _ in self._bytes.values())
        size = sum(size for _, size in self._bytes.values())
        self._start = copied if self._start is None else min(self._start, copied)
        total = size - self._start
        # Never complete: only the controller decides when a reassignment has ended.
        done = max(0, min(copied - self._start, total - 1))
        self._report(self._task, Bytes(done), Bytes(total) if total > 0 else None)

    def waiting(self, reason: str) -> None:
        """Report what is waited for."""
        if reason != self._waits:
            self._end_wait()
            self._waits = reason
        self._report(reason, 0, None)

    def _end_wait(self) -> None:
        if self._waits:
            self._report(self._waits, 1, 1)
            self._waits = ""

    def end(self) -> None:
        """Remove the progress bar."""
        self._end_wait()
        if self._task:
            self._report(self._task, 1, 1)


# Whether the cluster is healthy enough for the next batch of a reassignment.
#
# Every broker answers from its own copy of the metadata, which may be old; KRaft controllers do not
# answer such requests at all. So each leader is asked about its own topics, as it is the leader
# that accepts or refuses acks=all writes. What any of the answers reports counts.

_MOST_NAMES = 3
_ANSWER_S = 10.0


def below_min_isr(cluster: Cluster, found: MetadataScan) -> frozenset[TopicPartition]:
    """The partitions that acks=all producers cannot write to, as far as leaders respond."""
    return partitions_below(cluster, [found, *_ask(cluster, found)[0]])


def problem(cluster: Cluster, batch: Batch, known: frozenset[TopicPartition]) -> str:
    """Why a batch cannot be started now; empty if it can. `known` are the partitions below
    min.insync.replicas before the reassignment."""
    try:
        found = scan(cluster)
        receiving = set(_receiving(found, batch))
        answers, silent = _ask(cluster, found, receiving)
        below = sorted(partitions_below(cluster, [found, *answers]) - known)
    except ShellError as error:
        return error.message
    running = set.intersection(*({each.id for each in one.brokers} for one in (found, *answers)))
    if down := sorted(receiving - running):
        return f"broker {down[0]} is down"
    if below:
        names = some(below, _MOST_NAMES)
        return f"{counted(len(below), 'partition')} below min.insync.replicas: {names}"
    return silent[0].message if silent else ""


def _ask(
    cluster: Cluster, found: MetadataScan, others: Collection[int] = ()
) -> tuple[Sequence[MetadataScan], Sequence[Failure]]:
    """The metadata that each leader has of its topics, and why brokers did not respond: leaders,
    and others that run."""
    topics = {each.id: list[str]() for each in found.brokers if each.id in others}
    topics |= found.topics_by_leader()
    calls = [Call(request(names), Node(id), timeout=_ANSWER_S) for id, names in topics.items()]
    answers, silent = list[MetadataScan](), list[Failure]()
    for answer in cluster.send_all(calls):
        if isinstance(answer, Failure):
            silent.append(answer)
        else:
            answers.append(answer)
    return answers, silent


def _receiving(found: MetadataScan, batch: Batch) -> Iterator[int]:
    """The brokers that get replicas which they do not have."""
    topics = {name: found.topic(name) for name in {e.topic for e in batch.target} if name in found}
    for each, after in batch.target.items():
        partitions = topics[each.topic].partitions if each.topic in topics else ()
        now = next((p.replicas for p in partitions if p.partition == each.partition), after)
        yield from (broker for broker in after if broker not in now)
