"""The verdict compared with the result: a broker is stopped while producers write with acks=all."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kafka import KafkaProducer
from kafka.errors import KafkaTimeoutError, NotEnoughReplicasError

from kafka_shell.admin.cluster.restart import judge
from kafka_shell.admin.cluster.restart.judge import ClusterState
from kafka_shell.admin.cluster.restart.read import read_state
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import MetadataScan, scan
from tests.support.changes import done
from tests.support.outages import processes, start_all, wait_until_back
from tests.support.sandbox_brokers import stop_broker
from tests.support.waiting import applied, wait_for

TOPOLOGIES = 60


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
        start_all(five_brokers)
        wait_until_back(five_brokers)


def is_out(cluster: Cluster, broker: int) -> bool:
    found = scan(cluster)
    return all(
        broker not in partition.isr or partition.leader is None
        for name in found.names
        for partition in found.topic(name).partitions
    )
