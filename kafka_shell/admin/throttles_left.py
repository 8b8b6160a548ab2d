"""Replication throttles that no move needs (any more): found, and how they are lifted.

What a move lists of throttled replicas outlives it where its shell was lost, and so do the rates
of the brokers that are listed. A rate that no list names bounds nothing, and `*` is no move's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kafka_shell.nouns import Change, ConfigResource, Resource, ResourceType, Results
from kafka_shell.nouns.partitions import TopicPartition
from kafka_shell.nouns.reassignment import Reassignment, Throttle

from .connection import Cluster
from .throttle_configs import (
    RATES,
    REPLICAS,
    Bound,
    bound,
    broker_of,
    entries,
    idle,
    read,
    set_in,
    topic_of,
)
from .throttles import NOTHING, Recorded, Setting

_KINDS = {"topic": ResourceType.TOPIC, "broker": ResourceType.BROKER}
_STOOD_BEFORE = "no change: it stood there before the last move"

Now = Mapping[tuple[ConfigResource, str], str]


# -- find ------------------------------------------------------------------------------------------


def find(
    cluster: Cluster,
    moving: Collection[Reassignment] | None = None,
    recorded: Recorded = NOTHING,
) -> Results[Resource, tuple[Throttle, ...]]:
    """The throttles that no move under way needs: they outlived one, or somebody set them so.

    Topics and brokers without one are left out; those that could not be read are failures.
    A rate that is `recorded` to be a move's is found even where no list is left that names its
    broker.
    """
    from .move_progress import under_way
    from .scan import scan

    if moving is None:
        moving = list(under_way(cluster))
    partitions = {each.topic_partition for each in moving}
    topics = [ConfigResource(ResourceType.TOPIC, name) for name in sorted(scan(cluster).names)]
    brokers = [broker_of(broker.id) for broker in cluster.brokers(refresh=True)]
    found = read(cluster, [*brokers, *topics])
    now, needed = set_in(found), bound(found, moving)
    lists = {
        (topic, key): left
        for (topic, key), value in now.items()
        if key in REPLICAS and (left := idle(topic.name, value, partitions))
    }
    named = _named(lists)
    results: Results[Resource, tuple[Throttle, ...]] = Results()
    for resource, why in found.failures.items():
        results.failures[Resource(resource.kind, resource.name)] = why
    for broker in brokers:
        rates = [key for key in _rates(now, broker, named, recorded) if (broker, key) not in needed]
        _add(results, broker, {key: now[broker, key] for key in rates})
    for topic in topics:
        listing = [key for key in REPLICAS if (topic, key) in lists]
        _add(results, topic, {key: ",".join(lists[topic, key]) for key in listing})
    return results


def _add(
    results: Results[Resource, tuple[Throttle, ...]], of: ConfigResource, left: Mapping[str, str]
) -> None:
    if left:
        about = tuple(Throttle(str(of), key, value) for key, value in left.items())
        results.values[Resource(of.kind, of.name)] = about


def _named(lists: Mapping[tuple[ConfigResource, str], Sequence[str]]) -> Bound:
    """The rates that these lists are for: `0:1` among the followers is the one broker 1 receives
    with."""
    rate_of = dict(zip(REPLICAS, RATES, strict=True))
    ids = ((key, entry.partition(":")[2]) for (_, key), left in lists.items() for entry in left)
    return frozenset((broker_of(int(id)), rate_of[key]) for key, id in ids if id.isdigit())


def _rates(
    now: Now, broker: ConfigResource, named: Bound, recorded: Recorded = NOTHING
) -> list[str]:
    """A broker's rates that lists name; the other one, where it was set with it (Kafka's tool gives
    both the same); one that is known to be a move's."""
    values = {key: now[broker, key] for key in RATES if (broker, key) in now}
    of_lists = {value for key, value in values.items() if (broker, key) in named}
    set_by = {key: recorded.get((broker, key)) for key in values}
    return [
        key
        for key, value in values.items()
        if value in of_lists or ((last := set_by[key]) is not None and last.value == value)
    ]


# -- lift ------------------------------------------------------------------------------------------


def to_lift(
    found: Results[Resource, tuple[Throttle, ...]], recorded: Recorded = NOTHING
) -> tuple[tuple[Setting, ...], tuple[Change, ...]]:
    """What is to be put back of throttles that are left behind, and what is left as it is, by what
    the last move that is `recorded` found there."""
    settings, kept = [], []
    for about, throttles in found.values.items():
        resource = ConfigResource(_KINDS[about.kind], about.name)
        for each in throttles:
            last = recorded.get((resource, each.key))
            stays = _stays(each, last.before if last else None)
            if stays:
                what = Resource("throttle", str(resource))
                kept.append(Change(what, "alter", each.key, stays, stays, note=_STOOD_BEFORE))
            if stays != each.value:
                settings.append(_lifted(resource, each.key, each.value, last, stays))
    return tuple(settings), tuple(kept)


def _stays(throttle: Throttle, before: str | None) -> str:
    """What of it stood there before."""
    if throttle.key in RATES:
        return throttle.value if throttle.value == before else ""
    stood = entries(before)
    return ",".join(entry for entry in entries(throttle.value) if entry in stood)


def _lifted(
    resource: ConfigResource, key: str, value: str, last: Setting | None, stays: str
) -> Setting:
    if key in REPLICAS:
        return Setting(resource, key, stays or None, value)
    known = last is not None and last.value == value
    return Setting(resource, key, last.before if last is not None and known else None, value)


def of_cancelled(
    cluster: Cluster,
    gone: Sequence[Reassignment],
    others: Sequence[Reassignment],
    recorded: Recorded = NOTHING,
) -> tuple[Setting, ...]:
    """What throttles only the moves that are `gone`, to be put back as what is `recorded` of them
    knows it."""
    brokers = {broker.id for broker in cluster.brokers(refresh=True)}
    concerned = sorted({broker for each in gone for broker in each.replicas} & brokers)
    topics = list(dict.fromkeys(topic_of(each) for each in (*gone, *others)))
    found = read(cluster, [*map(broker_of, concerned), *topics])
    now, named, needed = set_in(found), bound(found, gone, every=False), bound(found, others)
    settings = []
    for broker in map(broker_of, concerned):
        for key in _rates(now, broker, named, recorded):
            last = recorded.get((broker, key))
            before = last.before if last else None
            if (broker, key) not in needed and before != now[broker, key]:
                settings.append(Setting(broker, key, before, now[broker, key]))
    partitions = {each.topic_partition for each in gone}
    for topic in dict.fromkeys(map(topic_of, gone)):
        for key in REPLICAS:
            last = recorded.get((topic, key))
            own = _own(now.get((topic, key)), topic, partitions, last)
            if own:
                settings.append(Setting(topic, key, None, own))
    return tuple(settings)


def _own(
    value: str | None,
    topic: ConfigResource,
    gone: Collection[TopicPartition],
    last: Setting | None,
) -> str:
    stay = {*idle(topic.name, value, gone), *entries(last.before if last else None)}
    listed = idle(topic.name, value, ())
    return ",".join(entry for entry in listed if entry not in stay)


__all__ = ["find", "of_cancelled", "to_lift"]
