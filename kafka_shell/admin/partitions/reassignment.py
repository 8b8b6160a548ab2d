"""Moves of replicas: started, looked at, followed, cancelled (KIP-455; API keys 45, 46).

A layout that is wanted comes from a file or from the planner (`placement`). What a move needs at
its start and end besides, its throttle, is in `throttles`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.cluster.model import Broker
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import failure
from kafka_shell.admin.wire.metadata_scan import MetadataScan, scan
from kafka_shell.plan.model import Change, Effect, Plan, Resource
from kafka_shell.plan.results import Failure, Results
from kafka_shell.structs import replace

from . import log_dir_moves
from . import sizes as move_sizes
from .log_dir_targets import Dirs, Placing, plan_back
from .log_dir_targets import plan as plan_dirs
from .model import Move, MoveState, MoveStatus, Reassignment, Throttle, TopicPartition
from .progress import Follow, Wanted, progress, spell, under_way, wanted_of
from .sizes import Sizes
from .steps import MoveReplicas, current
from .throttles import (
    Record,
    RemoveThrottle,
    SetThrottle,
    ThrottleRecord,
    left_behind,
    plan_throttle,
)

# -- plans -----------------------------------------------------------------------------------------


class Layout(Struct, frozen=True):
    """Where everything is: the brokers that are up, metadata, and the moves under way."""

    brokers: tuple[Broker, ...]
    found: MetadataScan
    moving: dict[TopicPartition, Reassignment]

    @property
    def racks(self) -> dict[int, str | None]:
        """The brokers that are up, with their racks."""
        return {broker.id: broker.rack for broker in self.brokers}

    @property
    def replicas(self) -> dict[TopicPartition, tuple[int, ...]]:
        """Every partition's replicas; of one that moves, those that it will have."""
        now = {
            TopicPartition(name, partition.partition): partition.replicas
            for name in self.found.names
            for partition in self.found.topic(name).partitions
        }
        return now | {key: each.after for key, each in self.moving.items() if key in now}


def layout(cluster: Cluster) -> Layout:
    """Where everything is now."""
    moving = under_way(cluster).values
    found = scan(cluster)
    return Layout(found.brokers, found, moving)


def plan_move(
    cluster: Cluster,
    wanted: Wanted,
    *,
    throttle: int | None = None,
    additional: bool = False,
    keep_factor: bool = False,
    dirs: Dirs | None = None,
    record: ThrottleRecord | None = None,
    now: Layout | None = None,
) -> Plan:
    """Move these partitions to these brokers, the preferred leader first.

    A partition that moves already is refused, but for the way back, and but with `additional`:
    then its aim or its throttle (bytes a second) is changed. `keep_factor` refuses a change of the
    number of replicas. `dirs` are the log dirs that some replicas are wanted in; the throttle is
    not for copies within a broker. The throttle is kept in the `record` until it is removed.
    `follow` and `afterwards` are those of a plan that is waited for.
    """
    now = now or layout(cluster)
    held = current(now.found, now.moving)
    placing, misplaced = plan_dirs(cluster, dirs or {})
    placed, wishes = set(placing.partitions), _Wishes()
    for partition, after in wanted.items():
        about = Resource("partition", str(partition))
        wrong = _cannot(partition, after, held, now, additional, keep_factor)
        wrong = wrong or misplaced.get(partition)
        if wrong is not None:
            wishes.refused[about] = wrong
            continue
        leader, before = held[partition]
        move = Move(partition, before, after, leader)
        wishes.add(
            move,
            now.moving.get(partition),
            placed=partition in placed,
            coming=partition in placing.coming,
        )
    return _plan(cluster, wishes, throttle, now, placing, dirs or {}, record or ThrottleRecord())


