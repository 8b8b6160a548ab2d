"""Partitions by number: leader and replicas, or why there is no such partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics.similar import with_near_misses
from kafka_shell.base.plans import Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import LEADER_NOT_AVAILABLE, UNKNOWN_TOPIC_OR_PARTITION
from kafka_shell.wire.failures import failure
from kafka_shell.wire.metadata_scan import MetadataScan, scan
from kafka_shell.wire.model import Partition, Topic


def find(cluster: Cluster, wanted: Iterable[TopicPartition]) -> Results[TopicPartition, Partition]:
    """These partitions, or why one cannot be described. One Metadata request (API key 3)."""
    requested = list(dict.fromkeys(wanted))
    if not requested:
        return Results()
    return find_in(scan(cluster, list(dict.fromkeys(each.topic for each in requested))), requested)


def find_in(
    metadata: MetadataScan, requested: Iterable[TopicPartition]
) -> Results[TopicPartition, Partition]:
    """The same, of metadata that was read already."""
    topics: dict[str, Topic] = {}

    def outcome(each: TopicPartition) -> Partition | Failure:
        if each.topic not in metadata:
            return _no_topic(metadata, each.topic)
        topic = topics.get(each.topic) or topics.setdefault(each.topic, metadata.topic(each.topic))
        return _numbered(topic, each.partition)

    return Results.collect((partition, outcome(partition)) for partition in requested)


def leaders(cluster: Cluster, wanted: Iterable[TopicPartition]) -> Results[TopicPartition, int]:
    """The broker that leads each partition, or why there is none."""
    return _led(find(cluster, wanted))


def leaders_in(
    metadata: MetadataScan, wanted: Iterable[TopicPartition]
) -> Results[TopicPartition, int]:
    """The same, of metadata that was read already."""
    return _led(find_in(metadata, wanted))


def by_leader(leading: Mapping[TopicPartition, int]) -> dict[int, list[TopicPartition]]:
    """The partitions of each leader: requests go to leaders."""
    groups: dict[int, list[TopicPartition]] = {}
    for partition, leader in leading.items():
        groups.setdefault(leader, []).append(partition)
    return groups


def _led(partitions: Results[TopicPartition, Partition]) -> Results[TopicPartition, int]:
    led = {each: row.leader for each, row in partitions.values.items() if row.leader is not None}
    offline = {each: without_leader(each) for each in partitions.values if each not in led}
    return Results(led, partitions.failures | offline)


def of_topics(
    cluster: Cluster, metadata: MetadataScan, wanted: Mapping[str, Iterable[int] | None]
) -> Results[Resource, Partition]:
    """The partitions of these topics with these numbers (None: all). Hints name similar topics."""
    outcomes: list[tuple[Resource, Partition | Failure]] = []
    for name, numbers in wanted.items():
        if name not in metadata:
            outcomes.append((Resource("topic", name), _no_topic(metadata, name)))
            continue
        topic = metadata.topic(name)
        for number in range(len(topic.partitions)) if numbers is None else numbers:
            outcomes.append((TopicPartition(name, number).resource, _numbered(topic, number)))
    results = Results.collect(outcomes)
    named = with_near_misses(cluster, results.failures, lambda resource: resource.name)
    return Results(results.values, named)


def without_leader(partition: TopicPartition) -> Failure:
    """The failure of a request about an offline partition."""
    message = f"partition {partition} has no leader"
    return failure(LEADER_NOT_AVAILABLE, text=message, see=partition.resource)


def _numbered(topic: Topic, number: int) -> Partition | Failure:
    """The partition of this number, usually at that index, or why there is none."""
    partitions = topic.partitions
    if number < len(partitions) and partitions[number].partition == number:
        return partitions[number]
    last = len(partitions) - 1
    return next((row for row in partitions if row.partition == number), None) or failure(
        UNKNOWN_TOPIC_OR_PARTITION,
        text=f"topic {topic.name} has no partition {number}",
        hint="Use partition 0." if last == 0 else f"Use partitions 0 to {last}.",
    )


def _no_topic(metadata: MetadataScan, name: str) -> Failure:
    code = metadata.errors.get(name, UNKNOWN_TOPIC_OR_PARTITION)
    return failure(code, about=f"topic {name}", requires=f"DESCRIBE on topic {name}")
