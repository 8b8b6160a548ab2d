"""The planner satisfies hard goals, improves soft goals in order, and copies little."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.planner.placement import PlanLimits, Problem
from kafka_shell.admin.partitions.planner.plan import Scope, drain, rebalance, with_factor
from kafka_shell.base.structs import replace
from tests.support.random_clusters import (
    Layout,
    after,
    broken,
    copies,
    crowding,
    incoming,
    least_crowding,
    problems,
    values,
)

GIB = 1 << 30


def topic(name: str, *replicas: tuple[int, ...]) -> Layout:
    return {TopicPartition(name, number): each for number, each in enumerate(replicas)}


def of(layout: Layout, brokers: int, **more: object) -> Problem:
    every = range(1, brokers + 1)
    problem = Problem(
        layout, dict.fromkeys(every), frozenset(every), sizes=dict.fromkeys(layout, 1)
    )
    return replace(problem, **more)


def per_broker(layout: Layout, name: str) -> dict[int, int]:
    return dict(Counter(b for each, r in layout.items() if each.topic == name for b in r))


def led(layout: Layout, name: str) -> dict[int, int]:
    return dict(Counter(r[0] for each, r in layout.items() if each.topic == name))


# -- by example ------------------------------------------------------------------------------------


def test_three_topics_of_one_broker_are_each_spread_over_all_three() -> None:
    layout = {k: v for name in "abc" for k, v in topic(name, *[(1,)] * 6).items()}
    problem = of(layout, 3)
    spread = after(problem, rebalance(problem))
    assert [per_broker(spread, name) for name in "abc"] == [{1: 2, 2: 2, 3: 2}] * 3
    assert copies(layout, spread) == 12


def test_the_leaders_of_a_topic_are_not_left_on_one_broker() -> None:
    problem = of(topic("skewed", *[(1, 2)] * 3, *[(1, 3)] * 3), 3)
    spread = after(problem, rebalance(problem))
    assert led(spread, "skewed") == {1: 2, 2: 2, 3: 2}
    assert per_broker(spread, "skewed") == {1: 4, 2: 4, 3: 4}


def test_bytes_are_spread_and_not_moved_from_one_broker_to_another() -> None:
    sizes = [90, 80, 70, 60, 35, 30]  # 365 on broker 1
    layout = {TopicPartition(f"t{n}", 0): (1,) for n in range(6)}
    problem = of(layout, 3, sizes=dict(zip(layout, sizes, strict=True)))
    spread = after(problem, rebalance(problem))
    held: Counter[int] = Counter()
    for each, (broker,) in spread.items():
        held[broker] += problem.sizes[each]
    assert max(held.values()) <= 130, f"{held}, the mean is 122"


def test_an_exchange_may_move_more_than_half_of_the_difference() -> None:
    """If there is no smaller one: all brokers can get the same bytes here only that way."""
    sizes = [90, 10, 90, 20, 100, 10, 90, 20]
    layout = topic("t", (1, 4), (2, 4), (4, 3), (1, 4), (1, 2), (4, 2), (4, 1), (2, 4))
    problem = of(layout, 4, sizes=dict(zip(layout, sizes, strict=True)))
    spread = after(problem, rebalance(problem))
    assert values(problem, spread)["bytes"] == 0, f"{spread}"


def test_a_leading_replica_is_exchanged_if_another_partition_can_be_reordered() -> None:
    """The leaders stay as even: a partition of the same topic gets another preferred leader, which
    copies nothing."""
    layout = topic("t", (2, 3), (1, 2), (1, 2), (1, 2), (1, 2), (2, 3))
    problem = of(layout, 3, sizes=dict(zip(layout, [2, 0, 0, 0, 0, 2], strict=True)))
    spread = after(problem, rebalance(problem))
    found = values(problem, spread)
    large = [on for each, on in spread.items() if problem.sizes[each]]
    assert sorted(Counter(broker for on in large for broker in on).values()) == [1, 1, 2], spread
    assert found["topic-leaders"] == found["leaders"] == found["topic-replicas"] == 0


def test_what_is_even_is_not_changed() -> None:
    problem = of(topic("even", (1, 2), (2, 3), (3, 1)), 3)
    proposal = rebalance(problem)
    assert not proposal.changes
    assert all(score.before == score.after == 0 for score in proposal.scores)


def test_a_replica_on_a_broker_that_takes_no_part_stays() -> None:
    problem = of(topic("t", *[(1, 4)] * 6), 4, targets=frozenset((1, 2, 3)))
    spread = after(problem, rebalance(problem))
    assert per_broker(spread, "t") == {1: 2, 2: 2, 3: 2, 4: 6}


def test_space_is_counted_before_anything_is_deleted() -> None:
    layout = topic("t", *[(1,)] * 4)
    problem = of(layout, 2, sizes=dict.fromkeys(layout, 10), room={1: 0, 2: 10})
    spread = after(problem, rebalance(problem))
    assert per_broker(spread, "t") == {1: 3, 2: 1}
    full = drain(replace(problem, targets=frozenset((2,)), leaving=frozenset((1,))))
    assert len(full.changes) == 1 and len(full.stuck) == 3
    assert not full.no_broker, "there is a broker, but no space"


def test_a_partition_of_unknown_size_is_copied_only_if_it_must_be() -> None:
    layout = topic("t", *[(1,)] * 4)
    unknown = of(layout, 2, sizes={})
    assert not rebalance(unknown).changes
    assert len(rebalance(replace(unknown, copy_unknown=True)).changes) == 2
    leaving = replace(unknown, targets=frozenset((2,)), leaving=frozenset((1,)))
    assert len(drain(leaving).changes) == 4


def test_data_is_not_copied_for_a_gain_below_the_minimum() -> None:
    """A hundred topics that cannot be spread, and one that can: it is 1/101 of the score."""
    fixed: Layout = {}
    for number in range(100):
        broker = number % 2 + 1
        fixed |= topic(f"fixed{number}", (broker,), (broker,))
    layout = fixed | topic("t", (1,), (1,))
    sizes = {each: 0 for each in layout if each.topic == "t"}  # of the others it is unknown
    problem = of(layout, 2, sizes=sizes)
    assert copies(layout, after(problem, rebalance(replace(problem, min_gain=0.0)))) == 1
    assert not rebalance(problem).changes


def test_only_leaders_copies_nothing_and_only_racks_no_more_than_racks_need() -> None:
    problem = of(topic("t", *[(1, 2, 3)] * 6), 4)
    ordered = after(problem, rebalance(problem, Scope.LEADERS))
    assert led(ordered, "t") == {1: 2, 2: 2, 3: 2} and not copies(problem.assignment, ordered)
    racked = replace(problem, racks={1: "a", 2: "a", 3: "b", 4: "c"})
    widened = after(racked, rebalance(racked, Scope.RACKS))
    assert copies(problem.assignment, widened) == 6
    assert {crowding(racked, each) for each in widened.values()} == {3}


def test_limited_bytes_are_spent_where_they_gain_most() -> None:
    """Two topics are equally skewed; one is a thousand times as large."""
    small, large = topic("small", *[(1,)] * 4), topic("large", *[(1,)] * 4)
    sizes = dict.fromkeys(small, GIB) | dict.fromkeys(large, 1000 * GIB)
    problem = of(small | large, 2, sizes=sizes)
    limited = rebalance(problem, limits=PlanLimits(bytes=10 * GIB))
    assert {each.topic for each in limited.changes} == {"small"}
    assert len(limited.changes) == 2
    assert len(rebalance(problem, limits=PlanLimits(partitions=1)).changes) == 1
    assert not rebalance(problem, limits=PlanLimits(bytes=0)).changes


def test_leaders_are_weighed_by_what_is_written_to_them() -> None:
    layout = topic("t", (1, 2), (1, 2), (2, 1), (2, 1))
    writes = dict(zip(layout, (100.0, 90.0, 10.0, 1.0), strict=True))
    problem = of(layout, 2, writes=writes)
    ordered = after(problem, rebalance(problem))
    assert not copies(layout, ordered)
    written: Counter[int] = Counter()
    for each, (leader, _) in ordered.items():
        written[leader] += writes[each]  # type: ignore[assignment]
    assert max(written.values()) <= 101 + 5
    assert led(ordered, "t") == {1: 2, 2: 2}


def test_a_factor_is_lowered_by_what_lags() -> None:
    each = TopicPartition("t", 0)
    problem = of({each: (1, 2, 3)}, 3)
    assert with_factor(problem, 2, {each: [2]}).changes == {each: (1, 3)}
    down = replace(problem, targets=frozenset((1, 3)))
    assert with_factor(down, 2).changes == {each: (1, 3)}, "2 is down"
    assert with_factor(problem, 1, {each: [1, 2]}).changes == {each: (3,)}, "3 is in sync"
    assert with_factor(problem, 2, {each: [1, 2, 3]}).changes[each][0] == 1, "none is in sync"
    gone = with_factor(problem, 2, {each: [99]}).changes[each]
    assert gone[0] == 1, "a broker that is being removed"


# -- on random clusters ----------------------------------------------------------------------------


def check_rebalance(problem: Problem) -> None:
    proposal = rebalance(problem)
    assert not list(broken(problem, proposal))
    spread = after(problem, proposal)
    for each, replicas in spread.items():
        best = least_crowding(problem, problem.assignment[each])
        assert crowding(problem, replicas) == best, f"{each}: {replicas} in {problem.racks}"
    before, now = (values(problem, each) for each in (dict(problem.assignment), spread))
    # The goal of racks is hard: others may get worse for it.
    if before.get("racks", 0) == now.get("racks", 0):
        worse = [goal for goal in now if now[goal] > before[goal]]
        better = [goal for goal in now if now[goal] < before[goal]]
        order = list(now)
        assert not worse or order.index(better[0]) < order.index(worse[0]), f"{before} -> {now}"
    assert {s.goal: s.after for s in proposal.scores} == pytest.approx(now, abs=0.01)


@given(problems())
def test_rebalancing_keeps_hard_goals_and_makes_no_goal_worse_for_a_lesser_one(
    problem: Problem,
) -> None:
    check_rebalance(problem)


@given(problems(racks=False))
def test_without_racks_topics_and_leaders_are_perfectly_spread(problem: Problem) -> None:
    now = values(problem, after(problem, rebalance(replace(problem, min_gain=0.0))))
    assert (now["topic-replicas"], now["topic-leaders"], now["leaders"]) == (0, 0, 0), f"{now}"


@given(problems(), st.data())
def test_hard_goals_hold_with_little_space_and_few_targets(
    problem: Problem, data: st.DataObject
) -> None:
    brokers = sorted(problem.racks)
    targets = data.draw(st.sets(st.sampled_from(brokers), min_size=1))
    rest = sorted(set(brokers) - targets)
    leaving = data.draw(st.sets(st.sampled_from(rest))) if rest else set()
    room = {broker: data.draw(st.integers(0, 1500)) for broker in targets}
    known = data.draw(st.sets(st.sampled_from(sorted(problem.sizes))))
    narrow = replace(
        problem, targets=frozenset(targets), leaving=frozenset(leaving), room=room,
        sizes={each: problem.sizes[each] for each in known},
    )  # fmt: skip
    for proposal in (rebalance(narrow), drain(narrow)):
        assert not list(broken(narrow, proposal))


@given(problems(), st.integers(0, 3000), st.integers(0, 20))
def test_limits_are_kept_and_the_first_goal_that_changes_gets_better(
    problem: Problem, most_bytes: int, most_partitions: int
) -> None:
    proposal = rebalance(problem, limits=PlanLimits(most_bytes, most_partitions))
    assert not list(broken(problem, proposal))
    assert sum(incoming(problem, proposal).values()) <= most_bytes
    assert len(proposal.changes) <= most_partitions
    before = values(problem, dict(problem.assignment))
    now = values(problem, after(problem, proposal))
    assert tuple(now.values()) <= tuple(before.values()), f"{before} -> {now}"


@given(problems(), st.data())
def test_draining_copies_each_replica_of_the_broker_once(
    problem: Problem, data: st.DataObject
) -> None:
    gone = data.draw(st.sampled_from(sorted(problem.racks)))
    leaving = replace(problem, targets=problem.targets - {gone}, leaving=frozenset((gone,)))
    held = {each for each, replicas in problem.assignment.items() if gone in replicas}
    full = {each for each in held if problem.targets == set(problem.assignment[each])}
    proposal = drain(leaving)
    assert not list(broken(leaving, proposal))
    assert set(proposal.stuck) == proposal.no_broker == full
    assert set(proposal.changes) == held - full, "others were touched, or not all of them"
    assert copies(dict(problem.assignment), after(problem, proposal)) == len(held - full)
    for each in held - full:
        old, new = problem.assignment[each], proposal.changes[each]
        stay = tuple(broker for broker in old if broker != gone)
        best = min(crowding(problem, (*stay, broker)) for broker in leaving.targets - set(stay))
        assert crowding(problem, new) == best, f"{each}: {old} -> {new} in {problem.racks}"
        if old[0] != gone:
            assert new[0] == old[0], f"{each} lost its preferred leader"


@given(problems(), st.data())
def test_a_factor_raised_copies_only_what_is_missing_and_lowered_nothing(
    problem: Problem, data: st.DataObject
) -> None:
    factor = data.draw(st.integers(1, len(problem.racks)))
    layout = dict(problem.assignment)
    changed = after(problem, with_factor(problem, factor))
    missing = sum(max(0, factor - len(replicas)) for replicas in layout.values())
    assert copies(layout, changed) == missing
    for each, old in layout.items():
        new = changed[each]
        assert len(set(new)) == len(new) == factor
        assert new[0] == old[0], f"{each} lost its preferred leader"
        if len(old) <= factor:
            assert new[: len(old)] == old, f"{each}: replicas that stay changed places"
        else:
            assert crowding(problem, new) <= crowding(problem, old)
