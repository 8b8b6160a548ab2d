"""Reassignments in batches: the next batch starts when the last one is in sync.

Each batch has a throttle of its own, which is removed when the batch has ended: so the lists of
throttled replicas contain only what moves. Between batches the cluster must be healthy: all brokers
that receive replicas run, and no partition is below min.insync.replicas that was not before.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field

from kafka_shell.admin.partitions import sizes as move_sizes
from kafka_shell.admin.partitions.batch_state import Batch, BatchState, Started
from kafka_shell.admin.partitions.current_assignment import CurrentAssignment, current_assignment
from kafka_shell.admin.partitions.follow import (
    Follow,
    RemoveThrottleLater,
    StallAdvice,
    below_min_isr,
    no_advice,
    problem,
)
from kafka_shell.admin.partitions.log_dir_targets import Dirs, LogDirPlan
from kafka_shell.admin.partitions.model import (
    Assignment,
    Move,
    MoveSize,
    MoveStatus,
    TopicPartition,
)
from kafka_shell.admin.partitions.progress import assignment_of, progress, spell, under_way
from kafka_shell.admin.partitions.reassignment import plan_move
from kafka_shell.admin.partitions.sizes import Sizes, TooSlow
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.partitions.throttles import (
    RATES,
    RemoveThrottle,
    ReportLeft,
    SetThrottle,
    ThrottleRecord,
    own_left,
    remove_own,
)
from kafka_shell.admin.steps import BaseStep
from kafka_shell.base.errors import ShellError, Status, UnexpectedEnd
from kafka_shell.base.plans import (
    SENDING,
    Advice,
    Change,
    Following,
    Outcomes,
    Plan,
    Report,
    Resource,
)
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted, format_rate, some
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.metadata_scan import scan

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
    advice: StallAdvice = no_advice
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


# Splitting a reassignment into batches that are moved one after the other.

_LOOK_AHEAD = 100  # batches that are tried before a new one is begun


class BatchLimits(Struct, frozen=True):
    """How much is moved at a time. None: no limit.

    `partitions` and `bytes` are those of a batch. `per_broker` is how many partitions of a batch a
    broker sends or receives.
    """

    partitions: int | None = None
    bytes: int | None = None
    per_broker: int | None = None


DEFAULT_LIMITS = BatchLimits(partitions=100, per_broker=5)


def limits_of(given: BatchLimits, copied: int) -> BatchLimits:
    """The limits given, with at most 100 partitions unless given; without any, none for a
    reassignment that copies up to 100 partitions, and the default ones for a larger one."""
    most = DEFAULT_LIMITS.partitions or 0
    if given == BatchLimits():
        return given if copied <= most else DEFAULT_LIMITS
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


# Plans of reassignments in batches: start, continue, change the throttle, end.


class StartBatches(Struct, BaseStep, frozen=True):
    """The start of the first batch. Its changes are those of all batches. `continued`: it was
    started before, and was interrupted."""

    step: MoveReplicas
    run: InBatches
    throttle: int | None = None
    continued: bool = False

    @property
    def changes(self) -> tuple[Change, ...]:
        return self.step.changes

    @property
    def moves(self) -> tuple[Move, ...]:
        return self.step.moves

    @property
    def stay(self) -> Mapping[TopicPartition, tuple[int, ...]]:
        return self.step.stay

    @property
    def log_dirs(self) -> LogDirPlan:
        return self.step.log_dirs

    @property
    def target(self) -> Assignment:
        """The target replicas of all partitions, in the order of the batches."""
        return self.run.target

    def reread(self, cluster: Cluster) -> StartBatches:
        return replace(self, step=self.step.reread(cluster))

    def remove_throttle(self, cluster: Cluster, error: ShellError) -> None:
        """Nothing: each batch has a throttle of its own."""

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Write the state, and start the first batch. The others are started by `run`. Raises
        ShellError (code `cancelled`) if it was to be continued, and was cancelled meanwhile."""
        state = self.run.state

        def begin(now: Started | None) -> Started:
            if self.continued and now is None:
                raise ShellError("the reassignment was cancelled", code="cancelled")
            return Started(cluster.cluster_id, now.batches if now else 0, self.throttle)

        with state.running():
            state.update(begin)
            try:
                sent = self.run.start(cluster, self.run.batches[0])
            except ShellError as error:
                if not self.continued and error.code not in ("deadline", "outcome-unknown"):
                    state.remove()
                raise
        refused = {str(each): why for each, why in sent.failures.items()}
        return Results.of(
            self.changes, (refused.get(change.resource.name) for change in self.changes)
        )


