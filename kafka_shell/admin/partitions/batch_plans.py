"""Plans of reassignments in batches: start, continue, change the throttle, end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from kafka_shell.admin.partitions import sizes as move_sizes
from kafka_shell.admin.partitions.batch_health import below_min_isr
from kafka_shell.admin.partitions.batch_state import Batch, BatchState, Started
from kafka_shell.admin.partitions.batched import InBatches, moved_elsewhere
from kafka_shell.admin.partitions.batches import BatchLimits, split
from kafka_shell.admin.partitions.current_assignment import current_assignment
from kafka_shell.admin.partitions.follow import Follow, RemoveThrottleLater
from kafka_shell.admin.partitions.log_dir_targets import LogDirPlan
from kafka_shell.admin.partitions.model import Assignment, Move, MoveSize, TopicPartition
from kafka_shell.admin.partitions.progress import assignment_of, under_way
from kafka_shell.admin.partitions.reassignment import plan_move
from kafka_shell.admin.partitions.sizes import Sizes, TooSlow
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.partitions.throttle_configs import RATES
from kafka_shell.admin.partitions.throttle_steps import (
    RemoveThrottle,
    ReportLeft,
    SetThrottle,
    own_left,
)
from kafka_shell.admin.steps import BaseStep
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.common.structs import replace
from kafka_shell.common.units import format_rate
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Change, Outcomes, Plan, Resource
from kafka_shell.plan.results import Failure, Results


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
    warnings = tuple(each for each in plan.warnings if not isinstance(each, TooSlow))
    if throttle and len(warnings) < len(plan.warnings):
        warnings = (*move_sizes.too_slow(cluster, step.moves, throttle, groups), *warnings)
    return _batched(replace(plan, warnings=warnings), step, run, throttle)


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
        return replace(plan, follow=None)
    end = ForgetBatches(run.state, name, "nothing is left to move")
    own = own_left(cluster, run.record, topics, now.moving)
    removal = [RemoveThrottle(own, run.record)] if own else []
    return replace(plan, steps=(*plan.steps, *removal, end), follow=None)


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
    followed = plan.follow.moves or () if isinstance(plan.follow, Follow) else ()
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
        for each in plan.figures
    )
    return replace(
        plan,
        steps=(*earlier, StartBatches(step, run, throttle, continued)),
        follow=run,
        partial=True,
        later=sum(len(batch.target) for batch in run.batches[1:]),
        afterwards=(ReportLeft(run.record),),
        lasting=RemoveThrottleLater(run.record),
        fresh=None,
        figures=figures,
        warnings=(*plan.warnings, *(() if continued else _replaced_rates(plan))),
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
