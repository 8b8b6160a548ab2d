"""Preferred and unclean leader elections on three brokers that stop and start."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from kafka_shell.admin.partitions import elections
from kafka_shell.admin.partitions.model import LATEST, TopicPartition
from kafka_shell.admin.records.offsets import list_offsets
from kafka_shell.admin.topics.partitions import find
from kafka_shell.base.plans import Effect, Resource, apply
from kafka_shell.base.results import Results
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.model import Partition
from tests.support.changes import connect, done, make_topic, refusals
from tests.support.outages import start_all, wait_until_back
from tests.support.produced_records import fill
from tests.support.sandbox_brokers import start_broker, stop_broker
from tests.support.waiting import wait_for


@pytest.fixture
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    """A connection to the three brokers, all of which are up and lead their own in the end."""
    with connect(three_brokers) as cluster:
        yield cluster
        start_all(three_brokers)
        wait_until_back(three_brokers)
        assert apply(elections.plan_preferred(elections.misplaced(cluster)), cluster).ok


def look(cluster: Cluster, topic: str, *numbers: int) -> Results[Resource, Partition]:
    found = find(cluster, [TopicPartition(topic, number) for number in numbers])
    assert found.ok, found.failures
    return Results({each.resource: partition for each, partition in found.values.items()})


def statuses(cluster: Cluster, topic: str, *numbers: int) -> list[str]:
    return [row.status for row in elections.status(look(cluster, topic, *numbers)).partitions]


def test_leadership_comes_back_with_its_broker(cluster: Cluster, three_brokers: Sandbox) -> None:
    topic = make_topic(cluster, f"led-{uuid4().hex[:8]}", assignment=((1, 2), (2, 3), (3, 1)))
    assert elections.status(look(cluster, topic, 0, 1, 2)).ok
    stop_broker(three_brokers.folder, 1)
    assert statuses(cluster, topic, 0, 1, 2) == ["failed", "completed", "completed"]
    plan = elections.plan_preferred(look(cluster, topic, 0, 1))
    assert not plan.steps
    why = refusals(plan)[f"{topic}:0"]
    assert why.name == "PREFERRED_LEADER_NOT_AVAILABLE"
    assert why.message.endswith("the preferred leader, broker 1, is offline")
    [told] = plan.unchanged
    assert told.resource.name == f"{topic}:1"
    everywhere = elections.plan_preferred(elections.misplaced(cluster), named=False)
    assert "1" in refusals(everywhere), "what broker 1 keeps from changing over is one refusal"
    assert f"{topic}:0" not in refusals(everywhere)

    start_broker(three_brokers.folder, 1)
    wait_for(
        "broker 1 is in sync again",
        lambda: statuses(cluster, topic, 0) in (["in progress"], ["completed"]),
    )
    plan = elections.plan_preferred(look(cluster, topic, 0, 1, 2))
    assert [(c.before, c.after) for c in plan.changes] == [(2, 1)]
    done(plan, cluster)
    assert statuses(cluster, topic, 0, 1, 2) == ["completed"] * 3, "done, and not to be seen"
    assert not elections.plan_preferred(look(cluster, topic, 0)).steps


def test_an_unclean_election_saves_what_is_left(cluster: Cluster, three_brokers: Sandbox) -> None:
    """Broker 2 has the first of two records; broker 1, which has both, is away."""
    topic = make_topic(cluster, f"torn-{uuid4().hex[:8]}", assignment=((1, 2), (3, 2)))
    partition = TopicPartition(topic, 0)
    fill(three_brokers.bootstrap, topic, 1)
    stop_broker(three_brokers.folder, 2)
    fill(three_brokers.bootstrap, topic, 1)
    stop_broker(three_brokers.folder, 1)
    start_broker(three_brokers.folder, 2)
    wait_for(
        "broker 2 is back, and nobody leads what only broker 1 has in sync",
        lambda: (p := find(cluster, [partition])[partition]).leader is None and p.offline == (1,),
    )
    assert list_offsets(cluster, {partition: LATEST}).failures[partition].name == (
        "LEADER_NOT_AVAILABLE"
    )
    assert partition.resource in elections.leaderless(cluster).values

    plan = elections.plan_unclean(look(cluster, topic, 0, 1))
    assert plan.effect is Effect.DESTROY
    [change] = plan.changes
    assert (change.before, change.after, change.reversible) == ("none", 2, False)
    assert [told.note for told in plan.unchanged] == ["no change: it has a leader"]
    [step] = plan.steps
    assert step.reread(cluster) == step
    done(plan, cluster)
    assert find(cluster, [partition])[partition].leader == 2
    assert list_offsets(cluster, {partition: LATEST})[partition].offset == 1

    start_broker(three_brokers.folder, 1)
    wait_for(
        "broker 1 has dropped the record that was lost and is in sync",
        lambda: 1 in find(cluster, [partition])[partition].isr,
    )


def test_no_replica_is_up(cluster: Cluster, three_brokers: Sandbox) -> None:
    topic = make_topic(cluster, f"dark-{uuid4().hex[:8]}", assignment=((3,),))
    stop_broker(three_brokers.folder, 3)
    plan = elections.plan_unclean(look(cluster, topic, 0))
    why = refusals(plan)[f"{topic}:0"]
    assert why.name == "ELIGIBLE_LEADERS_NOT_AVAILABLE"
    assert why.hint == "Start one of its brokers: 3."


def test_the_broker_has_the_last_word(cluster: Cluster) -> None:
    """What its answer says of a partition that is gone, or needs no election."""
    topic = make_topic(cluster, f"word-{uuid4().hex[:8]}", assignment=((1, 2),))
    here, gone = TopicPartition(topic, 0), TopicPartition(topic, 5)
    step = elections.ElectLeaders((elections.Election(here, 1), elections.Election(gone, 1)), {})
    results = step.send(cluster, validate_only=False)
    assert [change.resource.name for change in results.values] == [str(here)]
    [why] = results.failures.values()
    assert why.name == "UNKNOWN_TOPIC_OR_PARTITION"
    assert str(gone) in why.message


def test_a_broker_of_3_9_elects_too(old_cluster: Cluster) -> None:
    topic = make_topic(old_cluster, f"old-{uuid4().hex[:8]}")
    here = TopicPartition(topic, 0)
    for unclean in (False, True):
        step = elections.ElectLeaders((elections.Election(here, 1),), {}, unclean)
        results = step.send(old_cluster, validate_only=False)
        assert results.ok, results.failures
