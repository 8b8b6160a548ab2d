"""Throttles on three real brokers: those of a reassignment are removed however it ends, and earlier
ones are restored."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import reassigned_topics
from tests.support.program import Program
from tests.support.reassigned_topics import LEADER_RATE, RATE, Filled, put, reassign, throttles
from tests.support.waiting import applied, wait_for

FOLLOWERS = "follower.replication.throttled.replicas"
LEADERS = "leader.replication.throttled.replicas"


def become(cluster: Cluster, topic: str, wanted: dict[str, str]) -> None:
    """A broker hears of a change a moment after it is made."""
    applied(cluster)
    assert throttles(cluster, topic) == wanted


@pytest.mark.parametrize("end", ["cancel", "finish", "raise"])
def test_what_a_throttle_replaced_is_back_after_it(
    kafka_on_three: Program, three: Cluster, filled: Filled, tmp_path: Path, end: str
) -> None:
    """A rate that is set for good, and an entry of a list."""
    kafka, (topic,) = kafka_on_three, filled.topics(1)
    put(three, ConfigResource(ResourceType.BROKER, "3"), RATE, "9000000")
    put(three, ConfigResource(ResourceType.TOPIC, topic), FOLLOWERS, "7:1")
    before = {f"broker 3 {RATE}": "9000000", f"topic {topic} {FOLLOWERS}": "7:1"}
    become(three, topic, before)
    line = reassign(tmp_path, [(topic, 0)])
    file = line.removeprefix("reassign-partitions ")
    kafka.ok(*f"{line} --throttle 1".split())
    become(three, topic, {
        f"broker 1 {LEADER_RATE}": "1",
        f"broker 2 {LEADER_RATE}": "1",
        f"broker 3 {RATE}": "1",
        f"topic {topic} {LEADERS}": "0:1,0:2",
        f"topic {topic} {FOLLOWERS}": "7:1,0:3",
    })  # fmt: skip
    if end == "finish":
        reassigned_topics.release(three)
    lines = {
        "cancel": f"reassign-partitions --cancel {file}",
        "finish": f"verify-reassign-partitions --finish {file}",
        "raise": f"{line} --additional --wait --throttle 900MB/s",
    }
    kafka.ok(*lines[end].split())
    become(three, topic, before)


def test_what_moved_without_its_shell_is_reported_and_finished_by_another(
    kafka_on_three: Program,
    three: Cluster,
    three_brokers: Sandbox,
    filled: Filled,
    tmp_path: Path,
) -> None:
    kafka, (topic,) = kafka_on_three, filled.topics(1)
    colleague = Program(tmp_path / "colleague", three_brokers.bootstrap)
    colleague.ok(*f"{reassign(tmp_path, [(topic, 0)])} --throttle 1".split())
    assert "throttle" not in kafka("verify-reassign-partitions").stdout, "it is in use"
    reassigned_topics.release(three)
    wait_for("it has moved", lambda: not reassigned_topics.moving(three, topic), 60)
    found = kafka("verify-reassign-partitions")
    assert found.status == 1 and f"topic {topic}" in found.stdout, str(found)
    assert all(f"broker {id} " in found.stdout for id in (1, 2, 3)), str(found)
    assert "leftover replication throttles" in kafka("health").stdout
    planned = kafka.ok("verify-reassign-partitions", "--finish", "--dry-run")
    assert "900MB/s -> (removed)" in planned.stdout, str(planned)
    for shell in (kafka, colleague):
        shell.ok("verify-reassign-partitions", "--finish")
        become(three, topic, {})
    assert kafka.ok("verify-reassign-partitions").stdout == ""


def test_the_same_move_by_the_planner_changes_the_throttle(
    kafka_on_three: Program, three: Cluster, three_brokers: Sandbox
) -> None:
    kafka, (topic,) = kafka_on_three, Filled(three_brokers, three, (1, 2)).topics(1)
    line = ("reassign-partitions", "--topics", topic, "--drain", "1")
    kafka.ok(*line, "--throttle", "1")
    applied(three)
    refused = kafka("reassign-partitions", "--topics", topic, "--drain", "2")
    assert refused.status == 1 and "use --additional" in refused.stderr, str(refused)
    again = kafka.ok(*line, "--throttle", "2")
    assert again.stdout.count("throttled.rate 1 -> 2") == 3, str(again)
    assert throttles(three)[f"broker 3 {RATE}"] == "2"
    assert reassigned_topics.moving(three, topic) == {0: (3,)}
    assert "nothing to change" in kafka.ok(*line).stderr, "nothing else was asked for"
