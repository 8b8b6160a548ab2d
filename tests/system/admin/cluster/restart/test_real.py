"""The verdict compared with the result: a broker is stopped while producers write with acks=all."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from kafka import KafkaProducer
from kafka.errors import KafkaTimeoutError, NotEnoughReplicasError

from kafka_shell.admin.cluster import quorum
from kafka_shell.admin.cluster.restart import judge
from kafka_shell.admin.cluster.restart.judge import ClusterState, Verdict
from kafka_shell.admin.cluster.restart.read import read_state, wait_in_sync
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.metadata_scan import MetadataScan, scan
from tests.support.changes import connect, done
from tests.support.outages import frozen, processes, stopped
from tests.support.sandbox_brokers import stop_broker
from tests.support.waiting import applied, wait_for

TOPOLOGIES = 60
STOPPED = 3


def random_topics(brokers: Sequence[int]) -> list[NewTopic]:
    """A topic for each random assignment and min.insync.replicas."""
    pick = random.Random(7)
    most = min(len(brokers), 4)
    return [
        NewTopic(
            f"restart.topology-{number}",
            assignment=(tuple(pick.sample(brokers, pick.randint(1, most))),),
            configs=(("min.insync.replicas", str(pick.randint(1, 3))),),
        )
        for number in range(TOPOLOGIES)
    ]


@contextmanager
def created(cluster: Cluster, topics: Sequence[NewTopic]) -> Iterator[None]:
    """These topics, with all replicas in sync."""
    done(topic_changes.plan_create(topics), cluster)
    wait_for("all replicas are in sync", lambda: not scan(cluster).under_replicated)
    yield
    done(topic_changes.plan_delete(cluster, [topic.name for topic in topics]), cluster)


@pytest.fixture(scope="module")
def topologies(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster, created(cluster, random_topics((1, 2, 3))):
        yield cluster


def ours(partition: TopicPartition) -> bool:
    """Whether it is one of the topologies: other tests may have left topics."""
    return partition.topic.startswith("restart.topology-")


def predicted(state: ClusterState, broker: int) -> dict[str, str]:
    index = judge.Index(state)
    impact = judge.impact(state, frozenset({broker}), index.of({broker}))
    return {
        **{each.topic: "offline" for each in impact.offline if ours(each)},
        **{each.topic: "under min ISR" for each in impact.under_min_isr if ours(each)},
    }


def observed(found: MetadataScan, sandbox: Sandbox) -> dict[str, str]:
    """The topologies that have no leader, or refuse an acks=all producer."""
    failing: dict[str, str] = {}
    producer = KafkaProducer(
        bootstrap_servers=sandbox.bootstrap.split(",")[:2], acks="all", retries=0,
        request_timeout_ms=10_000, max_block_ms=10_000,
    )  # fmt: skip
    sent = {}
    for name in found.names:
        if not name.startswith("restart.topology-"):
            continue
        if found.topic(name).partitions[0].leader is None:
            failing[name] = "offline"
        else:
            sent[name] = producer.send(name, b"value")
    producer.flush(30)
    for name, future in sent.items():
        try:
            future.get(30)
        except NotEnoughReplicasError:
            failing[name] = "under min ISR"
        except KafkaTimeoutError as error:
            failing[name] = str(error)
    producer.close(timeout=5)
    return failing


def test_the_verdict_is_what_happens(topologies: Cluster, three_brokers: Sandbox) -> None:
    state = read_state(topologies, [STOPPED])
    assert not state.unread
    expected = predicted(state, STOPPED)
    assert set(expected.values()) == {"offline", "under min ISR"}
    with stopped(three_brokers, STOPPED):
        wait_for("the broker is out", lambda: is_out(topologies, STOPPED))
        (check,) = judge.check_each(read_state(topologies, [1]), [1]).checks
        quorum_too = "quorum" in {reason.check for reason in check.reasons}
        assert quorum_too, f"a voter that has just been stopped counts: {check.reasons}"
        assert observed(scan(topologies), three_brokers) == expected


def test_the_verdict_is_what_happens_while_a_broker_is_down(
    five: Cluster, five_brokers: Sandbox
) -> None:
    """Broker 4 of five is stopped, then broker 5 is killed: each verdict is that of the moment."""
    with created(five, random_topics((1, 2, 3, 4, 5))):
        first = predicted(read_state(five, [4]), 4)
        assert set(first.values()) == {"offline", "under min ISR"}
        stop_broker(five_brokers.folder, 4)
        wait_for("broker 4 is out", lambda: is_out(five, 4))
        assert observed(scan(five), five_brokers) == first

        second = first | predicted(read_state(five, [5]), 5)
        assert len(second) > len(first)
        os.kill(processes(five_brokers)[5] or 0, signal.SIGKILL)
        wait_for("broker 5 is out", lambda: is_out(five, 5))
        applied(five)  # each leader is asked
        assert observed(scan(five), five_brokers) == second


def is_out(cluster: Cluster, broker: int) -> bool:
    found = scan(cluster)
    return all(
        broker not in partition.isr or partition.leader is None
        for name in found.names
        for partition in found.topic(name).partitions
    )


def test_a_frozen_broker_counts_as_gone_before_the_cluster_knows(
    topologies: Cluster, three_brokers: Sandbox
) -> None:
    hanging, stays = sorted({1, 2, 3} - {quorum.describe(topologies).leader})
    with frozen(three_brokers, hanging):
        (check,) = judge.check_each(read_state(topologies, [stays]), [stays]).checks
        assert check.verdict is Verdict.UNSAFE
        reasons = {reason.check for reason in check.reasons}
        assert {"brokers", "quorum", "under-min-isr"} <= reasons, check.reasons
        with topologies.within(6), pytest.raises(ShellError) as caught:
            wait_in_sync(topologies, [hanging], lambda *_: None)
        assert caught.value.code == "deadline"
    back = wait_in_sync(topologies, [hanging], lambda *_: None)
    assert back.replicas > 0


def test_a_broker_that_is_not_running_is_refused(
    topologies: Cluster, three_brokers: Sandbox
) -> None:
    with pytest.raises(ShellError, match="broker 9 does not exist"):
        read_state(topologies, [9])
    with stopped(three_brokers, 1):
        wait_for("it is out", lambda: 1 not in {each.id for each in scan(topologies).brokers})
        with pytest.raises(ShellError, match="broker 1 is not running"):
            read_state(topologies, [1])