def in_batches(
    cluster: Cluster,
    plan: Plan,
    run: InBatches,
    *,
    limits: BatchLimits,
    sizes: Sizes,
    throttle: int | None,
) -> Plan:
    """The plan of a reassignment in batches, if the limits do not allow to move all at once.

    `run` has the state, the record of throttles, log directories and hints.
    """
    step = _start(plan)
    groups = split(step.moves, sizes, limits)
    if len(groups) < 2:
        return plan
    targets = [assignment_of(group) for group in groups]
    targets[0] |= _others(plan, step)
    batches = tuple(Batch(number, target) for number, target in enumerate(targets, 1))
    step = replace(step, moves=tuple(move for group in groups for move in group))
    before = {move.partition: move.before for move in step.moves}
    below = below_min_isr(cluster, scan(cluster))
    topics = frozenset(each.topic for target in targets for each in target)
    run = replace(
        run, batches=batches, total=len(batches), topics=topics, before=before, below=below
    )
    warnings = tuple(each for each in plan.advice.warnings if not isinstance(each, TooSlow))
    if throttle and len(warnings) < len(plan.advice.warnings):
        warnings = (*move_sizes.too_slow(cluster, step.moves, throttle, groups), *warnings)
    plan = replace(plan, advice=replace(plan.advice, warnings=warnings))
    return _batched(plan, step, run, throttle)


def limited(cluster: Cluster, plan: Plan, limits: BatchLimits | None, throttle: int | None) -> Plan:
    """The plan of a reassignment in batches of these limits (None: all at once), whose state is in
    memory. If it ends early, what is left is planned again."""
    if limits is None:
        return plan
    run, sizes = InBatches(), move_sizes.read(cluster)
    return in_batches(cluster, plan, run, limits=limits, sizes=sizes, throttle=throttle)


def resumed(
    cluster: Cluster,
    batches: Sequence[Assignment],
    run: InBatches,
    throttle: int | None,
    name: str,
) -> Plan:
    """The plan that moves what is left of the reassignment with this ID.

    Partitions that another client has moved are refused. Raises ShellError (code `paused`) if a
    broker that receives replicas of the first batch is down.
    """
    now = current_assignment(cluster)
    refused: dict[Resource, Failure] = {}
    left: list[Batch] = []
    for number, target in enumerate(batches, 1):
        rest = {}
        for each, to in target.items():
            why = moved_elsewhere(now, each, to, run.before.get(each))
            if why is not None:
                refused[each.resource] = why
            elif each in now.moving or now.current[each][1] != to:
                rest[each] = to
        if rest:
            left.append(Batch(number, rest))
    below = below_min_isr(cluster, now.found)  # known to who resumes it
    topics = frozenset(each.topic for target in batches for each in target)
    run = replace(run, batches=tuple(left), total=len(batches), topics=topics, below=below)
    if left and any(each not in now.moving for each in left[0].target):
        run.check_ready(cluster, left[0])
    plan = plan_move(
        cluster, run.target, throttle=throttle, dirs=run.dirs, record=run.record, now=now,
        additional=True, later=True,
    )  # fmt: skip
    plan = replace(plan, refused=Results({}, {**refused, **plan.refused.failures}))
    if left:
        return _batched(plan, _start(plan), run, throttle, continued=True)
    if refused:  # it can be resumed when they have their replicas again
        return plan.followed(follow=None)
    end = ForgetBatches(run.state, name, "nothing is left to move")
    own = own_left(cluster, run.record, topics, now.moving)
    removal = [RemoveThrottle(own, run.record)] if own else []
    return replace(plan, steps=(*plan.steps, *removal, end)).followed(follow=None)


def _start(plan: Plan) -> MoveReplicas:
    """The step that starts the moves; one without moves if there is none."""
    steps = (step for step in plan.steps if isinstance(step, MoveReplicas) and not step.cancelled)
    return next(steps, MoveReplicas(()))


