"""The number of in-sync replicas that acks=all producers require."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import MetadataScan
from kafka_shell.plan.results import Failure, Results

from .model import Partition, Topic

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


def below(
    topics: Iterable[Topic], minimum: Mapping[str, int], *, capped: bool
) -> Iterator[Partition]:
    """The partitions with a leader whose in-sync replicas are too few for acks=all."""
    for topic in topics:
        for each in topic.partitions:
            few = len(each.isr) < needed(each, minimum[topic.name], capped=capped)
            if each.leader is not None and few:
                yield each


def partitions_below(cluster: Cluster, found: MetadataScan) -> frozenset[TopicPartition]:
    """The partitions that acks=all producers cannot write to: too few replicas are in sync, or
    there is no leader. Those that are not fully in sync and whose minimum cannot be read count as
    such."""
    sick = [each.name for each in found.summaries() if each.under_replicated or each.offline]
    if not sick:
        return frozenset()
    minimum = read(cluster, sick).values
    topics = [found.topic(name) for name in sick]
    known = [topic for topic in topics if topic.name in minimum]
    unknown = [each for topic in topics if topic.name not in minimum for each in topic.partitions]
    partitions = [
        *below(known, minimum, capped=is_capped(cluster)),
        *(each for topic in known for each in topic.partitions if each.leader is None),
        *(each for each in unknown if each.under_replicated or each.leader is None),
    ]
    return frozenset(TopicPartition(each.topic, each.partition) for each in partitions)
