"""Replication throttles of partition reassignments (KIP-73): set, remove, find leftover ones.

A throttle consists of two kinds of dynamic configs: the rates at which each broker sends and
receives, and per topic the list of replicas that the rates apply to, as entries `partition:broker`.

Setting a throttle adds missing entries to the lists and sets the rates. Before that, the entries
and rates are recorded, each rate with the value it replaces. If the rate is recorded already, its
recorded previous value is kept. Removing a throttle follows three rules:

1. The added entries are removed once their partitions are not being reassigned.
2. A rate is restored to its previous value, unless the list of a partition that is still being
   reassigned has an entry for the broker: the end of that reassignment restores it.
3. Configs that were not set here are not changed. A rate counts as set here while it has the
   recorded value, or while an entry that was added for its broker is still listed.

A throttle that is not recorded (set by another tool or machine) is a leftover if it lists
partitions that are not being reassigned. These entries are removed, and the rates of their brokers
by rule 2; the previous rates are unknown. Entries of a broker that is down are kept, so that its
rates are found when it is back. `*`, all replicas of a topic, is never a leftover, and while
a topic has it, nor are rates that are not recorded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct, field

from kafka_shell.admin.cluster.registrations import not_running, registered
from kafka_shell.admin.configs import read as configs_module
from kafka_shell.admin.configs.change import AlterConfigs
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.configs.read import Entries, by_target
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.model import Move, Reassignment, TopicPartition
from kafka_shell.admin.steps import BaseStep
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Outcomes, Resource
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.structs import replace
from kafka_shell.base.waits import FAILOVER_S, POLL_S
from kafka_shell.wire.cluster import Cluster, wait_until_visible
from kafka_shell.wire.error_codes import UNKNOWN_TOPIC_OR_PARTITION
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.rounds import in_requests

# The configs of replication throttles (KIP-73), and the record of those that were set.

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
RATES = (LEADER_RATE, FOLLOWER_RATE)
RATE_OF = {LEADER_REPLICAS: LEADER_RATE, FOLLOWER_REPLICAS: FOLLOWER_RATE}
_KEYS = (*RATES, *RATE_OF)


Config = tuple[ConfigResource, str]
Moving = Mapping[TopicPartition, Reassignment]


class Throttled(Struct, frozen=True):
    """One config of a throttle: entries of a topic's list (`0:1,0:2`), or a broker's rate (bytes
    per second) and the value it `replaced`. `now` is the whole value when planned."""

    resource: ConfigResource
    key: str
    value: str
    replaced: str | None = None
    now: str | None = None

    @property
    def config(self) -> Config:
        return self.resource, self.key

    @property
    def entries(self) -> dict[str, None]:
        """The entries of a list; none for a rate."""
        return entries_of(self.value if self.key in RATE_OF else None)

    @property
    def when_set(self) -> str:
        """The whole value of the config with the throttle."""
        return self.value if self.key in RATES else ",".join(entries_of(self.now) | self.entries)

    @property
    def when_removed(self) -> str | None:
        """The whole value of the config without the throttle; None if the config is deleted."""
        if self.key in RATES:
            return self.replaced
        own = self.entries
        return ",".join(entry for entry in entries_of(self.now) if entry not in own) or None

    def only(self, condition: Callable[[TopicPartition], object]) -> Throttled:
        """The same list with the entries of the partitions that meet the condition."""
        numbers = {entry: entry.partition(":")[0] for entry in self.entries}
        return replace(self, value=",".join(
            entry for entry, number in numbers.items()
            if number.isdecimal() and condition(TopicPartition(self.resource.name, int(number)))
        ))  # fmt: skip

    def without_brokers(self, ids: Collection[int]) -> Throttled:
        """The same list without the entries of these brokers."""
        gone = set(map(str, ids))
        kept = (entry for entry in self.entries if entry.partition(":")[2] not in gone)
        return replace(self, value=",".join(kept))

    def change(self, before: str | None, after: str | None) -> Change:
        """The change of this config from one whole value to another."""
        resource = Resource("throttle", str(self.resource))
        return Change(resource, "alter", self.key, before, after)


Record = Mapping[Config, Throttled]


class ThrottleRecord:
    """The throttles that were set and not removed yet, in memory."""

    def __init__(self) -> None:
        self._rows: Record = {}

    def read(self) -> Record:
        """The record by config."""
        return self._rows

    def update(self, change: Callable[[Record], Record]) -> None:
        """Replace the record by the result of `change`. Raises ShellError if that fails."""
        self._rows = change(self._rows)


# -- current values --------------------------------------------------------------------------------


def entries_of(value: str | None) -> dict[str, None]:
    return dict.fromkeys(filter(None, map(str.strip, (value or "").split(","))))


def rates_of(lists: Iterable[Throttled]) -> set[Config]:
    """The rates for these entries: for `0:1` in a list of leader replicas, the rate of broker 1."""
    ids = ((row.key, entry.partition(":")[2]) for row in lists for entry in row.entries)
    return {(broker_config(id), RATE_OF[key]) for key, id in ids if id.isdecimal()}


def broker_config(id: int | str) -> ConfigResource:
    return ConfigResource(ResourceType.BROKER, str(id))


def topic_config(name: str) -> ConfigResource:
    return ConfigResource(ResourceType.TOPIC, name)


class ThrottleConfigs(Struct, frozen=True):
    """The throttle configs set on brokers and topics, failures of those that were not read, and the
    topics that do not exist."""

    values: dict[Config, str]
    failures: dict[ConfigResource, Failure]
    gone: frozenset[ConfigResource]

    @classmethod
    def read(
        cls,
        cluster: Cluster,
        resources: Iterable[ConfigResource],
        moving: Moving | None = None,
        known: configs_module.Entries | None = None,
    ) -> ThrottleConfigs:
        """The configs of these resources, and of the topics that are being reassigned. Those that
        are `known` are not read again."""
        every = dict.fromkeys([*resources, *(topic_config(place.topic) for place in moving or ())])
        known = known or Results()
        there = known.values.keys() | known.failures.keys()
        missing = [target for target in every if target not in there]
        read = configs_module.describe(cluster, missing, _KEYS)
        configs = Results.merge([known, read])
        values = {
            (resource, entry.name): entry.value
            for resource, entries in configs.values.items()
            for entry in entries
            if entry.name in _KEYS and entry.overridden and entry.value
        }
        gone = {r for r, why in configs.failures.items() if why.code == UNKNOWN_TOPIC_OR_PARTITION}
        failures = {r: why for r, why in configs.failures.items() if r not in gone}
        return cls(values, failures, frozenset(gone))

    @property
    def rows(self) -> list[Throttled]:
        """All configs, also those set by others."""
        return [Throttled(*config, value, now=value) for config, value in self.values.items()]

    def in_use(self, moving: Moving) -> set[Config]:
        """The rates for partitions that are being reassigned: if the lists of a topic could not be
        read, all rates of their brokers."""
        unread = [move for move in moving.values() if topic_config(move.topic) in self.failures]
        maybe = {
            (broker_config(id), key) for move in unread for id in move.replicas for key in RATES
        }
        return maybe | rates_of(row.only(moving.__contains__) for row in self.rows)

    @property
    def throttles_all(self) -> bool:
        """Whether all replicas of a topic that was read are throttled (`*`)."""
        return any("*" in entries_of(value) for (_, key), value in self.values.items()
                   if key not in RATES)  # fmt: skip

    def still_set(self, record: Record) -> dict[Config, Throttled]:
        """The recorded configs that are still set (rule 3), or could not be read."""
        still = {config: row for config, row in record.items() if row.resource in self.failures}
        for config, row in record.items():
            listed = entries_of(self.values.get(config))
            if entries := [entry for entry in row.entries if entry in listed]:
                still[config] = replace(row, value=",".join(entries))
        listed_rates = rates_of(still.values())
        for config in (config for config in record if config[1] in RATES):
            value = self.values.get(config)
            if value is not None and (value == record[config].value or config in listed_rates):
                still[config] = record[config]
        return still


_LEFT_S = 3.0  # of the deadline: too little to wait for that

# -- plan ------------------------------------------------------------------------------------------


def plan_throttle(
    cluster: Cluster,
    moves: Sequence[Move],
    rate: int | None,
    record: Record,
    partitions: Collection[TopicPartition],
) -> tuple[Throttled, ...]:
    """The configs that throttle these moves at `rate` bytes per second, and those recorded for
    `partitions` already. Raises ShellError if those of a broker or topic cannot be read."""
    if rate is None and not record:
        return ()
    target, configs = _read(cluster, moves if rate is not None else (), record)
    for resource in (each for each, _ in target if each in configs.failures):
        failure = configs.failures[resource]
        why = failure.message if failure.code is None else failure
        raise ShellError(
            f"the replication throttle of {resource} cannot be read: {why}",
            hint=failure.hint or f"Check {resource}: it is not responding.",
            code=failure.name,
            see=failure.see,
        )
    values, still = configs.values, configs.still_set(record)
    earlier = {c: row.only(partitions.__contains__) for c, row in still.items() if c in values}
    rates = rates_of(earlier.values()) & still.keys() & values.keys()
    rows = earlier | {config: replace(still[config], value=values[config]) for config in rates}
    for config, entries in target.items():
        value = values.get(config)
        if config[1] in RATES:
            replaced = still[config].replaced if config in still else value
            rows[config] = Throttled(*config, str(rate), replaced)
        elif "*" not in (listed := entries_of(value)):
            own = earlier[config].entries if config in earlier else {}
            added = (entry for entry in entries if entry not in listed)
            rows[config] = Throttled(*config, ",".join([*own, *added]))
    return tuple(replace(row, now=values.get(row.config)) for row in rows.values() if row.value)


def _read(
    cluster: Cluster, moves: Sequence[Move], record: Record
) -> tuple[dict[Config, list[str]], ThrottleConfigs]:
    """The configs to set, and those of the same resources and of the record.

    The cluster notices after some seconds that a broker has died. It needs no throttle then, so one
    that does not respond is waited for.
    """
    until = time.monotonic() + FAILOVER_S
    if cluster.deadline is not None:
        until = min(until, cluster.deadline - _LEFT_S)
    while True:
        target = _target(cluster, moves)
        configs = ThrottleConfigs.read(cluster, [each for each, _ in (*target, *record)])
        silent = {each for each, why in configs.failures.items() if why.code is None}
        silent &= {each for each, key in target if key in RATES}
        if not silent:
            return target, configs
        late = time.monotonic() > until
        running = {broker_config(broker.id) for broker in cluster.brokers(refresh=True)}
        if late and silent <= running:
            return target, configs
        time.sleep(POLL_S)


def _target(cluster: Cluster, moves: Sequence[Move]) -> dict[Config, list[str]]:
    """The lists with the entries to add, and the rates to set (without entries), of the moves that
    copy something. Each previous replica may be the leader; only running brokers can be
    configured."""
    running = {broker.id for broker in cluster.brokers(refresh=True)}
    target: dict[Config, list[str]] = {}
    for move in (move for move in moves if move.adding):
        topic, number = topic_config(move.partition.topic), move.partition.partition
        for key, brokers in ((LEADER_REPLICAS, move.before), (FOLLOWER_REPLICAS, move.adding)):
            target.setdefault((topic, key), []).extend(f"{number}:{id}" for id in brokers)
            target |= {(broker_config(id), RATE_OF[key]): [] for id in brokers if id in running}
    return target


def left_behind(
    cluster: Cluster,
    moving: Moving,
    record: Record | None = None,
    topics: Collection[str] | None = None,
    cancelled: Collection[TopicPartition] = (),
    known: Entries | None = None,
) -> tuple[tuple[Throttled, ...], dict[Resource, Failure]]:
    """The throttles that no reassignment in progress needs (all, or those of `topics`, or those of
    `cancelled` partitions), and failures of resources that were not read. `known` configs are not
    read again."""
    names = {partition.topic for partition in cancelled} if cancelled else topics
    record = record or {}
    own = {
        config: row for config, row in record.items()
        if names is None or row.key in RATES or row.resource.name in names
    }  # fmt: skip
    requested = {
        topic_config(name): None for name in (scan(cluster).names if names is None else names)
    }
    running = [broker_config(broker.id) for broker in cluster.brokers(refresh=True)]
    configs = ThrottleConfigs.read(
        cluster, [*running, *(each for each, _ in own), *requested], moving, known
    )
    own, used = configs.still_set(own), configs.in_use(moving)
    recorded = {resource for resource, _ in own}
    own_lists = [row.only(lambda each: each not in moving) for row in own.values()]
    other_lists = [
        row.only(lambda each: each not in moving and (not cancelled or each in cancelled))
        for row in configs.rows
        if row.resource in requested and row.resource not in recorded
    ]
    down = _down(cluster, other_lists, running)
    other_lists = [row.without_brokers(down) for row in other_lists]
    # Kafka's tool sets both rates of a broker to the same value.
    listed = {(config[0], configs.values.get(config)) for config in rates_of(other_lists)}
    rates = [row for row in configs.rows if row.key in RATES and row.config not in used]
    own_rates = [
        replace(row, replaced=own[row.config].replaced) for row in rates if row.config in own
    ]
    # A rate may be meant for a topic of which all replicas are throttled.
    other_rates = [] if configs.throttles_all else [
        row for row in rates if (row.resource, row.value) in listed and row.config not in record
    ]  # fmt: skip
    every = (*own_rates, *other_rates, *own_lists, *other_lists)
    rows = {row.config: row for row in every if row.value}
    left = [replace(rows[r.config], now=r.now) for r in configs.rows if r.config in rows]
    left += _unreadable(own, own_lists, configs, used, running)
    not_read = {Resource(each.kind, each.name): why for each, why in configs.failures.items()}
    not_read |= {
        Resource("broker", str(id)): Failure("not-running", f"broker {id} is not running")
        for id in sorted(down)
    }
    return tuple(row for row in left if row.now != row.when_removed), not_read


def _unreadable(
    own: Record,
    lists: Sequence[Throttled],
    configs: ThrottleConfigs,
    used: Collection[Config],
    running: Collection[ConfigResource],
) -> list[Throttled]:
    """The recorded configs that no reassignment needs and that could not be read: they count as
    still set. Not those of brokers that are down (see `on_down_brokers`)."""
    rates = (
        row
        for config, row in own.items()
        if row.key in RATES and row.resource in running and config not in used
    )
    return [
        replace(row, now=row.value)
        for row in (*lists, *rates)
        if row.value and row.resource in configs.failures
    ]


def of_no_move(rows: Iterable[Throttled], moving: Moving) -> tuple[Throttled, ...]:
    """The rows of topics and brokers that take part in no reassignment. What the complete part of
    a reassignment leaves is removed at its end."""
    topics = {partition.topic for partition in moving}
    brokers = {str(id) for move in moving.values() for id in move.replicas}
    return tuple(
        row for row in rows if row.resource.name not in (brokers if row.key in RATES else topics)
    )


def _down(
    cluster: Cluster, lists: Sequence[Throttled], running: Collection[ConfigResource]
) -> frozenset[int]:
    """The brokers in these lists that are not running, but may come back with their rates."""
    absent = {int(broker.name) for broker, _ in rates_of(lists) if broker not in running}
    return not_running(cluster) & absent if absent else frozenset()


def on_down_brokers(cluster: Cluster, moving: Moving, record: Record) -> list[Throttled]:
    """The recorded rates of brokers that are down, and that no reassignment in progress needs. They
    can only be removed when the brokers are back. Brokers that are not registered are gone."""
    rates = [row for row in record.values() if row.key in RATES]
    running = {broker.id for broker in cluster.brokers(refresh=True)} if rates else set()
    needed = {broker for move in moving.values() for broker in move.replicas}
    down = [row for row in rates if int(row.resource.name) not in running | needed]
    if not down:
        return []
    known = registered(cluster)
    return [row for row in down if known is None or int(row.resource.name) in known]


# Steps that set and remove replication throttles, by the rules of `throttles`.

_IN_USE = "unchanged: another partition reassignment uses it"
_NOT_OURS = "unchanged: modified after the throttle was set"
_STILL_SET = "The throttle is still set."
_THROTTLE = Resource("throttle")
_UNKNOWN = ("deadline", "outcome-unknown", "REQUEST_TIMED_OUT")  # it may have been set


class SetThrottle(Struct, BaseStep, frozen=True):
    """Set a throttle: IncrementalAlterConfigs requests (API key 44) for the topics, and one per
    broker. If one fails, the others are undone. Replaced rates are not read again."""

    rows: tuple[Throttled, ...]
    record: ThrottleRecord = field(default_factory=ThrottleRecord)
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(row.change(row.now, row.when_set) for row in self._changed)

    @property
    def _changed(self) -> list[Throttled]:
        return [row for row in self.rows if row.now != row.when_set]

    @property
    def removal(self) -> RemoveThrottle:
        """The step that removes the throttle."""
        rows = (replace(row, now=row.when_set) for row in self.rows)
        return RemoveThrottle(tuple(rows), self.record)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Raises ShellError if a config cannot be set, or the record cannot be written."""
        if not validate_only:
            self.record.update(self._recorded)
        values = {row.config: row.when_set for row in self._changed}
        failures = _alter(cluster, values, validate_only)
        results = Results.of(self.changes, (failures.get(row.config) for row in self._changed))
        if results.failures and not validate_only:
            change, failure = next(iter(results.failures.items()))
            error = ShellError(
                f"{change.resource} could not be set: {failure.message} (no partition was moved)",
                hint=failure.hint or "Omit the throttle to move without a limit.",
                code=failure.name,
                see=failure.see,
            )
            nothing_set = len(results.failures) == len(self._changed) and not any(
                why.name in _UNKNOWN for why in results.failures.values()
            )
            if not self.removal.attempt(cluster) and not nothing_set:
                note_still_set(error)
            raise error
        return results

    def _recorded(self, record: Record) -> Record:
        new = dict(record)
        for row in self.rows:
            both = {**(record[row.config].entries if row.config in record else {}), **row.entries}
            new[row.config] = replace(row, value=",".join(both) or row.value)
        return new


