"""describe-log-dirs and alter-log-dirs on one broker with two log directories."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import make_topic
from tests.support.produced_records import fill
from tests.support.program import Program
from tests.support.waiting import wait_for


@pytest.fixture
def topic(cluster: Cluster, name: str) -> str:
    """Partition 0 holds some 100 kB, partition 1 nothing."""
    make_topic(cluster, name, 2)
    fill(",".join(map(str, cluster.config.bootstrap)), name, 100, size=1000)
    both = [TopicPartition(name, number) for number in (0, 1)]

    def sizes() -> list[int]:
        (dirs,) = log_dirs.describe(cluster, None, both).values.values()
        return sorted(each.size for dir in dirs for each in dir.replicas)

    wait_for("both replicas are on disk", lambda: len(sizes()) == 2 and sizes()[1] > 100_000)
    return name


def test_log_directories_and_their_replicas(kafka: Program, topic: str) -> None:
    run = kafka.ok("describe-log-dirs")
    headings = ["BROKER", "DIR", "STATE", "REPLICAS", "SIZE", "USABLE", "TOTAL"]
    assert run.lines[0].split() == headings
    assert len(run.lines) == 3
    assert all(" online " in line for line in run.lines[1:])
    one = kafka.ok("describe-log-dirs", "--broker-id", "1", "--output", "json").json
    assert [Path(dir["path"]).name for dir in one] == ["data-a", "data-b"]
    assert {dir["broker"] for dir in one} == {1}
    rows = kafka.ok("describe-log-dirs", "--broker-id", "1", "--by", "replica", "--output", "json")
    mine = [row for row in rows.json if row["topic"] == topic]
    assert sorted((row["partition"], row["future"]) for row in mine) == [(0, False), (1, False)]
    again = kafka.ok("describe-log-dirs", "--log-dir", one[0]["path"], "--output", "json").json
    assert [dir["path"] for dir in again] == [one[0]["path"]]


def test_replicas_of_some_topics(kafka: Program, topic: str) -> None:
    rows = kafka.ok("describe-log-dirs", f"{topic}:0", "--output", "json").json
    assert [(row["broker"], row["partition"]) for row in rows] == [(1, 0)]
    assert all(row["size"] > 100_000 for row in rows)
    text = kafka.ok("describe-log-dirs", topic, "--broker-id", "1").stdout
    assert text.count(topic) == 2
    assert "KiB" in text, "a size is not said as people say it"


@pytest.mark.parametrize(
    ("by", "first"),
    [
        ("topic", {"broker": None, "partition": None, "replicas": 2}),
        ("partition", {"broker": None, "partition": 0, "replicas": 1}),
        ("broker", {"broker": 1, "partition": None, "replicas": 2}),
    ],
)
def test_disk_usage_by_topic(
    kafka: Program, topic: str, by: str, first: dict[str, int | None]
) -> None:
    row = kafka.ok("describe-log-dirs", topic, "--by", by, "--output", "json").json[0]
    assert row | first == row, str(row)
    assert row["topic"] == (None if by == "broker" else topic)
    assert row["largest"] > 100_000
    assert row["size"] == (row["largest"] if by == "broker" else row["size"])


def test_a_replica_moves_and_moves_back(kafka: Program, topic: str) -> None:
    rows = kafka.ok("describe-log-dirs", f"{topic}:0", "--output", "json").json
    here = {row["broker"]: row["path"] for row in rows}[1]
    there = str(Path(here).with_name("data-b" if here.endswith("data-a") else "data-a"))
    dry = kafka.ok("alter-log-dirs", f"{topic}:0", "--log-dir", there, "--dry-run")
    assert f"log directory: {here} -> {there}" in dry.stdout
    run = kafka.ok("alter-log-dirs", topic, "--log-dir", there, "--wait")
    back = f"alter-log-dirs {topic}:0 --broker-id 1 --log-dir {here}"
    assert f"undo: {back}" in run.stderr, str(run)
    assert there in run.lines[-1], "where it is now is not shown"
    assert "to continue:" not in run.stderr, "it was followed to its end"
    undone = kafka.ok("undo", "--yes")
    again = f"to continue: alter-log-dirs {topic}:0 --broker-id 1 --log-dir {here} --wait"
    assert again in undone.stderr, str(undone)

    def path() -> str:
        rows = kafka.ok("describe-log-dirs", f"{topic}:0", "--output", "json").json
        return {row["broker"]: row["path"] for row in rows if not row["future"]}[1]

    wait_for("it is back in its log directory", lambda: path() == here)
    again = kafka("undo", "--dry-run")
    assert again.status == 0 and back not in again.stdout + again.stderr, "it is marked as undone"


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        (("alter-log-dirs", "t"), 2, "--log-dir"),
        (("alter-log-dirs", "--log-dir", "/x"), 2, "TOPIC"),
        (
            ("alter-log-dirs", "no-such-topic", "--log-dir", "/x"),
            1,
            "no broker has log directory /x",
        ),
        (("describe-log-dirs", "--broker-id", "9"), 1, "broker 9 does not exist"),
        (("describe-log-dirs", "--by", "colour"), 2, "dir, broker, topic"),
        (("describe-log-dirs", "no-such-topic"), 1, "no-such-topic"),
    ],
)
def test_invalid_arguments_are_reported(
    kafka: Program, line: tuple[str, ...], status: int, said: str
) -> None:
    run = kafka(*line)
    assert run.status == status, str(run)
    assert said in run.stderr, str(run)
