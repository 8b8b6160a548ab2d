"""Brokers are killed or hang during a reassignment, while records are written; the shell is
interrupted.

No acknowledged record is lost, no throttle remains, and the final replicas are the planned ones.
What follows from given facts is proved in tests/pure/admin/partitions.
"""

from __future__ import annotations

import re
from pathlib import Path

from kafka_shell.admin.partitions.batches import problem
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import reassigned_topics
from tests.support.acks_all_producer import acks_all_producer
from tests.support.faults import timed
from tests.support.outages import kill, wait_until_back
from tests.support.program import Program
from tests.support.program_process import running
from tests.support.reassigned_topics import Filled, replicas
from tests.support.sandbox_brokers import start_broker
from tests.support.waiting import applied, wait_for


def test_the_destination_is_killed_and_its_throttle_is_removed_when_it_is_back(
    three_brokers: Sandbox, three: Cluster, kafka_on_three: Program, filled: Filled, tmp_path: Path
) -> None:
    kafka, topics = kafka_on_three, filled.topics(2)
    line = reassigned_topics.reassign(tmp_path, [(topic, 0) for topic in topics])
    line = f"{line} --batch 1 --throttle 1"
    waiting = "waiting for broker 3, which is down (1 partition)"
    with acks_all_producer(three_brokers, *topics), running(kafka, line) as run:
        wait_for("batch 1 moves", lambda: reassigned_topics.moving(three, topics[0]) != {}, 60)
        try:
            kill(three_brokers, three, 3)
            waits = kafka("verify-reassign-partitions")
            assert "waiting for broker 3, which is down" in waits.stdout, str(waits)
            wanted = {TopicPartition(topics[1], 0): (2, 3)}
            assert problem(three, wanted, frozenset()) == "broker 3 is down"
            assert "broker 3 excluded (not running)" in kafka.ok("rebalance", "--dry-run").stdout
            assert run.process.poll() is None, run
            assert run.interrupt() == 130, run
            ended, took = timed(kafka, *line.split(), "--deadline", "6s")
            assert ended.status == 1 and took < 20, f"{took:.1f} s: {ended}"
            assert waiting in ended.stderr, str(ended)
            cancelled = kafka.ok("reassign-partitions", "--cancel", "--topics", topics[0])
            assert (
                "broker 3 is down: its throttle remains set until the broker is up"
                in cancelled.stderr
            )
            left = kafka("verify-reassign-partitions")
            assert (
                left.status == 1
                and "broker 3 is down; --finish removes the throttle" in left.stdout
            )
            assert "leftover throttles on brokers that are down" in kafka("health").stdout
        finally:
            start_broker(three_brokers.folder, 3)
        wait_until_back(three_brokers)
    kafka.ok("verify-reassign-partitions", "--finish")
    assert kafka.ok("verify-reassign-partitions").stdout == "", "a throttle is left"
    assert reassigned_topics.throttles(three, *topics) == {}, "a throttle is left"


def test_a_throttle_is_set_without_a_broker_that_has_just_died(
    three_brokers: Sandbox, three: Cluster, kafka_on_three: Program, filled: Filled, tmp_path: Path
) -> None:
    """The cluster does not know yet that the source is dead: the move continues from the other
    replica, and no throttle is left."""
    kafka, (topic,) = kafka_on_three, filled.topics(1)
    line = reassigned_topics.reassign(tmp_path, [(topic, 0)])
    try:
        kill(three_brokers, three, 1, noticed=False)
        begun = kafka(*f"{line} --throttle 900MB/s --wait".split())
        assert begun.status == 0, str(begun)
        assert "broker 1" not in begun.stderr, str(begun)
    finally:
        start_broker(three_brokers.folder, 1)
    assert replicas(three, topic)[0] == (2, 3)
    assert reassigned_topics.throttles(three, topic) == {}, "a throttle is left"
    wait_until_back(three_brokers)


def test_an_interrupted_shell_leaves_the_move_and_says_how_to_end_it(
    three: Cluster, kafka_on_three: Program, filled: Filled, tmp_path: Path
) -> None:
    kafka = kafka_on_three
    (topic,) = filled.topics(1)
    line = f"{reassigned_topics.reassign(tmp_path, [(topic, 0)])} --throttle 1 --wait"
    with running(kafka, "--keep-going", script=f"{line}\n!echo never\n") as shell:
        wait_for("it moves", lambda: reassigned_topics.moving(three, topic) == {0: (3,)}, 60)
        wait_for("it is throttled", lambda: len(reassigned_topics.throttles(three, topic)) == 5)
        applied(three)  # and the shell has its response
        assert shell.interrupt() == 130, shell
    assert "never" not in shell.out, "the script went on after Ctrl-C"
    assert "the reassignment continues, and its throttle is still set" in shell.err
    assert reassigned_topics.moving(three, topic) == {0: (3,)}, "the move was stopped"
    assert len(reassigned_topics.throttles(three, topic)) == 5, "the throttle was lifted under it"
    lines = dict(re.findall(r"To (undo|continue): (.*)", shell.err))
    assert lines["continue"].startswith("verify-reassign-partitions --finish")
    kafka.ok(stdin=lines["undo"] + "\n")
    wait_for("it is back", lambda: replicas(three, topic)[0] == (1, 2))
    assert reassigned_topics.throttles(three, topic) == {}
    verified = kafka(stdin=lines["continue"] + "\n")
    assert verified.status == 1 and "failed" in verified.stdout, str(verified)
