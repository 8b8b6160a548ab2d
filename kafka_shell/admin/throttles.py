"""Replication throttles of moves (KIP-73): set where a move needs them, lifted.

A move sets the sending rate on the brokers it copies from, the receiving rate on those it copies
to, and lists just its own replicas: `partition:broker`. At its end what stood there before is put
back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

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
from kafka_shell.nouns.reassignment import Move, Reassignment

from . import config_reads
from .config_reads import by_answerer
from .configs import AlterConfigs
from .connection import Cluster
from .settle import settle
from .throttle_configs import (
    EVERY,
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    GONE,
    LEADER_RATE,
    LEADER_REPLICAS,
    RATES,
    REPLICAS,
    bound,
    broker_of,
    entries,
    idle,
    read,
    set_in,
    topic_of,
)

_LATER = "Lift it later: verify-reassign-partitions --finish"
_NOT_KNOWN = "what stood there before the move under way is not known"


@dataclass(frozen=True, slots=True)
class Setting:
    """One config that a move sets, and what is put back at its end (None: nothing).

    `now` is what it replaces: where another move is throttled already, that is not what stood there
    before.
    """

    resource: ConfigResource
    key: str
    before: str | None
    value: str
    now: str | None = None
    note: str = ""

    @property
    def own(self) -> tuple[str, ...]:
        """Of throttled replicas: the entries that the move adds to those from before."""
        kept = entries(self.before)
        return tuple(entry for entry in entries(self.value) if entry not in kept)

    @property
    def about(self) -> Resource:
        """What its changes are about: `throttle broker 1`."""
        return Resource("throttle", str(self.resource))


# What moves are known to have set last of each config.
Recorded = Mapping[tuple[ConfigResource, str], Setting]
NOTHING: Recorded = MappingProxyType({})


# -- what a move needs -----------------------------------------------------------------------------


def settings_for(
    cluster: Cluster,
    moves: Sequence[Move],
    rate: int,
    moving: Collection[Reassignment] = (),
    recorded: Recorded = NOTHING,
) -> tuple[Setting, ...]:
    """What throttles these moves at `rate` bytes a second, over what is set now.

    `moving` are the moves under way: the rates that bound them and the entries of their partitions
    are theirs. Who ends last puts back what stood there before all of them, as what is `recorded`
    of them knows it. Raises ShellError where a broker or topic cannot be read.
    """
    up = {broker.id for broker in cluster.brokers(refresh=True)}
    wanted = _wanted([move for move in moves if move.adding], rate, up)
    concerned = [resource for resource, _ in wanted] + [topic_of(each) for each in moving]
    found = read(cluster, concerned)
    _check(found, {resource for resource, _ in wanted})
    now, theirs = set_in(found), bound(found, moving, every=False)
    partitions = {each.topic_partition for each in moving}
    settings = []
    for (resource, key), value in wanted.items():
        stands, known = now.get((resource, key)), recorded.get((resource, key))
        before, note = stands, ""
        if key in REPLICAS:
            if EVERY in entries(stands):
                continue
            value = ",".join(dict.fromkeys([*entries(stands), *entries(value)]))
            stood = {
                *idle(resource.name, stands, partitions),
                *entries(known.before if known else None),
            }
            before = ",".join(each for each in entries(stands) if each in stood) or None
        elif known or (resource, key) in theirs:
            before = known.before if known else None
            note = "" if known or stands is None else _NOT_KNOWN
        settings.append(Setting(resource, key, before, value, stands, note))
    return tuple(settings)


def _check(found: config_reads.Entries, resources: Collection[ConfigResource]) -> None:
    for resource, why in found.failures.items():
        if resource in resources:
            raise ShellError(
                f"the throttles of {resource} cannot be read: {why}",
                hint=why.hint or "Nothing was sent.",
                code=why.name,
            )


def _wanted(
    moves: Sequence[Move], rate: int, up: Collection[int]
) -> dict[tuple[ConfigResource, str], str]:
    listed: dict[tuple[ConfigResource, str], list[str]] = {}
    senders: set[int] = set()
    receivers: set[int] = set()
    for move in moves:
        topic = ConfigResource(ResourceType.TOPIC, move.partition.topic)
        # Whichever of them leads while it lasts.
        senders.update(move.before)
        receivers.update(move.adding)
        for key, brokers in ((LEADER_REPLICAS, move.before), (FOLLOWER_REPLICAS, move.adding)):
            listed.setdefault((topic, key), []).extend(
                f"{move.partition.partition}:{broker}" for broker in brokers
            )
    wanted = {which: ",".join(replicas) for which, replicas in listed.items()}
    for broker in sorted((senders | receivers) & set(up)):  # the others cannot be told
        resource = broker_of(broker)
        if broker in senders:
            wanted[resource, LEADER_RATE] = str(rate)
        if broker in receivers:
            wanted[resource, FOLLOWER_RATE] = str(rate)
    return wanted


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
            Change(each.about, "alter", each.key, each.now, each.value, note=each.note)
            for each in self.settings
        )

    def again(self, cluster: Cluster) -> SetThrottle:
        """What is put back at the end is what was seen first."""
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Set, or only validate. Raises ShellError where one is refused; then none is set."""
        results = self._send(cluster, validate_only)
        if not validate_only and not results.ok:
            done = [each for each, change in self._pairs if change in results.values]
            _alter(cluster, {each: each.now for each in done})
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
        now = set_in(read(cluster, resources))
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

    Rates that bound a move under way stay, and so do replicas that still move: that move's end
    lifts them.
    """

    settings: tuple[Setting, ...]
    validates = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """One change a config."""
        return tuple(
            Change(each.about, "alter", each.key, each.value, each.before, note=each.note)
            for each in self.settings
        )

    def again(self, cluster: Cluster) -> LiftThrottle:
        """What is put back is known."""
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Put back. What is gone already, or still needed, is left as it is and counts as done."""
        from .move_progress import under_way

        moving = list(under_way(cluster))
        found = read(cluster, [*(each.resource for each in self.settings), *map(topic_of, moving)])
        now, unread, needed = set_in(found), found.failures, bound(found, moving)
        wanted = {}
        for each in self.settings:
            value = now.get((each.resource, each.key))
            if value is None or (each.resource, each.key) in needed:
                continue
            then = _then(each, value, moving)
            if then != value:
                wanted[each] = then
        outcome = _alter(cluster, wanted)
        results: Results[Change, Change] = Results()
        for each, change in zip(self.settings, self.changes, strict=True):
            why = outcome.failures.get(each) or unread.get(each.resource)
            if why is not None and why.code not in GONE:
                results.failures[change] = replace(why, hint=f"{why.hint}\n{_LATER}".strip())
            else:
                results.values[change] = change
        return results


def _then(setting: Setting, value: str, moving: Iterable[Reassignment]) -> str | None:
    return setting.before if setting.key in RATES else _without_own(setting, value, moving)


def _without_own(setting: Setting, value: str, moving: Iterable[Reassignment]) -> str | None:
    """The throttled replicas without this move's own; None where none is left."""
    topic = setting.resource.name
    busy = {str(each.partition) for each in moving if each.topic == topic}
    gone = {entry for entry in setting.own if entry.partition(":")[0] not in busy}
    return ",".join(entry for entry in entries(value) if entry not in gone) or None


def still_set(cluster: Cluster, settings: Sequence[Setting]) -> tuple[Setting, ...]:
    """Those of which something is still there to be put back."""
    found = read(cluster, [each.resource for each in settings])
    now = set_in(found)
    left = []
    for each in settings:
        value = now.get((each.resource, each.key))
        if each.resource in found.failures or (value and _then(each, value, ()) != value):
            left.append(each)
    return tuple(left)


__all__ = [
    "NOTHING",
    "LiftThrottle",
    "Recorded",
    "SetThrottle",
    "Setting",
    "settings_for",
    "still_set",
]
