"""Replication throttles of moves (KIP-73): set where a move needs them, lifted, found again.

A broker's rates bound what it sends and takes in of the replicas that topics list as throttled. A
move sets the sending rate on the brokers it copies from, the receiving rate on those it copies to,
and lists just its own replicas: `partition:broker`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kafka_shell.errors import ShellError
from kafka_shell.nouns import (
    Change,
    ConfigAlteration,
    ConfigOp,
    ConfigResource,
    Failure,
    Resource,
    ResourceType,
    Results,
)
from kafka_shell.nouns.partitions import TopicPartition
from kafka_shell.nouns.reassignment import Move, Reassignment, Throttle

from . import config_reads
from .config_reads import by_answerer
from .configs import AlterConfigs
from .connection import Cluster
from .settle import settle

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
RATES = (LEADER_RATE, FOLLOWER_RATE)
REPLICAS = (LEADER_REPLICAS, FOLLOWER_REPLICAS)

_GONE = (3,)  # UNKNOWN_TOPIC_OR_PARTITION: a topic that was deleted took its throttle with it
_LATER = "Lift it later: verify-reassign-partitions --finish"
_EVERY = "*"  # all replicas of a topic, which somebody else has set


@dataclass(frozen=True, slots=True)
class Setting:
    """One config that a move sets, and what stood there before it (None: nothing)."""

    resource: ConfigResource
    key: str
    before: str | None
    value: str

    @property
    def own(self) -> tuple[str, ...]:
        """Of throttled replicas: the entries that the move adds to those from before."""
        kept = _entries(self.before)
        return tuple(entry for entry in _entries(self.value) if entry not in kept)

    @property
    def about(self) -> Resource:
        """What its changes are about: `throttle broker 1`."""
        return Resource("throttle", str(self.resource))


# -- what a move needs -----------------------------------------------------------------------------


def settings_for(
    cluster: Cluster, moves: Sequence[Move], rate: int, moving: Collection[Reassignment] = ()
) -> tuple[Setting, ...]:
    """What throttles these moves at `rate` bytes a second, over what is set now.

    `moving` are the moves under way: the rates of brokers that they concern and the entries of
    their partitions are theirs, and nothing to be put back: who ends last lifts them. Raises
    ShellError where a broker or topic cannot be read.
    """
    up = {broker.id for broker in cluster.brokers(refresh=True)}
    wanted = _wanted([move for move in moves if move.adding], rate, up)
    now = _own_values(cluster, list(dict.fromkeys(resource for resource, _ in wanted)))
    busy = {broker for each in moving for broker in each.replicas}
    partitions = {each.topic_partition for each in moving}
    settings = []
    for (resource, key), value in wanted.items():
        before = now.get((resource, key))
        if key in REPLICAS:
            if _EVERY in _entries(before):
                continue
            value = ",".join(dict.fromkeys([*_entries(before), *_entries(value)]))
            before = _idle(resource.name, before or "", partitions) or None
        elif int(resource.name) in busy:
            before = None
        settings.append(Setting(resource, key, before, value))
    return tuple(settings)


def _wanted(
    moves: Sequence[Move], rate: int, up: Collection[int]
) -> dict[tuple[ConfigResource, str], str]:
    entries: dict[tuple[ConfigResource, str], list[str]] = {}
    senders: set[int] = set()
    receivers: set[int] = set()
    for move in moves:
        topic = ConfigResource(ResourceType.TOPIC, move.partition.topic)
        # Whichever of them leads while it lasts.
        senders.update(move.before)
        receivers.update(move.adding)
        for key, brokers in ((LEADER_REPLICAS, move.before), (FOLLOWER_REPLICAS, move.adding)):
            entries.setdefault((topic, key), []).extend(
                f"{move.partition.partition}:{broker}" for broker in brokers
            )
    wanted = {which: ",".join(listed) for which, listed in entries.items()}
    for broker in sorted((senders | receivers) & set(up)):  # the others cannot be told
        resource = ConfigResource(ResourceType.BROKER, str(broker))
        if broker in senders:
            wanted[resource, LEADER_RATE] = str(rate)
        if broker in receivers:
            wanted[resource, FOLLOWER_RATE] = str(rate)
    return wanted


def _own_values(
    cluster: Cluster, resources: Sequence[ConfigResource]
) -> dict[tuple[ConfigResource, str], str]:
    """What is set at these very resources. Raises ShellError where one cannot be read."""
    found = config_reads.describe(cluster, resources, [*RATES, *REPLICAS])
    for resource, why in found.failures.items():
        raise ShellError(
            f"the throttles of {resource} cannot be read: {why}",
            hint=why.hint or "Nothing was sent.",
            code=why.name,
        )
    return _set_in(found)


def _set_in(found: config_reads.Entries) -> dict[tuple[ConfigResource, str], str]:
    return {
        (resource, entry.name): entry.value
        for resource, entries in found.values.items()
        for entry in entries
        if entry.overridden and entry.value
    }


def _entries(value: str | None) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, (value or "").split(","))))


# -- set -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SetThrottle:
    """Set a move's throttle: one IncrementalAlterConfigs for the topics, one for each broker.

    All or nothing: a move must not start half throttled.
    """

    settings: tuple[Setting, ...]
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        """One change a config."""
        return tuple(
            Change(each.about, "alter", each.key, each.before, each.value) for each in self.settings
        )

    def again(self, cluster: Cluster) -> SetThrottle:
        """What is put back at the end is what was seen first."""
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Set, or only validate. Raises ShellError where one is refused; then none is set."""
        results = self._send(cluster, validate_only)
        if not validate_only and not results.ok:
            done = [each for each, change in self._pairs if change in results.values]
            _alter(cluster, {each: each.before for each in done})
            change, why = next(iter(results.failures.items()))
            raise ShellError(
                f"{change.resource} could not be set: {why.message}",
                hint=why.hint or "Nothing is moved. Without --throttle the move has no limit.",
                code=why.name,
            )
        return results

    @property
    def _pairs(self) -> list[tuple[Setting, Change]]:
        return list(zip(self.settings, self.changes, strict=True))

    def _send(self, cluster: Cluster, validate_only: bool) -> Results[Change, Change]:
        outcome = _alter(cluster, {each: each.value for each in self.settings}, validate_only)
        results: Results[Change, Change] = Results()
        for setting, change in self._pairs:
            if setting in outcome.failures:
                results.failures[change] = outcome.failures[setting]
            else:
                results.values[change] = change
        return results


