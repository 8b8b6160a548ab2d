"""Brokers are killed or hang during a reassignment, while records are written; the shell is
interrupted.

No acknowledged record is lost, no throttle remains, and the final replicas are the planned ones.
What follows from given facts is proved in tests/pure/admin/partitions.
"""

from __future__ import annotations

from pathlib import Path

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import reassigned_topics
from tests.support.acks_all_producer import acks_all_producer
from tests.support.outages import controller, hanging, kill, start_all
from tests.support.program import Program
from tests.support.program_process import running
from tests.support.reassigned_topics import Filled, replicas
from tests.support.waiting import wait_for

BEFORE, AFTER = (4, 1, 2), (1, 2, 5)
SOURCE, DESTINATION = 4, 5  # brokers 1 to 3 are the controllers


def ended_well(cluster: Cluster, *topics: str) -> None:
    """All is at its target, and no throttle is left."""
    assert [replicas(cluster, topic)[0] for topic in topics] == [AFTER] * len(topics)
    assert reassigned_topics.throttles(cluster, *topics) == {}, "a throttle is left"


def test_all_brokers_of_a_move_are_killed_and_hang_while_it_is_waited_for(
    five_brokers: Sandbox, five: Cluster, kafka_on_five: Program, tmp_path: Path
) -> None:
    """Source, destination and controller are killed in the first batch, and then hang."""
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
        for brokers in ((SOURCE, DESTINATION), (controller(five),)):
            with hanging(five_brokers, five, *brokers):
                assert reassigned_topics.moving(five, topics[0]) == {0: (5,)}
            reassigned_topics.wait_until_up(five, 5)
        assert run.process.poll() is None, run
        reassigned_topics.release(five)
        assert run.ended(120) == 0, run
    ended_well(five, *topics)
