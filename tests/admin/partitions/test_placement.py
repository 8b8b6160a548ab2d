"""The planner: no copy too many, racks and leaders spread, whatever the cluster looks like."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.placement import (
    ImpossiblePlacement,
    Replicas,
    drain,
    spread,
    with_factor,
)

pytestmark = pytest.mark.quick

Assignment = dict[TopicPartition, Replicas]


@dataclass(frozen=True)
class Cluster:
    """Brokers by rack, and where the partitions are."""

    racks: dict[int, str | None]
    layout: Assignment


@st.composite
def clusters(draw: st.DrawFn, *, racks: bool = True, most: int = 24) -> Cluster:
    """Two to seven brokers in up to four racks (or none), a few topics of any factor."""
    count = draw(st.integers(2, 7))
    names = st.sampled_from(["a", "b", "c", "d"]) if racks else st.none()
    placed = {broker: draw(names) for broker in range(1, count + 1)}
    layout: Assignment = {}
    for number in range(draw(st.integers(1, 3))):
        factor = draw(st.integers(1, count))
        for partition in range(draw(st.integers(1, most // 3))):
            chosen = draw(st.permutations(sorted(placed)))[:factor]
            layout[TopicPartition(f"t{number}", partition)] = tuple(chosen)
    return Cluster(placed, layout)


def copies(before: Assignment, after: Assignment) -> int:
    return sum(len(set(after[each]) - set(before[each])) for each in after)


def spread_of(racks: dict[int, str | None], replicas: Replicas) -> int:
    return len({racks.get(broker) or broker for broker in replicas})


def assert_sound(cluster: Cluster, changes: Assignment, factor: int | None = None) -> Assignment:
    """Each change is one, keeps the factor and names a broker once; the whole layout after it."""
    for each, replicas in changes.items():
        assert replicas != cluster.layout[each], f"{each} is no change"
        assert len(set(replicas)) == len(replicas), f"{each} is twice on a broker: {replicas}"
        wanted = factor or len(cluster.layout[each])
        assert len(replicas) == wanted, f"{each} has {replicas}, not {wanted} replicas"
    return {**cluster.layout, **changes}


@given(clusters(), st.data())
def test_draining_copies_each_replica_of_the_broker_once(
    cluster: Cluster, data: st.DataObject
) -> None:
    gone = data.draw(st.sampled_from(sorted(cluster.racks)))
    held = [each for each, replicas in cluster.layout.items() if gone in replicas]
    if any(len(cluster.layout[each]) == len(cluster.racks) for each in held):
        with pytest.raises(ImpossiblePlacement):
            drain(cluster.layout, gone, cluster.racks)
        return
    changes = drain(cluster.layout, gone, cluster.racks)
    after = assert_sound(cluster, changes)
    assert set(changes) == set(held), "others were touched, or not all of them"
    assert copies(cluster.layout, changes) == len(held), "more copies than replicas that go"
    left = {broker: rack for broker, rack in cluster.racks.items() if broker != gone}
    for each in held:
        stay = tuple(broker for broker in cluster.layout[each] if broker != gone)
        best = min(spread_of(cluster.racks, stay) + 1, len({left[b] or b for b in left}))
        found = spread_of(cluster.racks, after[each])
        assert found >= best, f"{each}: {after[each]} are in {found} racks, not {best}"


@given(clusters(racks=False))
def test_what_drained_brokers_led_is_led_evenly(cluster: Cluster) -> None:
    every = cluster.layout.items()
    layout = {each: replicas[:1] for each, replicas in every if each.topic == "t0"}
    after = {**layout, **drain(layout, 1, cluster.racks)}
    others = Counter({broker: 0 for broker in cluster.racks if broker != 1})
    before = others + Counter(r[0] for r in layout.values() if r[0] != 1)
    leads = Counter(replicas[0] for replicas in after.values())
    got = {broker: leads[broker] - before[broker] for broker in others}
    for full in (broker for broker in others if got[broker]):
        assert leads[full] - min(leads[b] for b in others) <= 1, f"{leads} after {before}"


@given(clusters(), st.data())
def test_a_factor_raised_copies_only_what_is_missing_and_lowered_nothing(
    cluster: Cluster, data: st.DataObject
) -> None:
    factor = data.draw(st.integers(1, len(cluster.racks)))
    changes = with_factor(cluster.layout, list(cluster.layout), factor, cluster.racks)
    after = assert_sound(cluster, changes, factor)
    missing = sum(max(0, factor - len(replicas)) for replicas in cluster.layout.values())
    assert copies(cluster.layout, after) == missing
    racks = len({cluster.racks[b] or b for b in cluster.racks})
    for each, old in cluster.layout.items():
        assert after[each][0] == old[0], f"{each} lost its preferred leader"
        if len(old) <= factor:
            best = min(spread_of(cluster.racks, old) + factor - len(old), racks)
            assert after[each][: len(old)] == old, f"{each}: replicas that stay changed places"
        else:
            best = min(spread_of(cluster.racks, old), factor)
        assert spread_of(cluster.racks, after[each]) >= best, f"{each}: {old} -> {after[each]}"


def test_a_factor_is_lowered_by_what_lags() -> None:
    each = TopicPartition("t", 0)
    layout, racks = {each: (1, 2, 3)}, dict.fromkeys((1, 2, 3))
    assert with_factor(layout, [each], 2, racks, {each: [2]}) == {each: (1, 3)}
    assert with_factor(layout, [each], 2, {1: None, 3: None}) == {each: (1, 3)}, "2 is down"


@given(clusters())
def test_spreading_evens_out_replicas_leaders_and_racks(cluster: Cluster) -> None:
    changes = spread(cluster.layout, list(cluster.layout), cluster.racks)
    after = assert_sound(cluster, changes)
    racks = len({cluster.racks[b] or b for b in cluster.racks})
    for each, replicas in after.items():
        best = min(racks, len(replicas))
        assert spread_of(cluster.racks, replicas) == best, f"{each}: {replicas} in {cluster.racks}"
    again = Cluster(cluster.racks, after)
    assert not spread(after, list(after), again.racks), "a layout that is spread is changed again"


@given(clusters(racks=False))
def test_without_racks_spreading_copies_the_least_that_evens_out(cluster: Cluster) -> None:
    after = {
        **cluster.layout,
        **spread(cluster.layout, list(cluster.layout), cluster.racks),
    }
    held = Counter(dict.fromkeys(cluster.racks, 0))
    for replicas in cluster.layout.values():
        held.update(replicas)
    full = -(-sum(held.values()) // len(held))
    low = sum(held.values()) // len(held)
    now = Counter(broker for replicas in after.values() for broker in replicas)
    assert {now[broker] for broker in held} <= {low, full}, f"{held} became {now}"
    excess = sum(max(0, count - full) for count in held.values())
    missing = sum(max(0, low - count) for count in held.values())
    assert copies(cluster.layout, after) == max(excess, missing), f"{held} became {now}"


@given(clusters(racks=False), st.data())
def test_spreading_over_other_brokers_leaves_the_old_ones(
    cluster: Cluster, data: st.DataObject
) -> None:
    factor = max(map(len, cluster.layout.values()))
    chosen = data.draw(
        st.lists(st.sampled_from(range(1, 12)), min_size=factor, max_size=9, unique=True)
    )
    after = {
        **cluster.layout,
        **spread(cluster.layout, list(cluster.layout), dict.fromkeys(chosen)),
    }
    held = Counter(broker for replicas in after.values() for broker in replicas)
    assert set(held) <= set(chosen)
    assert max(held[b] for b in chosen) - min(held[b] for b in chosen) <= 1, f"uneven: {held}"


@given(clusters(racks=False))
def test_leaders_differ_by_one_at_most_where_every_broker_has_every_partition(
    cluster: Cluster,
) -> None:
    everywhere = tuple(sorted(cluster.racks))
    layout = dict.fromkeys(cluster.layout, everywhere)
    changes = spread(layout, list(layout), cluster.racks)
    assert not copies(layout, changes), "leaders were spread by copying"
    leads = Counter(replicas[0] for replicas in {**layout, **changes}.values())
    assert max(leads.values()) - min(leads[b] for b in cluster.racks) <= 1, f"{leads}"
