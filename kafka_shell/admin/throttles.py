"""Replication throttles of moves (KIP-73): set where a move needs them, lifted.

A move sets the sending rate on the brokers it copies from, the receiving rate on those it copies
to, and lists just its own replicas: `partition:broker`. At its end what stood there before is put
back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from kafka_shell.errors import ShellError
from kafka_shell.nouns import (
    Change,
    ConfigAlteration,
    ConfigOp,
    ConfigResource,
    Failure,
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
from .throttle_ledger import FORGETFUL, NOTHING, Ledger, Recorded, Setting

NOT_KNOWN = "what stood there before is not known: nothing is put back"
_LATER = "Lift it later: verify-reassign-partitions --finish"
_NEEDED = "left as it is: a move under way needs it"


# -- what a move needs -----------------------------------------------------------------------------


def settings_for(
    cluster: Cluster,
    moves: Sequence[Move],
    rate: int,
    moving: Collection[Reassignment] = (),
    recorded: Recorded = NOTHING,
) -> tuple[Setting, ...]:
    """What throttles these moves at `rate` bytes a second, over what is set now.

    What stands there may be of another throttle: of one that is `recorded`, which knows what it
    replaced, or of somebody else's move among those that are `moving`. Raises ShellError where a
    broker or topic cannot be read.
    """
    up = {broker.id for broker in cluster.brokers(refresh=True)}
    wanted = _wanted([move for move in moves if move.adding], rate, up)
    found = read(cluster, [*(resource for resource, _ in wanted), *map(topic_of, moving)])
    _check(found, {resource for resource, _ in wanted})
    now, limits = set_in(found), limiting(found, moving, every=False)
    under_way = {each.topic_partition for each in moving}
    taken_over = busy(move.partition for move in moves if move.partition in under_way)
    settings = []
    for (resource, key), value in wanted.items():
        stands, known = now.get((resource, key)), recorded.get((resource, key))
        if key in RATES:
            before, note = _replaced(stands, known, (resource, key) in limits)
            settings.append(Setting(resource, key, before, value, stands, note))
        elif EVERY not in entries(stands):
            stood = _stood(resource.name, stands, known, taken_over)
            both = joined([*entries(stands), *entries(value)]) or value
            settings.append(Setting(resource, key, stood, both, stands))
    return tuple(settings)


def _replaced(stands: str | None, known: Setting | None, limits: bool) -> tuple[str | None, str]:
    """What is put back instead of a rate that stands; and what there is to say of it."""
    if known is not None and (stands == known.value or limits):
        return known.before, ""
    if limits and stands is not None:
        return None, NOT_KNOWN
    return stands, ""


def _stood(topic: str, stands: str | None, known: Setting | None, taken_over: Busy) -> str | None:
    """The throttled replicas that are no move's of this shell, and not of moves that are taken
    over from somebody else."""
    own = known.own if known else frozenset()
    stay = {*idle(topic, stands, taken_over), *entries(known.before if known else None)}
    return joined(entry for entry in entries(stands) if entry in stay and entry not in own)


def _check(found: config_reads.Entries, resources: Collection[ConfigResource]) -> None:
    for resource, why in found.failures.items():
        if resource in resources:
            raise ShellError(
                f"the throttles of {resource} cannot be read: {why}",
                hint=why.hint or "Nothing was sent.",
                code=why.name,
            )


def _wanted(moves: Sequence[Move], rate: int, up: Collection[int]) -> dict[Config, str]:
    listed: dict[Config, list[str]] = {}
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
    ledger: Ledger = FORGETFUL
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
        """Set, or only validate. Raises ShellError where one is refused, or what it replaces cannot
        be remembered; then none is set."""
        if validate_only:
            return self._send(cluster, validate_only)
        known = self.ledger.read()
        self.ledger.keep(self.settings)
        results = self._send(cluster, validate_only)
        if not results.ok:
            done = [each for each, change in self._pairs if change in results.values]
            _alter(cluster, {each: each.now for each in done})
            self.ledger.forget(self.settings)
            self.ledger.keep(known[each.config] for each in self.settings if each.config in known)
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

    A rate that limits a move under way stays, and so do replicas that still move, and those on a
    broker whose rate could not be put back: by the list it is found again.
    """

    settings: tuple[Setting, ...]
    ledger: Ledger = FORGETFUL
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
        """Put back. What is gone already counts as done; of what is left its outcome tells."""
        from .move_progress import under_way

        moving = list(under_way(cluster))
        found = read(cluster, [*(each.resource for each in self.settings), *map(topic_of, moving)])
        now = set_in(found)
        standing = [each for each in self.settings if each.config in now]
        needed = _needed(found, moving)
        rates = {
            each: each.before
            for each in standing
            if each.key in RATES and each.config not in needed[each.before is None]
        }
        failed = _alter(cluster, {e: to for e, to in rates.items() if to != now[e.config]}).failures
        stay = {f":{each.name}" for each in (*found.failures, *(one.resource for one in failed))}
        partitions = busy(each.topic_partition for each in moving)
        lists = {
            each: _without_own(each, now[each.config], partitions, stay)
            for each in standing
            if each.key in REPLICAS
        }
        changed = {each: to for each, to in lists.items() if to != now[each.config]}
        failed = {**failed, **_alter(cluster, changed).failures}
        left = {e: now[e.config] for e in standing if e.key in RATES and e not in rates}
        left |= {e: to or "" for e, to in lists.items() if e.own.intersection(entries(to))}
        return self._told(found.failures, failed, left)

    def _told(
        self,
        unread: Mapping[ConfigResource, Failure],
        failed: Mapping[Setting, Failure],
        left: Mapping[Setting, str],
    ) -> Results[Change, Change]:
        results: Results[Change, Change] = Results()
        for each, change in zip(self.settings, self.changes, strict=True):
            why = failed.get(each) or unread.get(each.resource)
            if why is not None and why.code not in GONE:
                results.failures[change] = replace(why, hint=f"{why.hint}\n{_LATER}".strip())
            elif each in left:
                results.values[change] = replace(change, after=left[each], note=_NEEDED)
            else:
                results.values[change] = change
        over = zip(self.settings, self.changes, strict=True)
        self.ledger.forget(
            each for each, change in over if change in results.values and each not in left
        )
        return results


