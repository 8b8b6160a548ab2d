"""The configs that throttle replication (KIP-73): read, and what of them limits which moves.

A broker's rates limit what it sends and takes in of the replicas that topics list as throttled: a
rate without throttled replicas limits nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.wire.connection import Cluster

from .model import Reassignment, TopicPartition

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
RATES = (LEADER_RATE, FOLLOWER_RATE)
REPLICAS = (LEADER_REPLICAS, FOLLOWER_REPLICAS)  # what each of the rates is for

GONE = (3,)  # UNKNOWN_TOPIC_OR_PARTITION: a topic that was deleted took its throttle with it
EVERY = "*"  # all replicas of a topic: who sets it means it to stay, no move does

Config = tuple[ConfigResource, str]
Busy = Mapping[str, Collection[str]]  # by topic, the partitions that move
Needed = tuple[frozenset[Config], frozenset[Config]]


def read(cluster: Cluster, resources: Iterable[ConfigResource]) -> configs.Entries:
    """The throttles of these brokers and topics, in requests that are in flight together."""
    return configs.describe(cluster, list(dict.fromkeys(resources)), [*RATES, *REPLICAS])


def set_in(found: configs.Entries) -> dict[Config, str]:
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


def joined(listed: Iterable[str]) -> str | None:
    """The list of these entries, each once; None where there is none."""
    return ",".join(dict.fromkeys(listed)) or None


def busy(moving: Iterable[TopicPartition]) -> dict[str, set[str]]:
    """By topic, the partitions that move."""
    found: dict[str, set[str]] = {}
    for each in moving:
        found.setdefault(each.topic, set()).add(str(each.partition))
    return found


def idle(topic: str, value: str | None, moving: Busy) -> tuple[str, ...]:
    """The entries of a topic's throttled replicas whose partitions do not move."""
    theirs = moving.get(topic, ())
    return tuple(
        entry
        for entry in entries(value)
        if entry != EVERY and entry.partition(":")[0] not in theirs
    )


def limiting(
    found: configs.Entries, moving: Iterable[Reassignment], *, every: bool = True
) -> frozenset[Config]:
    """The rates that limit these moves, as their topics list their replicas there. A topic that
    cannot be read may list all of them; one that lists `*` does, unless not `every`."""
    now = set_in(found)
    rates: set[Config] = set()
    listed: dict[Config, frozenset[str]] = {}
    for each in moving:
        topic = topic_of(each)
        unread = topic in found.failures and found.failures[topic].code not in GONE
        for rate, key in zip(RATES, REPLICAS, strict=True):
            if (topic, key) not in listed:
                listed[topic, key] = frozenset(entries(now.get((topic, key))))
            named = listed[topic, key]
            everything = unread or (every and EVERY in named)
            rates.update(
                (broker_of(broker), rate)
                for broker in each.replicas
                if everything or f"{each.partition}:{broker}" in named
            )
    return frozenset(rates)


def needed(found: configs.Entries, moving: Collection[Reassignment]) -> Needed:
    """The rates that these moves need: those of listed replicas, and those of `*` too."""
    return limiting(found, moving, every=False), limiting(found, moving)


def is_needed(need: Needed, rate: Config, before: str | None) -> bool:
    """Whether a move under way needs a rate that is to give way to what stood there before. One
    whose topic lists `*` is limited by that, and let loose where there was nothing."""
    listed, every = need
    return rate in (every if before is None else listed)


def named(lists: Mapping[Config, Iterable[str]]) -> frozenset[Config]:
    """The rates that these lists are for: `0:1` among the followers names the one that broker 1
    receives with."""
    rate_of = dict(zip(REPLICAS, RATES, strict=True))
    ids = {(key, entry.partition(":")[2]) for (_, key), listed in lists.items() for entry in listed}
    return frozenset((broker_of(int(id)), rate_of[key]) for key, id in ids if id.isdigit())


def topic_of(move: Reassignment) -> ConfigResource:
    """The topic of a move under way."""
    return ConfigResource(ResourceType.TOPIC, move.topic)


def broker_of(id: int) -> ConfigResource:
    """A broker, as a resource that has configs."""
    return ConfigResource(ResourceType.BROKER, str(id))
