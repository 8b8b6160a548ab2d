"""Reassignments in batches on three brokers: interrupted, continued by the same line, undone."""

from __future__ import annotations

import re
from pathlib import Path

from kafka_shell.wire.cluster import Cluster
from tests.support import reassigned_topics
from tests.support.program import Program
from tests.support.program_process import running
from tests.support.reassigned_topics import Filled, reassign, replicas
from tests.support.waiting import wait_for


def test_an_interrupted_move_in_batches_is_continued_by_the_same_line(
    kafka_on_three: Program, three: Cluster, filled: Filled, tmp_path: Path
) -> None:
    kafka, (first, second) = kafka_on_three, filled.topics(2)
    line = f"{reassign(tmp_path, [(first, 0), (second, 0)])} --batch 1"
    planned = kafka.ok(*f"{line} --dry-run".split())
    assert "2 batches" in planned.stdout, str(planned)
    with running(kafka, f"{line} --throttle 1") as run:
        wait_for("batch 1 moves", lambda: reassigned_topics.moving(three, first) == {0: (3,)}, 60)
        wait_for("it is waited for", lambda: "batch 1 of 2" in run.err or run.process.poll())
        assert run.interrupt() == 130, run
    assert "interrupted in batch 1 of 2, which continues with its throttle" in run.err
    (again,) = re.findall(r"To continue: (.*)", run.err)
    (undo,) = re.findall(r"To undo: (.*)", run.err)
    assert replicas(three, second)[0] == (1, 2), "batch 2 was started"
    reassigned_topics.release(three)
    continued = kafka.ok(stdin=f"{again.replace('--throttle 1', '--throttle 900MB/s')}\n")
    assert f"altered partition {second}:0: 1,2 -> 2,3" in continued.stdout, str(continued)
    assert f"unchanged partition {first}:0: 2,3" in continued.stderr, str(continued)
    assert [replicas(three, topic)[0] for topic in (first, second)] == [(2, 3)] * 2
    assert reassigned_topics.throttles(three, first, second) == {}
    kafka.ok(stdin=f"{undo}\n")
    reassigned_topics.release(three)  # the way back has the throttle of the move
    for topic in (first, second):
        wait_for("it is undone", lambda topic=topic: replicas(three, topic)[0] == (1, 2))


def test_a_cancelled_move_has_its_replicas_in_their_order(
    kafka_on_three: Program, three: Cluster, filled: Filled, tmp_path: Path
) -> None:
    """As the journal has it: controllers do not remember it."""
    kafka, (topic,) = kafka_on_three, filled.topics(1)
    kafka.ok(*f"{reassign(tmp_path, [(topic, 0)])} --throttle 1".split())
    wait_for("it moves", lambda: reassigned_topics.moving(three, topic) == {0: (3,)})
    cancelled = kafka.ok(*f"reassign-partitions --cancel --partitions {topic}:0".split())
    assert "order" not in cancelled.stderr, str(cancelled)
    wait_for("the order is restored", lambda: replicas(three, topic)[0] == (1, 2))
