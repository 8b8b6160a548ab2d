"""`rebalance` of three real brokers: plans, moves, undo and refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.partitions import sizes, targets
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import reassigned_topics
from tests.support.changes import connect
from tests.support.program import Program
from tests.support.reassigned_topics import fill, placed, put, replicas
from tests.support.waiting import wait_for

CORDON = "cordoned.log.dirs"


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def restored(cluster: Cluster) -> Iterator[None]:
    """Whatever a test leaves, the next one does not see."""
    yield
    reassigned_topics.restore(cluster)


@pytest.fixture
def kafka(three_brokers: Sandbox, tmp_path: Path) -> Program:
    return Program(tmp_path, three_brokers.bootstrap)


@pytest.fixture
def cordoned(cluster: Cluster) -> Iterator[int]:
    """Broker 3, whose log directories accept no new replicas."""
    broker = ConfigResource(ResourceType.BROKER, "3")
    put(cluster, broker, CORDON, "*")
    wait_for("broker 3 is cordoned", lambda: sizes.read_disks(cluster, [3]).cordoned == {3})
    yield 3
    put(cluster, broker, CORDON, None)
    wait_for("broker 3 is not cordoned", lambda: not sizes.read_disks(cluster, [3]).cordoned)


def test_a_cordoned_broker_is_shown(kafka: Program, cordoned: int) -> None:
    brokers = kafka.ok("brokers", "--output", "json").json["brokers"]
    assert [each["cordoned"] for each in brokers] == [False, False, True], brokers
    (line,) = [
        line for line in kafka.ok("brokers").stdout.splitlines() if line.startswith("     3")
    ]
    assert "up, cordoned" in line
    findings = kafka("health", "--output", "json").json["findings"]
    (found,) = [each for each in findings if "cordoned" in each["summary"]]
    assert (found["severity"], found["count"]) == ("note", 2), "each has two log directories"


def test_a_rebalance_moves_and_its_undo_moves_back(
    kafka: Program, cluster: Cluster, three_brokers: Sandbox
) -> None:
    topic = placed(cluster, *[(1,)] * 6)
    for each in range(6):
        fill(three_brokers, topic, 100_000, partition=each)
    preview = kafka.ok("rebalance", "--topics", topic, "--dry-run", "--output", "json")
    figures = preview.json["figures"]
    size = next(row for row in figures if "copies" in row)
    assert size["copies"] == 4 and size["bytes"] > 300_000
    (loads,) = (row["topics"] for row in figures if "topics" in row)
    assert loads[0]["replicas_before"] == {"1": 6}
    assert loads[0]["replicas_after"] == {"1": 2, "2": 2, "3": 2}
    scores = {row["goal"]: (row["before"], row["after"]) for row in figures if "goal" in row}
    assert scores["topic-replicas"][1] < scores["topic-replicas"][0]
    assert replicas(cluster, topic) == [(1,)] * 6, "a dry run moved something"
    shown = kafka.ok("rebalance", "--topics", topic, "--dry-run")
    assert "1:6 -> 1:2 2:2 3:2" in shown.stdout, str(shown)
    run = kafka.ok("rebalance", "--topics", topic, "--throttle", "50MB/s", "--wait")
    assert run.stdout.count(f"altered partition {topic}:") == 4, str(run)
    assert Counter(each[0] for each in replicas(cluster, topic)) == {1: 2, 2: 2, 3: 2}
    assert reassigned_topics.throttles(cluster, topic) == {}
    again = kafka.ok("rebalance", "--topics", topic)
    assert "nothing to change" in again.stderr
    kafka.ok("undo", "--yes")
    wait_for("it is undone", lambda: replicas(cluster, topic) == [(1,)] * 6)


def test_only_leaders_and_limits(kafka: Program, cluster: Cluster, three_brokers: Sandbox) -> None:
    topic = placed(cluster, *[(1, 2, 3)] * 6)
    fill(three_brokers, topic, 600_000)
    words = ("rebalance", "--topics", topic, "--only-leaders", "--measure", "100ms")
    shown = kafka.ok(*words, "--dry-run")
    assert "nothing to copy" in shown.stdout, str(shown)
    kafka.ok(*words)
    now = replicas(cluster, topic)
    assert Counter(each[0] for each in now) == {1: 2, 2: 2, 3: 2}
    assert {frozenset(each) for each in now} == {frozenset((1, 2, 3))}
    skewed = placed(cluster, *[(1,)] * 6)
    for partition in range(6):
        fill(three_brokers, skewed, 100_000, partition=partition)
    for limit in (("--max-bytes", "150000"), ("--max-partitions", "1")):
        words = ("rebalance", "--topics", skewed, *limit, "--dry-run", "--output", "json")
        (size,) = (row for row in kafka.ok(*words).json["figures"] if "copies" in row)
        assert size["partitions"] == 1, f"{limit}: {size}"
    none = kafka.ok("rebalance", "--topics", skewed, "--max-bytes", "0")
    assert "nothing to change" in none.stderr


def test_a_cordoned_broker_gets_nothing_unless_forced(
    kafka: Program, cluster: Cluster, cordoned: int
) -> None:
    topic = placed(cluster, *[(1,)] * 6)
    parts = [TopicPartition(topic, each) for each in range(6)]
    wait_for("their sizes are known", lambda: len(sizes.read(cluster, parts).replicas) == 6)
    planned = kafka.ok("rebalance", "--topics", topic, "--dry-run", "--output", "json")
    (loads,) = (row["topics"] for row in planned.json["figures"] if "topics" in row)
    assert loads[0]["replicas_after"] == {"1": 3, "2": 3}
    spread = kafka.ok("reassign-partitions", "--topics", topic, "--dry-run")
    assert "broker 3 excluded (cordoned)" in spread.stdout
    moves = [row for row in spread.stdout.splitlines() if row.startswith(f"partition {topic}")]
    assert moves and {row[-1] for row in moves} == {"2"}
    for words in (("rebalance", "--brokers"), ("reassign-partitions", "--broker-list")):
        line = (*words, "2,3", "--topics", topic, "--dry-run")
        refused = kafka(*line)
        assert refused.status == 1, str(refused)
        assert "broker 3 is cordoned" in refused.stderr and "--include-cordoned" in refused.stderr
        assert kafka(*line, "--include-cordoned").status == 0


@pytest.mark.parametrize(
    ("words", "said", "status"),
    [
        (("--brokers", "9"), "broker 9 does not exist", 1),
        (("--exclude-brokers", "9"), "broker 9 does not exist", 1),
        (("--racks", "--only-leaders"), "--only-leaders", 2),
        (("--min-gain", "101"), "must be", 2),
        (("--max-bytes", "many"), "a size", 2),
    ],
)
def test_a_line_that_cannot_be_is_refused(
    kafka: Program, words: tuple[str, ...], said: str, status: int
) -> None:
    run = kafka("rebalance", *words, "--dry-run")
    assert (run.status, said in run.stderr) == (status, True), str(run)


def test_excluded_brokers_keep_their_replicas(kafka: Program, cluster: Cluster) -> None:
    topic = placed(cluster, *[(3,)] * 3, *[(1,)] * 4)
    run = kafka.ok("rebalance", "--topics", topic, "--exclude-brokers", "3", "--dry-run")
    assert "1:4 3:3 -> 1:2 2:2 3:3" in run.stdout, str(run)


def test_what_is_changed_while_it_is_measured_is_not_planned_from_the_state_before(
    kafka: Program, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its replication factor is increased: a target with the old one would remove a replica."""
    topic, own = placed(cluster, (1,), (1,), (1,)), targets.measure_writes

    def meanwhile(*given: Any) -> Any:
        kafka.ok("alter-topic", topic, "--replication-factor", "2")
        wait_for("it is done", lambda: set(map(len, replicas(cluster, topic))) == {2})
        return own(*given)

    monkeypatch.setattr(targets, "measure_writes", meanwhile)
    kafka.ok("rebalance", "--topics", topic, "--measure", "100ms", "--wait")
    assert set(map(len, replicas(cluster, topic))) == {2}
