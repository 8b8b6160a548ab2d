"""The commands that elect leaders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics.partitions import find
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import connect, make_topic
from tests.support.leader_moves import lead_elsewhere
from tests.support.program import Program
from tests.support.waiting import wait_for


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture
def kafka(three_brokers: Sandbox, tmp_path: Path) -> Program:
    return Program(tmp_path, three_brokers.bootstrap)


@pytest.fixture
def topic(cluster: Cluster) -> str:
    """Partition 0 of two is led by its second replica."""
    name = make_topic(cluster, f"elect-{uuid4().hex[:8]}", assignment=((1, 2), (2, 3)))
    lead_elsewhere(cluster, TopicPartition(name, 0), (2, 1))
    return name


def leader(cluster: Cluster, topic: str) -> int | None:
    return find(cluster, [TopicPartition(topic, 0)])[TopicPartition(topic, 0)].leader


def test_verify_elect_verify(kafka: Program, cluster: Cluster, topic: str) -> None:
    before = kafka("verify-preferred-replica-leader-election", topic)
    assert before.status == 1, str(before)
    assert "1 in progress" in before.stdout and "preferred: broker 2" in before.stdout
    dry = kafka.ok("preferred-replica-leader-election", topic, "--dry-run")
    assert "leader: 1 -> 2" in dry.stdout
    assert leader(cluster, topic) == 1, "a dry run elects nobody"
    done = kafka.ok("preferred-replica-leader-election", topic)
    assert done.lines == [f"altered partition {topic}:0: leader 1 -> 2"]
    assert leader(cluster, topic) == 2, "the other was not elected"
    after = kafka.ok("verify-preferred-replica-leader-election", topic, "--output", "json").json
    assert [row["status"] for row in after["partitions"]] == ["completed", "completed"]
    nothing = kafka.ok("elect-leaders", topic)
    assert "nothing to change" in nothing.stderr


def test_by_kip_4s_file(kafka: Program, cluster: Cluster, topic: str, tmp_path: Path) -> None:
    file = tmp_path / "partitions.json"
    rows = [{"topic": topic, "partition": 0}, {"topic": topic, "partition": 9}]
    file.write_text(json.dumps({"partitions": rows}))
    verify = kafka("verify-preferred-replica-leader-election", "--path-to-json-file", str(file))
    assert verify.status == 1
    assert f"topic {topic} has no partition 9" in verify.stdout
    assert "1 in progress   1 failed" in verify.stdout
    run = kafka("preferred-replica-leader-election", "--path-to-json-file", str(file))
    assert run.status == 1, "one of two is not there"
    assert leader(cluster, topic) == 2, "the other was not elected"


def test_everywhere(kafka: Program, cluster: Cluster, topic: str) -> None:
    kafka.ok("elect-leaders", "--election-type", "PREFERRED", "--all-topic-partitions")
    wait_for("the preferred replica leads", lambda: leader(cluster, topic) == 2)


def test_an_unclean_election_of_a_healthy_partition_is_none(kafka: Program, topic: str) -> None:
    run = kafka.ok("elect-leaders", "--election-type", "unclean", topic)
    assert "it has a leader" in run.stderr and "nothing to change" in run.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("elect-leaders",), "--all-topic-partitions"),
        (("elect-leaders", "t", "--all-topic-partitions"), "cannot be used with"),
        (("elect-leaders", "t", "--election-type", "clean"), "preferred, unclean"),
        (("preferred-replica-leader-election", "--path-to-json-file", "/nowhere"), "be read"),
    ],
)
def test_invalid_arguments_are_reported(kafka: Program, line: tuple[str, ...], said: str) -> None:
    run = kafka(*line)
    assert run.status == 2, str(run)
    assert said in run.stderr, str(run)
