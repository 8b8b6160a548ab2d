"""Offsets, log directories and elections: the same as reported by Kafka's own tools.

kafka-get-offsets, kafka-delete-records, kafka-log-dirs and kafka-leader-election.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics.partitions import find
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import connect, make_topic
from tests.support.jvm_tools import run_tool
from tests.support.leader_moves import lead_elsewhere
from tests.support.produced_records import fill
from tests.support.program import Program
from tests.support.waiting import wait_for

TIMES = (1_700_000_000_000, 1_700_000_009_000, 1_700_000_004_000)


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture
def kafka(three_brokers: Sandbox, tmp_path: Path) -> Program:
    return Program(tmp_path, three_brokers.bootstrap)


@pytest.fixture
def topic(cluster: Cluster, three_brokers: Sandbox) -> str:
    """Two partitions on three brokers, three records in the second."""
    name = make_topic(
        cluster,
        f"diff-{uuid4().hex[:8]}",
        assignment=((1, 2), (2, 3)),
        configs=(("retention.ms", "-1"),),
    )
    fill(three_brokers.bootstrap, name, 3, partition=1, times=TIMES)
    return name


def tool(sandbox: Sandbox, main: str, *arguments: str) -> str:
    """What one of Kafka's tools prints; it may not fail."""
    name = f"org.apache.kafka.tools.{main}"
    run = run_tool(name, "--bootstrap-server", sandbox.bootstrap, *arguments)
    assert run.returncode == 0, f"{main} {arguments}: {run.stdout}{run.stderr}"
    return run.stdout


@pytest.mark.parametrize(
    "time", ["latest", "earliest", "max-timestamp", "earliest-local", str(TIMES[0] + 1)]
)
def test_offsets(kafka: Program, three_brokers: Sandbox, topic: str, time: str) -> None:
    theirs = tool(three_brokers, "GetOffsetShell", "--topic", topic, "--time", time)
    ours = kafka.ok("list-offsets", topic, "--time", time, "--output", "json").json
    # Kafka's tool leaves out a partition where it finds nothing.
    assert [
        f"{row['topic']}:{row['partition']}:{row['offset']}"
        for row in ours
        if row["offset"] is not None
    ] == theirs.split()


def test_deleted_records(
    kafka: Program, three_brokers: Sandbox, topic: str, tmp_path: Path
) -> None:
    file = tmp_path / "offsets.json"

    def write(offset: int) -> None:
        row = {"topic": topic, "partition": 1, "offset": offset}
        file.write_text(json.dumps({"partitions": [row], "version": 1}))

    def first() -> int:
        [row] = kafka.ok("list-offsets", f"{topic}:1", "--output", "json").json
        return int(row["earliest"])

    write(1)
    told = tool(three_brokers, "DeleteRecordsCommand", "--offset-json-file", str(file))
    assert "low_watermark: 1" in told
    assert first() == 1, "what Kafka's tool deleted is there"
    write(2)
    kafka.ok("delete-records", "--offset-json-file", str(file), "--yes")
    again = tool(three_brokers, "DeleteRecordsCommand", "--offset-json-file", str(file))
    assert "low_watermark: 2" in again, "what this program deleted is there for Kafka's tool"
    assert first() == 2


def test_log_dirs(kafka: Program, three_brokers: Sandbox, topic: str) -> None:
    printed = tool(three_brokers, "LogDirsCommand", "--describe", "--topic-list", topic)
    document = next(line for line in printed.splitlines() if line.startswith("{"))
    theirs = {
        (broker["broker"], dir["logDir"], replica["partition"]): replica
        for broker in json.loads(document)["brokers"]
        for dir in broker["logDirs"]
        for replica in dir["partitions"]
    }
    rows: list[dict[str, Any]] = kafka.ok("describe-log-dirs", topic, "--output", "json").json
    ours = {
        (row["broker"], row["path"], f"{row['topic']}-{row['partition']}"): {
            "partition": f"{row['topic']}-{row['partition']}",
            "size": row["size"],
            "offsetLag": row["offset_lag"],
            "isFuture": row["future"],
        }
        for row in rows
    }
    assert len(ours) == 4
    assert ours == theirs


def test_elections_of_each_are_seen_by_the_other(
    kafka: Program, cluster: Cluster, three_brokers: Sandbox, topic: str
) -> None:
    partition = TopicPartition(topic, 0)
    verify = ("verify-preferred-replica-leader-election", f"{topic}:0")
    elect = ("--election-type", "preferred", "--topic", topic, "--partition", "0")

    lead_elsewhere(cluster, partition, (2, 1))
    assert kafka(*verify).status == 1
    assert "Successfully completed" in tool(three_brokers, "LeaderElectionCommand", *elect)
    wait_for(
        "the leader that Kafka's tool elected leads",
        lambda: find(cluster, [partition])[partition].leader == 2,
    )
    assert kafka(*verify).status == 0

    lead_elsewhere(cluster, partition, (1, 2))
    kafka.ok("preferred-replica-leader-election", f"{topic}:0")
    assert "Valid replica already elected" in tool(three_brokers, "LeaderElectionCommand", *elect)
