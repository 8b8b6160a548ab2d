"""Deadlines, timeouts, and sessions that are killed."""

from __future__ import annotations

import uuid

from kafka_shell.wire.cluster import Cluster
from tests.support.faults import delete, exists, hinted, refused
from tests.support.program import Program
from tests.support.waiting import wait_for


def test_a_deadline_that_is_too_short(kafka: Program, cluster: Cluster) -> None:
    name = f"fault.late.{uuid.uuid4().hex[:8]}"
    run = kafka("create-topic", name, "--deadline", "1ms")
    hinted(refused(run, run.status, "deadline"))
    assert run.status in (1, 3)
    assert not exists(cluster, name)


def test_a_timeout_of_nothing_does_not_wait(kafka: Program, cluster: Cluster) -> None:
    name = f"fault.zero.{uuid.uuid4().hex[:8]}"
    run = kafka.ok("create-topic", name, "--timeout", "0")
    assert f"created topic {name}" in run.stdout
    wait_for("the topic is there", lambda: exists(cluster, name))
    delete(cluster, name)
