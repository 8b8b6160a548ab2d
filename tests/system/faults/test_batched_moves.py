"""Brokers and the shell are killed or frozen during a reassignment in batches, while records are
written.

No acknowledged record is lost, no throttle remains, and the final replicas are the planned ones.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_shell.admin.partitions import batched, stalls
from kafka_shell.admin.partitions.batch_health import below_min_isr, problem
from kafka_shell.admin.partitions.batch_state import Batch
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.reassignment_files import MovePaths
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.commands.partitions.batch_store import BatchFile
from kafka_shell.sandbox.state import Sandbox
from tests.support import reassigned_topics
from tests.support.acks_all_producer import acks_all_producer
from tests.support.changes import connect
from tests.support.faults import timed
from tests.support.outages import (
    controller,
    hang,
    hanging,
    kill,
    start_all,
    wait_until_back,
    wait_until_healthy,
    wait_until_noticed,
    wake,
)
from tests.support.program import Program
from tests.support.program_process import running
from tests.support.reassigned_topics import Filled, replicas
from tests.support.sandbox_brokers import start_broker
from tests.support.waiting import applied, wait_for

BEFORE, AFTER = (4, 1, 2), (1, 2, 5)
SOURCE, DESTINATION = 4, 5  # brokers 1 to 3 are the controllers


def started(kafka: Program, cluster: Cluster, line: str, topic: str) -> str:
    """The ID of the reassignment of a line, whose first batch, of this topic, is held."""
    id = reassigned_topics.id_in(kafka.ok(*line.split()).stderr)
    wait_for("the first batch moves", lambda: reassigned_topics.moving(cluster, topic) != {})
    return id


def moves_now(kafka: Program) -> bool:
    """Whether a session moves the batches."""
    (paths,) = MovePaths.unfinished(kafka.home / "state" / "reassignments")
    return BatchFile(paths).in_use


def ended_well(kafka: Program, cluster: Cluster, *topics: str) -> None:
    """All is at its target, and no throttle and no state is left."""
    assert [replicas(cluster, topic)[0] for topic in topics] == [AFTER] * len(topics)
    assert reassigned_topics.throttles(cluster, *topics) == {}, "a throttle is left"
    assert not list(kafka.home.glob("state/reassignments/*-batches.json"))


# -- on five brokers -------------------------------------------------------------------------------


def test_all_brokers_of_a_move_are_killed_and_hang_while_it_is_waited_for(
    five_brokers: Sandbox, five: Cluster, kafka_on_five: Program, tmp_path: Path
) -> None:
    """Source, destination and controller are killed in the first batch, and hang in the second."""
    kafka, topics = kafka_on_five, Filled(five_brokers, five, BEFORE, min_isr=2).topics(2)
    line = reassigned_topics.reassign(tmp_path, [(topic, 0) for topic in topics], AFTER)
    with (
        acks_all_producer(five_brokers, *topics),
        running(kafka, f"{line} --batch 1 --throttle 1 --wait") as run,
    ):
        wait_for(
            "batch 1 moves", lambda: reassigned_topics.moving(five, topics[0]) == {0: (5,)}, 60
        )
        for brokers in ((SOURCE, DESTINATION), (controller(five),)):
            kill(five_brokers, five, *brokers)
            assert reassigned_topics.moving(five, topics[0]) == {0: (5,)}
            start_all(five_brokers)
            reassigned_topics.wait_until_up(five, 5)
        assert run.process.poll() is None, run
        reassigned_topics.release(five)
        wait_for(
            "batch 2 moves", lambda: reassigned_topics.moving(five, topics[1]) == {0: (5,)}, 60
        )
        assert replicas(five, topics[0])[0] == AFTER
        for brokers in ((SOURCE, DESTINATION), (controller(five),)):
            with hanging(five_brokers, five, *brokers):
                assert reassigned_topics.moving(five, topics[1]) == {0: (5,)}
            reassigned_topics.wait_until_up(five, 5)
        assert run.process.poll() is None, run
        reassigned_topics.release(five)
        assert run.ended(120) == 0, run
    ended_well(kafka, five, *topics)


def test_all_brokers_of_a_move_hang_and_are_killed_and_the_terminal_is_lost_while_it_is_resumed(
    five_brokers: Sandbox, five: Cluster, kafka_on_five: Program, tmp_path: Path
) -> None:
    """Source, destination and controller hang, the terminal is lost, and then they are killed."""
    kafka, topics = kafka_on_five, Filled(five_brokers, five, BEFORE, min_isr=2).topics(2)
    line = reassigned_topics.reassign(tmp_path, [(topic, 0) for topic in topics], AFTER)
    with acks_all_producer(five_brokers, *topics):
        id = started(kafka, five, f"{line} --batch 1 --throttle 1", topics[0])
        with running(kafka, f"reassign-partitions --resume {id}") as run:
            wait_for("it is resumed", lambda: moves_now(kafka))
            for brokers in ((SOURCE, DESTINATION), (controller(five),)):
                with hanging(five_brokers, five, *brokers):
                    assert run.process.poll() is None, run
                reassigned_topics.wait_until_up(five, 5)
            run.process.send_signal(signal.SIGHUP)
            assert run.ended() == -signal.SIGHUP, run
        with running(kafka, f"reassign-partitions --resume {id}") as run:
            wait_for("it is resumed again", lambda: moves_now(kafka))
            for brokers in ((SOURCE, DESTINATION), (controller(five),)):
                kill(five_brokers, five, *brokers)
                assert run.process.poll() is None, run
                start_all(five_brokers)
                reassigned_topics.wait_until_up(five, 5)
            kafka.ok("reassign-partitions", "--resume", id, "--throttle", "900MB/s")
            assert run.ended(120) == 0, run
    ended_well(kafka, five, *topics)


def test_all_brokers_of_a_move_are_killed_and_hang_between_two_batches(
    five_brokers: Sandbox,
    five: Cluster,
    kafka_on_five: Program,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before each of four batches: the cluster does not know yet, or they were up in the check."""
    kafka = kafka_on_five
    topic = reassigned_topics.placed(five, *[BEFORE] * 5, configs=(("min.insync.replicas", "2"),))
    faults = Faults(five_brokers, five, topic)
    monkeypatch.setattr(batched, "problem", faults.before_a_batch)
    line = reassigned_topics.reassign(tmp_path, [(topic, number) for number in range(5)], AFTER)
    with acks_all_producer(five_brokers, topic):
        try:
            run = kafka(*f"{line} --batch 1 --throttle 900MB/s --wait".split())
        finally:
            faults.over()
        assert run.status == 0, str(run)
    assert faults.done == [2, 3, 4, 5], "the gaps before these batches"
    assert replicas(five, topic) == [AFTER] * 5
    ended_well(kafka, five, topic)


