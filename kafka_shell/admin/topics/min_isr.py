"""The number of in-sync replicas that acks=all producers require."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.plan.results import Failure, Results

from .model import Partition

KEY = "min.insync.replicas"
_CAPPED_SINCE = (3, 7)  # KAFKA-15583


def read(cluster: Cluster, topics: Iterable[str]) -> Results[str, int]:
    """min.insync.replicas of each topic (DescribeConfigs)."""
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in topics]
    if not resources:
        return Results()
    found = configs.describe(cluster, resources, [KEY])
    values: dict[str, int] = {}
    failures = {resource.name: failure for resource, failure in found.failures.items()}
    for resource, entries in found.values.items():
        if entries and entries[0].value is not None:
            values[resource.name] = int(entries[0].value)
        else:
            failures[resource.name] = Failure(
                "UNKNOWN", f"{resource}: the broker did not return {KEY}"
            )
    return Results(values, failures)


def is_capped(cluster: Cluster) -> bool:
    """Whether brokers cap min.insync.replicas at the number of replicas (since Kafka 3.7).

    Older brokers refuse acks=all writes to a topic with fewer replicas than min.insync.replicas.
    """
    return tuple(map(int, cluster.release().split("."))) >= _CAPPED_SINCE


def needed(partition: Partition, minimum: int, *, capped: bool) -> int:
    """The in-sync replicas that acks=all requires, given the topic's min.insync.replicas."""
    return min(minimum, len(partition.replicas)) if capped else minimum
