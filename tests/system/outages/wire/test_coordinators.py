"""Coordinators are looked up and requested in parallel, also while one stops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import uuid4

import pytest
from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest

from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import GroupType
from kafka_shell.admin.groups.read import APIS
from kafka_shell.admin.partitions import elections
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import apply
from kafka_shell.base.results import Failure, Results
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import coordinators
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.wire.requests import Coordinator, CoordinatorKind, Node
from tests.support.changes import connect, make_topic
from tests.support.group_data import commit, forget
from tests.support.outages import stopped
from tests.support.program import Program
from tests.support.waiting import applied, wait_for

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
        applied(cluster)
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


def test_a_later_round_that_fails_leaves_the_reason_of_the_one_before(
    spread: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: "timed out after waiting 0.0 s", of an attempt that had no time."""
    right = coordinators.find(spread, NAMES)
    rounds = []

    def find(cluster: Cluster, names: Sequence[str]) -> Results[str, int]:
        """Wrong brokers, then no response."""
        rounds.append(tuple(names))
        if len(rounds) > 1:
            raise ShellError("timed out after waiting 0.0 s", code="deadline")
        return Results({name: right[name] % 3 + 1 for name in names})

    monkeypatch.setattr(coordinators, "find", find)
    classic = APIS[GroupType.CLASSIC]
    responses = coordinators.ask(spread, {name: [classic] for name in NAMES})
    assert len(rounds) == 2
    assert {each.rows[classic].name for each in responses.values()} == {"NOT_COORDINATOR"}


def test_groups_without_a_coordinator_are_reported(
    spread: Cluster, three_brokers: Sandbox, kafka_on_three: Program
) -> None:
    """Before: a list without the groups whose partition of __consumer_offsets had no leader, as if
    that were all; and a plan to delete a topic that they read did not name them."""
    run = kafka_on_three
    run.ok("alter-topic", "__consumer_offsets", "--replication-factor", "1", "--wait", "--yes")
    before = coordinators.find(spread, NAMES)
    gone = before[NAMES[0]]
    missing = {name for name in NAMES if before[name] == gone}
    topic = run.ok("lag", NAMES[0], "--output", "json").json[0]["topic"]
    reason = "no leader, so the groups stored there are not listed"
    try:
        with stopped(three_brokers, gone):
            for line in (["groups"], ["lag"], ["describe-group", "--state"]):
                found = run(*line)
                assert found.status == 1 and reason in found.stderr, line
                assert not missing & set(found.stdout.split()), line
            assert set(NAMES) - missing <= set(run("groups").lines), "one name per line"
            rows = run("groups", "--output", "json").json
            assert rows[-1]["error"] == "COORDINATOR_NOT_AVAILABLE"
            assert {row["name"] for row in rows[:-1]} >= set(NAMES) - missing
            found = groups.describe(spread, NAMES)
            assert set(found.failures) == missing
            for name, why in found.failures.items():  # at once: no replica can become the leader
                place = f"__consumer_offsets:{coordinators.partition_of(name, 8)}"
                stored = f"partition {place}, which stores the group, has no leader"
                assert why.message == f"group {name}: {stored}"
            assert reason in run("delete-topic", topic, "--dry-run").stdout
            assert "groups not checked" in run("health").stdout
            assert reason in run("health", "--verbose").stdout
    finally:
        run.ok("alter-topic", "__consumer_offsets", "--replication-factor", "3", "--wait", "--yes")


def test_each_group_has_its_failure(spread: Cluster) -> None:
    classic = APIS[GroupType.CLASSIC]
    responses = coordinators.ask(spread, {NAMES[0]: [classic], "no-such-group": [classic]})
    assert responses[NAMES[0]].rows[classic].group_state == "Empty"
    why = responses["no-such-group"].rows[classic]
    assert isinstance(why, Failure)
    assert why.name == "GROUP_ID_NOT_FOUND"


def test_no_groups_are_no_requests() -> None:
    with Cluster(ConnectionConfig(parse_addresses("127.0.0.1:1"))) as nowhere:
        assert coordinators.ask(nowhere, {}) == {}
        assert groups.describe(nowhere, []).values == {}


def test_a_coordinator_moves(three_brokers: Sandbox) -> None:
    """The broker that coordinates a group is stopped between two requests."""
    group = "moving"
    target = Coordinator(CoordinatorKind.GROUP, group)
    with Cluster(ConnectionConfig(parse_addresses(three_brokers.bootstrap))) as cluster:
        request = DescribeGroupsRequest(groups=[group])
        assert cluster.send(request, target).groups[0].group_id == group
        first = cluster._pool.coordinators[target]
        with stopped(three_brokers, first):
            answer = cluster.send(DescribeGroupsRequest(groups=[group]), target, timeout=30)
            assert answer.groups[0].group_id == group
            assert cluster._pool.coordinators[target] != first
            cluster.brokers(refresh=True)
            results = cluster.each_broker(ListGroupsRequest())
            assert sorted(results.values) == sorted({1, 2, 3} - {first})
            with pytest.raises(ShellError) as caught:
                cluster.send(ListGroupsRequest(), Node(first))
            assert caught.value.code in ("unknown-broker", "refused")
        cluster.brokers(refresh=True)
        assert sorted(cluster.each_broker(ListGroupsRequest()).values) == [1, 2, 3]
