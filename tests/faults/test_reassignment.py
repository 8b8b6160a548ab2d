"""A broker is killed and comes back during a move; the shell that follows one is interrupted."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.reassignment import plan_cancel
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.plan.apply import apply
from kafka_shell.sandbox.cluster import start_broker, status
from kafka_shell.sandbox.state import Sandbox
from tests import moving
from tests.admin.helpers import connect, wait_for
from tests.moving import MB, fill, placed, replicas
from tests.program import Program


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture
def kafka(three_brokers: Sandbox, tmp_path: Path) -> Program:
    return Program(tmp_path / "home", three_brokers.bootstrap)


def to_broker_3(topic: str, folder: Path) -> str:
    """A file that moves the topic's only partition from 1,2 to 2,3."""
    path = folder / "wanted.json"
    rows = [{"topic": topic, "partition": 0, "replicas": [2, 3]}]
    path.write_text(json.dumps({"version": 1, "partitions": rows}))
    return str(path)


def started(kafka: Program, *argv: str) -> subprocess.Popen[str]:
    """The program, running."""
    return subprocess.Popen(
        [sys.executable, "-m", "kafka_shell", "--broker", kafka.broker, *argv],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=kafka.environment(),
    )  # fmt: skip


def test_a_broker_is_killed_and_comes_back_during_a_move(
    three_brokers: Sandbox, cluster: Cluster, kafka: Program, tmp_path: Path
) -> None:
    topic = placed(cluster, (1, 2))
    fill(three_brokers, topic, 12 * MB)
    words = ("reassign-partitions", "--reassignment-json-file", to_broker_3(topic, tmp_path))
    shell = started(kafka, *words, "--throttle", "1MB/s", "--wait")
    wait_for("the move starts", lambda: moving.moving(cluster, topic) == {0: (3,)})
    pid = _pid(three_brokers, 3)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    try:
        wait_for("it is gone", lambda: _pid(three_brokers, 3) is None)
        assert moving.moving(cluster, topic) == {0: (3,)}, "the move ended with the broker"
        assert shell.poll() is None, f"the shell gave up: {shell.communicate()}"
    finally:
        start_broker(three_brokers.folder, 3)
    out, err = shell.communicate(timeout=90)
    assert shell.returncode == 0, f"{out}\n{err}"
    assert "completed" in out, out
    assert replicas(cluster, topic) == [(2, 3)]
    assert moving.throttles(cluster, topic) == {}, "a throttle outlived the move"


def _pid(sandbox: Sandbox, broker: int) -> int | None:
    now = status(sandbox.folder)
    assert now is not None
    return now.broker(broker).pid


def test_an_interrupted_shell_leaves_the_move_and_says_how_to_end_it(
    three_brokers: Sandbox, cluster: Cluster, kafka: Program, tmp_path: Path
) -> None:
    topic = placed(cluster, (1, 2))
    fill(three_brokers, topic, 6 * MB)
    words = ("reassign-partitions", "--reassignment-json-file", to_broker_3(topic, tmp_path))
    shell = started(kafka, *words, "--throttle", "300kB/s", "--wait")
    try:
        wait_for("the move starts", lambda: moving.moving(cluster, topic) == {0: (3,)})
        wait_for("it is throttled", lambda: len(moving.throttles(cluster, topic)) == 5)
        shell.send_signal(signal.SIGINT)
        _, err = shell.communicate(timeout=30)
        assert shell.returncode == 130, err
        assert "the move goes on, and its throttle stays" in err
        assert moving.moving(cluster, topic) == {0: (3,)}, "the move was stopped"
        assert len(moving.throttles(cluster, topic)) == 5, "the throttle was lifted under it"
        lines = dict(re.findall(r"To (cancel it|go on): (.*)", err))
        cancel, finish = lines["cancel it"], lines["go on"]
        assert finish.startswith("verify-reassign-partitions --finish --reassignment-json-file ")
        kafka.ok(stdin=cancel + "\n")
        wait_for("it is back", lambda: replicas(cluster, topic) == [(1, 2)])
        assert moving.throttles(cluster, topic) == {}
        verified = kafka(stdin=finish + "\n")
        assert verified.status == 1 and "failed" in verified.stdout, str(verified)
    finally:
        apply(plan_cancel(cluster, [TopicPartition(topic, 0)]), cluster)


def test_a_lost_shell_is_taken_over_by_another(
    three_brokers: Sandbox, cluster: Cluster, kafka: Program, tmp_path: Path
) -> None:
    topic = placed(cluster, (1, 2))
    fill(three_brokers, topic, 6 * MB)
    words = ("reassign-partitions", "--reassignment-json-file", to_broker_3(topic, tmp_path))
    shell = started(kafka, *words, "--throttle", "1MB/s", "--wait")
    wait_for("it is throttled", lambda: len(moving.throttles(cluster, topic)) == 5)
    wait_for("the move starts", lambda: moving.moving(cluster, topic) == {0: (3,)})
    shell.kill()
    shell.communicate()
    run = kafka.ok("verify-reassign-partitions", "--finish")
    assert replicas(cluster, topic) == [(2, 3)], str(run)
    assert moving.throttles(cluster, topic) == {}, str(run)
