"""A broker stops and restarts during a reassignment; the shell that follows it is interrupted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.partitions.throttle_configs import LEADER_RATE, LEADER_REPLICAS
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.sandbox.state import Sandbox
from tests.support import reassigned_topics
from tests.support.outages import kill, stopped, wait_until_noticed
from tests.support.program import Program
from tests.support.program_process import Running, running
from tests.support.reassigned_topics import Filled, put, replicas
from tests.support.sandbox_brokers import start_broker
from tests.support.waiting import applied, wait_for


@contextmanager
def moved(
    kafka: Program, cluster: Cluster, topic: str, folder: Path, *, then: str = ""
) -> Iterator[Running]:
    """A shell that has begun to move the topic to brokers 2 and 3, at 1 B/s, and waits for it; then
    it runs another line, whether this one fails or not."""
    line = f"{reassigned_topics.reassign(folder, [(topic, 0)])} --throttle 1 --wait"
    with running(kafka, "--keep-going", script=f"{line}\n{then}\n") as shell:
        wait_for(
            "the move starts", lambda: reassigned_topics.moving(cluster, topic) == {0: (3,)}, 60
        )
        wait_for("it is throttled", lambda: len(reassigned_topics.throttles(cluster, topic)) == 5)
        applied(cluster)  # and the shell has its response
        yield shell


def test_a_broker_is_killed_and_comes_back_during_a_move(
    three_brokers: Sandbox, three: Cluster, kafka_on_three: Program, filled: Filled, tmp_path: Path
) -> None:
    kafka = kafka_on_three
    (topic,) = filled.topics(1)
    with moved(kafka, three, topic, tmp_path) as shell:
        try:
            kill(three_brokers, three, 3)
            assert reassigned_topics.moving(three, topic) == {0: (3,)}, (
                "the move ended with the broker"
            )
            assert shell.process.poll() is None, f"the shell gave up: {shell}"
        finally:
            start_broker(three_brokers.folder, 3)
        reassigned_topics.wait_until_up(three)
        reassigned_topics.release(three)
        assert shell.ended(90) == 0, shell
    assert "completed" in shell.out, shell
    assert replicas(three, topic)[0] == (2, 3)
    assert reassigned_topics.throttles(three, topic) == {}, "a throttle outlived the move"


def test_an_interrupted_shell_leaves_the_move_and_says_how_to_end_it(
    three: Cluster, kafka_on_three: Program, filled: Filled, tmp_path: Path
) -> None:
    kafka = kafka_on_three
    (topic,) = filled.topics(1)
    with moved(kafka, three, topic, tmp_path, then="!echo never") as shell:
        assert shell.interrupt() == 130, shell
    assert "never" not in shell.out, "the script went on after Ctrl-C"
    assert "the reassignment continues, and its throttle is still set" in shell.err
    assert reassigned_topics.moving(three, topic) == {0: (3,)}, "the move was stopped"
    assert len(reassigned_topics.throttles(three, topic)) == 5, "the throttle was lifted under it"
    lines = dict(re.findall(r"To (cancel it|continue): (.*)", shell.err))
    cancel, finish = lines["cancel it"], lines["continue"]
    assert finish.startswith("verify-reassign-partitions --finish --reassignment-json-file ")
    kafka.ok(stdin=cancel + "\n")
    wait_for("it is back", lambda: replicas(three, topic)[0] == (1, 2))
    assert reassigned_topics.throttles(three, topic) == {}
    verified = kafka(stdin=finish + "\n")
    assert verified.status == 1 and "failed" in verified.stdout, str(verified)


def test_a_lost_shell_is_taken_over_by_another(
    three: Cluster, kafka_on_three: Program, filled: Filled, tmp_path: Path
) -> None:
    kafka = kafka_on_three
    (topic,) = filled.topics(1)
    with moved(kafka, three, topic, tmp_path) as shell:
        shell.process.kill()
    reassigned_topics.release(three)
    run = kafka.ok("verify-reassign-partitions", "--finish")
    assert replicas(three, topic)[0] == (2, 3), str(run)
    assert reassigned_topics.throttles(three, topic) == {}, str(run)


def test_a_throttle_of_a_broker_that_is_down_is_not_forgotten(
    three_brokers: Sandbox, three: Cluster, kafka_on_three: Program, filled: Filled
) -> None:
    kafka = kafka_on_three
    (topic,) = filled.topics(1)
    put(three, ConfigResource(ResourceType.TOPIC, topic), LEADER_REPLICAS, "0:1,0:3")
    for broker in ("1", "3"):
        put(three, ConfigResource(ResourceType.BROKER, broker), LEADER_RATE, "1000000")
    with stopped(three_brokers, 3):
        wait_until_noticed(three, [3])
        found = kafka("verify-reassign-partitions", "--finish")
        assert found.status == 1 and "broker 3 is not running" in found.stderr, str(found)
        left = reassigned_topics.throttles(three, topic)
        assert left[f"topic {topic} {LEADER_REPLICAS}"] == "0:3", "its rate could not be read"
        assert f"broker 1 {LEADER_RATE}" not in left
        verified = kafka("verify-reassign-partitions")
        assert verified.status == 1, str(verified)
    reassigned_topics.wait_until_up(three)
    kafka.ok("verify-reassign-partitions", "--finish")
    assert reassigned_topics.throttles(three, topic) == {}
