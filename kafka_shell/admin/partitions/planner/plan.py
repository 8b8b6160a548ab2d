"""Rebalance, drain, change replication factors: the goals in their order, on one placement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from types import MappingProxyType

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.planner import replica_balance, scores, topics
from kafka_shell.admin.partitions.planner.placement import Placement, PlanLimits, Problem, Proposal
from kafka_shell.base.structs import replace

# Hard goals: replicas leave brokers, factors change, partitions are spread over racks.


def replace_leaving(placement: Placement) -> list[int]:
    """Replace each chosen replica on a leaving broker. Returns the partitions that do not fit
    anywhere, which are not changed."""
    stuck = []
    for at, replicas in enumerate(placement.replicas):
        if not placement.chosen[at]:
            continue
        mark = len(placement.log)
        for broker in replicas:
            if placement.leaving[broker] and not _replace(placement, at, broker):
                placement.roll_back(mark)
                placement.chosen[at] = False
                stuck.append(at)
                break
    return stuck


def _replace(placement: Placement, at: int, old: int) -> bool:
    beside = tuple(broker for broker in placement.replicas[at] if broker != old)
    new = best_target(placement, at, beside, leads=placement.replicas[at][0] == old)
    if new is not None:
        placement.swap(at, old, new)
    return new is not None


def best_target(
    placement: Placement, at: int, beside: Collection[int], *, leads: bool
) -> int | None:
    """The target for a replica beside others: in the emptiest rack, then by the soft goals."""
    replicas, topic = placement.replicas[at], placement.topic[at]
    count, led = placement.count[topic], placement.led[topic]
    crowd = Counter(placement.rack[broker] for broker in beside)
    by_crowd: dict[int, list[int]] = {}
    for rack, brokers in placement.by_rack.items():
        by_crowd.setdefault(crowd[rack], []).extend(brokers)

    def load(new: int) -> tuple[object, ...]:
        here = placement.bytes[new], placement.held[new], new
        return (led.get(new, 0), placement.leads[new], *here) if leads else here

    for _, brokers in sorted(by_crowd.items()):
        free = [broker for broker in brokers if broker not in replicas]
        while free:
            fewest = min(count.get(broker, 0) for broker in free)
            new = min((broker for broker in free if count.get(broker, 0) == fewest), key=load)
            if placement.fits(at, new):
                return new
            free.remove(new)
    return None


def raise_factor(placement: Placement, factor: int) -> list[int]:
    """Add replicas to chosen partitions, as the last ones. Returns those that lack a broker."""
    stuck = []
    for at, chosen in enumerate(placement.chosen):
        mark = len(placement.log)
        while chosen and len(placement.replicas[at]) < factor:
            new = best_target(placement, at, placement.replicas[at], leads=False)
            if new is None:
                placement.roll_back(mark)
                placement.chosen[at] = False
                stuck.append(at)
                break
            placement.set(at, (*placement.replicas[at], new))
    return stuck


def lower_factor(placement: Placement, factor: int, lagging: dict[int, Collection[int]]) -> None:
    """Remove replicas of chosen partitions: first one that is not a target or not in sync, then one
    in a crowded rack, then by the soft goals. The preferred leader stays, unless it is not in sync
    and another replica is."""
    for at, chosen in enumerate(placement.chosen):
        while chosen and len(placement.replicas[at]) > factor:
            replicas = placement.replicas[at]
            crowd = Counter(placement.rack[replica] for replica in replicas)
            count, behind = placement.count[placement.topic[at]], lagging.get(at, ())
            leads_in_sync = replicas[0] not in behind or {*replicas} <= {*behind}
            gone = max(
                replicas[1:] if leads_in_sync else replicas,
                key=lambda broker: (
                    not placement.is_target[broker], broker in behind,
                    crowd[placement.rack[broker]], count[broker], placement.bytes[broker],
                    placement.held[broker], broker,
                ),
            )  # fmt: skip
            placement.set(at, tuple(replica for replica in replicas if replica != gone))


def spread_over_racks(placement: Placement) -> None:
    """Move replicas from crowded racks to emptier ones."""
    if not placement.racked:
        return
    racks = {placement.rack[target] for target in placement.targets}
    for at, chosen in enumerate(placement.chosen):
        if chosen:
            while _move_to_emptier_rack(placement, at, racks):
                pass


def _move_to_emptier_rack(placement: Placement, at: int, racks: set[int]) -> bool:
    """Move one replica to a rack with at least two fewer. Returns whether there was one."""
    replicas, rack = placement.replicas[at], placement.rack
    crowd = Counter(rack[replica] for replica in replicas)
    most = max(crowd.values())
    if most < 2 or all(crowd[each] + 2 > most for each in racks):
        return False
    # The one with the most of its topic, then of bytes, leaves.
    count = placement.count[placement.topic[at]]
    leaving = sorted(
        (each for each in replicas if crowd[rack[each]] >= 2 and placement.may_leave(at, each)),
        key=lambda each: (-crowd[rack[each]], -count[each], -placement.bytes[each], each),
    )
    for old in leaving:
        beside = tuple(replica for replica in replicas if replica != old)
        new = best_target(placement, at, beside, leads=replicas[0] == old)
        if new is not None and crowd[rack[new]] + 2 <= crowd[rack[old]]:
            placement.swap(at, old, new)
            return True
    return False


class Scope(Enum):
    """What a rebalance changes: everything, preferred leaders only (copies nothing), or only
    replicas in racks with several."""

    ALL = "all"
    LEADERS = "leaders"
    RACKS = "racks"


def rebalance(
    problem: Problem, scope: Scope = Scope.ALL, limits: PlanLimits | None = None
) -> Proposal:
    """Spread the chosen partitions over the target brokers."""
    placement, before = Placement(problem), _before(problem)
    stuck = replace_leaving(placement)
    if scope is not Scope.LEADERS:
        spread_over_racks(placement)
    if scope is Scope.ALL:
        _improve_soft_goals(placement)
    elif scope is Scope.LEADERS:
        _order(placement)
    replica_balance.revert_needless_copies(placement)
    if limits is not None:
        scores.limit(placement, limits)
    return _proposal(placement, before, stuck)


def drain(problem: Problem) -> Proposal:
    """Move the chosen replicas of `leaving` brokers, and no others."""
    held = problem.chosen if problem.chosen is not None else problem.assignment
    chosen = [place for place in held if not problem.leaving.isdisjoint(problem.assignment[place])]
    placement = Placement(replace(problem, chosen=chosen), move_only_copied=True, keep_leaders=True)
    before = _before(problem)
    stuck = replace_leaving(placement)
    _improve_soft_goals(placement)
    return _proposal(placement, before, stuck)


def with_factor(
    problem: Problem,
    factor: int,
    lagging: Mapping[TopicPartition, Collection[int]] = MappingProxyType({}),
) -> Proposal:
    """Give the chosen partitions `factor` replicas; those that stay keep their place.

    An additional replica is the last one. A removed one is `lagging`, else in a crowded rack; the
    preferred leader only if it lags and another replica does not.
    """
    placement, before = (
        Placement(problem, move_only_copied=True, keep_leaders=True),
        _before(problem),
    )
    behind: dict[int, Collection[int]] = {
        at: [placement.index[id] for id in lagging[each] if id in placement.index]
        for at, each in enumerate(placement.partitions)
        if each in lagging
    }
    lower_factor(placement, factor, behind)
    stuck = raise_factor(placement, factor)
    _improve_soft_goals(placement)
    return _proposal(placement, before, stuck)


def _improve_soft_goals(placement: Placement) -> None:
    """The soft goals, the most important first."""
    _worth_copying(placement, scores.TOPIC_REPLICAS, topics.spread_replicas)
    topics.order_leaders(placement)
    _worth_copying(placement, scores.TOPIC_LEADERS, topics.move_leaders)
    replica_balance.order(placement)
    _worth_copying(placement, scores.LEADERS, replica_balance.move)
    if any(placement.write):
        replica_balance.order_by_writes(placement)
    if any(placement.size):
        _worth_copying(placement, scores.BYTES, replica_balance.spread_bytes)
    _worth_copying(placement, scores.REPLICAS, replica_balance.spread_replicas)


def _order(placement: Placement) -> None:
    """The soft goals of leaders, as far as the order of replicas decides."""
    topics.order_leaders(placement)
    replica_balance.order(placement)
    if any(placement.write):
        replica_balance.order_by_writes(placement)


def _worth_copying(placement: Placement, goal: str, improve: Callable[[Placement], None]) -> None:
    """Improve a goal, but not if that copies data and gains too little."""
    mark, copies, together = len(placement.log), placement.copies, len(placement.together)
    before = scores.value(placement, goal)
    if not before:
        return
    improve(placement)
    gain = before - scores.value(placement, goal)
    if placement.copies > copies and gain < placement.min_gain * before:
        placement.roll_back(mark)
        del placement.together[together:]


def _before(problem: Problem) -> dict[str, float]:
    """The scores now: brokers that replicas leave count like the targets."""
    return scores.values(Placement(replace(problem, targets=problem.targets | problem.leaving)))


def _proposal(placement: Placement, before: dict[str, float], stuck: Sequence[int]) -> Proposal:
    full = [at for at in stuck if set(placement.targets) <= set(placement.replicas[at])]
    return Proposal(
        placement.changes(),
        scores.compared(before, scores.values(placement)),
        tuple(placement.partitions[at] for at in stuck),
        frozenset(placement.partitions[at] for at in full),
    )