class Faults:
    """Between batches, first source and destination and then the controller are killed, and then
    hang. They are back soon after the cluster knows."""

    _AFTER_THE_CHECK = 4  # the batch that is started although the cluster knows of a fault

    def __init__(self, sandbox: Sandbox, cluster: Cluster, topic: str) -> None:
        self._sandbox, self._cluster, self._topic = sandbox, cluster, topic
        self._recovery = threading.Thread()
        self.done: list[int] = []

    def before_a_batch(
        self, cluster: Cluster, batch: Batch, known: frozenset[TopicPartition]
    ) -> str:
        """What is asked before a batch is started. Another fault, when it is first asked."""
        if batch.number not in self.done:
            self.over()
            self.done.append(batch.number)
            alone = batch.number % 2
            brokers = (controller(self._cluster),) if alone else (SOURCE, DESTINATION)
            if batch.number < 4:
                kill(self._sandbox, self._cluster, *brokers, noticed=False)
            else:
                hang(self._sandbox, *brokers)
            late = batch.number == self._AFTER_THE_CHECK
            if late:
                wait_until_noticed(self._cluster, brokers)
            self._recovery = threading.Thread(target=self._recover, args=(brokers, late))
            self._recovery.start()
            if late:
                return ""
        return problem(cluster, batch, known)

    def _recover(self, brokers: Sequence[int], late: bool) -> None:
        with connect(self._sandbox) as cluster:
            wait_until_noticed(cluster, brokers)
            if late:
                wait_for(
                    "the batch is started",
                    lambda: reassigned_topics.moving(cluster, self._topic) != {},
                )
        wake(self._sandbox, *brokers)
        start_all(self._sandbox)

    def over(self) -> None:
        """Wait until all brokers are back."""
        if self._recovery.ident is not None:
            self._recovery.join()
            reassigned_topics.wait_until_up(self._cluster, 5)