class _Wishes(Struct):
    """What is to be sent, what of it copies something (and is throttled), what need not be sent.

    `back` are moves under way that are turned round: nothing is copied for them.
    """

    partitions: set[TopicPartition] = field(default_factory=set)
    back: list[Move] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    copied: list[Move] = field(default_factory=list)
    followed: list[Move] = field(default_factory=list)
    unchanged: list[Change] = field(default_factory=list)
    refused: dict[Resource, Failure] = field(default_factory=dict)

    def add(self, move: Move, moving: Reassignment | None, *, placed: bool, coming: bool) -> None:
        """A wish that can be fulfilled, beside what moves the partition already. `placed` where a
        replica gets another log dir, `coming` where one is on its way to it."""
        about = Resource("partition", str(move.partition))
        self.partitions.add(move.partition)
        if moving is None and move.before == move.after:
            if not placed:
                note = "it is on its way there" if coming else "it is there already"
                self.unchanged.append(_as_it_is(about, move.before, note))
            if placed or coming:
                self.followed.append(move)
            return
        if moving is not None and set(move.before) == set(move.after):
            self.back.append(replace(move, before=moving.after))
        elif moving is not None and set(moving.after) == set(move.after):
            self.unchanged.append(_as_it_is(about, move.after, "it is on its way there"))
            self.copied.append(move)
        else:
            self.moves.append(move)
            self.copied.append(move)
        self.followed.append(move)


def _plan(
    cluster: Cluster,
    wishes: _Wishes,
    throttle: int | None,
    now: Layout,
    placing: Placing,
    dirs: Dirs,
    record: ThrottleRecord,
) -> Plan:
    wanted = wanted_of(wishes.followed)
    dirs = {place: path for place, path in dirs.items() if place[1] in wanted}
    placing = placing.of(wanted)
    rows = plan_throttle(cluster, wishes.copied, throttle, record.read(), wishes.partitions)
    slow = move_sizes.too_slow(cluster, wishes.copied, throttle) if rows and throttle else ()
    steps: list[Any] = _cancelling(
        cluster, wishes.back, list(wanted_of(wishes.back)), now.moving, record
    )
    set_throttle = SetThrottle(rows, record)
    steps += [set_throttle] if set_throttle.changes else []
    removal = set_throttle.removal if rows else None
    if wishes.moves or placing.moves:
        moved = wanted_of(wishes.moves)
        stay = {each: wanted[each] for each in placing.partitions if each not in moved}
        steps.append(MoveReplicas(tuple(wishes.moves), removal, placing=placing, stay=stay))
    sizes = move_sizes.read(cluster) if wishes.moves else Sizes()
    figures = move_sizes.figures(wishes.moves, now.racks, now.replicas, sizes, throttle)
    return Plan(
        Effect.CHANGE,
        tuple(steps),
        follow=Follow(tuple(wishes.followed), dirs=dirs),
        afterwards=(removal,) if removal else (),
        touches=frozenset({"topics"}),
        fresh=lambda later: state(later, wanted, dirs),
        warnings=(*slow, *placing.warnings),
        refused=Results({}, wishes.refused),
        unchanged=tuple(wishes.unchanged),
        figures=figures,
    )


def _as_it_is(about: Resource, replicas: Sequence[int], note: str) -> Change:
    held = spell(replicas)
    return Change(about, "alter", before=held, after=held, note=f"no change: {note}")


def _cannot(
    partition: TopicPartition,
    after: tuple[int, ...],
    held: Mapping[TopicPartition, tuple[int | None, tuple[int, ...]]],
    now: Layout,
    additional: bool,
    keep_factor: bool,
) -> Failure | None:
    """Why a partition cannot be moved there; None where it can."""
    if partition not in held:
        code = now.found.errors.get(partition.topic, 3)
        said = f"there is no partition {partition}"
        return failure(code, text=said, hint="Look: list-topics --long")
    before = held[partition][1]
    if not after or len(set(after)) < len(after):
        said = f"partition {partition} cannot be on {spell(after) or 'no broker'}"
        return Failure("INVALID_REPLICA_ASSIGNMENT", said, 39, "Each broker once; one at least.")
    down = [broker for broker in after if broker not in now.racks and broker not in before]
    if down:
        said = f"partition {partition} cannot go to broker {down[0]}, which is not up"
        up = ", ".join(map(str, now.racks))
        return Failure("INVALID_REPLICA_ASSIGNMENT", said, 39, f"The brokers: {up}.")
    if keep_factor and len(after) != len(before):
        said = f"partition {partition} has {len(before)} replicas and would have {len(after)}"
        return Failure("INVALID_REPLICATION_FACTOR", said, 38)
    if partition in now.moving and not additional and set(after) != set(before):
        return Failure(
            "REASSIGNMENT_IN_PROGRESS",
            f"partition {partition} is being moved to {spell(now.moving[partition].after)}",
            60,
            f"Wait for it: verify-reassign-partitions --finish --topic {partition.topic}\n"
            "Or change where it goes, or its throttle: add --additional",
        )
    return None


