"""Requests to group coordinators that have just moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import uuid4

import pytest

from kafka_shell.admin.groups import members as group_members
from kafka_shell.admin.groups import read as groups
from kafka_shell.base.plans import apply
from kafka_shell.base.results import Results
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import coordinators
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.requests import Coordinator, CoordinatorKind
from tests.support.changes import connect, done, lose_requests, make_topic, misroute
from tests.support.group_data import commit, forget, held

FIND_COORDINATOR = 10


@pytest.fixture
def two(three_brokers: Sandbox) -> Iterator[tuple[Cluster, str, str]]:
    """Three brokers, and two groups with an offset."""
    first, second = (f"moved-{uuid4().hex[:8]}" for _ in range(2))
    with connect(three_brokers) as cluster:
        topic = make_topic(cluster, f"t-{first}", 1, 3)
        commit(cluster, first, topic, 0)
        commit(cluster, second, topic, 0)
        yield cluster, first, second
    with connect(three_brokers) as cluster:
        forget(cluster, first, second)


def test_offsets_are_committed_to_the_new_coordinator(two: tuple[Cluster, str, str]) -> None:
    """Before: the same broker was asked for ten seconds, and the offsets were not committed."""
    cluster, group, _ = two
    topic = f"t-{group}"
    misroute(cluster, Coordinator(CoordinatorKind.GROUP, group))
    commit(cluster, group, topic, 7)
    assert held(cluster, group) == {f"{topic}:0": 7}


def test_a_group_that_was_deleted_is_not_lost(
    two: tuple[Cluster, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The coordinator of one group has moved, and then no broker answers."""
    cluster, first, second = two
    plan = group_members.plan_delete(cluster, [first, second])
    find = coordinators.find

    def found_before(cluster: Cluster, names: Sequence[str]) -> Results[str, int]:
        found = find(cluster, names)
        found.values[second] = found.values[second] % 3 + 1
        return found

    with monkeypatch.context() as patch:
        patch.setattr(coordinators, "find", found_before)
        lose_requests(patch, FIND_COORDINATOR, after=1)
        results = apply(plan, cluster)
    assert {change.resource.name for change in results.values} == {first}
    assert {(change.resource.name, why.name) for change, why in results.failures.items()} == {
        (second, "outcome-unknown")
    }
    assert set(groups.describe(cluster, [first, second]).values) == {second}
    done(group_members.plan_delete(cluster, [second]), cluster)