# -- on three brokers ------------------------------------------------------------------------------


def test_it_pauses_while_partitions_are_below_min_insync_replicas(
    three_brokers: Sandbox, three: Cluster, kafka_on_three: Program, filled: Filled, tmp_path: Path
) -> None:
    kafka, topics = kafka_on_three, filled.topics(2)
    reassigned_topics.delete_others(three, topics)
    other = reassigned_topics.placed(three, (3, 2), configs=(("min.insync.replicas", "2"),))
    wait_until_healthy(
        three, checks=("under-replicated",)
    )  # what another test stopped has caught up
    line = reassigned_topics.reassign(tmp_path, [(topic, 0) for topic in topics], (1, 3))
    try:
        with running(kafka, f"{line} --batch 1 --throttle 1 --wait --deadline 40s") as run:
            wait_for(
                "batch 1 moves", lambda: reassigned_topics.moving(three, topics[0]) == {0: (3,)}, 60
            )
            old = scan(three)
            kill(three_brokers, three, 2)
            applied(three)  # every broker shows it
            below = below_min_isr(three, old)  # as a broker with old metadata answers
            assert below == {TopicPartition(other, 0)}, "a leader knows it"
            reassigned_topics.release(three)
            assert run.ended() == 1, run
    finally:
        start_broker(three_brokers.folder, 2)
    why = f"not started: 1 partition below min.insync.replicas: {other}:0"
    assert f"paused at batch 2 of 2: {why}\n" in run.err, run
    assert [replicas(three, topic)[0] for topic in topics] == [(1, 3), (1, 2)]
    reassigned_topics.wait_until_up(three)
    kept = {"broker 2 leader.replication.throttled.rate": "1"}
    assert reassigned_topics.throttles(three, *topics) == kept, "that of the broker that was down"
    id = reassigned_topics.id_in(run.err)
    kafka.ok("reassign-partitions", "--resume", id, "--throttle", "900MB/s")
    assert [replicas(three, topic)[0] for topic in topics] == [(1, 3)] * 2
    assert reassigned_topics.throttles(three, *topics) == {}, "a throttle is left"
    wait_until_back(three_brokers)