def state(
    cluster: Cluster,
    wanted: Wanted | None = None,
    dirs: Dirs | None = None,
    record: Record | None = None,
    topics: Collection[str] | None = None,
) -> MoveState:
    """How these moves stand, or all that are under way; and the throttles that are left behind, of
    `topics` (without: of those that move, or all)."""
    rows = progress(cluster, wanted, dirs)
    if wanted is not None and topics is None:
        topics = {each.topic for each in wanted}
    left, not_read = left_behind(cluster, under_way(cluster).values, record, topics)
    throttles = (Throttle(str(row.resource), row.key, row.value) for row in left)
    return MoveState(rows, tuple(throttles), tuple(not_read.items()))


def misplaced(cluster: Cluster, state: MoveState, dirs: Dirs) -> list[Any]:
    """The steps that put right what is on its brokers, and in other log dirs than wanted."""
    there = {
        TopicPartition(row.topic, row.partition)
        for row in state.partitions
        if row.status is MoveStatus.FAILED and row.replicas == row.wanted
    }
    placing, _ = plan_dirs(cluster, {p: path for p, path in dirs.items() if p[1] in there})
    return [MoveReplicas((), placing=placing)] if placing.moves else []


def plan_cancel(
    cluster: Cluster,
    partitions: Sequence[TopicPartition],
    before: Wanted | None = None,
    dirs: Dirs | None = None,
    record: ThrottleRecord | None = None,
) -> Plan:
    """Cancel the moves of these partitions, and remove their throttle, as the `record` has it.
    Copies to `dirs` within a broker are called back.

    What has been copied is deleted again. A controller forgets the order that the replicas had:
    `before`, where it is known, brings back the preferred leader too.
    """
    moving = under_way(cluster).values
    back_in_dirs, unseen = plan_back(cluster, dirs or {})
    called_back = {*unseen, *(move.partition for move in back_in_dirs)}
    moves, idle = [], []
    for each in dict.fromkeys(partitions):
        if each not in moving:
            if each in called_back:
                continue
            about = Resource("partition", str(each))
            idle.append(_as_it_is(about, (), "it is not being moved"))
            continue
        back = (before or {}).get(each, ())
        known = set(back) == set(moving[each].before)
        moves.append(Move(each, moving[each].after, back if known else moving[each].before))
    steps = _cancelling(cluster, moves, partitions, moving, record or ThrottleRecord())
    steps += [log_dir_moves.MoveReplicas(back_in_dirs)] if back_in_dirs else []
    refused = {Resource("partition", str(each)): why for each, why in unseen.items()}
    return Plan(
        Effect.CHANGE,
        tuple(steps),
        touches=frozenset({"topics"}),
        refused=Results({}, refused),
        unchanged=tuple(idle),
    )


def _cancelling(
    cluster: Cluster,
    moves: Sequence[Move],
    partitions: Sequence[TopicPartition],
    moving: Mapping[TopicPartition, Reassignment],
    record: ThrottleRecord,
) -> list[Any]:
    """The steps that cancel these moves and remove the throttle of these partitions."""
    if not moves:
        return []
    rest = {each: moving[each] for each in moving.keys() - set(partitions)}
    rows, _ = left_behind(cluster, rest, record.read(), cancelled=partitions)
    removal = [RemoveThrottle(rows, record)] if rows else []
    return [MoveReplicas(tuple(moves), cancelled=True), *removal]
