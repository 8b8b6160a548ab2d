"""Rebalance, drain, change replication factors: the goals in their order, on one board."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from types import MappingProxyType

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.common.structs import replace

from . import data, gains, hard, leaders, scores, topics
from .board import Board
from .problem import Limits, Problem, Proposal


class Scope(Enum):
    """What a rebalance changes: everything, preferred leaders only (copies nothing), or only
    replicas in racks with several."""

    ALL = "all"
    LEADERS = "leaders"
    RACKS = "racks"


def rebalance(problem: Problem, scope: Scope = Scope.ALL, limits: Limits | None = None) -> Proposal:
    """Spread the chosen partitions over the target brokers."""
    board, before = Board(problem), _before(problem)
    stuck = hard.leave(board)
    if scope is not Scope.LEADERS:
        hard.widen(board)
    if scope is Scope.ALL:
        _soft(board)
    elif scope is Scope.LEADERS:
        _order(board)
    data.take_back(board)
    if limits is not None:
        gains.limit(board, limits)
    return _proposal(board, before, stuck)


def drain(problem: Problem) -> Proposal:
    """Move the chosen replicas of `leaving` brokers, and no others."""
    held = problem.chosen if problem.chosen is not None else problem.assignment
    chosen = [each for each in held if not problem.leaving.isdisjoint(problem.assignment[each])]
    board = Board(replace(problem, chosen=chosen), settled=True, ordered=True)
    before = _before(problem)
    stuck = hard.leave(board)
    _soft(board)
    return _proposal(board, before, stuck)


def with_factor(
    problem: Problem,
    factor: int,
    lagging: Mapping[TopicPartition, Collection[int]] = MappingProxyType({}),
) -> Proposal:
    """Give the chosen partitions `factor` replicas; those that stay keep their place.

    An additional replica is the last one. A removed one is `lagging`, else in a crowded rack; never
    the preferred leader.
    """
    board, before = Board(problem, settled=True, ordered=True), _before(problem)
    behind: dict[int, Collection[int]] = {
        at: [board.index[id] for id in lagging[each]]
        for at, each in enumerate(board.partitions)
        if each in lagging
    }
    hard.lower_factor(board, factor, behind)
    stuck = hard.raise_factor(board, factor)
    _soft(board)
    return _proposal(board, before, stuck)


def _soft(board: Board) -> None:
    """The soft goals, the most important first."""
    _worth_copying(board, scores.TOPIC_REPLICAS, topics.spread_replicas)
    topics.order_leaders(board)
    _worth_copying(board, scores.TOPIC_LEADERS, topics.move_leaders)
    leaders.order(board)
    _worth_copying(board, scores.LEADERS, leaders.move)
    if any(board.write):
        leaders.order_by_writes(board)
    if any(board.size):
        _worth_copying(board, scores.BYTES, data.spread_bytes)
    _worth_copying(board, scores.REPLICAS, data.spread_replicas)


def _order(board: Board) -> None:
    """The soft goals of leaders, as far as the order of replicas decides."""
    topics.order_leaders(board)
    leaders.order(board)
    if any(board.write):
        leaders.order_by_writes(board)


def _worth_copying(board: Board, goal: str, improve: Callable[[Board], None]) -> None:
    """Improve a goal, but not if that copies data and gains too little."""
    mark, copies, together = len(board.log), board.copies, len(board.together)
    before = scores.value(board, goal)
    if not before:
        return
    improve(board)
    gain = before - scores.value(board, goal)
    if board.copies > copies and gain < board.min_gain * before:
        board.roll_back(mark)
        del board.together[together:]


def _before(problem: Problem) -> dict[str, float]:
    """The scores now: brokers that replicas leave count like the targets."""
    return scores.values(Board(replace(problem, targets=problem.targets | problem.leaving)))


def _proposal(board: Board, before: dict[str, float], stuck: Sequence[int]) -> Proposal:
    full = [at for at in stuck if set(board.targets) <= set(board.replicas[at])]
    return Proposal(
        board.changes(),
        scores.compared(before, scores.values(board)),
        tuple(board.partitions[at] for at in stuck),
        frozenset(board.partitions[at] for at in full),
    )
