"""The configs that throttle replication (KIP-73): read, and what of them bounds which moves.

A broker's rates bound what it sends and takes in of the replicas that topics list as throttled: a
rate alone bounds nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kafka_shell.nouns import ConfigResource, ResourceType
from kafka_shell.nouns.partitions import TopicPartition
from kafka_shell.nouns.reassignment import Reassignment

from . import config_reads
from .connection import Cluster

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
RATES = (LEADER_RATE, FOLLOWER_RATE)
REPLICAS = (LEADER_REPLICAS, FOLLOWER_REPLICAS)  # what each of the rates is for

GONE = (3,)  # UNKNOWN_TOPIC_OR_PARTITION: a topic that was deleted took its throttle with it
EVERY = "*"  # all replicas of a topic: who sets it means it to stay, no move does

Bound = frozenset[tuple[ConfigResource, str]]  # brokers, and which of their rates


def read(cluster: Cluster, resources: Iterable[ConfigResource]) -> config_reads.Entries:
    """The throttles of these brokers and topics, in requests that are in flight together."""
    return config_reads.describe(cluster, list(dict.fromkeys(resources)), [*RATES, *REPLICAS])


def set_in(found: config_reads.Entries) -> dict[tuple[ConfigResource, str], str]:
    """What is set at these very resources."""
    return {
        (resource, entry.name): entry.value
        for resource, values in found.values.items()
        for entry in values
        if entry.overridden and entry.value
    }


def entries(value: str | None) -> tuple[str, ...]:
    """What a list of throttled replicas holds: `0:1` is partition 0 on broker 1."""
    return tuple(filter(None, map(str.strip, (value or "").split(","))))


def idle(topic: str, value: str | None, moving: Collection[TopicPartition]) -> tuple[str, ...]:
    """The entries of a topic's throttled replicas whose partitions do not move."""
    busy = {str(each.partition) for each in moving if each.topic == topic}
    return tuple(
        entry for entry in entries(value) if entry != EVERY and entry.partition(":")[0] not in busy
    )


def bound(
    found: config_reads.Entries, moving: Iterable[Reassignment], *, every: bool = True
) -> Bound:
    """The rates of brokers that bound these moves, as their topics list their replicas there. A
    topic that cannot be read may list all of them; one that lists `*` does, unless not `every`."""
    now = set_in(found)
    rates: set[tuple[ConfigResource, str]] = set()
    for each in moving:
        topic = topic_of(each)
        unread = topic in found.failures and found.failures[topic].code not in GONE
        for rate, key in zip(RATES, REPLICAS, strict=True):
            listed = entries(now.get((topic, key)))
            all_listed = unread or (every and EVERY in listed)
            rates.update(
                (broker_of(broker), rate)
                for broker in each.replicas
                if all_listed or f"{each.partition}:{broker}" in listed
            )
    return frozenset(rates)


def topic_of(move: Reassignment) -> ConfigResource:
    """The topic of a move under way."""
    return ConfigResource(ResourceType.TOPIC, move.topic)


def broker_of(id: int) -> ConfigResource:
    """A broker, as a resource that has configs."""
    return ConfigResource(ResourceType.BROKER, str(id))
