"""Partition reassignments: plan, verify and cancel (KIP-455; API keys 45, 46).

The target replicas come from a file or from the planner (`targets`). The throttle of a
reassignment is in `throttles`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.cluster.registrations import registered_brokers
from kafka_shell.admin.partitions import sizes as move_sizes
from kafka_shell.admin.partitions.batches import (
    BatchLimits,
    FollowBatches,
    in_batches,
    limits_of,
    split,
)
from kafka_shell.admin.partitions.follow import Follow
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.log_dir_moves import LogDirPlan, plan_dirs
from kafka_shell.admin.partitions.model import (
    Assignment,
    Dirs,
    Move,
    MoveState,
    Racks,
    Reassignment,
    Throttle,
    TopicPartition,
)
from kafka_shell.admin.partitions.partition_files import to_json
from kafka_shell.admin.partitions.progress import (
    CurrentAssignment,
    assignment_of,
    current_assignment,
    progress,
    spell,
)
from kafka_shell.admin.partitions.sizes import Sizes
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.partitions.throttles import (
    Record,
    RemoveThrottle,
    SetThrottle,
    ThrottleRecord,
    left_behind,
    on_down_brokers,
    plan_throttle,
)
from kafka_shell.admin.steps import BaseStep
from kafka_shell.admin.topics import min_isr
from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import write_private
from kafka_shell.base.plans import Advice, Change, Effect, Following, Outcomes, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import (
    INVALID_REPLICA_ASSIGNMENT,
    INVALID_REPLICATION_FACTOR,
    REASSIGNMENT_IN_PROGRESS,
)
from kafka_shell.wire.failures import failure

# -- plans -----------------------------------------------------------------------------------------


def plan_move(
    cluster: Cluster,
    wanted: Assignment,
    *,
    throttle: int | None = None,
    additional: bool = False,
    keep_factor: bool = False,
    dirs: Dirs | None = None,
    record: ThrottleRecord | None = None,
    now: CurrentAssignment | None = None,
    sizes: Sizes | None = None,
    batches: BatchLimits | None = None,
) -> Plan:
    """Move these partitions to these brokers, the preferred leader first; in `batches`, if given.

    A partition that is being reassigned to these brokers is followed. To others it is refused,
    except back to its previous replicas, or with `additional`. `throttle` is in bytes per second;
    it does not limit copies to `dirs`, target log directories, within a broker, and stays in the
    `record` until it is removed. `keep_factor` refuses to change replication factors. `now` and
    `sizes` are read if not given.
    """
    now = now or current_assignment(cluster)
    leaders_and_replicas = now.current
    log_dirs, refused_dirs = plan_dirs(cluster, dirs or {})
    placed, requested = set(log_dirs.partitions), _Requested()
    in_dirs = {each for _, each in dirs or ()}
    requested.partitions.update(wanted)
    for partition, after in wanted.items():
        failure = _refusal(partition, after, now, additional, keep_factor)
        failure = failure or refused_dirs.get(partition)
        if failure is not None:
            requested.refused[partition.resource] = failure
            continue
        leader, before = leaders_and_replicas[partition]
        move = Move(partition, before, after, leader)
        requested.add(
            move,
            now.moving.get(partition),
            placed=partition in placed,
            in_dirs=partition in in_dirs,
        )
    record = record or ThrottleRecord()
    return _plan(cluster, requested, throttle, now, log_dirs, dirs or {}, record, sizes, batches)


class _Requested(Struct):
    """The requested moves: which are sent, copied (and so throttled), waited for or refused.

    `reverted` are reassignments in progress to cancel; they copy nothing.
    """

    partitions: set[TopicPartition] = field(default_factory=set)
    reverted: list[Move] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    copied: list[Move] = field(default_factory=list)
    followed: list[Move] = field(default_factory=list)
    unchanged: list[Change] = field(default_factory=list)
    refused: dict[Resource, Failure] = field(default_factory=dict)

    def add(self, move: Move, moving: Reassignment | None, *, placed: bool, in_dirs: bool) -> None:
        """Add a move of a partition and its reassignment in progress, if any.

        `placed`: a replica gets another log directory. `in_dirs`: replicas have target directories,
        and may be being moved there.
        """
        resource = move.partition.resource
        if moving is None and move.before == move.after:
            if not placed:
                self.unchanged.append(not_changed(resource, move.before, "already there"))
            if in_dirs:
                self.followed.append(move)
            return
        if moving is not None and set(move.before) == set(move.after):
            self.reverted.append(replace(move, before=moving.after))
        elif moving is not None and moving.after == move.after:
            self.unchanged.append(not_changed(resource, move.after, "already being moved there"))
            self.copied.append(move)
        else:
            self.moves.append(move)
            self.copied.append(move)
        self.followed.append(move)


def _plan(
    cluster: Cluster,
    requested: _Requested,
    throttle: int | None,
    now: CurrentAssignment,
    log_dirs: LogDirPlan,
    dirs: Dirs,
    record: ThrottleRecord,
    sizes: Sizes | None,
    batches: BatchLimits | None,
) -> Plan:
    wanted = assignment_of(requested.followed)
    dirs = {place: path for place, path in dirs.items() if place[1] in wanted}
    log_dirs = log_dirs.of(wanted)
    rows = plan_throttle(cluster, requested.copied, throttle, record.read(), requested.partitions)
    groups: list[tuple[Move, ...]] = []
    figures: tuple[Any, ...] = ()
    if requested.moves:
        sizes = (sizes or move_sizes.read(cluster)).with_empty(now.added)
        groups = split(requested.moves, sizes, limits_of(batches, requested.moves))
        racks = _racks(cluster, requested.moves, now)
        figures = move_sizes.figures(
            requested.moves, racks, now.replicas, sizes, throttle, len(groups)
        )
    too_slow: tuple[str, ...] = ()
    if rows and throttle:
        at_once = groups if len(groups) > 1 else [requested.copied]
        too_slow = move_sizes.too_slow(cluster, requested.copied, throttle, at_once)
    steps: list[Any] = cancelling(
        cluster, requested.reverted, list(assignment_of(requested.reverted)), now.moving, record
    )
    set_throttle = SetThrottle(rows, record)
    steps += [set_throttle] if set_throttle.changes else []
    removal = set_throttle.removal if rows else None
    follow = Follow(tuple(requested.followed), dirs)
    follow_batches: FollowBatches | None = None
    if requested.moves or log_dirs.moves:
        moved = assignment_of(requested.moves)
        stay = {each: wanted[each] for each in log_dirs.partitions if each not in moved}
        step = MoveReplicas(tuple(requested.moves), removal, log_dirs=log_dirs, stay=stay)
        if len(groups) > 1:
            step, follow_batches = in_batches(cluster, step, follow, groups, now.found)
        steps.append(step)
    reduced = _reduced(requested.moves)
    in_sync = min_isr.of_moves(cluster, requested.moves, reduced, now.found)
    return Plan(
        Effect.CHANGE,
        tuple(steps),
        refused=Results({}, requested.refused),
        unchanged=tuple(requested.unchanged),
        following=Following(
            follow=follow_batches or follow, afterwards=(removal,) if removal else ()
        ),
        advice=Advice(
            confirm=bool(in_sync.during),
            warnings=(
                *in_sync.during,
                *_cancelled(len(requested.reverted)),
                *too_slow,
                *log_dirs.warnings,
                *in_sync.after,
                *min_isr.unreplicated(reduced),
            ),
            figures=figures,
            not_checked=in_sync.not_checked,
        ),
    )


def _racks(cluster: Cluster, moves: Sequence[Move], now: CurrentAssignment) -> Racks:
    """The racks of the running brokers, and of others that have or get a replica, if known."""
    affected = {broker for move in moves for broker in (*move.before, *move.after)}
    down = affected - now.racks.keys()
    if not down:
        return now.racks
    try:
        known = registered_brokers(cluster) or {}
    except ShellError:
        known = {}
    return now.racks | {id: known[id].rack if id in known else None for id in down}


def _cancelled(count: int) -> tuple[str, ...]:
    """A warning: somebody else may have started them."""
    return (f"{counted(count, 'running reassignment')} will be cancelled",) if count else ()


def _reduced(moves: Sequence[Move]) -> dict[str, int]:
    """The smallest replication factor of each topic with partitions that lose replicas."""
    factors: dict[str, int] = {}
    for move in moves:
        if len(move.after) < len(move.before):
            topic = move.partition.topic
            factors[topic] = min(len(move.after), factors.get(topic, len(move.after)))
    return factors


def not_changed(resource: Resource, replicas: Sequence[int], note: str) -> Change:
    """A change that is not sent, because the partition has these replicas already."""
    text = spell(replicas)
    return Change(resource, "alter", before=text, after=text, note=f"no change: {note}")


def _refusal(
    partition: TopicPartition,
    after: tuple[int, ...],
    now: CurrentAssignment,
    additional: bool,
    keep_factor: bool,
) -> Failure | None:
    """Why a partition cannot be moved to these brokers; None if it can."""
    topic = partition.topic
    if partition not in now.current:
        return failure(
            now.found.errors.get(topic, 3),
            text=f"partition {partition} does not exist",
            see=Resource("topic", topic) if topic in now.found else Resource("topic"),
        )
    before = now.current[partition][1]
    if not after or len(set(after)) < len(after):
        return failure(
            INVALID_REPLICA_ASSIGNMENT,
            text=f"the target replicas of partition {partition} are invalid:"
            f" {spell(after) or 'none'}",
            hint="Name at least one broker, and each broker only once.",
        )
    going = partition in now.moving and set(now.moving[partition].after) == set(after)
    down = [broker for broker in after if broker not in now.racks and broker not in before]
    if down and not going:
        return failure(
            INVALID_REPLICA_ASSIGNMENT,
            text=f"partition {partition} cannot be moved to broker {down[0]}, which is not running",
            hint=f"Use running brokers: {', '.join(map(str, now.racks))}.",
        )
    if keep_factor and len(after) != len(before):
        return failure(
            INVALID_REPLICATION_FACTOR,
            text=f"the replication factor of partition {partition} would change from {len(before)}"
            f" to {len(after)}",
        )
    moving = now.moving.get(partition)
    if moving is not None and _never_ends(moving, after):
        return failure(
            REASSIGNMENT_IN_PROGRESS,
            text=f"partition {partition} is already moving to {spell(moving.after)}: with the new"
            f" target {spell(after)}, the move may never complete",
            hint="Cancel the reassignment first.",
            see=Resource("reassignment", topic),
        )
    if moving is not None and not additional and not going and set(after) != set(before):
        return failure(
            REASSIGNMENT_IN_PROGRESS,
            text=f"partition {partition} is being reassigned to {spell(moving.after)}",
            hint="Wait until the reassignment completes.",
            see=Resource("reassignment", topic),
        )
    return None


def _never_ends(moving: Reassignment, after: Collection[int]) -> bool:
    """Whether a new target keeps all replicas that a reassignment adds as adding, but not as
    targets: since Kafka 4.0, controllers then wait for replicas that are to be removed."""
    adds_none = set(after) <= set(moving.replicas)
    is_other = set(after) not in (set(moving.after), set(moving.before))
    return adds_none and is_other and not set(moving.adding) <= set(after)


def cancelling(
    cluster: Cluster,
    moves: Sequence[Move],
    partitions: Sequence[TopicPartition],
    moving: Mapping[TopicPartition, Reassignment],
    record: ThrottleRecord,
) -> list[Any]:
    """The steps that cancel these reassignments and remove the throttle of these partitions."""
    if not partitions:
        return []
    others, ours = {each: moving[each] for each in moving.keys() - set(partitions)}, record.read()
    rows, _ = left_behind(cluster, others, ours, cancelled=partitions)
    if not moves:  # they are complete: nothing but our throttle is left
        rows = tuple(row for row in rows if row.config in ours)
    cancel = [MoveReplicas(tuple(moves), cancelled=True)] if moves else []
    return [*cancel, *([RemoveThrottle(rows, record)] if rows else [])]


def state(
    cluster: Cluster,
    wanted: Assignment | None = None,
    dirs: Dirs | None = None,
    record: Record | None = None,
    topics: Collection[str] | None = None,
) -> MoveState:
    """The status of these moves (None: of all reassignments in progress), and leftover throttles of
    `topics` (None: of the topics of these moves, or of all)."""
    rows = progress(cluster, wanted, dirs)
    if wanted is not None and topics is None:
        topics = {partition.topic for partition in wanted}
    moving = under_way(cluster).values
    leftover, not_read = left_behind(cluster, moving, record, topics)
    down = on_down_brokers(cluster, moving, record) if record else []
    throttles = [Throttle(str(row.resource), row.key, row.value) for row in leftover]
    throttles += [Throttle(str(row.resource), row.key, row.value, down=True) for row in down]
    return MoveState(rows, tuple(throttles), tuple(not_read.items()))


# Plans that cancel reassignments (KIP-455; API key 45).


def plan_cancel(
    cluster: Cluster,
    partitions: Sequence[TopicPartition],
    before: Assignment | None = None,
    record: ThrottleRecord | None = None,
    target: Assignment | None = None,
) -> Plan:
    """Cancel the reassignments of these partitions, and remove their throttle in the `record`.

    Copied replicas are deleted. Controllers do not remember the order of the previous replicas:
    `before`, if known, restores the preferred leader as well. If the `target` is known,
    reassignments to other brokers are not cancelled.
    """
    moving = under_way(cluster).values
    moves, ended, unchanged, unknown = [], [], [], 0
    retargeted: list[str] = []
    for place in dict.fromkeys(partitions):
        if place not in moving:
            ended.append(place)
            unchanged.append(not_changed(place.resource, (), "not being reassigned"))
            continue
        after = moving[place].after
        if target and set(target.get(place, after)) != set(after):
            note = "another client is reassigning it to these replicas"
            unchanged.append(not_changed(place.resource, after, note))
            continue
        back = (before or {}).get(place, ())
        returns = moving[place].before
        known = set(back) == set(returns)
        if len(back) not in (0, len(returns)):
            retargeted.append(
                f"partition {place} will have replicas {spell(returns)}, not {spell(back)}: another"
                " client changed its reassignment"
            )
        unknown += not known and len(returns) > 1
        moves.append(Move(place, moving[place].after, back if known else returns))
        ended.append(place)
    record = record or ThrottleRecord()
    steps = cancelling(cluster, moves, ended, moving, record)
    rest = {place: moving[place] for place in moving.keys() - {move.partition for move in moves}}
    down = on_down_brokers(cluster, rest, record.read())
    return Plan(
        Effect.CHANGE,
        tuple(steps),
        unchanged=tuple(unchanged),
        advice=Advice(
            warnings=(
                *_order_unknown(unknown),
                *retargeted,
                *(
                    f"{broker} is down: its throttle remains set until the broker is up again"
                    for broker in dict.fromkeys(str(row.resource) for row in down)
                ),
            )
        ),
    )


def _order_unknown(partitions: int) -> Sequence[str]:
    if not partitions:
        return ()
    its = "its" if partitions == 1 else "their"
    return (
        f"the preferred leader of {counted(partitions, 'partition')} may change: the previous order"
        f" of {its} replicas is unknown",
    )


def with_rollback(plan: Plan, folder: Path, now: float, throttle: int | None) -> Plan:
    """The plan with a step that first writes the rollback file, with the rate of the throttle; the
    same plan if it starts no reassignment. `now` is in seconds since the epoch."""
    for step in plan.steps:
        if isinstance(step, MoveReplicas) and not step.cancelled:
            stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
            path = folder / f"{stamp}-{os.urandom(4).hex()}-rollback.json"
            return replace(plan, steps=(WriteRollback(path, step, throttle), *plan.steps))
    return plan


class WriteRollback(Struct, BaseStep, frozen=True):
    """Writes the file. It is the first step: without the file, nothing is moved."""

    path: Path
    step: MoveReplicas
    throttle: int | None

    @property
    def changes(self) -> tuple[Change, ...]:
        count = len(self.step.moves) + len(self.step.stay)
        content = f"current replicas of {counted(count, 'partition')}"
        return (Change(Resource("rollback-file", str(self.path)), "create", after=content),)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Sends nothing. Raises ShellError if the file cannot be written."""
        before = {move.partition: move.before for move in self.step.moves} | dict(self.step.stay)
        log_dirs, target = self.step.log_dirs, self.step.target
        # Only directories that replicas leave: the broker may move replicas that stay.
        dirs = {
            (broker, each): path
            for (broker, each), path in log_dirs.current_dirs.items()
            if (broker, each) in log_dirs.dirs or broker not in target.get(each, ())
        }
        ours = {} if self.throttle is None else {"throttle": self.throttle}
        try:
            write_private(self.path, to_json(before, dirs, **ours))
        except OSError as error:
            raise ShellError(
                f"cannot write {self.path}: {error.strerror} (nothing was moved)",
                code="no-file",
            ) from None
        return Results.of(self.changes, (None for _ in self.changes))
