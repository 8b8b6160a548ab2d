"""Target assignments: spread partitions, drain a broker, change the replication factor."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kafka_shell.admin.wire.failures import failure
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Resource
from kafka_shell.plan.results import Failure
from kafka_shell.structs import replace

from . import placement
from .model import TopicPartition
from .placement import ImpossiblePlacement
from .reassignment import CurrentAssignment

Targets = tuple[dict[TopicPartition, tuple[int, ...]], dict[Resource, Failure]]
"""The target replicas of partitions that change, and refused resources."""
Replicas = tuple[tuple[int, ...], ...]  # of each partition


def spread_over(
    now: CurrentAssignment, topics: Sequence[str], brokers: Collection[int] = ()
) -> Targets:
    """Spread topics evenly over these brokers (none: all running ones), with racks and leaders.

    Raises ShellError if a partition has more replicas than there are brokers.
    """
    chosen, refused = _partitions(now, topics)
    racks = {id: rack for id, rack in now.racks.items() if not brokers or id in brokers}
    try:
        return placement.spread(now.replicas, chosen, racks), refused
    except ImpossiblePlacement:
        most = max(len(now.replicas[each]) for each in chosen)
        raise ShellError(
            f"a replication factor of {most} is impossible with {len(racks)} brokers",
            hint="Name more brokers, or lower the replication factor first.",
            code="INVALID_REPLICA_ASSIGNMENT",
        ) from None


def drained(now: CurrentAssignment, broker: int, topics: Sequence[str] | None = None) -> Targets:
    """Move all replicas (or those of these topics) from `broker` to other brokers.

    A topic with replicas on all other brokers is refused. Raises ShellError without another broker.
    """
    refused: dict[Resource, Failure] = {}
    chosen: list[TopicPartition] = list(now.replicas)
    if topics is not None:
        chosen, refused = _partitions(now, topics)
    left = now.racks.keys() - {broker}
    if not left:
        raise ShellError(
            f"broker {broker} is the only running broker: its replicas cannot be moved",
            hint="Start another broker first.",
            code="INVALID_REPLICA_ASSIGNMENT",
        )
    movable = []
    for each in chosen:
        if broker not in now.replicas[each]:
            continue
        if left - set(now.replicas[each]):
            movable.append(each)
        else:
            refused[Resource("topic", each.topic)] = Failure(
                "INVALID_REPLICA_ASSIGNMENT",
                f"topic {each.topic} has replicas on every other broker already",
                39,
                f"Lower the replication factor of topic {each.topic} to {len(left)} first.",
                Resource("topic", each.topic),
            )
    return placement.drain(now.replicas, broker, now.racks, movable), refused


def with_factor(now: CurrentAssignment, topics: Sequence[str], factor: int) -> Targets:
    """Change the replication factor of topics. Raises ShellError if it is impossible."""
    chosen, refused = _partitions(now, topics)
    if not 0 < factor <= len(now.racks):
        raise ShellError(
            f"a replication factor of {factor} is impossible with {len(now.racks)} running brokers",
            hint=f"Use 1 to {len(now.racks)}.",
            code="INVALID_REPLICATION_FACTOR",
        )
    lagging = {
        TopicPartition(topic, part.partition): set(part.replicas) - set(part.isr)
        for topic in topics
        if topic in now.found
        for part in now.found.topic(topic).partitions
    }
    return placement.with_factor(now.replicas, chosen, factor, now.racks, lagging), refused


def with_new_partitions(
    now: CurrentAssignment, counts: Mapping[str, int], wanted: Mapping[str, Replicas]
) -> CurrentAssignment:
    """The current assignment with partitions that topics get before they are moved.

    Each has as many replicas as the first partition of its topic: controllers create no others.
    They are spread, or on the brokers of the `wanted` assignment as far as it goes. Raises
    ShellError if there are fewer running brokers.
    """
    added: dict[TopicPartition, tuple[int, ...]] = {}
    brokers = sorted(now.racks)
    for topic, count in counts.items():
        if topic in now.found:
            existing = now.found.topic(topic).partitions
            factor = len(min(existing, key=lambda each: each.partition).replicas)
            if factor > len(brokers):
                raise ShellError(
                    f"topic {topic} has {factor} replicas, but only {len(brokers)} brokers run:"
                    " no partitions can be added",
                    code="INVALID_REPLICATION_FACTOR",
                )
            for number in range(len(existing), count):
                added[TopicPartition(topic, number)] = tuple(
                    brokers[(number + place) % len(brokers)] for place in range(factor)
                )
    added |= placement.spread(added, list(added), now.racks)
    for each, replicas in added.items():
        target = wanted[each.topic][each.partition] if each.topic in wanted else ()
        added[each] = tuple(dict.fromkeys((*target, *replicas)))[: len(replicas)]
    return replace(now, added=added)


def _partitions(
    now: CurrentAssignment, topics: Sequence[str]
) -> tuple[list[TopicPartition], dict[Resource, Failure]]:
    there = [topic for topic in topics if topic in now.found]
    refused = {
        Resource("topic", topic): failure(
            now.found.errors.get(topic, 3), about=f"topic {topic}", see=Resource("topic")
        )
        for topic in topics
        if topic not in now.found
    }
    chosen = [
        TopicPartition(topic, partition.partition)
        for topic in there
        for partition in now.found.topic(topic).partitions
    ]
    chosen += [each for each in now.added if each.topic in set(topics)]
    return chosen, refused
