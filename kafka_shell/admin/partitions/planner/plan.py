"""Rebalance, drain, change replication factors: the goals in their order, on one placement."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from types import MappingProxyType

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.planner import (
    gains,
    hard_goals,
    leaders,
    replica_balance,
    scores,
    topics,
)
from kafka_shell.admin.partitions.planner.placement import Placement
from kafka_shell.admin.partitions.planner.problem import PlanLimits, Problem, Proposal
from kafka_shell.common.structs import replace


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
    stuck = hard_goals.replace_leaving(placement)
    if scope is not Scope.LEADERS:
        hard_goals.spread_over_racks(placement)
    if scope is Scope.ALL:
        _improve_soft_goals(placement)
    elif scope is Scope.LEADERS:
        _order(placement)
    replica_balance.revert_needless_copies(placement)
    if limits is not None:
        gains.limit(placement, limits)
    return _proposal(placement, before, stuck)


def drain(problem: Problem) -> Proposal:
    """Move the chosen replicas of `leaving` brokers, and no others."""
    held = problem.chosen if problem.chosen is not None else problem.assignment
    chosen = [each for each in held if not problem.leaving.isdisjoint(problem.assignment[each])]
    placement = Placement(replace(problem, chosen=chosen), move_only_copied=True, keep_leaders=True)
    before = _before(problem)
    stuck = hard_goals.replace_leaving(placement)
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
    hard_goals.lower_factor(placement, factor, behind)
    stuck = hard_goals.raise_factor(placement, factor)
    _improve_soft_goals(placement)
    return _proposal(placement, before, stuck)


def _improve_soft_goals(placement: Placement) -> None:
    """The soft goals, the most important first."""
    _worth_copying(placement, scores.TOPIC_REPLICAS, topics.spread_replicas)
    topics.order_leaders(placement)
    _worth_copying(placement, scores.TOPIC_LEADERS, topics.move_leaders)
    leaders.order(placement)
    _worth_copying(placement, scores.LEADERS, leaders.move)
    if any(placement.write):
        leaders.order_by_writes(placement)
    if any(placement.size):
        _worth_copying(placement, scores.BYTES, replica_balance.spread_bytes)
    _worth_copying(placement, scores.REPLICAS, replica_balance.spread_replicas)


def _order(placement: Placement) -> None:
    """The soft goals of leaders, as far as the order of replicas decides."""
    topics.order_leaders(placement)
    leaders.order(placement)
    if any(placement.write):
        leaders.order_by_writes(placement)


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
