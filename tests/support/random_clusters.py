"""Random clusters for the planner, and the conditions that every plan must satisfy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from hypothesis import strategies as st

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.planner import scores
from kafka_shell.admin.partitions.planner.placement import Placement, Problem, Proposal, Replicas
from kafka_shell.base.structs import replace

Layout = dict[TopicPartition, Replicas]


@st.composite
def problems(draw: st.DrawFn, *, racks: bool | None = None, most: int = 24) -> Problem:
    """Two to seven brokers in up to four racks (or none), a few topics of any factor and size."""
    count = draw(st.integers(2, 7))
    racked = draw(st.booleans()) if racks is None else racks
    names = st.sampled_from(["a", "b", "c", "d"]) if racked else st.none()
    placed = {broker: draw(names) for broker in range(1, count + 1)}
    layout: Layout = {}
    sizes: dict[TopicPartition, int] = {}
    for number in range(draw(st.integers(1, 3))):
        factor = draw(st.integers(1, count))
        for partition in range(draw(st.integers(1, most // 3))):
            each = TopicPartition(f"t{number}", partition)
            layout[each] = tuple(draw(st.permutations(sorted(placed)))[:factor])
            sizes[each] = draw(st.one_of(st.just(0), st.integers(1, 1000)))
    return Problem(layout, placed, frozenset(placed), sizes=sizes)


def after(problem: Problem, proposal: Proposal) -> Layout:
    """All replicas after the plan."""
    return {**problem.assignment, **proposal.changes}


def values(problem: Problem, layout: Layout) -> dict[str, float]:
    """The score of each goal."""
    return scores.values(Placement(replace(problem, assignment=layout)))


def copies(before: Layout, later: Layout) -> int:
    return sum(len(set(later[each]) - set(before[each])) for each in later)


def crowding(problem: Problem, replicas: Replicas) -> int:
    """The sum of squares of the replicas in each rack; a broker without one is a rack itself."""
    racks = Counter(problem.racks.get(broker) or broker for broker in replicas)
    return sum(number * number for number in racks.values())


def least_crowding(problem: Problem, replicas: Replicas) -> int:
    """By trying all: the least for a partition whose replicas on targets may go to any target."""
    stay = tuple(
        broker for broker in replicas
        if broker not in problem.targets and broker not in problem.leaving
    )  # fmt: skip
    free = sorted(problem.targets - set(stay))
    return min(
        crowding(problem, stay + chosen) for chosen in combinations(free, len(replicas) - len(stay))
    )


def incoming(problem: Problem, proposal: Proposal) -> Counter[int]:
    """The bytes copied to each broker."""
    total: Counter[int] = Counter()
    for each, replicas in proposal.changes.items():
        for broker in set(replicas) - set(problem.assignment[each]):
            total[broker] += problem.sizes.get(each, 0)
    return total


def broken(problem: Problem, proposal: Proposal) -> Iterator[str]:
    """Hard goals that do not hold, of plans that keep replication factors."""
    for each, replicas in proposal.changes.items():
        before = problem.assignment[each]
        if replicas == before:
            yield f"{each} is no change"
        if len(set(replicas)) < len(replicas):
            yield f"{each} is twice on a broker: {replicas}"
        if len(replicas) != len(before):
            yield f"{each} has another factor: {before} -> {replicas}"
        new = set(replicas) - set(before)
        if new - problem.targets:
            yield f"{each} is copied to {new}, targets are {problem.targets}"
        stay = set(before) - problem.targets - problem.leaving
        if not stay <= set(replicas):
            yield f"{each} left {stay}, which takes no part: {before} -> {replicas}"
        if not set(before) & problem.leaving and (
            crowding(problem, replicas) > crowding(problem, before)
        ):
            yield f"{each} has worse racks: {before} -> {replicas}"
        if each not in problem.sizes and new and not set(before) & problem.leaving:
            yield f"{each} of unknown size is copied without need"
    for broker, size in incoming(problem, proposal).items():
        if size > problem.room.get(broker, size):
            yield f"{size} bytes are copied to broker {broker}, which has {problem.room[broker]}"
    for each in problem.assignment if not proposal.stuck else ():
        left = set(proposal.changes.get(each, problem.assignment[each])) & problem.leaving
        if left:
            yield f"{each} is still on {left}"
