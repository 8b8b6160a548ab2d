"""Replication throttles that no move needs (any more): found, and how they are lifted.

What a move lists of throttled replicas outlives it where its shell was lost, and so do the rates
of the brokers that are listed. A rate without throttled replicas limits nothing, and `*` is no
move's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.plan.model import Change, Resource
from kafka_shell.plan.results import Results

from .model import Reassignment, Throttle, TopicPartition
from .throttle_configs import (
    RATES,
    REPLICAS,
    Busy,
    Config,
    Needed,
    broker_of,
    busy,
    entries,
    idle,
    is_needed,
    joined,
    named,
    needed,
    read,
    set_in,
    topic_of,
)
from .throttle_ledger import NOTHING, Recorded, Setting

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
    or those of `topics` and of the brokers that these list. Not what is `recorded` of a move of
    which a part goes on: its end lifts all.

    Topics and brokers without one are left out; those that could not be read are failures. A rate
    that is recorded as a move's is found even where no list is left that names its broker.
    """
    from kafka_shell.admin.wire.metadata_scan import scan

    from .progress import under_way

    if moving is None:
        moving = list(under_way(cluster))
    names = sorted(scan(cluster).names if topics is None else topics)
    asked = [ConfigResource(ResourceType.TOPIC, name) for name in names]
    brokers = [broker_of(broker.id) for broker in cluster.brokers(refresh=True)]
    found = read(cluster, [*brokers, *asked, *map(topic_of, moving)])
    now, need = set_in(found), needed(found, moving)
    partitions = busy(each.topic_partition for each in moving)
    going_on = _going_on(recorded, partitions)
    lists = {
        (topic, key): listed
        for topic in asked
        for key in REPLICAS
        if (listed := _at_rest((topic, key), now, partitions, going_on))
    }
    named_by = Lists.of(lists, recorded)
    results: Left = Results()
    for resource, why in found.failures.items():
        results.failures[Resource(resource.kind, resource.name)] = why
    for broker in brokers:
        rates = _rates(now, broker, named_by, recorded)
        left = [
            key
            for key in rates
            if not _is_needed((broker, key), need, recorded) and (broker, key) not in going_on
        ]
        _add(results, broker, {key: now[broker, key] for key in left})
    for topic in asked:
        left = [key for key in REPLICAS if (topic, key) in lists]
        _add(results, topic, {key: ",".join(lists[topic, key]) for key in left})
    return results


def _going_on(recorded: Recorded, moving: Busy) -> Recorded:
    """What is recorded of throttles of which something still moves."""
    throttles = {
        known.throttle_id
        for (topic, key), known in recorded.items()
        if key in REPLICAS and len(idle(topic.name, ",".join(known.own), moving)) < len(known.own)
    }
    return {config: known for config, known in recorded.items() if known.throttle_id in throttles}


def _at_rest(config: Config, now: Now, moving: Busy, going_on: Recorded) -> tuple[str, ...]:
    """A topic's throttled replicas that do not move, and are of no throttle that goes on."""
    own = going_on[config].own if config in going_on else frozenset()
    found = idle(config[0].name, now.get(config), moving)
    return tuple(entry for entry in found if entry not in own)


def _is_needed(rate: Config, need: Needed, recorded: Recorded) -> bool:
    return is_needed(need, rate, recorded[rate].before if rate in recorded else None)


def _add(results: Left, of: ConfigResource, left: Mapping[str, str]) -> None:
    if left:
        about = tuple(Throttle(str(of), key, value) for key, value in left.items())
        results.values[Resource(of.kind, of.name)] = about


def _rates(now: Now, broker: ConfigResource, lists: Lists, recorded: Recorded) -> list[str]:
    """A broker's rates that are moves': of this shell, as it is recorded; of others, as lists name
    them. With these goes the other one, if it has the same value: Kafka's tool sets both."""
    values = {key: now[broker, key] for key in RATES if (broker, key) in now}
    ours = {key for key, value in values.items() if lists.known(broker, key, value, recorded)}
    theirs = {values[key] for key in values if key not in ours and (broker, key) in lists.theirs}
    return [
        key
        for key, value in values.items()
        if (recorded[broker, key].before != value if key in ours else value in theirs)
    ]


@dataclass(frozen=True, slots=True)
class Lists:
    """The rates that lists of throttled replicas name: those that are recorded as this shell's, and
    the others."""

    ours: frozenset[Config]
    theirs: frozenset[Config]

    @classmethod
    def of(cls, lists: Mapping[Config, Iterable[str]], recorded: Recorded) -> Lists:
        """What these lists name."""
        ours: dict[Config, set[str]] = {}
        theirs: dict[Config, set[str]] = {}
        for config, listed in lists.items():
            own = recorded[config].own if config in recorded else frozenset()
            ours[config], theirs[config] = set(listed) & own, set(listed) - own
        return cls(named(ours), named(theirs))

    def known(
        self, broker: ConfigResource, key: str, value: str, recorded: Recorded
    ) -> Setting | None:
        """What is recorded of a rate, if it is that of which the record tells: a shell that ended
        last put back what another one had replaced, and left that one's record."""
        known = recorded.get((broker, key))
        told = known and (known.value == value or (broker, key) in self.ours)
        return known if told else None


