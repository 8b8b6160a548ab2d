"""Replication throttles of moves (KIP-73), set where a move needs them.

A move sets the sending rate on the brokers it copies from, the receiving rate on those it copies
to, and lists just its own replicas: `partition:broker`. Its end is in `throttle_lift`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.change import AlterConfigs
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.configs.read import by_answerer
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.propagation import settle
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Change
from kafka_shell.plan.results import Failure, Results

from .model import Move, Reassignment
from .throttle_configs import (
    EVERY,
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_RATE,
    LEADER_REPLICAS,
    RATES,
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
    settings, throttle_id = [], uuid4().hex
    for (resource, key), value in wanted.items():
        stands, known = now.get((resource, key)), recorded.get((resource, key))
        if key in RATES:
            before, sure = _replaced(stands, known, (resource, key) in limits)
            settings.append(Setting(resource, key, before, value, stands, sure, throttle_id))
        elif EVERY not in entries(stands):
            stood = _stood(resource.name, stands, known, taken_over)
            both = joined([*entries(stands), *entries(value)]) or value
            settings.append(Setting(resource, key, stood, both, stands, True, throttle_id))
    return tuple(settings)


def _replaced(stands: str | None, known: Setting | None, limits: bool) -> tuple[str | None, bool]:
    """What is put back instead of a rate that stands; and whether that is known."""
    if known is not None and (stands == known.value or limits):
        return known.before, known.known
    if limits and stands is not None:
        return None, False
    return stands, True


def _stood(topic: str, stands: str | None, known: Setting | None, taken_over: Busy) -> str | None:
    """The throttled replicas that are no move's of this shell, and not of moves that are taken
    over from somebody else."""
    own = known.own if known else frozenset()
    stay = {*idle(topic, stands, taken_over), *entries(known.before if known else None)}
    return joined(entry for entry in entries(stands) if entry in stay and entry not in own)


def _check(found: configs.Entries, resources: Collection[ConfigResource]) -> None:
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
    """Set a move's throttle: one IncrementalAlterConfigs for the topics, one for each broker. What
    stands already is not sent.

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
            for each in self._new
        )

    @property
    def _new(self) -> list[Setting]:
        return [each for each in self.settings if each.now != each.value]

    def again(self, cluster: Cluster) -> SetThrottle:
        """The same: nothing is read again, what is put back at the end is what was seen first."""
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
            # Of those too whose answer was lost. What cannot be set back is remembered, and found.
            undone = alter(cluster, {each: each.now for each in self._new}).values
            self.ledger.forget(undone)
            self.ledger.keep(known[each.config] for each in undone if each.config in known)
            change, why = next(iter(results.failures.items()))
            raise ShellError(
                f"{change.resource} could not be set: {why.message}",
                hint=why.hint or "Nothing is moved. Without --throttle the move has no limit.",
                code=why.name,
            )
        return results

    def _send(self, cluster: Cluster, validate_only: bool) -> Results[Change, Change]:
        outcome = alter(cluster, {each: each.value for each in self._new}, validate_only)
        results: Results[Change, Change] = Results()
        for setting, change in zip(self._new, self.changes, strict=True):
            if setting in outcome.failures:
                results.failures[change] = outcome.failures[setting]
            else:
                results.values[change] = change
        return results


def alter(
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