def _alter(
    cluster: Cluster, wanted: Mapping[Setting, str | None], validate_only: bool = False
) -> Results[Setting, Setting]:
    """Give each config its value, or delete it (None)."""
    by_resource: dict[ConfigResource, list[Setting]] = {}
    for each in wanted:
        by_resource.setdefault(each.resource, []).append(each)
    results: Results[Setting, Setting] = Results()
    for group in by_answerer(by_resource).values():
        pairs = tuple(
            (resource, tuple(_alteration(each, wanted[each]) for each in by_resource[resource]))
            for resource in group
        )
        step = AlterConfigs(pairs, ())
        own = [each for resource in group for each in by_resource[resource]]
        try:
            answer = step.send(cluster, validate_only=validate_only)
        except ShellError as error:
            why = Failure(error.code, error.message, hint=error.hint)
            results.failures.update(dict.fromkeys(own, why))
            continue
        for each, change in zip(own, step.changes, strict=True):
            if change in answer.failures:
                results.failures[each] = answer.failures[change]
            else:
                results.values[each] = each
    if not validate_only:
        _until_visible(cluster, {each: wanted[each] for each in results.values})
    return results


def _until_visible(cluster: Cluster, wanted: Mapping[Setting, str | None]) -> None:
    """Who reads next must see it: what is put back depends on what is set."""
    resources = list(dict.fromkeys(each.resource for each in wanted))

    def visible() -> bool:
        now = _set_in(config_reads.describe(cluster, resources, [*RATES, *REPLICAS]))
        return all(now.get((each.resource, each.key)) == wanted[each] for each in wanted)

    if resources:
        settle(visible)


def _alteration(setting: Setting, value: str | None) -> ConfigAlteration:
    if value is None:
        return ConfigAlteration(setting.key, ConfigOp.DELETE)
    return ConfigAlteration(setting.key, ConfigOp.SET, value)


