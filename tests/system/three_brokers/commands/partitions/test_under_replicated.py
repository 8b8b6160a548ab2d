"""Replicas that a reassignment adds are not out of sync: they do not exist yet."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from kafka_shell.admin.cluster.health import health
from kafka_shell.view.cache import read_topics
from kafka_shell.view.view import ClusterView
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.model import Partition
from tests.support.changes import lose_requests
from tests.support.program import Program
from tests.support.reassigned_topics import Filled, reassign
from tests.support.waiting import wait_for

LIST_REASSIGNMENTS = 46


@pytest.fixture
def moved(kafka_on_three: Program, three: Cluster, filled: Filled, tmp_path: Path) -> str:
    """A topic whose partition 0 is being moved from brokers 1 and 2 to 2 and 3."""
    (topic,) = filled.topics(1)
    kafka_on_three.ok(*shlex.split(reassign(tmp_path, [(topic, 0)])), "--throttle", "1")
    wait_for("brokers show the replica that is added", lambda: scan(three).under_replicated > 0)
    return topic


def test_a_reassignment_is_not_under_replicated(
    kafka_on_three: Program, three: Cluster, moved: str
) -> None:
    kafka = kafka_on_three
    run = kafka.ok("describe-topic", moved)
    assert "replication factor 2" in run.stdout and "under-replicated" not in run.stdout, str(run)
    assert "1 being reassigned" in run.stdout, str(run)
    heading, first, second = run.lines[2:5]
    assert heading.split()[-2:] == ["ADDING", "REMOVING"], str(run)
    assert first.split()[-2:] == ["3", "1"] and second.split()[-2:] == ["-", "-"], str(run)
    (described,) = kafka.ok("describe-topic", moved, "--output", "json").json
    partition = described["topic"]["partitions"][0]
    assert (partition["adding"], partition["removing"]) == ([3], [1])
    sick = kafka.ok("describe-topic", "--under-replicated-partitions")
    assert sick.stdout == "", str(sick)
    listed = kafka.ok("list-topics", moved, "--output", "json").json[0]
    assert listed["replication_factor"] == listed["max_replication_factor"] == 2
    assert listed["under_replicated"] == 0
    found = {finding.check for finding in health(three).findings}
    assert "moves" in found and "under-replicated" not in found
    view = read_topics(three, ClusterView(), 0.0)
    assert view.topics.value.under_replicated == 0
    plan = kafka("delete-topic", moved, "--dry-run")
    assert "replication factor 2" in plan.stdout, str(plan)


def test_reassignments_that_cannot_be_read_are_named(
    kafka_on_three: Program, three: Cluster, moved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_requests(monkeypatch, LIST_REASSIGNMENTS)
    run = kafka_on_three.ok("describe-topic", moved)
    assert "1 under-replicated" in run.stdout, str(run)
    assert "reassignments could not be read" in run.stderr, str(run)
    listed = kafka_on_three.ok("list-topics", moved, "--long")
    assert "reassignments could not be read" in listed.stderr, str(listed)
    sick = kafka_on_three("describe-topic", "--under-replicated-partitions")
    assert sick.status == 1 and moved in sick.stdout, str(sick)
    found = {finding.check: finding.summary for finding in health(three).findings}
    assert "reassignments not read" in found["under-replicated"]
    view = read_topics(three, ClusterView(), 0.0).topics.value
    assert (view.under_replicated, view.reassignments_unread) == (1, True)


def test_reassignments_are_not_read_if_all_replicas_are_in_sync(
    kafka_on_three: Program, filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    (topic,) = filled.topics(1)
    lose_requests(monkeypatch, LIST_REASSIGNMENTS)
    assert kafka_on_three.ok("list-topics", topic, "--long").stderr == ""
    assert kafka_on_three.ok("describe-topic", topic).stderr == ""


def test_a_replica_that_is_lost_during_a_reassignment_is_out_of_sync() -> None:
    replicas = Partition("orders", 0, 1, 0, (2, 3, 1), (1, 3)).reassigned((3,), (1,))
    assert replicas.out_of_sync == (2,) and replicas.under_replicated
    assert replicas.replication_factor == 2
