"""A broker is killed and comes back during a move; the shell that follows one is interrupted."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import pytest

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.sandbox.cluster import start_broker, status
from kafka_shell.sandbox.state import Sandbox
from tests import moving
from tests.admin.helpers import connect, wait_for
from tests.moving import Filled, replicas
from tests.program import Program


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture
def kafka(three_brokers: Sandbox, cluster: Cluster, tmp_path: Path) -> Iterator[Program]:
    yield Program(tmp_path / "home", three_brokers.bootstrap)
    moving.restore(cluster)


@pytest.fixture(scope="module")
def filled(three_brokers: Sandbox, cluster: Cluster) -> Filled:
    return Filled(three_brokers, cluster)


@contextmanager
def moved(kafka: Program, cluster: Cluster, topic: str, folder: Path) -> Iterator[Popen[str]]:
    """A shell that has begun to move the topic to brokers 2 and 3, at 1 B/s, and waits for it."""
    file = folder / "wanted.json"
    rows = [{"topic": topic, "partition": 0, "replicas": [2, 3]}]
    file.write_text(json.dumps({"version": 1, "partitions": rows}))
    line = f"reassign-partitions --reassignment-json-file {file} --throttle 1 --wait"
    with Popen(
        [sys.executable, "-m", "kafka_shell", "--broker", kafka.broker, *line.split()],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=kafka.environment(),
    ) as shell:  # fmt: skip
        try:
            wait_for("the move starts", lambda: moving.moving(cluster, topic) == {0: (3,)}, 60)
            wait_for("it is throttled", lambda: len(moving.throttles(cluster, topic)) == 5)
            yield shell
        finally:
            shell.kill()


def test_a_broker_is_killed_and_comes_back_during_a_move(
    three_brokers: Sandbox, cluster: Cluster, kafka: Program, filled: Filled, tmp_path: Path
) -> None:
    (topic,) = filled.topics(1)
    with moved(kafka, cluster, topic, tmp_path) as shell:
        pid = _pid(three_brokers, 3)
        assert pid is not None, "broker 3 is not up"
        try:
            os.kill(pid, signal.SIGKILL)
            wait_for("broker 3 is gone", lambda: _pid(three_brokers, 3) is None)
            assert moving.moving(cluster, topic) == {0: (3,)}, "the move ended with the broker"
            assert shell.poll() is None, f"the shell gave up: {shell.communicate()}"
        finally:
            start_broker(three_brokers.folder, 3)
        moving.wait_until_up(cluster)
        moving.release(cluster)
        out, err = shell.communicate(timeout=90)
    assert shell.returncode == 0, f"{out}\n{err}"
    assert "completed" in out, out
    assert replicas(cluster, topic)[0] == (2, 3)
    assert moving.throttles(cluster, topic) == {}, "a throttle outlived the move"


def _pid(sandbox: Sandbox, broker: int) -> int | None:
    now = status(sandbox.folder)
    assert now is not None
    return now.broker(broker).pid


def test_an_interrupted_shell_leaves_the_move_and_says_how_to_end_it(
    cluster: Cluster, kafka: Program, filled: Filled, tmp_path: Path
) -> None:
    (topic,) = filled.topics(1)
    with moved(kafka, cluster, topic, tmp_path) as shell:
        shell.send_signal(signal.SIGINT)
        _, err = shell.communicate(timeout=60)
    assert shell.returncode == 130, err
    assert "the reassignment continues, and its throttle is still set" in err
    assert moving.moving(cluster, topic) == {0: (3,)}, "the move was stopped"
    assert len(moving.throttles(cluster, topic)) == 5, "the throttle was lifted under it"
    lines = dict(re.findall(r"To (cancel it|continue): (.*)", err))
    cancel, finish = lines["cancel it"], lines["continue"]
    assert finish.startswith("verify-reassign-partitions --finish --reassignment-json-file ")
    kafka.ok(stdin=cancel + "\n")
    wait_for("it is back", lambda: replicas(cluster, topic)[0] == (1, 2))
    assert moving.throttles(cluster, topic) == {}
    verified = kafka(stdin=finish + "\n")
    assert verified.status == 1 and "failed" in verified.stdout, str(verified)


def test_a_lost_shell_is_taken_over_by_another(
    cluster: Cluster, kafka: Program, filled: Filled, tmp_path: Path
) -> None:
    (topic,) = filled.topics(1)
    with moved(kafka, cluster, topic, tmp_path) as shell:
        shell.kill()
        shell.communicate()
    moving.release(cluster)
    run = kafka.ok("verify-reassign-partitions", "--finish")
    assert replicas(cluster, topic)[0] == (2, 3), str(run)
    assert moving.throttles(cluster, topic) == {}, str(run)
