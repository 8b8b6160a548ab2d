"""Changes of a topic of which a partition has no leader: the only broker that has it is down."""

from __future__ import annotations

import time
from collections.abc import Iterator
from uuid import uuid4

import pytest

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.advice import advise
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan
from tests.support.changes import connect, done, make_topic
from tests.support.config_alterations import DEFAULT, set_, topic_of
from tests.support.outages import start_all, wait_until_back
from tests.support.sandbox_brokers import stop_broker
from tests.support.waiting import wait_for


@pytest.fixture
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    """A connection to three brokers of which one is down."""
    with connect(three_brokers) as cluster:
        yield cluster
        start_all(three_brokers)
        wait_until_back(three_brokers)


@pytest.fixture
def leaderless(cluster: Cluster, three_brokers: Sandbox) -> str:
    """A topic whose partition 0 has no leader."""
    topic = make_topic(cluster, f"dark-{uuid4().hex[:8]}", assignment=((3,),))
    stop_broker(three_brokers.folder, 3)
    wait_for("a partition has no leader", lambda: scan(cluster, [topic]).summary(topic).offline)
    return topic


def test_partitions_are_added_to_a_topic_with_an_offline_partition(
    cluster: Cluster, leaderless: str
) -> None:
    """Before: the command waited for the leader of that partition, and its outcome was unknown."""
    plan = topic_changes.plan_partitions(cluster, [leaderless], 3, assignment=[[3], [1], [2]])
    began = time.monotonic()
    done(plan, cluster)
    assert time.monotonic() - began < 20
    assert scan(cluster, [leaderless]).summary(leaderless).partitions == 3


def test_unclean_elections_that_lose_records_now_are_confirmed(
    cluster: Cluster, leaderless: str
) -> None:
    """Before: committed records were lost without a warning."""
    enabled = set_("unclean.leader.election.enable", "true")
    plan = advise(config_changes.plan_alter(cluster, {topic_of(leaderless): [enabled]}), cluster)
    assert plan.advice.confirm
    assert plan.advice.warnings == (
        f"1 partition of topic {leaderless} without a leader will lose committed records, which"
        " cannot be restored: unclean.leader.election.enable=true elects out-of-sync replicas as"
        " leaders",
    )
    assert plan.advice.stakes == "loses committed records of 1 offline partition"
    plan = config_changes.plan_alter(cluster, {DEFAULT: [enabled]})  # others have topics, too
    plan = advise(plan, cluster)
    assert plan.advice.confirm
    assert any(
        "without a leader will lose committed records" in each for each in plan.advice.warnings
    ), plan.advice.warnings
    assert plan.advice.stakes.startswith("loses committed records of ")