# -- lift ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LiftThrottle:
    """Put back what stood there before a move.

    Rates of brokers that a move under way concerns stay, and so do replicas that still move: that
    move's end lifts them.
    """

    settings: tuple[Setting, ...]
    validates = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """One change a config."""
        return tuple(
            Change(each.about, "alter", each.key, each.value, each.before) for each in self.settings
        )

    def again(self, cluster: Cluster) -> LiftThrottle:
        """What is put back is known."""
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Put back. What is gone already, or still needed, is left as it is and counts as done."""
        from .move_progress import under_way

        moving = list(under_way(cluster))
        resources = [each.resource for each in self.settings]
        found = config_reads.describe(cluster, resources, [*RATES, *REPLICAS])
        now, unread = _set_in(found), found.failures
        wanted = {}
        for each in self.settings:
            value = now.get((each.resource, each.key))
            if value is None or (each.key in RATES and _concerned(each.resource, moving)):
                continue
            then = _then(each, value, moving)
            if then != value:
                wanted[each] = then
        outcome = _alter(cluster, wanted)
        results: Results[Change, Change] = Results()
        for each, change in zip(self.settings, self.changes, strict=True):
            why = outcome.failures.get(each) or unread.get(each.resource)
            if why is not None and why.code not in _GONE:
                results.failures[change] = replace(why, hint=f"{why.hint}\n{_LATER}".strip())
            else:
                results.values[change] = change
        return results


def _then(setting: Setting, value: str, moving: Iterable[Reassignment]) -> str | None:
    return setting.before if setting.key in RATES else _without_own(setting, value, moving)


def _concerned(broker: ConfigResource, moving: Iterable[Reassignment]) -> bool:
    return any(int(broker.name) in each.replicas for each in moving)


def _without_own(setting: Setting, value: str, moving: Iterable[Reassignment]) -> str | None:
    """The throttled replicas without this move's own; None where none is left."""
    topic = setting.resource.name
    busy = {str(each.partition) for each in moving if each.topic == topic}
    gone = {entry for entry in setting.own if entry.partition(":")[0] not in busy}
    return ",".join(entry for entry in _entries(value) if entry not in gone) or None


def still_set(cluster: Cluster, settings: Sequence[Setting]) -> tuple[Setting, ...]:
    """Those of which something is still there to be put back."""
    found = config_reads.describe(
        cluster, [each.resource for each in settings], [*RATES, *REPLICAS]
    )
    now = _set_in(found)
    left = []
    for each in settings:
        value = now.get((each.resource, each.key))
        if each.resource in found.failures or (value and _then(each, value, ()) != value):
            left.append(each)
    return tuple(left)


# -- find ------------------------------------------------------------------------------------------


def find(
    cluster: Cluster, moving: Collection[Reassignment] | None = None
) -> Results[Resource, tuple[Throttle, ...]]:
    """The throttles that no move under way needs: they outlived one, or somebody set them so.

    Topics and brokers without one are left out; those that could not be read are failures.
    """
    from .move_progress import under_way
    from .scan import scan

    if moving is None:
        moving = list(under_way(cluster))
    busy = {broker for each in moving for broker in each.replicas}
    partitions = {each.topic_partition for each in moving}
    topics = [ConfigResource(ResourceType.TOPIC, name) for name in sorted(scan(cluster).names)]
    brokers = [
        ConfigResource(ResourceType.BROKER, str(broker.id))
        for broker in cluster.brokers(refresh=True)
    ]
    found = config_reads.describe(cluster, [*brokers, *topics], [*RATES, *REPLICAS])
    results: Results[Resource, tuple[Throttle, ...]] = Results()
    for resource, why in found.failures.items():
        results.failures[Resource(resource.kind, resource.name)] = why
    for resource, entries in found.values.items():
        left = []
        for entry in entries:
            value = entry.value if entry.overridden else None
            if value and entry.name in RATES and int(resource.name) not in busy:
                left.append(Throttle(str(resource), entry.name, value))
            elif value and entry.name in REPLICAS:
                idle = _idle(resource.name, value, partitions)
                if idle:
                    left.append(Throttle(str(resource), entry.name, idle))
        if left:
            results.values[Resource(resource.kind, resource.name)] = tuple(left)
    return results


def _idle(topic: str, value: str, moving: Collection[TopicPartition]) -> str:
    """The entries of a topic's throttled replicas whose partitions do not move."""
    busy = {str(each.partition) for each in moving if each.topic == topic}
    if _EVERY in _entries(value):
        return "" if busy else value
    return ",".join(entry for entry in _entries(value) if entry.partition(":")[0] not in busy)


def to_lift(found: Results[Resource, tuple[Throttle, ...]]) -> tuple[Setting, ...]:
    """Throttles that are left behind, as settings with nothing before them."""
    kinds = {"topic": ResourceType.TOPIC, "broker": ResourceType.BROKER}
    return tuple(
        Setting(ConfigResource(kinds[about.kind], about.name), each.key, None, each.value)
        for about, throttles in found.values.items()
        for each in throttles
    )


__all__ = ["LiftThrottle", "SetThrottle", "Setting", "find", "settings_for", "still_set", "to_lift"]
