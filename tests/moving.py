"""Topics with data on three brokers, to be moved."""

from __future__ import annotations

import os
from collections.abc import Sequence
from uuid import uuid4

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.progress import under_way
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.sandbox.state import Sandbox
from tests.admin.helpers import described, make_topic

MB = 1_000_000
RATE = "follower.replication.throttled.rate"
KEYS = (
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
)


def placed(cluster: Cluster, *replicas: tuple[int, ...]) -> str:
    """A topic with a partition on each of these lists of brokers."""
    return make_topic(cluster, f"move.{uuid4().hex[:8]}", assignment=replicas)


def fill(sandbox: Sandbox, topic: str, size: int) -> None:
    """`size` bytes that cannot be compressed, spread over the partitions."""
    from kafka import KafkaProducer

    producer = KafkaProducer(
        bootstrap_servers=sandbox.bootstrap.split(","), batch_size=200_000, linger_ms=5
    )
    pending = [producer.send(topic, os.urandom(50_000)) for _ in range(size // 50_000)]
    for future in pending:
        future.get(30)
    producer.close()


def replicas(cluster: Cluster, topic: str) -> list[tuple[int, ...]]:
    """Where its partitions are now."""
    return [partition.replicas for partition in described(cluster, topic).partitions]


def moving(cluster: Cluster, topic: str) -> dict[int, tuple[int, ...]]:
    """The partitions of a topic that are being moved, and the brokers that they get."""
    return {each.partition: each.adding for each in under_way(cluster, [topic])}


def throttles(cluster: Cluster, *topics: str, brokers: Sequence[int] = (1, 2, 3)) -> dict[str, str]:
    """Every throttle that is set at these topics and at the brokers: `broker 1 leader...rate`."""
    from kafka_shell.admin.configs import read as configs

    resources = [
        *(ConfigResource(ResourceType.BROKER, str(broker)) for broker in brokers),
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
