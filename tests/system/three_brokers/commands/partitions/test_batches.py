"""Reassignments in batches on three real brokers: started, continued, canceled, undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.wire.connection import Cluster
from tests.support import reassigned_topics
from tests.support.program import Program
from tests.support.program_process import running
from tests.support.reassigned_topics import Filled, id_in, placed, reassign, replicas
from tests.support.waiting import wait_for


def unfinished(kafka: Program) -> list[str]:
    return [file.name for file in kafka.home.glob("state/reassignments/*-batches.json")]


def test_a_move_in_batches_ends_after_the_first_and_is_resumed(
    kafka_on_three: Program, three: Cluster, tmp_path: Path
) -> None:
    kafka = kafka_on_three
    topic = placed(three, *[(1, 2)] * 5)
    line = reassign(tmp_path, [(topic, each) for each in range(5)])
    planned = kafka.ok(*f"{line} --batch 2 --dry-run".split())
    assert "3 batches" in planned.stdout, str(planned)
    started = kafka.ok(*f"{line} --batch 2 --throttle 50MB/s".split())
    id = id_in(started.stderr)
    assert "started: 2 partitions; 3 more in later batches" in started.stdout, str(started)
    wait_for("the first batch ends", lambda: replicas(three, topic)[:2] == [(2, 3)] * 2)
    assert replicas(three, topic)[2:] == [(1, 2)] * 3, "the next batch was started"
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
    assert replicas(three, topic) == [(2, 3)] * 5
    assert reassigned_topics.throttles(three, topic) == {} and unfinished(kafka) == []
    assert kafka("reassign-partitions", "--resume", id).status == 1
    kafka.ok("undo", id)
    wait_for("it is undone", lambda: replicas(three, topic) == [(1, 2)] * 5)


def test_batches_are_waited_for_and_each_has_its_own_throttle(
    kafka_on_three: Program, three: Cluster, filled: Filled, tmp_path: Path
) -> None:
    """The throttle is raised while it runs, and only what moves is listed."""
    kafka = kafka_on_three
    first, second = filled.topics(2)
    line = reassign(tmp_path, [(first, 0), (second, 0)])
    with running(kafka, f"{line} --batch 1 --throttle 1 --wait") as run:
        wait_for(
            "the first batch moves", lambda: reassigned_topics.moving(three, first) == {0: (3,)}, 60
        )
        (state,) = unfinished(kafka)
        id = state.split("-")[2]
        listed = [
            what for what in reassigned_topics.throttles(three, first, second) if "replicas" in what
        ]
        assert all(first in what for what in listed), listed
        busy = kafka("reassign-partitions", "--resume", id)
        assert busy.status == 1 and "another session" in busy.stderr, str(busy)
        assert f"--resume {id} --throttle RATE" in busy.stderr
        raised = kafka.ok("reassign-partitions", "--resume", id, "--throttle", "900MB/s")
        assert "throttled.rate: 1 -> 900MB/s" in raised.stderr.replace("1B/s", "1"), str(raised)
        assert run.ended(90) == 0, run
    assert [replicas(three, topic)[0] for topic in (first, second)] == [(2, 3)] * 2
    assert reassigned_topics.throttles(three, first, second) == {} and unfinished(kafka) == []


@pytest.mark.parametrize("how", ["--cancel", "rollback"])
def test_what_is_cancelled_or_rolled_back_is_what_was_started(
    kafka_on_three: Program, three: Cluster, filled: Filled, tmp_path: Path, how: str
) -> None:
    """What somebody else moves to the same place, before its batch, goes on."""
    kafka = kafka_on_three
    first, second = filled.topics(2)
    line = reassign(tmp_path, [(first, 0), (second, 0)])
    started = kafka.ok(*f"{line} --batch 1 --throttle 1".split())
    id = id_in(started.stderr)
    colleague = Program(tmp_path / "colleague", kafka.broker)
    colleague.ok(*f"{reassign(tmp_path, [(second, 0)])} --throttle 1".split())
    if how == "--cancel":
        cancelled = kafka.ok("reassign-partitions", "--cancel", "--resume", id)
        assert "1 of 2 partitions not started" in cancelled.stderr, str(cancelled)
        assert reassigned_topics.moving(three, second) == {0: (3,)}, (
            "that of a colleague was cancelled"
        )
    else:
        kafka.ok("undo", "--yes")
    wait_for("it is back", lambda: not reassigned_topics.moving(three, first))
    assert set(replicas(three, first)[0]) == {1, 2}
    assert unfinished(kafka) == [], "the next batch can still be started"


@pytest.mark.parametrize("batches", ["", "--batch 1"])
def test_a_cancelled_move_has_its_replicas_in_their_order(
    kafka_on_three: Program, three: Cluster, filled: Filled, tmp_path: Path, batches: str
) -> None:
    """Found by its partitions, or by its recorded file."""
    kafka, (first, second) = kafka_on_three, filled.topics(2)
    kafka.ok(*f"{reassign(tmp_path, [(first, 0), (second, 0)])} {batches} --throttle 1".split())
    wait_for("it moves", lambda: reassigned_topics.moving(three, first) == {0: (3,)})
    (recorded,) = kafka.home.glob("state/reassignments/*-move.json")
    subject = f"--partitions {first}:0 --partitions {second}:0"
    subject = f"--reassignment-json-file {recorded}" if batches else subject
    cancelled = kafka.ok(*f"reassign-partitions --cancel {subject}".split())
    assert "order" not in cancelled.stderr, str(cancelled)
    for topic in (first, second):
        wait_for("the order is restored", lambda topic=topic: replicas(three, topic)[0] == (1, 2))
