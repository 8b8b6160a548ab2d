"""Topics with data for reassignments. A throttle of 1 B/s keeps a reassignment from ending."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.reassignment import plan_cancel, plan_move
from kafka_shell.base.plans import apply
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan
from tests.support.changes import described, make_topic
from tests.support.waiting import applied, wait_for

MB = 1_000_000
# At 1 B/s a broker may still fetch 1 MB of a partition, and again when its window of 11 s is over:
# so much takes 20 s and more, and no test needs as long.
HELD = 3 * MB
LEADER_RATE = "leader.replication.throttled.rate"
RATE = "follower.replication.throttled.rate"
KEYS = (
    LEADER_RATE,
    RATE,
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
)


def up(cluster: Cluster) -> list[int]:
    """The brokers that the cluster knows to be up."""
    return [broker.id for broker in cluster.brokers(refresh=True)]


def wait_until_up(cluster: Cluster, count: int = 3) -> None:
    """Until the cluster knows all brokers."""
    wait_for(f"{count} brokers are up", lambda: len(up(cluster)) == count, 60)


def restore(cluster: Cluster) -> None:
    """Cancel what moves, and remove every throttle of the brokers and of the topics move.*."""

    def cancelled() -> bool:  # what ends meanwhile cannot be cancelled
        moving = list(under_way(cluster).values)
        return apply(plan_cancel(cluster, moving), cluster).ok and not under_way(cluster).values

    wait_for("nothing moves any more", cancelled)
    topics = [name for name in scan(cluster).names if name.startswith("move.")]
    kinds = {"broker": ResourceType.BROKER, "topic": ResourceType.TOPIC}
    for what in throttles(cluster, *topics):
        kind, name, key = what.split()
        put(cluster, ConfigResource(kinds[kind], name), key, None)
    wait_for("no throttle is set", lambda: throttles(cluster, *topics) == {})


def put(cluster: Cluster, resource: ConfigResource, key: str, value: str | None) -> None:
    """Set a config, or delete it."""
    op = ConfigOp.DELETE if value is None else ConfigOp.SET
    plan = config_changes.plan_alter(cluster, {resource: [ConfigAlteration(key, op, value)]})
    results = apply(plan, cluster)
    assert results.ok, results.failures


def release(cluster: Cluster, rate: int = 900_000_000) -> None:
    """Let held moves go on: every rate that is set is raised by hand."""
    for what in throttles(cluster):
        _, broker, key = what.split()
        put(cluster, ConfigResource(ResourceType.BROKER, broker), key, str(rate))


def placed(
    cluster: Cluster, *replicas: tuple[int, ...], configs: tuple[tuple[str, str], ...] = ()
) -> str:
    """A topic with a partition on each of these lists of brokers."""
    name = make_topic(cluster, f"move.{uuid4().hex[:8]}", assignment=replicas, configs=configs)
    partitions = [TopicPartition(name, number) for number in range(len(replicas))]

    def on_disk() -> int:
        found = log_dirs.describe(cluster, None, partitions)
        return sum(len(each.replicas) for dirs in found for each in dirs)

    # What is not there has no size, and is not moved by a rebalance.
    wait_for("all replicas are on disk", lambda: on_disk() == sum(map(len, replicas)))
    return name


class Filled:
    """Topics with these replicas, and so much in partition 0 that a move at 1 B/s is held. As it
    takes seconds to write so much, they are used again by the next test."""

    def __init__(
        self, sandbox: Sandbox, cluster: Cluster, *replicas: tuple[int, ...], min_isr: int = 1
    ) -> None:
        self._sandbox, self._cluster = sandbox, cluster
        self._replicas = replicas or ((1, 2), (2, 1))
        self._configs = (("min.insync.replicas", str(min_isr)),)
        self._topics: list[str] = []

    def topics(self, count: int) -> list[str]:
        """So many of them, at their place."""
        there = scan(self._cluster).names
        self._topics = [topic for topic in self._topics if topic in there]  # one may be deleted
        while len(self._topics) < count:
            self._topics.append(placed(self._cluster, *self._replicas, configs=self._configs))
            fill(self._sandbox, self._topics[-1], HELD, partition=0)
        for topic in self._topics[:count]:
            back = plan_move(self._cluster, to(topic, *self._replicas))
            assert back.refused.ok and apply(back, self._cluster).ok, back.refused.failures
        moved = self._topics[:count]
        wait_for("they are back", lambda: not under_way(self._cluster, moved).values, 60)
        applied(self._cluster)  # the program may ask another broker
        return moved


def fill(sandbox: Sandbox, topic: str, size: int, partition: int | None = None) -> None:
    """`size` bytes that cannot be compressed, in one partition or spread over all."""
    from kafka import KafkaProducer

    producer = KafkaProducer(
        bootstrap_servers=sandbox.bootstrap.split(","), batch_size=200_000, linger_ms=5
    )
    count = size // 50_000
    pending = [producer.send(topic, os.urandom(50_000), partition=partition) for _ in range(count)]
    for future in pending:
        future.get(30)
    producer.close()


def replicas(cluster: Cluster, topic: str) -> list[tuple[int, ...]]:
    """Where its partitions are now."""
    return [partition.replicas for partition in described(cluster, topic).partitions]


def moving(cluster: Cluster, topic: str) -> dict[int, tuple[int, ...]]:
    """The partitions of a topic that are being moved, and the brokers that they get."""
    return {each.partition: each.adding for each in under_way(cluster, [topic])}


def throttles(
    cluster: Cluster, *topics: str, brokers: Sequence[int] | None = None
) -> dict[str, str]:
    """Every throttle that is set at these topics and at the brokers (None: all that run), by what
    it is: `broker 1 leader...rate`."""
    ids = up(cluster) if brokers is None else brokers
    resources = [
        *(ConfigResource(ResourceType.BROKER, str(broker)) for broker in ids),
        *(ConfigResource(ResourceType.TOPIC, topic) for topic in topics),
    ]
    found = configs.describe(cluster, resources, KEYS)
    assert found.ok, found.failures
    return {
        f"{resource} {entry.name}": entry.value or ""
        for resource, entries in found.values.items()
        for entry in entries
        if entry.overridden
    }


def to(topic: str, *after: tuple[int, ...]) -> dict[TopicPartition, tuple[int, ...]]:
    """A wish: each partition of the topic on these brokers."""
    return {TopicPartition(topic, number): brokers for number, brokers in enumerate(after)}


# -- reassign-partitions ---------------------------------------------------------------------------


def reassign(
    folder: Path, partitions: Sequence[tuple[str, int]], replicas: Sequence[int] = (2, 3)
) -> str:
    """The line that moves these partitions to these replicas, by a file."""
    rows = [{"topic": topic, "partition": each, "replicas": replicas} for topic, each in partitions]
    file = folder / f"wanted-{uuid4().hex[:8]}.json"
    file.write_text(json.dumps({"version": 1, "partitions": rows}))
    return f"reassign-partitions --reassignment-json-file {file}"