# -- lift ------------------------------------------------------------------------------------------


def to_lift(
    found: Left, recorded: Recorded = NOTHING
) -> tuple[tuple[Setting, ...], tuple[Change, ...]]:
    """What is to be put back of throttles that are left behind, as what is `recorded` knows it; and
    what of them stood there before, and stays."""
    settings, kept = [], []
    each_left = [
        (ConfigResource(_KINDS[about.kind], about.name), each)
        for about, throttles in found.values.items()
        for each in throttles
    ]
    listed = {(of, each.key): entries(each.value) for of, each in each_left if each.key in REPLICAS}
    lists = Lists.of(listed, recorded)
    for resource, each in each_left:
        known = recorded.get((resource, each.key))
        if each.key in RATES:
            known = lists.known(resource, each.key, each.value, recorded)
            settings.append(_rate(resource, each.key, each.value, known))
            continue
        stood = entries(known.before if known else None)
        stays = joined(entry for entry in entries(each.value) if entry in stood)
        if stays:
            what = Resource("throttle", str(resource))
            kept.append(Change(what, "alter", each.key, stays, stays, note=_STOOD_BEFORE))
        if stays != each.value:
            settings.append(Setting(resource, each.key, stays, each.value))
    return tuple(settings), tuple(kept)


def _rate(broker: ConfigResource, key: str, value: str, known: Setting | None) -> Setting:
    if known is None:
        return Setting(broker, key, None, value, known=False)
    return replace(known, value=value)


def of_cancelled(
    cluster: Cluster,
    partitions: Sequence[TopicPartition],
    moving: Mapping[TopicPartition, Reassignment],
    recorded: Recorded = NOTHING,
) -> tuple[Setting, ...]:
    """What throttles these partitions, whose moves are cancelled, and what else is `recorded`, but
    for what others that are `moving` need."""
    back = dict.fromkeys(partitions)
    gone = [moving[each] for each in back if each in moving]
    others = [each for key, each in moving.items() if key not in back]
    leaving, staying = busy(back), busy(each.topic_partition for each in others)
    topics = [ConfigResource(ResourceType.TOPIC, name) for name in leaving]
    topics += [each for each, key in recorded if key in REPLICAS]
    brokers = _brokers(cluster, gone, recorded)
    found = read(cluster, [*brokers, *topics, *map(topic_of, others)])
    now, need = set_in(found), needed(found, others)
    lists = {
        (topic, key): _own(topic.name, value, recorded.get((topic, key)), leaving, staying)
        for topic in topics
        for key in REPLICAS
        if (value := now.get((topic, key)))
    }
    settings = [
        _rate(*config, now[config], known)
        for config, known in _of_moves(brokers, now, Lists.of(lists, recorded), recorded)
        if _goes_back(known, recorded, staying) or not _is_needed(config, need, recorded)
    ]
    for (topic, key), own in lists.items():
        stays = joined(entry for entry in entries(now[topic, key]) if entry not in own)
        settings.append(Setting(topic, key, stays, now[topic, key]))
    return tuple(each for each in settings if each.value != each.before)


def _brokers(
    cluster: Cluster, gone: Sequence[Reassignment], recorded: Recorded
) -> list[ConfigResource]:
    """Those that are up, of these moves and of what is recorded."""
    up = {broker.id for broker in cluster.brokers(refresh=True)}
    ids = {broker for each in gone for broker in each.replicas}
    ids |= {int(broker.name) for broker, key in recorded if key in RATES}
    return [broker_of(id) for id in sorted(ids & up)]


def _of_moves(
    brokers: Iterable[ConfigResource], now: Now, lists: Lists, recorded: Recorded
) -> Iterator[tuple[Config, Setting | None]]:
    """The rates that are moves', and what is known of them."""
    for broker in brokers:
        for key in _rates(now, broker, lists, recorded):
            yield (broker, key), lists.known(broker, key, now[broker, key], recorded)


def _goes_back(known: Setting | None, recorded: Recorded, staying: Busy) -> bool:
    """Whether a rate becomes again what another move had set before it: not where it is of a
    throttle of which something moves on."""
    if known is None or not known.earlier:
        return False
    return not any(
        each.throttle_id == known.throttle_id
        and each.key in REPLICAS
        and each.resource.name in staying
        for each in recorded.values()
    )


def of_replaced(
    moves: Sequence[Reassignment], settings: Sequence[Setting], recorded: Recorded
) -> tuple[Setting, ...]:
    """What is recorded of the topics of `settings`, and of those of `moves` that go elsewhere now,
    besides these settings: their lists, and the rates that these name."""
    topics = {each.topic for each in moves}
    topics |= {each.resource.name for each in settings if each.key in REPLICAS}
    lists = {
        config: known.own
        for config, known in recorded.items()
        if known.key in REPLICAS and known.resource.name in topics
    }
    anew = {each.config for each in settings}
    return tuple(
        recorded[config]
        for config in (*lists, *sorted(named(lists), key=str))
        if config in recorded and config not in anew
    )


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