def test_the_destination_is_killed_and_its_throttle_is_lifted_when_it_is_back(
    three_brokers: Sandbox,
    three: Cluster,
    kafka_on_three: Program,
    filled: Filled,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kafka, topics = kafka_on_three, filled.topics(2)
    line = reassigned_topics.reassign(tmp_path, [(topic, 0) for topic in topics])
    with acks_all_producer(three_brokers, *topics):
        id = started(kafka, three, f"{line} --batch 1 --throttle 1", topics[0])
        try:
            kill(three_brokers, three, 3)
            waits = kafka("verify-reassign-partitions")
            assert "waiting for broker 3, which is down" in waits.stdout, str(waits)
            batch = Batch(2, {TopicPartition(topics[1], 0): (2, 3)})
            assert problem(three, batch, frozenset()) == "broker 3 is down"
            balanced = kafka.ok("rebalance", "--dry-run")
            assert "broker 3 left out: not running" in balanced.stdout
            planned = kafka.ok("reassign-partitions", "--resume", id, "--dry-run")
            assert "2.9 MiB to move" in planned.stdout, str(planned)
            (row,) = [line for line in planned.lines if line.split()[:1] == ["3"]]
            assert row.split()[-2:] == ["2.9", "MiB"], str(planned)
            with monkeypatch.context() as patch:
                patch.setattr(batched, "_PATIENCE_S", 2.0)  # not a minute
                paused, took = timed(kafka, "reassign-partitions", "--resume", id)
            assert paused.status == 1 and took < 20, f"{took:.1f} s: {paused}"
            why = "paused at batch 1 of 2: waiting for broker 3, which is down (1 partition)"
            assert why in paused.stderr, str(paused)
            ended, took = timed(kafka, "reassign-partitions", "--resume", id, "--deadline", "6s")
            assert ended.status == 1 and took < 20, f"{took:.1f} s: {ended}"
            assert "waiting for broker 3, which is down (1 partition)" in ended.stderr
            assert f"reassign-partitions --cancel --partitions {topics[0]}:0" in ended.stderr
            assert f"To cancel it: reassign-partitions --cancel --resume {id}\n" in ended.stderr
            retarget = f"reassign-partitions --drain 3 --partitions {topics[0]}:0 --additional"
            assert retarget in ended.stderr, str(ended)
            cancelled = kafka.ok("reassign-partitions", "--cancel", "--resume", id)
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
            with running(kafka, "verify-reassign-partitions --finish") as finish:
                start_broker(three_brokers.folder, 3)
                assert finish.ended(90) == 0, finish
        finally:
            start_broker(three_brokers.folder, 3)
        assert kafka.ok("verify-reassign-partitions").stdout == "", "a throttle is left"
        assert reassigned_topics.throttles(three, *topics) == {}, "a throttle is left"
    wait_until_back(three_brokers)


def test_a_throttle_is_set_without_a_broker_that_has_just_died(
    three_brokers: Sandbox, three: Cluster, kafka_on_three: Program, filled: Filled, tmp_path: Path
) -> None:
    """The cluster does not know yet that the source is dead; the move goes on from the other
    replica, and says that the throttle of the source is still set."""
    kafka, (topic,) = kafka_on_three, filled.topics(1)
    line = reassigned_topics.reassign(tmp_path, [(topic, 0)])
    try:
        kill(three_brokers, three, 1, noticed=False)
        begun = kafka(*f"{line} --throttle 900MB/s --wait".split())
        assert begun.status == 0, str(begun)
        assert "broker 1" not in begun.stderr.partition("Apply")[2], str(begun)
    finally:
        start_broker(three_brokers.folder, 1)
    assert replicas(three, topic)[0] == (2, 3)
    assert reassigned_topics.throttles(three, topic) == {}, "a throttle is left"
    wait_until_back(three_brokers)


def test_a_move_that_stalls_while_all_brokers_are_up_is_named(
    three: Cluster,
    kafka_on_three: Program,
    filled: Filled,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Somebody has set the rate of the source to 0."""
    kafka, (topic,) = kafka_on_three, filled.topics(1)
    kafka.ok(*f"{reassigned_topics.reassign(tmp_path, [(topic, 0)])} --throttle 1".split())
    wait_for("it moves", lambda: reassigned_topics.moving(three, topic) == {0: (3,)})
    reassigned_topics.release(three, 0)
    monkeypatch.setattr(stalls, "_QUIET_S", 0.5)  # not a minute
    (file,) = kafka.home.glob("state/reassignments/*-move.json")
    finish = ("verify-reassign-partitions", "--finish", "--deadline", "12s")
    ended = kafka(*finish, "--reassignment-json-file", str(file))
    assert ended.status == 1, str(ended)
    reason = "nothing is being copied to broker 3, which is up (1 partition)"
    assert f"deadline exceeded: {reason}" in ended.stderr, str(ended)
    assert f"reassign-partitions --cancel --partitions {topic}:0" in ended.stderr
    throttle = "describe-configs --broker-id 3 leader.replication.throttled.rate"
    assert throttle in ended.stderr, str(ended)
    anybody = kafka(*finish)
    assert f"deadline exceeded: {reason}" in anybody.stderr, str(anybody)
    assert "--cancel" not in anybody.stderr, "it may be the move of somebody else"
