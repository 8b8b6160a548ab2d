"""Reassignments: Kafka's own tool reports the same state, and each reads the files of the other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.admin.partitions import (
    log_dirs,
)
from kafka_shell.admin.partitions import targets as move_targets
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.model import MoveStatus, TopicPartition
from kafka_shell.admin.partitions.partition_files import read_moves, to_json
from kafka_shell.admin.partitions.progress import current_assignment
from kafka_shell.admin.partitions.reassignment import plan_cancel, state
from kafka_shell.base.plans import apply
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import reassigned_topics
from tests.support.changes import connect
from tests.support.jvm_tools import run_tool
from tests.support.program import Program
from tests.support.reassigned_topics import HELD, fill, placed, replicas
from tests.support.waiting import wait_for

MAIN = "org.apache.kafka.tools.reassign.ReassignPartitionsCommand"
_LISTED = re.compile(r"(\S+)-(\d+): replicas: ([\d,]+)\. adding: ([\d,]*)\. removing: ([\d,]*)\.")
_STATUS = {"still in progress": MoveStatus.IN_PROGRESS, "completed": MoveStatus.COMPLETED}

Assignment = Mapping[TopicPartition, tuple[int, ...]]


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def restored(cluster: Cluster) -> Iterator[None]:
    """Whatever a test leaves, the next one does not see."""
    yield
    reassigned_topics.restore(cluster)


def tool(sandbox: Sandbox, *words: str) -> str:
    """What kafka-reassign-partitions.sh prints."""
    done = run_tool(MAIN, "--bootstrap-server", sandbox.bootstrap, *words)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def listed(text: str, topic: str) -> dict[int, tuple[tuple[int, ...], ...]]:
    """--list: replicas, adding and removing of each partition of the topic."""
    return {
        int(partition): tuple(tuple(map(int, filter(None, ids.split(",")))) for ids in brokers)
        for name, partition, *brokers in _LISTED.findall(text)
        if name == topic
    }


def verified(text: str, topic: str) -> dict[int, MoveStatus]:
    """--verify: the status of each partition of the topic."""
    found = re.findall(rf"Reassignment of partition {topic}-(\d+) is ([\w ]+)\.", text)
    there = {int(partition): _STATUS[words] for partition, words in found}
    gone = re.findall(rf"no active reassignment of partition {topic}-(\d+), but", text)
    return there | dict.fromkeys(map(int, gone), MoveStatus.FAILED)


def assignment(rows: list[dict[str, Any]]) -> Assignment:
    return {TopicPartition(row["topic"], row["partition"]): tuple(row["replicas"]) for row in rows}


def test_a_move_under_way_looks_the_same_to_both(
    three_brokers: Sandbox, cluster: Cluster, tmp_path: Path
) -> None:
    topic = placed(cluster, (1, 2), (2, 1), (1, 3))
    for partition in (0, 2):  # those that move
        fill(three_brokers, topic, HELD, partition=partition)
    wanted = reassigned_topics.to(topic, (2, 3), (2, 1), (3, 2))
    file = tmp_path / "wanted.json"
    file.write_text(to_json(wanted, throttle=1))
    executed = tool(
        three_brokers, "--execute", "--reassignment-json-file", str(file), "--throttle", "1"
    )
    try:
        current = json.loads(next(row for row in executed.splitlines() if row.startswith("{")))
        assert assignment(current["partitions"]) == reassigned_topics.to(
            topic, (1, 2), (2, 1), (1, 3)
        )
        ours = {
            each.partition: (each.replicas, each.adding, each.removing)
            for each in under_way(cluster, [topic])
        }
        assert ours == listed(tool(three_brokers, "--list"), topic)
        assert ours.keys() == {0, 2}
        rows = {row.partition: row.status for row in state(cluster, wanted).partitions}
        preserved = ("--reassignment-json-file", str(file), "--preserve-throttles")
        assert rows == verified(tool(three_brokers, "--verify", *preserved), topic)
        assert set(rows.values()) == {MoveStatus.IN_PROGRESS, MoveStatus.COMPLETED}
        # The tool throttles a partition that is there already, too.
        (idle,) = [t for t in state(cluster).throttles if t.resource == f"topic {topic}"]
        assert set(idle.value.split(",")) == {"1:1", "1:2"}
    finally:
        cancelled = apply(plan_cancel(cluster, list(wanted)), cluster)
    assert cancelled.ok
    wait_for("all is back", lambda: not reassigned_topics.moving(cluster, topic))
    assert reassigned_topics.throttles(cluster, topic) == {}, (
        "of what the tool set, something is left"
    )
    rows = {row.partition: row.status for row in state(cluster, wanted).partitions}
    assert rows == verified(tool(three_brokers, "--verify", *preserved), topic)


def test_the_tool_reads_the_files_that_are_written_here_and_lifts_the_throttle(
    three_brokers: Sandbox, cluster: Cluster, tmp_path: Path
) -> None:
    topic = placed(cluster, (1, 2), (2, 1))
    kafka = Program(tmp_path / "home", three_brokers.bootstrap)
    given = tmp_path / "given.json"
    given.write_text(to_json(reassigned_topics.to(topic, (2, 3), (3, 1))))
    words = ("--reassignment-json-file", str(given), "--throttle", "5MB/s")
    kafka.ok("reassign-partitions", *words)
    (rollback,) = kafka.home.glob("state/reassignments/*-rollback.json")

    def told() -> dict[int, MoveStatus]:
        return verified(
            tool(three_brokers, "--verify", "--reassignment-json-file", str(given)), topic
        )

    complete = dict.fromkeys((0, 1), MoveStatus.COMPLETED)
    wait_for("the tool sees that it is moved", lambda: told() == complete)
    wait_for(
        "the tool lifts the throttle", lambda: reassigned_topics.throttles(cluster, topic) == {}
    )
    tool(three_brokers, "--execute", "--reassignment-json-file", str(rollback))
    wait_for("it is back", lambda: replicas(cluster, topic) == [(1, 2), (2, 1)])


def test_what_the_tool_generates_is_read_here_and_the_planner_copies_the_least(
    three_brokers: Sandbox, cluster: Cluster, tmp_path: Path
) -> None:
    topic = placed(cluster, (1, 2), (2, 1), (1, 2), (2, 1), (1, 2), (2, 1))
    topics = tmp_path / "topics.json"
    topics.write_text(json.dumps({"version": 1, "topics": [{"topic": topic}]}))
    text = tool(
        three_brokers, "--generate", "--topics-to-move-json-file", str(topics),
        "--broker-list", "1,2,3",
    )  # fmt: skip
    current, proposed = (row for row in text.splitlines() if row.startswith("{"))
    file = tmp_path / "proposed.json"
    file.write_text(proposed)
    theirs = read_moves(str(file)).target
    before = assignment(json.loads(current)["partitions"])
    now = current_assignment(cluster)
    assert {each: now.replicas[each] for each in before} == before
    disks = move_targets.read_disks(cluster, now)
    named = move_targets.Brokers(frozenset((1, 2, 3)))
    planned = move_targets.spread_over(now, disks, [topic], named)
    ours = planned.replicas
    assert not planned.refused
    assert theirs.keys() == before.keys()
    assert {len(each) for each in theirs.values()} == {2}
    assert load({**before, **ours}) == {1: 4, 2: 4, 3: 4}
    assert copies(before, {**before, **ours}) == 4


def copies(before: Assignment, after: Assignment) -> int:
    return sum(len(set(after[each]) - set(before[each])) for each in before)


def load(layout: Assignment) -> dict[int, int]:
    held = [broker for each in layout.values() for broker in each]
    return {broker: held.count(broker) for broker in sorted(set(held))}


def test_log_dirs_of_one_file_are_kept_by_both(
    three_brokers: Sandbox, cluster: Cluster, tmp_path: Path
) -> None:
    home = Program(tmp_path / "home", three_brokers.bootstrap)
    first, second = (dir.path for dir in log_dirs.describe(cluster, [3], [])[3])
    for mover in ("ours", "theirs"):
        topic = placed(cluster, (1,), (2,))
        rows = [
            {"topic": topic, "partition": 0, "replicas": [3], "log_dirs": [first]},
            {"topic": topic, "partition": 1, "replicas": [3], "log_dirs": [second]},
        ]
        path = tmp_path / f"{mover}.json"
        path.write_text(json.dumps({"version": 1, "partitions": rows}))
        file = ("--reassignment-json-file", str(path))
        if mover == "ours":
            home.ok("reassign-partitions", *file, "--wait")
        else:
            tool(three_brokers, "--execute", *file)
            home.ok("verify-reassign-partitions", *file, "--finish")
        said = tool(three_brokers, "--verify", *file)
        assert verified(said, topic) == dict.fromkeys((0, 1), MoveStatus.COMPLETED)
        for number in (0, 1):
            assert f"Reassignment of replica {topic}-{number}-3 completed successfully" in said
        dirs = {TopicPartition(topic, 0): first, TopicPartition(topic, 1): second}
        wanted = {(3, partition): path for partition, path in dirs.items()}
        rows_here = state(cluster, dict.fromkeys(dirs, (3,)), wanted).partitions
        assert {row.status for row in rows_here} == {MoveStatus.COMPLETED}, str(rows_here)
