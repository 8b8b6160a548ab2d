"""Log directories of three brokers with two each: in reassignment files, and in an outage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.admin.partitions import log_dirs
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan
from tests.support.changes import connect
from tests.support.outages import stopped
from tests.support.program import Program, Run
from tests.support.program_process import running
from tests.support.reassigned_topics import MB, fill, placed, replicas
from tests.support.waiting import wait_for

SPEED = "replica.alter.log.dirs.io.max.bytes.per.second"


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture
def kafka(three_brokers: Sandbox, tmp_path: Path) -> Program:
    return Program(tmp_path / "home", three_brokers.bootstrap)


Where = dict[int, dict[int, str]]


def seen(cluster: Cluster, topic: str) -> Where:
    """The log dir of each replica, by partition and broker; one that moves is in none."""
    found = log_dirs.describe(cluster, [1, 2, 3])
    rows = [row for dirs in found for dir in dirs for row in dir.rows if row.topic == topic]
    moving = {(row.partition, row.broker) for row in rows if row.future}
    where: Where = {}
    for row in rows:
        path = "" if (row.partition, row.broker) in moving else row.path
        where.setdefault(row.partition, {})[row.broker] = path
    return where


def dirs(cluster: Cluster, topic: str) -> Where:
    """The log dirs of all replicas of a topic, once they are there."""
    wanted = dict(enumerate(map(set, replicas(cluster, topic))))
    wait_for(
        "all replicas are on disk",
        lambda: {each: set(held) for each, held in seen(cluster, topic).items()} == wanted,
    )
    return seen(cluster, topic)


def pair(cluster: Cluster, broker: int) -> tuple[str, str]:
    """The two log dirs of a broker."""
    first, second = (dir.path for dir in log_dirs.describe(cluster, [broker], [])[broker])
    return first, second


def other(cluster: Cluster, broker: int, path: str) -> str:
    first, second = pair(cluster, broker)
    return second if path == first else first


def write(path: Path, topic: str, *rows: tuple[list[int], list[str]]) -> str:
    partitions = [
        {"topic": topic, "partition": number, "replicas": to, "log_dirs": names}
        for number, (to, names) in enumerate(rows)
    ]
    path.write_text(json.dumps({"version": 1, "partitions": partitions}))
    return str(path)


def back(run: Run) -> str:
    (line,) = (row for row in run.stderr.splitlines() if row.startswith("undo:"))
    return line.removeprefix("undo:").strip()


def settled(cluster: Cluster, topic: str, wanted: Where) -> None:
    wait_for("old replicas are deleted", lambda: seen(cluster, topic) == wanted)


def test_replicas_go_to_the_dirs_that_a_file_names_and_back(
    kafka: Program, cluster: Cluster, three_brokers: Sandbox, tmp_path: Path
) -> None:
    topic = placed(cluster, (1, 2), (1, 2), (2, 1))
    fill(three_brokers, topic, MB)
    before = dirs(cluster, topic)
    first, second = pair(cluster, 3)
    elsewhere = {n: other(cluster, 1, before[n][1]) for n in (0, 2)}
    file = write(
        tmp_path / "f.json", topic,
        ([1, 3], [elsewhere[0], first]),  # one stays and changes its dir, the other comes
        ([3, 1], [second, "any"]),
        ([2, 1], ["any", elsewhere[2]]),  # nothing moves between brokers
    )  # fmt: skip
    move = ("reassign-partitions", "--reassignment-json-file", file)
    shown = kafka.ok(*move, "--dry-run")
    change = f"log directory on broker 1: {before[0][1]} -> {elsewhere[0]}"
    lines = shown.lines
    assert change in lines[lines.index(f"partition {topic}:0: 1,2 -> 1,3") + 1], str(shown)
    run = kafka.ok(*move, "--wait")
    after = {
        0: {1: elsewhere[0], 3: first},
        1: {3: second, 1: before[1][1]},
        2: {2: before[2][2], 1: elsewhere[2]},
    }
    settled(cluster, topic, after)
    verified = kafka.ok("verify-reassign-partitions", "--reassignment-json-file", file)
    assert verified.stdout.count("completed") == 3, str(verified)
    kafka.ok(stdin=f"{back(run)} --wait\n")
    assert replicas(cluster, topic) == [(1, 2), (1, 2), (2, 1)]
    settled(cluster, topic, before)


def test_a_slow_copy_is_followed_and_moved_back(
    kafka: Program, cluster: Cluster, three_brokers: Sandbox
) -> None:
    topic = placed(cluster, (1,))
    fill(three_brokers, topic, 4 * MB)
    before = dirs(cluster, topic)
    here, there = before[0][1], other(cluster, 1, before[0][1])
    line = f"alter-log-dirs {topic} --broker-id 1 --log-dir"
    kafka.ok("alter-configs", "--broker-id", "1", f"{SPEED}=10000")
    try:
        kafka.ok(*f"{line} {there}".split())
        (row,) = [row for row in log_dirs.describe(cluster, [1])[1] if row.path == there]
        assert [each.future for each in row.replicas if each.topic == topic] == [True]
        with running(kafka, f"{line} {there} --wait") as run:
            wait_for("it is followed", lambda: "already being moved there" in run.err)
            back = kafka.ok(*f"{line} {here} --wait".split())
            assert f"log directory {there} -> {here}" in back.stdout, str(back)
            assert run.ended() == 1, run
        assert f"is no longer being moved to {there}" in run.err
    finally:
        kafka.ok("alter-configs", "--broker-id", "1", "--delete-config", SPEED)
    settled(cluster, topic, before)


def test_a_stopped_broker_is_named_wherever_its_log_directories_are_read(
    kafka: Program, cluster: Cluster, three_brokers: Sandbox, tmp_path: Path
) -> None:
    topic = placed(cluster, (1, 3))
    path = dirs(cluster, topic)[0][3]
    racks = {broker.id: broker.rack for broker in scan(cluster).brokers}
    file = ("--reassignment-json-file", write(tmp_path / "f.json", topic, ([1, 3], ["any", path])))
    assert "completed" in kafka.ok("verify-reassign-partitions", *file).stdout
    with stopped(three_brokers, 3):
        wait_for("replicas are out of sync", lambda: scan(cluster).under_replicated > 0)
        run = kafka("verify-reassign-partitions", *file, "--output", "json")
        move = kafka("reassign-partitions", *file)
        described = kafka("describe-log-dirs", "--output", "json")
        balanced = kafka.ok("rebalance", "--dry-run")
        drained = kafka.ok("reassign-partitions", "--drain", "3", "--topics", topic, "--dry-run")
    (row,) = run.json["partitions"]
    assert (run.status, row["code"]) == (1, 0), f"nobody knows whether it failed: {row}"
    assert "broker 3" in row["note"], row
    assert move.status == 1 and "broker 3" in move.stderr and '"any"' in move.stderr, str(move)
    assert described.status == 1
    assert {dir["broker"] for dir in described.json if "path" in dir} == {1, 2}
    assert "broker 3 is down" in described.stderr + described.stdout
    assert "the cluster is not healthy (" in balanced.stdout, str(balanced)
    assert "under-replicated): fix that first" in balanced.stdout
    (load,) = [line.split() for line in drained.lines if line.split()[:1] == ["3"]]
    assert load[1] == racks[3], str(drained)
    wait_for(
        "it is there", lambda: "completed" in kafka("verify-reassign-partitions", *file).stdout
    )
