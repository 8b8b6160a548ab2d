"""Replication throttles that no move needs (any more): found, and how they are lifted.

What a move lists of throttled replicas outlives it where its shell was lost, and so do the rates
of the brokers that are listed. A rate without throttled replicas limits nothing, and `*` is no
move's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_shell.nouns import Change, ConfigResource, Resource, ResourceType, Results
from kafka_shell.nouns.partitions import TopicPartition
from kafka_shell.nouns.reassignment import Reassignment, Throttle

from .connection import Cluster
from .throttle_configs import (
    RATES,
    REPLICAS,
    Busy,
    Config,
    broker_of,
    busy,
    entries,
    idle,
    joined,
    limiting,
    read,
    set_in,
    topic_of,
)
from .throttle_ledger import NOTHING, Recorded, Setting
from .throttles import NOT_KNOWN

_KINDS = {"topic": ResourceType.TOPIC, "broker": ResourceType.BROKER}
_STOOD_BEFORE = "no change: it stood there before the move"

Now = Mapping[Config, str]
Left = Results[Resource, tuple[Throttle, ...]]


# -- find ------------------------------------------------------------------------------------------


def find(
    cluster: Cluster,
    moving: Collection[Reassignment] | None = None,
    recorded: Recorded = NOTHING,
    topics: Collection[str] | None = None,
) -> Left:
    """The throttles that no move under way needs: they outlived one, or somebody set them so. All,
    or those of `topics` and of the brokers that these list.

    Topics and brokers without one are left out; those that could not be read are failures. A rate
    that is `recorded` as a move's is found even where no list is left that names its broker.
    """
    from .move_progress import under_way
    from .scan import scan

    if moving is None:
        moving = list(under_way(cluster))
    names = sorted(scan(cluster).names if topics is None else topics)
    asked = [ConfigResource(ResourceType.TOPIC, name) for name in names]
    brokers = [broker_of(broker.id) for broker in cluster.brokers(refresh=True)]
    found = read(cluster, [*brokers, *asked, *map(topic_of, moving)])
    now, needed = set_in(found), limiting(found, moving)
    partitions = busy(each.topic_partition for each in moving)
    lists = {
        (topic, key): left
        for topic in asked
        for key in REPLICAS
        if (left := idle(topic.name, now.get((topic, key)), partitions))
    }
    listed = Lists.of(lists, recorded)
    results: Left = Results()
    for resource, why in found.failures.items():
        results.failures[Resource(resource.kind, resource.name)] = why
    for broker in brokers:
        rates = [
            key for key in _rates(now, broker, listed, recorded) if (broker, key) not in needed
        ]
        _add(results, broker, {key: now[broker, key] for key in rates})
    for topic in asked:
        listing = [key for key in REPLICAS if (topic, key) in lists]
        _add(results, topic, {key: ",".join(lists[topic, key]) for key in listing})
    return results


def _add(results: Left, of: ConfigResource, left: Mapping[str, str]) -> None:
    if left:
        about = tuple(Throttle(str(of), key, value) for key, value in left.items())
        results.values[Resource(of.kind, of.name)] = about


def _rates(now: Now, broker: ConfigResource, lists: Lists, recorded: Recorded) -> list[str]:
    """A broker's rates that are moves': those that are known to be, and those that lists name of
    which nothing is known. With these goes the other one, if it has the same value: Kafka's tool
    sets both."""
    values = {key: now[broker, key] for key in RATES if (broker, key) in now}
    known = {key: recorded[broker, key].value for key in values if (broker, key) in recorded}
    theirs = {value for key, value in values.items() if (broker, key) in lists.theirs}
    return [
        key
        for key, value in values.items()
        if value == known.get(key)
        or (key in known and (broker, key) in lists.ours)
        or (key not in known and value in theirs)
    ]


@dataclass(frozen=True, slots=True)
class Lists:
    """The rates that lists of throttled replicas name: those that are recorded as this shell's, and
    the others."""

    ours: frozenset[Config]
    theirs: frozenset[Config]

    @classmethod
    def of(cls, lists: Mapping[Config, Iterable[str]], recorded: Recorded) -> Lists:
        """`0:1` among the followers names the rate that broker 1 receives with."""
        ours: set[Config] = set()
        theirs: set[Config] = set()
        rate_of = dict(zip(REPLICAS, RATES, strict=True))
        for (topic, key), listed in lists.items():
            known = recorded.get((topic, key))
            for entry in listed:
                broker = entry.partition(":")[2]
                if broker.isdigit():
                    rate = broker_of(int(broker)), rate_of[key]
                    (ours if known and entry in known.own else theirs).add(rate)
        return cls(frozenset(ours), frozenset(theirs))


# -- lift ------------------------------------------------------------------------------------------


def to_lift(
    found: Left, recorded: Recorded = NOTHING
) -> tuple[tuple[Setting, ...], tuple[Change, ...]]:
    """What is to be put back of throttles that are left behind, as what is `recorded` knows it; and
    what of them stood there before, and stays."""
    settings, kept = [], []
    for about, throttles in found.values.items():
        resource = ConfigResource(_KINDS[about.kind], about.name)
        for each in throttles:
            known = recorded.get((resource, each.key))
            stays = _stays(each, known)
            if stays:
                what = Resource("throttle", str(resource))
                kept.append(Change(what, "alter", each.key, stays, stays, note=_STOOD_BEFORE))
            if stays != each.value:
                settings.append(_lifted(resource, each.key, each.value, known, stays))
    return tuple(settings), tuple(kept)


def _stays(throttle: Throttle, known: Setting | None) -> str | None:
    """What of it stood there before."""
    before = known.before if known else None
    if throttle.key in RATES:
        return before if throttle.value == before else None
    stood = entries(before)
    return joined(entry for entry in entries(throttle.value) if entry in stood)


def _lifted(
    resource: ConfigResource, key: str, value: str, known: Setting | None, stays: str | None = None
) -> Setting:
    if key in REPLICAS:
        return Setting(resource, key, stays, value)
    if known is None:
        return Setting(resource, key, None, value, note=NOT_KNOWN)
    return Setting(resource, key, known.before, value)


def of_cancelled(
    cluster: Cluster,
    partitions: Sequence[TopicPartition],
    moving: Mapping[TopicPartition, Reassignment],
    recorded: Recorded = NOTHING,
) -> tuple[Setting, ...]:
    """What throttles these partitions, whose moves are cancelled, and what else is `recorded`, but
    for what others that are `moving` need."""
    named = dict.fromkeys(partitions)
    gone = [moving[each] for each in named if each in moving]
    others = [each for key, each in moving.items() if key not in named]
    leaving, staying = busy(named), busy(each.topic_partition for each in others)
    up = {broker.id for broker in cluster.brokers(refresh=True)}
    concerned = {broker_of(broker) for each in gone for broker in each.replicas if broker in up}
    concerned |= {each for each, key in recorded if key in RATES and int(each.name) in up}
    brokers = sorted(concerned, key=lambda broker: int(broker.name))
    topics = [ConfigResource(ResourceType.TOPIC, name) for name in leaving]
    topics += [each for each, key in recorded if key in REPLICAS]
    found = read(cluster, [*brokers, *topics, *map(topic_of, others)])
    now, needed = set_in(found), limiting(found, others)
    lists = {
        (topic, key): _own(
            topic.name, now[topic, key], recorded.get((topic, key)), leaving, staying
        )
        for topic in topics
        for key in REPLICAS
        if (topic, key) in now
    }
    listed = Lists.of(lists, recorded)
    settings = [
        _lifted(broker, key, now[broker, key], recorded.get((broker, key)))
        for broker in brokers
        for key in _rates(now, broker, listed, recorded)
        if (broker, key) not in needed
    ]
    for (topic, key), own in lists.items():
        stays = joined(entry for entry in entries(now[topic, key]) if entry not in own)
        settings.append(Setting(topic, key, stays, now[topic, key]))
    return tuple(each for each in settings if each.value != each.before)


def _own(
    topic: str, stands: str, known: Setting | None, leaving: Busy, staying: Busy
) -> frozenset[str]:
    """The throttled replicas of the partitions that are leaving, but for those that stood there
    before; and what else is recorded, but for those that are staying."""
    own = frozenset(idle(topic, stands, {})).difference(idle(topic, stands, leaving))
    if known is None:
        return own
    return own.difference(entries(known.before)) | known.own.intersection(
        idle(topic, stands, staying)
    )


__all__ = ["find", "of_cancelled", "to_lift"]
