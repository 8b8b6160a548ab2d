"""A reassignment that is followed in the background of the prompt, on three real brokers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.reassignment import plan_cancel
from kafka_shell.base.plans import apply
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import reassigned_topics
from tests.support.changes import connect
from tests.support.reassigned_topics import MB, fill, placed, replicas
from tests.support.terminal import Open, Terminal


def named(sandbox: Sandbox) -> str:
    """How the prompt names a cluster without a profile."""
    return f"{sandbox.bootstrap.partition(',')[0]},..."


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture
def topic(cluster: Cluster, three_brokers: Sandbox) -> Iterator[str]:
    topic = placed(cluster, (1, 2))
    fill(three_brokers, topic, 4 * MB)
    yield topic
    apply(plan_cancel(cluster, [TopicPartition(topic, 0)]), cluster)


@pytest.fixture
def move(
    open_terminal: Open, three_brokers: Sandbox, topic: str, tmp_path: Path
) -> Callable[[str], Terminal]:
    """Begins to move the topic at a prompt, under a throttle, and sees it in the toolbar."""

    def begin(throttle: str) -> Terminal:
        rows = [{"topic": topic, "partition": 0, "replicas": [2, 3]}]
        file = tmp_path / "f.json"
        file.write_text(json.dumps({"version": 1, "partitions": rows}))
        shell = open_terminal("--broker", three_brokers.bootstrap, columns=150)
        shell.sees("3 brokers", "as of")
        shell.type(f"reassign-partitions --reassignment-json-file {file} --throttle {throttle}")
        shell.press("enter")
        shell.sees(f"Reassign 1 partition on {named(three_brokers)}? [y/N]")
        shell.type("y")
        shell.press("enter")
        shell.sees("undo: reassign-partitions", "Moving 1 partition")
        return shell

    return begin


def test_the_prompt_tells_how_far_a_move_is_and_lifts_its_throttle_at_the_end(
    move: Callable[[str], Terminal], cluster: Cluster, topic: str
) -> None:
    shell = move("1MB/s")
    shell.sees("to continue: verify-reassign-partitions --finish")
    shell.run("topics nope*")  # the prompt is there for other things
    shell.sees("note: done: reassign-partitions")
    assert replicas(cluster, topic) == [(2, 3)]
    assert reassigned_topics.throttles(cluster, topic) == {}
    shell.misses("Moving 1 partition")
    shell.run("journal --last 1 --output json | grep throttled")
    shell.at_prompt()
    shell.sees("follower.replication.throttled")
    shell.press("c-d")
    assert shell.ends() == 0
    assert "still under way" not in shell.everything


def test_a_prompt_that_is_left_says_how_to_go_on(
    move: Callable[[str], Terminal],
    cluster: Cluster,
    three_brokers: Sandbox,
    topic: str,
    sandbox: Sandbox,
) -> None:
    shell = move("100kB/s")
    shell.at_prompt()
    shell.run(f"connect {sandbox.bootstrap}")
    shell.sees(f"{named(three_brokers)}: Moving 1 partition")
    shell.at_prompt()
    shell.press("c-d")
    assert shell.ends() == 0
    left = shell.everything.replace("\n", "")
    assert "still running, to resume: verify-reassign-partitions --finish" in left
    assert f".json --broker {three_brokers.bootstrap}" in left
    assert reassigned_topics.moving(cluster, topic) == {0: (3,)}
    assert reassigned_topics.throttles(cluster, topic), "a move under way lost its throttle"
