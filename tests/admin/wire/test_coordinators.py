"""Coordinators are found and asked all at once, also while one of them goes away."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.describe import QUESTIONS
from kafka_shell.admin.groups.model import GroupType
from kafka_shell.admin.partitions import elections
from kafka_shell.admin.wire import coordinators
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.plan.apply import apply
from kafka_shell.plan.results import Failure
from kafka_shell.sandbox.state import Sandbox
from tests.admin.group_data import commit, forget
from tests.admin.helpers import connect, make_topic, wait_for
from tests.outages import stopped

NAMES = [f"move-{uuid4().hex[:8]}-{number}" for number in range(12)]


@pytest.fixture
def spread(three_brokers: Sandbox) -> Iterator[Cluster]:
    """Three brokers with groups on more than one of them."""
    with connect(three_brokers) as cluster:
        topic = make_topic(cluster, f"t-{uuid4().hex[:8]}", 1, 3)
        for name in NAMES:
            commit(cluster, name, topic, 0)
        # Restarts of other tests may have left one broker leading everything.
        apply(elections.plan_preferred(elections.misplaced(cluster), named=False), cluster)
        wait_for(
            "groups have several coordinators",
            lambda: len(set(coordinators.find(cluster, NAMES))) > 1,
        )
        yield cluster
        forget(cluster, *NAMES)


def test_groups_are_described_while_their_coordinator_stops(
    spread: Cluster, three_brokers: Sandbox
) -> None:
    before = coordinators.find(spread, NAMES)
    assert before.ok and len(set(before)) > 1
    gone = before[NAMES[0]]
    with stopped(three_brokers, gone):
        found = groups.describe(spread, NAMES, offsets=True)
        assert found.ok, found.failures
        assert gone not in {group.coordinator for group in found}
        assert all(group.offsets for group in found)


def test_each_group_has_its_failure(spread: Cluster) -> None:
    classic = QUESTIONS[GroupType.CLASSIC]
    answers = coordinators.ask(spread, {NAMES[0]: [classic], "no-such-group": [classic]})
    assert answers[NAMES[0]].rows[classic].group_state == "Empty"
    why = answers["no-such-group"].rows[classic]
    assert isinstance(why, Failure)
    assert why.name == "GROUP_ID_NOT_FOUND"


def test_no_groups_are_no_requests() -> None:
    from kafka_shell.admin.wire.endpoint import ConnectionConfig, parse_addresses

    with Cluster(ConnectionConfig(parse_addresses("127.0.0.1:1"))) as nowhere:
        assert coordinators.ask(nowhere, {}) == {}
        assert groups.describe(nowhere, []).values == {}
