"""Brokers stop and hang during a decommission while producers write."""

from __future__ import annotations

import os
import signal
from uuid import uuid4

import pytest

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import reassigned_topics
from tests.support.acks_all_producer import acks_all_producer
from tests.support.changes import make_topic
from tests.support.decommission_process import (
    STOP_IT,
    assert_removed,
    decommission,
    dynamic_configs,
    finish,
    is_cordoned,
    is_registered,
)
from tests.support.frozen_process import freeze, thaw
from tests.support.outages import controller, kill, processes
from tests.support.program import Program
from tests.support.sandbox_brokers import start_broker
from tests.support.waiting import wait_for

BROKERS = (1, 2, 3, 4, 5)
SLOW = "5 --throttle 1"  # its moves are held until the rates are raised


@pytest.fixture
def written(five: Cluster) -> str:
    """A topic for the producer."""
    return make_topic(
        five, f"retire.written-{uuid4().hex[:8]}",
        assignment=((5, 1, 2), (1, 5, 3), (4, 2, 5), (2, 3, 1)),
        configs=(("min.insync.replicas", "2"),),
    )  # fmt: skip


@pytest.fixture
def large(five: Cluster, five_brokers: Sandbox) -> str:
    """A topic with so much on broker 5 that it does not leave at 1 B/s."""
    name = make_topic(five, f"retire.large-{uuid4().hex[:8]}", assignment=((5, 1, 2),))
    reassigned_topics.fill(five_brokers, name, reassigned_topics.HELD)
    return name


def removed(cluster: Cluster, sandbox: Sandbox, *topics: str) -> None:
    """Broker 5 is gone, and nothing of the drain is left; started again, it is a new broker."""
    assert_removed(cluster, 5)
    assert reassigned_topics.throttles(cluster, *topics, brokers=(1, 2, 3, 4)) == {}
    start_broker(sandbox.folder, 5)
    assert dynamic_configs(cluster, 5) == {}
    assert not is_cordoned(cluster, 5)


def test_destination_and_controller_are_killed_and_a_broker_that_hangs_is_not_stopped(
    five: Cluster, five_brokers: Sandbox, kafka_on_five: Program, written: str, large: str
) -> None:
    kafka = kafka_on_five
    with acks_all_producer(five_brokers, written), decommission(kafka, SLOW) as run:
        wait_for("the move starts", lambda: reassigned_topics.moving(five, large) != {}, 60)
        (destination,) = reassigned_topics.moving(five, large)[0]
        kill(five_brokers, five, destination)
        assert reassigned_topics.moving(five, large) == {0: (destination,)}
        start_broker(five_brokers.folder, destination)

        active = controller(five)
        kill(five_brokers, five, active)
        assert reassigned_topics.moving(five, large) == {0: (destination,)}
        start_broker(five_brokers.folder, active)
        reassigned_topics.release(five)
        run.said(STOP_IT)
        assert reassigned_topics.throttles(five, written, large, brokers=BROKERS) == {}

        broker = processes(five_brokers)[5] or 0
        freeze(broker)
        wait_for("broker 5 is fenced", lambda: 5 not in reassigned_topics.up(five))
        late = kafka("decommission", "5", "--deadline", "15s", "--yes")
        assert late.status == 1 and "has not responded" in late.stderr, late
        assert "To continue: decommission 5 --deadline 15s --yes" in late.stderr, late
        assert run.process.poll() is None and is_registered(five, 5), run

        hanging = processes(five_brokers)[controller(five)] or 0
        freeze(hanging)
        try:
            os.kill(broker, signal.SIGKILL)
            status = run.ended(120)
        finally:
            thaw(hanging)
    finish(kafka, run, status, SLOW)
    removed(five, five_brokers, written, large)