def _needed(
    found: config_reads.Entries, moving: Sequence[Reassignment]
) -> tuple[frozenset[Config], frozenset[Config]]:
    """The rates that moves under way need: by those that list their replicas, and by all. One that
    lists `*` is limited by what stands there for good; without that it would be let loose."""
    return limiting(found, moving, every=False), limiting(found, moving)


def _without_own(
    setting: Setting, value: str, moving: Busy, stay: Collection[str] = ()
) -> str | None:
    """The throttled replicas without the moves' own, but for those that move and those that `stay`
    (`:3`, on broker 3); None where none is left."""
    gone = setting.own.intersection(idle(setting.resource.name, value, moving))
    return joined(
        entry
        for entry in entries(value)
        if entry not in gone or f":{entry.partition(':')[2]}" in stay
    )


def still_set(cluster: Cluster, settings: Sequence[Setting]) -> tuple[Setting, ...]:
    """Those of which something is still there to be put back. A rate that is neither the move's nor
    goes with a list of its replicas was set by somebody since."""
    found = read(cluster, [each.resource for each in settings])
    now = set_in(found)
    standing = [each for each in settings if each.config in now]
    lists = [
        each
        for each in standing
        if each.key in REPLICAS and each.own.intersection(entries(now[each.config]))
    ]
    rates = [
        each
        for each in standing
        if each.key in RATES
        and now[each.config] != each.before
        and (lists or now[each.config] == each.value)
    ]
    unread = [each for each in settings if each.resource in found.failures]
    return tuple(replace(each, value=now.get(each.config, each.value)) if each in rates else each
                 for each in settings if each in (*rates, *lists, *unread))  # fmt: skip


__all__ = ["NOT_KNOWN", "LiftThrottle", "SetThrottle", "settings_for", "still_set"]
