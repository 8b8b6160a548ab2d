"""Moves in batches on three real brokers: started, waited for, continued, cancelled, undone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import pytest

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.sandbox.state import Sandbox
from tests import moving
from tests.admin.helpers import connect, wait_for
from tests.moving import Filled, placed, replicas
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


def to_2_and_3(folder: Path, *partitions: tuple[str, int]) -> str:
    """A file that moves these partitions to brokers 2 and 3."""
    rows = [{"topic": topic, "partition": each, "replicas": [2, 3]} for topic, each in partitions]
    file = folder / "wanted.json"
    file.write_text(json.dumps({"version": 1, "partitions": rows}))
    return f"reassign-partitions --reassignment-json-file {file}"


def unfinished(kafka: Program) -> list[str]:
    return [file.name for file in kafka.home.glob("state/reassignments/*-batches.json")]


def id_in(text: str) -> str:
    found = re.search(r"reassign-partitions --resume ([0-9a-f]{8})", text)
    assert found is not None, text
    return found[1]


@contextmanager
def running(kafka: Program, line: str) -> Iterator[Popen[str]]:
    """The program, with a line that takes long."""
    with Popen(
        [sys.executable, "-m", "kafka_shell", "--broker", kafka.broker, *line.split()],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=kafka.environment(),
    ) as program:  # fmt: skip
        try:
            yield program
        finally:
            program.kill()


def test_a_move_in_batches_ends_after_the_first_and_is_resumed(
    kafka: Program, cluster: Cluster, tmp_path: Path
) -> None:
    topic = placed(cluster, *[(1, 2)] * 5)
    line = to_2_and_3(tmp_path, *((topic, each) for each in range(5)))
    planned = kafka.ok(*f"{line} --batch 2 --dry-run".split())
    assert "3 batches" in planned.stdout, str(planned)
    started = kafka.ok(*f"{line} --batch 2 --throttle 50MB/s".split())
    id = id_in(started.stderr)
    wait_for("the first batch ends", lambda: replicas(cluster, topic)[:2] == [(2, 3)] * 2)
    assert replicas(cluster, topic)[2:] == [(1, 2)] * 3, "the next batch was started"
    (state,) = unfinished(kafka)
    moves = kafka.home / "state" / "reassignments" / state.replace("-batches", "-move")
    verified = kafka("verify-reassign-partitions", "--reassignment-json-file", str(moves))
    assert verified.status == 1 and verified.stdout.count("in a later batch") == 3, str(verified)
    assert f"to continue: reassign-partitions --resume {id}" in verified.stderr, str(verified)
    other = kafka("reassign-partitions", "--resume", "00000000")
    assert other.status == 1 and f"Unfinished reassignments: {id}" in other.stderr
    resumed = kafka.ok("reassign-partitions", "--resume", id)
    assert f"partition {topic}:4: 1,2 -> 2,3" in resumed.stderr
    assert f"partition {topic}:0" not in resumed.stderr, "what is done is moved again"
    assert replicas(cluster, topic) == [(2, 3)] * 5
    assert moving.throttles(cluster, topic) == {} and unfinished(kafka) == []
    assert kafka("reassign-partitions", "--resume", id).status == 1
    kafka.ok("undo", id)
    wait_for("it is undone", lambda: replicas(cluster, topic) == [(1, 2)] * 5)


def test_batches_are_waited_for_and_each_has_its_own_throttle(
    kafka: Program, cluster: Cluster, filled: Filled, tmp_path: Path
) -> None:
    """The throttle is raised while it runs, and only what moves is listed."""
    first, second = filled.topics(2)
    line = to_2_and_3(tmp_path, (first, 0), (second, 0))
    with running(kafka, f"{line} --batch 1 --throttle 1 --wait") as program:
        wait_for("the first batch moves", lambda: moving.moving(cluster, first) == {0: (3,)}, 60)
        (state,) = unfinished(kafka)
        id = state.split("-")[2]
        listed = [what for what in moving.throttles(cluster, first, second) if "replicas" in what]
        assert all(first in what for what in listed), listed
        busy = kafka("reassign-partitions", "--resume", id)
        assert busy.status == 1 and "another session" in busy.stderr, str(busy)
        assert f"--resume {id} --throttle RATE" in busy.stderr
        raised = kafka.ok("reassign-partitions", "--resume", id, "--throttle", "900MB/s")
        assert "throttled.rate: 1 -> 900MB/s" in raised.stderr.replace("1B/s", "1"), str(raised)
        out, err = program.communicate(timeout=90)
    assert program.returncode == 0, f"{out}\n{err}"
    assert [replicas(cluster, topic)[0] for topic in (first, second)] == [(2, 3)] * 2
    assert moving.throttles(cluster, first, second) == {} and unfinished(kafka) == []


@pytest.mark.parametrize("how", ["--cancel", "rollback"])
def test_what_is_cancelled_or_rolled_back_is_what_was_started(
    kafka: Program, cluster: Cluster, filled: Filled, tmp_path: Path, how: str
) -> None:
    """What somebody else moves to the same place, before its batch, goes on."""
    first, second = filled.topics(2)
    line = to_2_and_3(tmp_path, (first, 0), (second, 0))
    started = kafka.ok(*f"{line} --batch 1 --throttle 1".split())
    id = id_in(started.stderr)
    colleague = Program(tmp_path / "colleague", kafka.broker)
    colleague.ok(*f"{to_2_and_3(tmp_path, (second, 0))} --throttle 1".split())
    if how == "--cancel":
        cancelled = kafka.ok("reassign-partitions", "--cancel", "--resume", id)
        assert "1 of 2 partitions not started" in cancelled.stderr, str(cancelled)
        assert moving.moving(cluster, second) == {0: (3,)}, "that of a colleague was cancelled"
    else:
        kafka.ok("undo")
    wait_for("it is back", lambda: not moving.moving(cluster, first))
    assert set(replicas(cluster, first)[0]) == {1, 2}
    assert unfinished(kafka) == [], "the next batch can still be started"


def test_what_somebody_else_has_moved_is_left_there(
    kafka: Program, cluster: Cluster, tmp_path: Path
) -> None:
    topic = placed(cluster, *[(1, 2)] * 4)
    line = to_2_and_3(tmp_path, *((topic, each) for each in range(4)))
    id = id_in(kafka.ok(*f"{line} --batch 1".split()).stderr)
    rows = [{"topic": topic, "partition": 2, "replicas": [3, 1]}]
    (tmp_path / "other.json").write_text(json.dumps({"version": 1, "partitions": rows}))
    other = f"reassign-partitions --reassignment-json-file {tmp_path / 'other.json'} --wait"
    Program(tmp_path / "colleague", kafka.broker).ok(*other.split())
    resumed = kafka("reassign-partitions", "--resume", id)
    assert resumed.status == 1, str(resumed)
    assert f"partition {topic}:2 has replicas 3,1: somebody else has moved it" in resumed.stderr
    assert replicas(cluster, topic) == [(2, 3), (2, 3), (3, 1), (2, 3)]