def _others(plan: Plan, start: MoveReplicas) -> Assignment:
    """What is followed but not moved by the plan: it is being reassigned already, or only gets
    other log directories."""
    cancelled = {
        move.partition
        for step in plan.steps
        if isinstance(step, MoveReplicas) and step.cancelled
        for move in step.moves
    }
    sent = cancelled | {move.partition for move in start.moves}
    follow = plan.following.follow
    followed = follow.moves or () if isinstance(follow, Follow) else ()
    return assignment_of([move for move in followed if move.partition not in sent])


def _batched(
    plan: Plan,
    step: MoveReplicas,
    run: InBatches,
    throttle: int | None,
    *,
    continued: bool = False,
) -> Plan:
    earlier = tuple(
        each for each in plan.steps if each != _start(plan) and not isinstance(each, SetThrottle)
    )
    figures = tuple(
        replace(each, batches=len(run.batches)) if isinstance(each, MoveSize) else each
        for each in plan.advice.figures
    )
    return replace(
        plan,
        steps=(*earlier, StartBatches(step, run, throttle, continued)),
        following=Following(
            run,
            afterwards=(ReportLeft(run.record),),
            lasting=RemoveThrottleLater(run.record),
            later=sum(len(batch.target) for batch in run.batches[1:]),
        ),
        advice=replace(plan.advice, figures=figures)
        + Advice(warnings=() if continued else tuple(_replaced_rates(plan))),
        fresh=None,
    )


def _replaced_rates(plan: Plan) -> Iterator[str]:
    """Warnings of rates that the throttle of each batch replaces: the plan does not list them."""
    for step in plan.steps:
        for change in step.changes if isinstance(step, SetThrottle) else ():
            if change.field in RATES and change.before not in (None, change.after):
                before, after = (
                    format_rate(int(str(rate))) for rate in (change.before, change.after)
                )
                yield (
                    f"{change.resource.name}: each batch sets {change.field} to {after} instead of"
                    f" {before}, which is restored at its end"
                )


class SetBatchThrottle(Struct, BaseStep, frozen=True):
    """Gives the next batches another throttle."""

    state: BatchState
    name: str
    before: int | None
    after: int

    @property
    def changes(self) -> tuple[Change, ...]:
        resource = Resource("reassignment", self.name)
        return (Change(resource, "alter", "throttle", self.before, self.after),)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Sends nothing."""

        def change(started: Started | None) -> Started:
            if started is None:
                raise ShellError(f"reassignment {self.name} has ended", code="complete")
            return replace(started, throttle=self.after)

        self.state.update(change)
        return Results.of(self.changes, (None for _ in self.changes))


def with_rate(
    cluster: Cluster, batches: Sequence[Assignment], run: InBatches, rate: int, name: str
) -> Plan:
    """The plan that changes the throttle of a reassignment that another session moves: that of the
    batch that is moved now, and of the next ones."""
    started = run.state.read()
    if started is None:
        raise ShellError(f"reassignment {name} has ended", code="complete")
    target = {each: to for batch in batches for each, to in batch.items()}
    moving = {
        each: target[each]
        for each, move in under_way(cluster).values.items()
        if each in target and set(move.after) == set(target[each])
    }
    plan = plan_move(cluster, moving, throttle=rate, record=run.record, additional=True, quick=True)
    rates = tuple(step for step in plan.steps if isinstance(step, SetThrottle))
    return Plan(plan.effect, (SetBatchThrottle(run.state, name, started.throttle, rate), *rates))


# -- ending ----------------------------------------------------------------------------------------


class ForgetBatches(Struct, BaseStep, frozen=True):
    """Forgets a reassignment in batches: the batches that are not started yet will not be.
    `batches` were started when it was planned; None: it does not matter."""

    state: BatchState
    name: str
    note: str = ""
    batches: int | None = None

    @property
    def changes(self) -> tuple[Change, ...]:
        resource = Resource("reassignment", self.name)
        return (Change(resource, "delete", note=self.note),)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Sends nothing. Raises ShellError if another batch was started since it was planned."""

        def end(started: Started | None) -> None:
            if started is not None and self.batches not in (None, started.batches):
                raise ShellError(
                    f"reassignment {self.name} started another batch after the plan was made",
                    hint="Nothing was cancelled. Run the command again.",
                    code="changed-meanwhile",
                )

        self.state.update(end)
        return Results.of(self.changes, (None for _ in self.changes))
