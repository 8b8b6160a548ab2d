"""The batches of a rolling restart satisfy all limits and are as few as possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.cluster.model import Quorum, QuorumReplica
from kafka_shell.admin.cluster.restart.judge import (
    ClusterState,
    Limit,
    fewest_batches,
    restart_order,
)
from kafka_shell.base.structs import replace
from kafka_shell.output.data import plain
from kafka_shell.wire.model import Partition

BROKERS = st.integers(1, 7)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[int], dict[int, str | None], list[Limit]]:
    brokers = list(range(1, draw(BROKERS) + 1))
    racks = {id: draw(st.sampled_from(["a", "b", "c", None])) for id in brokers}
    sets = st.sets(st.sampled_from(brokers), min_size=1, max_size=4).map(
        lambda found: tuple(sorted(found))
    )
    limits = draw(st.dictionaries(sets, st.integers(1, 3), max_size=12))
    return brokers, racks, list(limits.items())


def partitions_of(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """All ways to divide the items into batches."""
    if not items:
        yield []
        return
    first, *rest = items
    for batches in partitions_of(rest):
        for at in range(len(batches)):
            yield [*batches[:at], [first, *batches[at]], *batches[at + 1 :]]
        yield [[first], *batches]


def within(batches: Sequence[Sequence[int]], limits: Sequence[Limit]) -> bool:
    return all(
        len(set(batch) & set(brokers)) <= most for batch in batches for brokers, most in limits
    )


def test_whole_racks_where_the_assignments_allow() -> None:
    brokers = list(range(1, 10))
    racks: dict[int, str | None] = {id: "abc"[(id - 1) // 3] for id in brokers}
    limits: list[Limit] = [((a, b, c), 1) for a in (1, 2, 3) for b in (4, 5, 6) for c in (7, 8, 9)]
    assert fewest_batches(brokers, racks, limits) == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


def state(
    partitions: Sequence[tuple[int, ...]], brokers: int, *, minimum: int = 2, leader: int = 0
) -> ClusterState:
    quorum = Quorum(leader, 1, 1, (QuorumReplica(leader, "leader", 1, 0, behind_ms=0),))
    return ClusterState(
        brokers={id: f"rack-{id % 10}" for id in range(1, brokers + 1)},
        partitions=tuple(
            Partition("t", number, replicas[0], 0, replicas, replicas)
            for number, replicas in enumerate(partitions)
        ),
        minimum={"t": minimum},
        quorum=quorum if leader else None,
    )


def test_brokers_that_do_not_run_are_left_out_and_risks_are_shown() -> None:
    found = state([(1, 2), (2, 3)], 3, minimum=1)
    away = replace(found, brokers={1: "a", 3: "c"}, silent=frozenset({2}), down=frozenset({7}))
    order = restart_order(away)
    assert [(each.broker, *each.reasons, each.verdict) for each in order.left_out[:2]] == [
        (2, "did not respond", None), (7, "is down", None),
    ]  # fmt: skip
    assert not order.ok
    whole = restart_order(found)
    assert whole.ok
    assert [check.brokers for check in whole.checks] == list(whole.batches)
    assert {reason.check for check in whole.checks for reason in check.reasons} == {
        "single-replica"
    }


def test_the_active_controller_is_last_and_unsafe_brokers_are_left_out() -> None:
    found = restart_order(state([(1, 2, 3), (4,), (3, 2, 1)], 5, leader=100))
    assert [each.broker for each in found.left_out] == [4]
    assert "no leader" in found.left_out[0].reasons[0]
    assert plain(found)["left_out"][0]["verdict"] == "unsafe"
    assert not found.ok
    assert {id for batch in found.batches for id in batch} == {1, 2, 3, 5}
    quorum = Quorum(
        1, 1, 1,
        tuple(QuorumReplica(id, "leader" if id == 1 else "voter", 1, 0, behind_ms=0)
              for id in (1, 2, 3)),
    )  # fmt: skip
    combined = state([(1, 2, 3)], 3)
    order = restart_order(
        ClusterState(combined.brokers, combined.partitions, combined.minimum, quorum=quorum)
    )
    assert order.batches[-1] == (1,)
    assert len(order.batches) == 3


@pytest.mark.timeout(60)
def test_a_thousand_brokers_and_fifty_thousand_partitions() -> None:
    """Ten racks, each partition on three neighbors: it takes seconds, not minutes."""
    partitions = [
        tuple((number * 7 + step * 331) % 1_000 + 1 for step in range(3))
        for number in range(50_000)
    ]
    found = restart_order(state(partitions, 1_000))
    assert found.ok
    limits: list[Limit] = [(replicas, 1) for replicas in set(partitions)]
    of_broker = {id: number for number, batch in enumerate(found.batches) for id in batch}
    assert len(of_broker) == 1_000
    assert all(len({of_broker[id] for id in replicas}) == 3 for replicas, _ in limits)


@given(clusters())
def test_as_few_batches_as_an_exhaustive_search(
    cluster: tuple[list[int], dict[int, str | None], list[Limit]],
) -> None:
    brokers, racks, limits = cluster
    found = fewest_batches(brokers, racks, limits)
    assert sorted(broker for batch in found for broker in batch) == brokers
    assert within(found, limits)
    fewest = min(len(each) for each in partitions_of(brokers) if within(each, limits))
    assert len(found) == fewest
