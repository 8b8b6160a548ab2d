"""Target assignments by the planner: rebalance, spread topics, drain a broker, change factors."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct, field

from kafka_shell.admin.cluster.registrations import registered
from kafka_shell.admin.partitions import sizes as replica_sizes
from kafka_shell.admin.partitions.batches import BatchLimits
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.model import (
    EARLIEST,
    LATEST,
    Assignment,
    GoalScore,
    TopicLoad,
    TopicLoads,
    TopicPartition,
    replicas_moving,
)
from kafka_shell.admin.partitions.planner import plan as planner
from kafka_shell.admin.partitions.planner.placement import MIN_GAIN, PlanLimits, Problem, Proposal
from kafka_shell.admin.partitions.planner.plan import Scope
from kafka_shell.admin.partitions.progress import CurrentAssignment, current_assignment
from kafka_shell.admin.partitions.reassignment import plan_move
from kafka_shell.admin.partitions.sizes import Disks, Sizes
from kafka_shell.admin.partitions.throttles import (
    RemoveThrottle,
    ThrottleRecord,
    left_behind,
    rates_of,
)
from kafka_shell.admin.records.offsets import list_offsets
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Advice, Effect, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.wire.cluster import Cluster, wait_until_visible
from kafka_shell.wire.error_codes import INVALID_REPLICA_ASSIGNMENT
from kafka_shell.wire.failures import failure
from kafka_shell.wire.metadata_scan import MetadataScan, scan

Replicas = tuple[tuple[int, ...], ...]  # of each partition
CORDONED = "cordoned"


class Targets(Struct, frozen=True):
    """The target replicas of partitions that change, and what the planner says about them: what it
    refused, the score of each goal, and the `loads` of the topics. Partitions that are `moving` are
    already being reassigned to replicas that the planner does not change."""

    replicas: dict[TopicPartition, tuple[int, ...]] = field(default_factory=dict)
    refused: dict[Resource, Failure] = field(default_factory=dict)
    scores: tuple[GoalScore, ...] = ()
    warnings: tuple[str, ...] = ()
    loads: tuple[TopicLoads, ...] = ()
    moving: dict[TopicPartition, tuple[int, ...]] = field(default_factory=dict)

    def explaining(self, plan: Plan) -> Plan:
        """The plan of these moves with the loads and scores, what is refused, and the warnings."""
        return replace(
            plan,
            refused=Results({}, {**self.refused, **plan.refused.failures}),
            advice=Advice(warnings=self.warnings)
            + plan.advice
            + Advice(figures=(*self.loads, *self.scores)),
        )

    def merged(self, other: Targets) -> Targets:
        """Both. Warnings are listed once."""
        return Targets(
            self.replicas | other.replicas,
            self.refused | other.refused,
            self.scores + other.scores,
            tuple(dict.fromkeys(self.warnings + other.warnings)),
            self.loads + other.loads,
            self.moving | other.moving,
        )


class Brokers(Struct, frozen=True):
    """The brokers between which replicas move: those `named` (none: all that can), without those
    `excluded`. `include_cordoned`: also named ones that are."""

    named: frozenset[int] = frozenset()
    excluded: frozenset[int] = frozenset()
    include_cordoned: bool = False


def read_disks(cluster: Cluster, now: CurrentAssignment) -> Disks:
    """The disks of the running brokers."""
    return replica_sizes.read_disks(cluster, now.racks)


def check_named(cluster: Cluster, now: CurrentAssignment, disks: Disks, brokers: Brokers) -> None:
    """Raises ShellError if a named broker cannot receive replicas."""
    away = sorted(brokers.named - now.racks.keys())
    if away:
        known = registered(cluster) or ()
        state = "fenced" if away[0] in known else "not running"
        raise ShellError(
            f"broker {away[0]} is {state}: replicas cannot be moved to it",
            hint=f"Use running brokers: {', '.join(map(str, now.racks))}.",
            code="INVALID_REPLICA_ASSIGNMENT",
        )
    cordoned = sorted(brokers.named & disks.cordoned)
    if cordoned and not brokers.include_cordoned:
        raise ShellError(
            f"broker {cordoned[0]} is cordoned: its log directories accept no new replicas",
            code=CORDONED,
        )


# -- plans -----------------------------------------------------------------------------------------


def rebalanced(
    now: CurrentAssignment,
    disks: Disks,
    topics: Sequence[str] | None = None,
    brokers: Brokers | None = None,
    *,
    scope: Scope = Scope.ALL,
    limits: PlanLimits | None = None,
    min_gain: float = MIN_GAIN,
    writes: Mapping[TopicPartition, float] | None = None,
) -> Targets:
    """Balance these topics (None: all) between brokers. Replicas on other brokers stay, and so do
    partitions that are being reassigned or whose size is unknown."""
    brokers = brokers or Brokers()
    chosen, refused = _partitions(now, topics)
    targets, warnings = _targets(now, disks, brokers)
    problem = replace(
        _problem(now, disks, targets),
        chosen=[partition for partition in chosen if partition not in now.moving],
        min_gain=min_gain,
        writes=writes or {},
    )
    proposal = planner.rebalance(problem, scope, limits)
    if scope is not Scope.LEADERS:
        warnings += _unknown_sizes(problem, problem.chosen or (), "they are not copied")
    left = len(chosen) - len(problem.chosen or ())
    if left:
        warnings.append(f"skipped {counted(left, 'partition')}: already being reassigned")
    warnings += _unhealthy(now)
    loads = (topic_loads(now, proposal.changes),) if proposal.changes else ()
    return Targets(proposal.changes, refused, proposal.scores, tuple(warnings), loads)


def _unhealthy(now: CurrentAssignment) -> list[str]:
    """A warning if replicas are out of sync: where they are is not where the load will be."""
    metadata = now.found.with_reassignments(replicas_moving(now.moving.values()))
    counts = {"without a leader": metadata.offline, "under-replicated": metadata.under_replicated}
    wrong = [f"{counted(count, 'partition')} {what}" for what, count in counts.items() if count]
    if not wrong:
        return []
    return [f"the cluster is not healthy ({', '.join(wrong)}): fix that first, as moves add load"]


def spread_over(
    now: CurrentAssignment,
    disks: Disks,
    topics: Sequence[str],
    brokers: Brokers | None = None,
) -> Targets:
    """Move topics to the named brokers and spread them; without any, between all that can take
    replicas. Raises ShellError if a partition has more replicas than there are brokers."""
    brokers = brokers or Brokers()
    chosen, refused = _partitions(now, topics)
    targets, warnings = _targets(now, disks, brokers)
    most = max((len(now.replicas[partition]) for partition in chosen), default=0)
    if brokers.named and most > len(targets):
        raise ShellError(
            f"replication factor {most} requires {most} brokers, only {len(targets):,} can be used",
            hint="Name more brokers, or lower the replication factor first.",
            code="INVALID_REPLICA_ASSIGNMENT",
        )
    held = {broker for partition in chosen for broker in now.replicas[partition]}
    problem = replace(
        _problem(now, disks, targets),
        chosen=chosen,
        leaving=frozenset(held - targets if brokers.named else ()),
        copy_unknown=True,
    )
    planned = _targets_of(problem, planner.rebalance(problem), refused, warnings)
    return _with_moving(planned, now, chosen)


def drained(
    now: CurrentAssignment,
    disks: Disks,
    broker: int,
    topics: Sequence[str] | None = None,
    partitions: Sequence[TopicPartition] | None = None,
) -> Targets:
    """Move all replicas (or those of these topics or partitions) from `broker` to other brokers.

    A topic with replicas on all other brokers is refused. Raises ShellError without another broker.
    """
    chosen, refused = _partitions(now, topics)
    chosen = chosen if partitions is None else list(partitions)
    if not now.racks.keys() - {broker}:
        raise ShellError(
            f"broker {broker} is the only running broker: its replicas cannot be moved",
            hint="Start another broker first.",
            code="INVALID_REPLICA_ASSIGNMENT",
        )
    targets, warnings = _targets(now, disks, Brokers(excluded=frozenset((broker,))))
    leaving = frozenset((broker,))
    problem = replace(_problem(now, disks, targets), chosen=chosen, leaving=leaving)
    planned = _targets_of(problem, planner.drain(problem), refused, warnings)
    leaves = [each for each, move in now.moving.items() if broker in move.removing]
    return _with_moving(planned, now, set(leaves).intersection(chosen))


def with_factor(
    now: CurrentAssignment, disks: Disks, topics: Sequence[str], factor: int
) -> Targets:
    """Change the replication factor of topics. Raises ShellError if it is impossible."""
    chosen, refused = _partitions(now, topics)
    if not 0 < factor <= len(now.racks):
        raise ShellError(
            f"replication factor {factor} requires {factor} brokers, only {len(now.racks):,} can"
            " be used",
            hint=f"Use 1 to {len(now.racks)}." if len(now.racks) > 1 else "Use 1.",
            code="INVALID_REPLICATION_FACTOR",
        )
    lagging = {
        TopicPartition(topic, part.partition): set(part.replicas) - set(part.isr)
        for topic in topics
        if topic in now.found
        for part in now.found.topic(topic).partitions
    }
    targets, warnings = _targets(now, disks, Brokers())
    problem = replace(_problem(now, disks, targets), chosen=chosen)
    proposal = planner.with_factor(problem, factor, lagging)
    return _with_moving(_targets_of(problem, proposal, refused, warnings), now, chosen)


def topic_loads(now: CurrentAssignment, target: Assignment) -> TopicLoads:
    """The topics of these partitions by broker, before and after."""
    names = {partition.topic for partition in target}
    before = {name: [Counter[int]() for _ in range(4)] for name in sorted(names)}
    for each, replicas in now.replicas.items():
        if each.topic in names:
            counts = before[each.topic]
            then = target.get(each, replicas)
            counts[0].update(replicas)
            counts[1].update(then)
            counts[2][replicas[0]] += 1
            counts[3][then[0]] += 1
    return TopicLoads(
        tuple(
            TopicLoad(name, *(dict(sorted(count.items())) for count in counts))
            for name, counts in before.items()
        )
    )


# -- what the planner is given ---------------------------------------------------------------------


def _problem(now: CurrentAssignment, disks: Disks, targets: frozenset[int]) -> Problem:
    sizes = ((each, disks.sizes.of(each, leader)) for each, (leader, _) in now.current.items())
    known = {each: size for each, size in sizes if size is not None}
    room = disks.room_beside(now.moving, known)
    return Problem(now.replicas, now.racks, targets, sizes=known, room=room)


def _targets(
    now: CurrentAssignment, disks: Disks, brokers: Brokers
) -> tuple[frozenset[int], list[str]]:
    """The brokers that may receive replicas, and warnings about those left out."""
    wanted = (brokers.named or now.racks.keys()) - brokers.excluded
    unread = wanted & disks.not_read.keys()
    warnings = [_not_read(disks, unread, named=bool(brokers.named))] if unread else []
    if not brokers.named:
        down = now.found.replica_ids() - now.racks.keys() - brokers.excluded
        warnings += [f"{_brokers(down)} excluded (not running)"] if down else []
        cordoned = wanted & disks.cordoned
        warnings += [f"{_brokers(cordoned)} excluded (cordoned)"] if cordoned else []
        wanted -= cordoned
        # If no broker returns its log directories, it is a missing permission of this client.
        wanted -= unread if len(disks.not_read) < len(now.racks) else set()
    return frozenset(wanted), warnings


def _not_read(disks: Disks, unread: Collection[int], *, named: bool) -> str:
    reason = disks.not_read[min(unread)]
    everyone = not disks.sizes.known_brokers
    then = "disk space is not checked" if named or everyone else "no replicas are moved there"
    hint = f" ({reason.hint})" if reason.hint else ""
    return f"{then}: cannot read log directories of {_brokers(unread)}: {reason.message}{hint}"


def _brokers(ids: Iterable[int]) -> str:
    listed = sorted(ids)
    noun = "broker" if len(listed) == 1 else "brokers"
    return f"{noun} {', '.join(map(str, listed))}"


def with_new_partitions(
    now: CurrentAssignment, counts: Mapping[str, int], wanted: Mapping[str, Replicas]
) -> CurrentAssignment:
    """The current assignment with partitions that topics get before they are moved.

    Each has as many replicas as the first partition of its topic: controllers create no others.
    They are spread, or on the brokers of the `wanted` assignment as far as it goes. Raises
    ShellError if there are fewer running brokers.
    """
    added: dict[TopicPartition, tuple[int, ...]] = {}
    brokers = sorted(now.racks)
    for topic, count in counts.items():
        if topic in now.found:
            existing = now.found.topic(topic).partitions
            factor = len(min(existing, key=lambda each: each.partition).replicas)
            if factor > len(brokers):
                raise ShellError(
                    f"cannot add partitions to topic {topic}: replication factor {factor} requires"
                    f" {factor} brokers, only {len(brokers):,} can be used",
                    code="INVALID_REPLICATION_FACTOR",
                )
            for number in range(len(existing), count):
                added[TopicPartition(topic, number)] = tuple(
                    brokers[(number + place) % len(brokers)] for place in range(factor)
                )
    empty = dict.fromkeys(added, 0)
    everything = now.replicas | added
    targets = frozenset(brokers)
    problem = Problem(everything, now.racks, targets, chosen=list(added), sizes=empty)
    added |= planner.rebalance(problem).changes
    for each, replicas in added.items():
        target = wanted[each.topic][each.partition] if each.topic in wanted else ()
        added[each] = tuple(dict.fromkeys((*target, *replicas)))[: len(replicas)]
    return replace(
        now,
        added=added,
        replicas=now.replicas | added,
        current=now.current | {each: (to[0], to) for each, to in added.items()},
    )


def _partitions(
    now: CurrentAssignment, topics: Sequence[str] | None
) -> tuple[list[TopicPartition], dict[Resource, Failure]]:
    if topics is None:
        return list(now.replicas), {}
    refused = {
        Resource("topic", topic): failure(
            now.found.errors.get(topic, 3), about=f"topic {topic}", see=Resource("topic")
        )
        for topic in topics
        if topic not in now.found
    }
    wanted = set(topics)
    return [replica for replica in now.replicas if replica.topic in wanted], refused


# -- what the planner returns ----------------------------------------------------------------------


def _targets_of(
    problem: Problem, proposal: Proposal, refused: dict[Resource, Failure], warnings: list[str]
) -> Targets:
    """The result of a plan that was asked for: what cannot be done is refused, what is copied
    without a known size is a warning."""
    for each in proposal.stuck:
        resource = Resource("topic", each.topic)
        why = _stuck(problem, each, each in proposal.no_broker, "; ".join(warnings))
        refused.setdefault(resource, why)
    before = problem.assignment
    copied = [each for each, new in proposal.changes.items() if set(new) - set(before[each])]
    warnings = [*warnings, *_unknown_sizes(problem, copied, "disk space is not checked for them")]
    return Targets(proposal.changes, refused, proposal.scores, tuple(warnings))


def _with_moving(
    planned: Targets, now: CurrentAssignment, chosen: Collection[TopicPartition]
) -> Targets:
    """With those of the chosen partitions whose reassignment in progress has the same target."""
    same = {each: now.moving[each].after for each in chosen if each in now.moving}
    moving = {each: to for each, to in same.items() if each not in planned.replicas}
    return replace(planned, moving=moving)


def _unknown_sizes(
    problem: Problem, partitions: Collection[TopicPartition], consequence: str
) -> list[str]:
    unknown = sum(partition not in problem.sizes for partition in partitions)
    if not unknown:
        return []
    return [f"size of {counted(unknown, 'partition')} unknown: {consequence}"]


def _stuck(problem: Problem, partition: TopicPartition, no_broker: bool, left_out: str) -> Failure:
    resource, many = Resource("topic", partition.topic), len(problem.targets)
    if not many:
        return failure(
            INVALID_REPLICA_ASSIGNMENT,
            text=f"no broker can receive the replicas of topic {partition.topic}: {left_out}",
            hint="Remove cordoned.log.dirs of another broker, or add brokers.",
            see=resource,
        )
    if no_broker:
        return failure(
            INVALID_REPLICA_ASSIGNMENT,
            text=f"topic {partition.topic} has replicas on every other broker already",
            hint=f"Lower the replication factor of topic {partition.topic} to {many} first.",
            see=resource,
        )
    return failure(
        INVALID_REPLICA_ASSIGNMENT,
        text=f"no other broker has enough disk space for partition {partition}",
        hint="Free disk space, or add brokers or log directories.",
        see=resource,
    )


# The plan that balances topics, leaders, bytes and replicas between brokers.


class Rebalance(Struct, frozen=True):
    """What a rebalance moves: the current assignment, the disks, and the target replicas of the
    partitions that change."""

    now: CurrentAssignment
    disks: Disks
    targets: Targets


def read_rebalance(
    cluster: Cluster,
    topics: Sequence[str] | None,
    choose: Callable[[CurrentAssignment, Disks], Brokers],
    *,
    scope: Scope = Scope.ALL,
    limits: PlanLimits | None = None,
    min_gain: float = MIN_GAIN,
    measure: float | None = None,
) -> Rebalance:
    """Plan how to balance these topics (None: all) between the brokers that `choose` returns.

    `measure` is for how many seconds to measure what is written to each partition.
    """
    now, disks = _current(cluster)
    brokers, writes = choose(now, disks), None
    if measure is not None:
        writes = measure_writes(cluster, now, disks.sizes, measure)
        now, disks = _current(cluster)  # others may have changed the cluster meanwhile
        brokers = choose(now, disks)
    return Rebalance(now, disks, rebalanced(
        now, disks, topics, brokers, scope=scope, limits=limits, min_gain=min_gain, writes=writes
    ))  # fmt: skip


def _current(cluster: Cluster) -> tuple[CurrentAssignment, Disks]:
    now = current_assignment(cluster)
    return now, read_disks(cluster, now)


def plan_rebalance(
    cluster: Cluster,
    topics: Sequence[str] | None = None,
    brokers: Brokers | None = None,
    *,
    scope: Scope = Scope.ALL,
    limits: PlanLimits | None = None,
    min_gain: float = MIN_GAIN,
    measure: float | None = None,
    throttle: int | None = None,
    batches: BatchLimits | None = None,
) -> Plan:
    """Balance these topics (None: all) by the goals of the planner (API key 45).

    `measure` is in seconds, and `throttle` in bytes per second. The figures are the load of brokers
    and topics and the score of each goal, before and after. Raises ShellError if a named broker
    cannot receive replicas.
    """

    def checked(now: CurrentAssignment, disks: Disks) -> Brokers:
        chosen = brokers or Brokers()
        check_named(cluster, now, disks, chosen)
        return chosen

    rebalance = read_rebalance(
        cluster, topics, checked, scope=scope, limits=limits, min_gain=min_gain, measure=measure
    )
    replicas, sizes = rebalance.targets.replicas, rebalance.disks.sizes
    plan = plan_move(
        cluster, replicas, throttle=throttle, now=rebalance.now, sizes=sizes, batches=batches
    )
    return rebalance.targets.explaining(plan)


# Moving all replicas off a broker, as often as it takes: what is already moving is followed.


class Drain(Struct, frozen=True):
    """How a broker can be drained: the current assignment, the disks, and the target replicas of
    what is not yet moving off the broker."""

    broker: int
    now: CurrentAssignment
    disks: Disks
    targets: Targets

    @property
    def leaving(self) -> dict[TopicPartition, tuple[int, ...]]:
        """The partitions that are being moved off the broker, and their target replicas."""
        return {
            each: move.after
            for each, move in self.now.moving.items()
            if self.broker in move.removing
        }

    @property
    def wanted(self) -> Assignment:
        """The target replicas of all partitions that leave the broker, moving or not yet."""
        return {**self.targets.replicas, **self.leaving}

    @property
    def busy(self) -> list[TopicPartition]:
        """The partitions that are being reassigned and get or keep a replica on the broker."""
        return [each for each, move in self.now.moving.items() if self.broker in move.after]

    @property
    def held(self) -> list[TopicPartition]:
        """The partitions with a replica on the broker, those being moved off it included."""
        return _held(self.now.found, self.broker)


def _held(metadata: MetadataScan, broker: int) -> list[TopicPartition]:
    return [
        TopicPartition(name, partition.partition)
        for name in metadata.names
        for partition in metadata.topic(name).partitions
        if broker in partition.replicas
    ]


def read_drain(cluster: Cluster, broker: int) -> Drain:
    """Plan where the replicas of a broker go. Raises ShellError if no other broker is running."""
    now = current_assignment(cluster)
    disks = read_disks(cluster, now)
    return Drain(broker, now, disks, drained(now, disks, broker))


def plan_drain(
    cluster: Cluster,
    broker: int,
    *,
    throttle: int | None = None,
    batches: BatchLimits | None = None,
) -> Plan:
    """Move all replicas off a broker (API key 45), and follow replicas already moving off it.

    `throttle` is in bytes per second, and is set for reassignments in progress as well. A topic
    that fits nowhere else is refused.
    """
    drain = read_drain(cluster, broker)
    plan = plan_move(
        cluster, drain.wanted, throttle=throttle, now=drain.now, sizes=drain.disks.sizes,
        batches=batches,
    )  # fmt: skip
    return drain.targets.explaining(plan)


def wait_until_drained(cluster: Cluster, broker: int) -> None:
    """Wait a moment until brokers show the end of the reassignments, too."""
    wait_until_visible(lambda: not _held(scan(cluster), broker))


def plan_remove_throttle(
    cluster: Cluster, broker: int, record: ThrottleRecord | None = None
) -> Plan:
    """Remove what an interrupted drain left of its throttle: what is in the `record`, and lists
    with replicas of the broker. Reassignments in progress keep theirs."""
    record = record or ThrottleRecord()
    known = record.read()
    rows, _ = left_behind(cluster, under_way(cluster).values, known)
    lists = [row for row in rows if any(entry.endswith(f":{broker}") for entry in row.entries)]
    ours = known.keys() | {row.config for row in lists} | rates_of(lists)
    rows = tuple(row for row in rows if row.config in ours)
    return Plan(Effect.CHANGE, (RemoveThrottle(rows, record),) if rows else ())


# -- How much is written to each partition, measured by log end offsets (ListOffsets, API key 2) ---


def measure_writes(
    cluster: Cluster, now: CurrentAssignment, sizes: Sizes, seconds: float
) -> dict[TopicPartition, float]:
    """Bytes per second written to each partition: its new records in this time, each counted with
    the average size in the log. Partitions without a known size or offset are left out."""
    led = [each for each, (leader, _) in now.current.items() if leader is not None]
    earliest = list_offsets(cluster, dict.fromkeys(led, EARLIEST)).values
    began = time.monotonic()
    first = list_offsets(cluster, dict.fromkeys(led, LATEST)).values
    time.sleep(seconds)
    took = time.monotonic() - began
    second = list_offsets(cluster, dict.fromkeys(led, LATEST)).values
    rates: dict[TopicPartition, float] = {}
    for each in first.keys() & second.keys() & earliest.keys():
        size = sizes.of(each, now.current[each][0])
        start, was, end = (row[each].offset for row in (earliest, first, second))
        if size is None or start is None or was is None or end is None or end <= start:
            continue
        rates[each] = (end - was) / took * size / (end - start)
    return rates
