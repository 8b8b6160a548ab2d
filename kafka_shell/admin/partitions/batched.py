"""Reassignments in batches: the next batch starts when the last one is in sync.

Each batch has a throttle of its own, which is removed when the batch has ended: so the lists of
throttled replicas contain only what moves. Between batches the cluster must be healthy: all brokers
that receive replicas run, and no partition is below min.insync.replicas that was not before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from kafka_shell.admin.partitions.batch_health import problem
from kafka_shell.admin.partitions.batch_state import Batch, BatchState, Started
from kafka_shell.admin.partitions.current_assignment import CurrentAssignment, current_assignment
from kafka_shell.admin.partitions.follow import Advice, Follow, no_advice
from kafka_shell.admin.partitions.log_dir_targets import Dirs
from kafka_shell.admin.partitions.model import Assignment, Move, MoveStatus, TopicPartition
from kafka_shell.admin.partitions.progress import progress, spell
from kafka_shell.admin.partitions.reassignment import plan_move
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.partitions.throttle_configs import ThrottleRecord
from kafka_shell.admin.partitions.throttle_steps import remove_own
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.common.structs import replace
from kafka_shell.common.units import counted, some
from kafka_shell.errors import ShellError, Status, UnexpectedEnd
from kafka_shell.plan.apply import SENDING
from kafka_shell.plan.model import Change, Report, Resource
from kafka_shell.plan.results import Failure, Results

_PATIENCE_S = 60.0  # to become healthy before the next batch; for a broker that is down in one
_POLL_S = 1.0


class InBatches(Struct, frozen=True):
    """A reassignment in batches. Called, it waits for the first batch, then moves the others.

    `below` are the partitions below min.insync.replicas before it was started, and `before` the
    replicas then, as far as known; `total` is the number of batches with those that are done, and
    `topics` are the topics of all batches, whose throttles are removed. If not `patient`, it also
    pauses when a batch has waited a minute for a broker that is down.

    Raises ShellError (code `paused`) if the cluster is not healthy or a batch cannot be moved, as
    Follow does if it is interrupted, and UnexpectedEnd if partitions are not at their target at the
    end. The state then says how far it is.
    """

    batches: tuple[Batch, ...] = ()
    total: int = 0
    topics: frozenset[str] = frozenset()
    state: BatchState = field(default_factory=BatchState)
    record: ThrottleRecord = field(default_factory=ThrottleRecord)
    below: frozenset[TopicPartition] = frozenset()
    before: Assignment = field(default_factory=dict)
    dirs: Dirs = field(default_factory=dict)
    advice: Advice = no_advice
    resume: str = ""
    patient: bool = True

    def __call__(self, cluster: Cluster, report: Report) -> None:
        batch, refused = self.batches[0], dict[TopicPartition, Failure]()
        try:
            with self.state.running():
                left = self._finish(cluster, batch, report)
                for batch in self.batches[1:]:
                    refused |= self._start_when_healthy(cluster, batch, report).failures
                    left = self._finish(cluster, batch, report)
                self._end(cluster, refused, left)
        except KeyboardInterrupt:
            raise ShellError(
                f"interrupted at {self._name(batch)}",
                code="interrupted",
                status=Status.INTERRUPTED,
            ) from None
        except UnexpectedEnd:
            raise
        except ShellError as error:
            if error.code == "interrupted":
                error.message = (
                    f"interrupted in {self._name(batch)}: it continues with its throttle; no"
                    " further batch is started"
                )
            else:
                error.message = f"paused at {self._name(batch)}: {error.message}"
            raise

    @property
    def target(self) -> Assignment:
        """The target replicas of all partitions, in the order of the batches."""
        return {each: to for batch in self.batches for each, to in batch.target.items()}

    def _start_when_healthy(
        self, cluster: Cluster, batch: Batch, report: Report
    ) -> Results[TopicPartition, tuple[int, ...]]:
        while True:
            self._until_healthy(cluster, batch, report)
            healthy = time.monotonic()
            with SENDING:  # another plan may have held it for hours: then it is checked again
                if time.monotonic() < healthy + _POLL_S:
                    return self.start(cluster, batch)

    def start(self, cluster: Cluster, batch: Batch) -> Results[TopicPartition, tuple[int, ...]]:
        """Start a batch, with its throttle. Returns what was started and what was refused.

        Raises ShellError if nothing was started, and UnexpectedEnd if it was cancelled meanwhile.
        """

        def note(now: Started | None) -> Started:
            now = _present(now)
            return replace(now, batches=max(now.batches, batch.number))

        self.state.update(note)
        started = self._started()
        now = current_assignment(cluster, sorted({each.topic for each in batch.target}))
        checked = (
            (each, moved_elsewhere(now, each, to, self.before.get(each)))
            for each, to in batch.target.items()
        )
        refused = {each: why for each, why in checked if why is not None}
        plan = plan_move(
            cluster,
            {each: to for each, to in batch.target.items() if each not in refused},
            throttle=started.throttle,
            additional=True,
            dirs=self._dirs_of(batch),
            record=self.record,
            now=now,
            quick=True,
            later=True,  # a broker that has gone down since the check is waited for
        )
        names = {str(each): each for each in batch.target}
        refused |= {names[about.name]: why for about, why in plan.refused.failures.items()}
        for step in plan.steps:
            if isinstance(step, MoveReplicas):
                self._still_started(cluster)
            sent = step.send(cluster, validate_only=False)
            refused |= {
                names[change.resource.name]: why
                for change, why in sent.failures.items()
                if change.resource.name in names
            }
        moved = {each: to for each, to in batch.target.items() if each not in refused}
        return Results(moved, refused)

    def _started(self) -> Started:
        return _present(self.state.read())

    def _still_started(self, cluster: Cluster) -> None:
        """Raise UnexpectedEnd if the reassignment was cancelled while its throttle was set."""
        try:
            self._started()
        except UnexpectedEnd:
            remove_own(cluster, self.record, self.topics)
            raise

    def _dirs_of(self, batch: Batch) -> Dirs:
        return {place: path for place, path in self.dirs.items() if place[1] in batch.target}

    def _name(self, batch: Batch) -> str:
        return f"batch {batch.number:,} of {self.total:,}"

    def _finish(self, cluster: Cluster, batch: Batch, report: Report) -> Mapping[Change, Failure]:
        """Wait until the batch is in sync, then remove its throttle. Returns what of the throttle
        could not be removed."""
        moves = tuple(Move(each, (), after) for each, after in batch.target.items())
        patience = None if self.patient else _PATIENCE_S
        follow = Follow(moves, self.advice, self._dirs_of(batch), patience)
        try:
            follow(cluster, self._reporting(batch, report))
        except UnexpectedEnd as error:
            self._remove_throttle(cluster)
            self._started()
            raise ShellError(error.message, hint=error.hint, code="paused") from None
        return self._remove_throttle(cluster)

    def _reporting(self, batch: Batch, report: Report) -> Report:
        name = self._name(batch)
        return lambda task, done, total: report(
            f"{name}: {task[:1].lower()}{task[1:]}", done, total
        )

    def _remove_throttle(self, cluster: Cluster) -> Mapping[Change, Failure]:
        with SENDING:
            return remove_own(cluster, self.record, self.topics).failures

    def check_ready(self, cluster: Cluster, batch: Batch) -> None:
        """Raise ShellError (code `paused`) if the batch cannot be started now."""
        if why := problem(cluster, batch, self.below):
            raise ShellError(f"{self._name(batch)} is not started: {why}", code="paused")

    # -- between batches ---------------------------------------------------------------------------

    def _until_healthy(self, cluster: Cluster, batch: Batch, report: Report) -> None:
        """Wait until the cluster is healthy. Raises ShellError if it takes too long."""
        deadline = math.inf if cluster.deadline is None else cluster.deadline
        until, task, last = min(time.monotonic() + _PATIENCE_S, deadline), "", ""
        report = self._reporting(batch, report)
        while why := problem(cluster, batch, self.below):
            if time.monotonic() > deadline:
                why = last or why  # not that there was no time left to look again
            if time.monotonic() + _POLL_S > until:
                raise ShellError(f"not started: {why}", code="paused")
            if task and why != last:
                report(task, 1, 1)
            task, last = f"waiting: {why}", why
            report(task, 0, None)
            time.sleep(_POLL_S)
        if task:
            report(task, 1, 1)

    # -- the end -----------------------------------------------------------------------------------

    def _end(
        self,
        cluster: Cluster,
        refused: Mapping[TopicPartition, Failure],
        throttle: Mapping[Change, Failure],
    ) -> None:
        """Check that all partitions are at their target. Raises UnexpectedEnd if not, or if a
        throttle could not be removed."""
        rows = progress(cluster, self.target, self.dirs)
        left = [row for row in rows if row.status is not MoveStatus.COMPLETED]
        if not any(row.replicas for row in left):  # what was deleted is not moved later
            self.state.remove()
        if not left:
            self._check_throttle(throttle)
            return
        names = [TopicPartition(row.topic, row.partition) for row in left]
        why = next((refused[name].message for name in names if name in refused), left[0].note)
        are = "is" if len(left) == 1 else "are"
        raise UnexpectedEnd(
            f"{counted(len(left), 'partition')} {are} not at the target: {some(names, 10)}: {why}",
            hint=f"To continue: {self.resume}" if self.resume else "",
            code="reassignment-failed",
        )

    def _check_throttle(self, left: Mapping[Change, Failure]) -> None:
        for change, why in left.items():
            raise UnexpectedEnd(
                f"all partitions are moved, but the throttle of {change.resource} is still set:"
                f" {why.message}",
                code="throttle-left",
                see=Resource("throttle"),
            )


def _present(started: Started | None) -> Started:
    """The state. Raises UnexpectedEnd if another session has cancelled the reassignment."""
    if started is None:
        raise UnexpectedEnd("the reassignment was cancelled", code="cancelled")
    return started


def moved_elsewhere(
    now: CurrentAssignment, each: TopicPartition, to: Sequence[int], before: Sequence[int] | None
) -> Failure | None:
    """Why a partition is not moved: it no longer exists, or another client moved or moves it."""
    if each not in now.current:
        return Failure("UNKNOWN_TOPIC_OR_PARTITION", f"partition {each} does not exist", 3)
    replicas = now.current[each][1]
    if each in now.moving:
        after = now.moving[each].after
        if set(after) == set(to):
            return None
        text = f"partition {each} is being reassigned to {spell(after)} instead"
        return Failure("REASSIGNMENT_IN_PROGRESS", text, 60)
    # With the replicas of both, it is being moved: a controller that has just lost its election
    # does not list that.
    if before is None or set(replicas) in (set(to), set(before), {*to, *before}):
        return None
    return Failure(
        "INVALID_REPLICA_ASSIGNMENT",
        f"partition {each} has replicas {spell(replicas)}: another client has moved it",
        39,
    )