class RemoveThrottle(Struct, BaseStep, frozen=True):
    """Remove a throttle by the three rules. The configs are read again when it is sent."""

    rows: tuple[Throttled, ...]
    record: ThrottleRecord = field(default_factory=ThrottleRecord)

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(row.change(row.now, row.when_removed) for row in self._changed)

    @property
    def _changed(self) -> list[Throttled]:
        return [row for row in self.rows if row.now != row.when_removed]

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Configs that are removed already count as removed; notes explain those that are kept."""
        moving = under_way(cluster).values
        resources = [row.resource for row in self.rows]
        with suppress(ShellError):  # a record that cannot be read is reported where it is used
            resources += [each for each, key in self.record.read() if key not in RATES]
        configs = ThrottleConfigs.read(cluster, resources, moving)
        still = configs.still_set({row.config: row for row in self.rows})
        used = configs.in_use(moving)
        target: dict[Config, str | None] = {}
        notes: dict[Config, str] = {}
        for config, row in still.items():
            if config in used:
                notes[config] = _IN_USE
            elif row.resource not in configs.failures:
                current = replace(row, now=configs.values[config])
                ended = current.only(lambda each: each not in moving)
                target[config] = (ended if row.entries else current).when_removed
        changed = {c: value for c, value in target.items() if value != configs.values[c]}
        failed = _alter(cluster, changed)
        after = configs.values | {c: changed[c] for c in changed.keys() - failed.keys()}
        results: Outcomes = Results()
        for row, change in zip(self._changed, self.changes, strict=True):
            config, value = row.config, after.get(row.config)
            if failure := failed.get(config) or configs.failures.get(row.resource):
                about = with_still_set(failure)
                results.failures[change] = replace(about, see=failure.see or _THROTTLE)
            else:
                own = config in still or row.entries or value is None
                note = notes.get(config, "" if own else _NOT_OURS)
                results.values[change] = replace(change, after=value, note=note)
        kept = failed.keys() | notes.keys()
        done = {row.config for row in self.rows if row.resource not in configs.failures} - kept
        with suppress(ShellError):  # a row that stays in the record too long is harmless (rule 3)
            self.record.update(lambda record: {
                config: row for config, row in record.items() if row.resource not in configs.gone
                and (config not in done
                     or row.entries.keys() & entries_of(after.get(config)).keys())
            })  # fmt: skip
        return results

    def attempt(self, cluster: Cluster) -> bool:
        """Remove a throttle for which nothing was moved. Returns whether that worked; the record
        has the configs that are still set."""
        try:
            return self.send(cluster, validate_only=False).ok
        except ShellError:
            return False


def note_still_set(error: ShellError) -> None:
    """Add to an error that the throttle is still set."""
    error.hint, error.see = f"{error.hint} {_STILL_SET}".strip(), _THROTTLE


def with_still_set(failure: Failure) -> Failure:
    """A failure that also says that the throttle is still set."""
    return replace(failure, hint=f"{failure.hint} {_STILL_SET}".strip(), see=_THROTTLE)


def _alter(
    cluster: Cluster, target: Mapping[Config, str | None], validate_only: bool = False
) -> dict[Config, Failure]:
    """Set or delete (None) each config. Returns the failures."""
    by_resource: dict[ConfigResource, list[ConfigAlteration]] = {}
    for (resource, key), value in target.items():
        op = ConfigOp.DELETE if value is None else ConfigOp.SET
        by_resource.setdefault(resource, []).append(ConfigAlteration(key, op, value))
    failed: dict[Config, Failure] = {}
    requests = (
        request
        for group in by_target(by_resource).values()
        for request in in_requests(group, lambda resource: len(by_resource[resource]))
    )
    for group in requests:
        step = AlterConfigs(tuple((each, tuple(by_resource[each])) for each in group), ())
        configs = [(each, alteration.key) for each in group for alteration in by_resource[each]]
        try:
            failures = step.send(cluster, validate_only=validate_only).failures
        except ShellError as error:
            failed |= dict.fromkeys(configs, as_failure(error))
            continue
        pairs = zip(configs, step.changes, strict=True)
        failed |= {config: failures[change] for config, change in pairs if change in failures}
    done = {config: value for config, value in target.items() if config not in failed}
    if done and not validate_only:  # later removals depend on these values

        def visible() -> bool:
            values = ThrottleConfigs.read(cluster, by_resource).values
            return all(values.get(config) == value for config, value in done.items())

        wait_until_visible(visible)
    return failed
