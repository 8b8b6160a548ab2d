"""Replication throttles of partition reassignments (KIP-73): set, removed, found when left behind.

A throttle is two kinds of dynamic configs: per broker the rates at which it sends and receives, and
per topic lists of the replicas that the rates apply to, as entries `partition:broker`.

Setting a throttle adds the entries that are missing to the lists and sets the rates. A record is
written before that: the entries, and each rate with the rate it replaces. A rate that the record
has already replaces what the earlier one replaced. Removing a throttle follows three rules:

1. The entries that were added are removed once their partitions do not move.
2. A rate becomes what it replaced, unless a partition that still moves is listed for the broker:
   then the end of that reassignment does it.
3. What was not set here is not changed. A rate counts as set here while it has the recorded value,
   or while an entry that was added for its broker is listed.

A throttle that is not in the record (of another tool or machine) is left behind where partitions
are listed that do not move. These entries are removed, and the rates of their brokers by rule 2;
what they replaced is not known. `*`, all replicas of a topic, is nobody's throttle: it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct, field

from kafka_shell.admin.configs import read as configs_module
from kafka_shell.admin.configs.change import AlterConfigs
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.configs.read import by_answerer
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import as_failure
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.admin.wire.propagation import wait_until_visible
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Change, Resource
from kafka_shell.plan.results import Failure, Results
from kafka_shell.structs import replace

from .model import Move, Reassignment, TopicPartition
from .progress import under_way

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
_RATES = (LEADER_RATE, FOLLOWER_RATE)
_RATE_OF = {LEADER_REPLICAS: LEADER_RATE, FOLLOWER_REPLICAS: FOLLOWER_RATE}

_TOPIC_DELETED = 3  # UNKNOWN_TOPIC_OR_PARTITION: its throttle was deleted with it
_IN_USE = "unchanged: another partition reassignment uses it"
_NOT_OURS = "unchanged: it was changed since"
_LATER = "The throttle is still set."

Config = tuple[ConfigResource, str]
Moving = Mapping[TopicPartition, Reassignment]


# -- what a throttle sets, and the record of it ----------------------------------------------------


class Throttled(Struct, frozen=True):
    """What a throttle puts into one config: entries of a topic's list (`0:1,0:2`), or a broker's
    rate (bytes a second) and the rate it `replaced`. `now` is the whole value when planned."""

    resource: ConfigResource
    key: str
    value: str
    replaced: str | None = None
    now: str | None = None

    @property
    def config(self) -> Config:
        """Which config it is."""
        return self.resource, self.key

    @property
    def entries(self) -> dict[str, None]:
        """The entries of a list; none of a rate."""
        return _entries(self.value if self.key in _RATE_OF else None)

    @property
    def when_set(self) -> str:
        """The whole value of the config with it."""
        return self.value if self.key in _RATES else ",".join(_entries(self.now) | self.entries)

    @property
    def when_removed(self) -> str | None:
        """The whole value of the config without it; None where the config is deleted."""
        if self.key in _RATES:
            return self.replaced
        own = self.entries
        return ",".join(entry for entry in _entries(self.now) if entry not in own) or None

    def only(self, wanted: Callable[[TopicPartition], object]) -> Throttled:
        """Of a list's entries only those of the partitions that are wanted."""
        numbers = {entry: entry.partition(":")[0] for entry in self.entries}
        return replace(self, value=",".join(
            entry for entry, number in numbers.items()
            if number.isdecimal() and wanted(TopicPartition(self.resource.name, int(number)))
        ))  # fmt: skip

    def change(self, before: str | None, after: str | None) -> Change:
        """A change of this config."""
        about = Resource("throttle", str(self.resource))
        return Change(about, "alter", self.key, before, after)


Record = Mapping[Config, Throttled]


class ThrottleRecord:
    """What was set and not removed yet. This one lasts as long as its process."""

    def __init__(self) -> None:
        self._rows: Record = {}

    def read(self) -> Record:
        """The record by config."""
        return self._rows

    def update(self, change: Callable[[Record], Record]) -> None:
        """Replace the record by what `change` makes of it. Raises ShellError if that fails."""
        self._rows = change(self._rows)


# -- the values of the configs ---------------------------------------------------------------------


def _entries(value: str | None) -> dict[str, None]:
    return dict.fromkeys(filter(None, map(str.strip, (value or "").split(","))))


def _rates_of(lists: Iterable[Throttled]) -> set[Config]:
    """The rates that apply to these entries: `0:1` in a leader's list is about broker 1's."""
    named = ((row.key, entry.partition(":")[2]) for row in lists for entry in row.entries)
    return {(_broker(id), _RATE_OF[key]) for key, id in named if id.isdecimal()}


def _broker(id: int | str) -> ConfigResource:
    return ConfigResource(ResourceType.BROKER, str(id))


def _topic(name: str) -> ConfigResource:
    return ConfigResource(ResourceType.TOPIC, name)


class _Now(Struct, frozen=True):
    """The throttles that are set at brokers and topics themselves, and what could not be read."""

    values: dict[Config, str]
    failures: dict[ConfigResource, Failure]

    @classmethod
    def read(
        cls, cluster: Cluster, resources: Iterable[ConfigResource], moving: Moving | None = None
    ) -> _Now:
        """Of these resources, and of the topics that move."""
        asked = dict.fromkeys([*resources, *(_topic(each.topic) for each in moving or ())])
        found = configs_module.describe(cluster, asked, [*_RATES, *_RATE_OF])
        values = {
            (resource, entry.name): entry.value
            for resource, entries in found.values.items()
            for entry in entries
            if entry.overridden and entry.value
        }
        failures = {r: why for r, why in found.failures.items() if why.code != _TOPIC_DELETED}
        return cls(values, failures)

    @property
    def rows(self) -> list[Throttled]:
        """All that is set, whoever did it."""
        return [Throttled(*config, value, now=value) for config, value in self.values.items()]

    def in_use(self, moving: Moving) -> set[Config]:
        """The rates that apply to partitions that move; all of their brokers' where the topic could
        not be read."""
        unread = [each for each in moving.values() if _topic(each.topic) in self.failures]
        maybe = {(_broker(id), key) for each in unread for id in each.replicas for key in _RATES}
        return maybe | _rates_of(row.only(moving.__contains__) for row in self.rows)

    def still_set(self, record: Record) -> dict[Config, Throttled]:
        """What of the record is still there (rule 3), or could not be read."""
        still = {config: row for config, row in record.items() if row.resource in self.failures}
        for config, row in record.items():
            listed = _entries(self.values.get(config))
            if entries := [entry for entry in row.entries if entry in listed]:
                still[config] = replace(row, value=",".join(entries))
        named = _rates_of(still.values())
        for config in (config for config in record if config[1] in _RATES):
            value = self.values.get(config)
            if value is not None and (value == record[config].value or config in named):
                still[config] = record[config]
        return still


# -- plan ------------------------------------------------------------------------------------------


def plan_throttle(
    cluster: Cluster,
    moves: Sequence[Move],
    rate: int | None,
    record: Record,
    partitions: Collection[TopicPartition],
) -> tuple[Throttled, ...]:
    """What throttles these moves at `rate` bytes a second, and what the record has of `partitions`
    already. Raises ShellError where a broker or topic cannot be read."""
    wanted = {} if rate is None else _wanted(cluster, moves)
    if not wanted and not record:
        return ()
    now = _Now.read(cluster, [resource for resource, _ in (*wanted, *record)])
    for resource in (each for each, _ in wanted if each in now.failures):
        why = now.failures[resource]
        raise ShellError(
            f"the replication throttle of {resource} cannot be read: {why}",
            hint=why.hint or "Nothing was sent.",
            code=why.name,
        )
    still = now.still_set(record)
    earlier = {c: row.only(partitions.__contains__) for c, row in still.items() if c in now.values}
    rates = _rates_of(earlier.values()) & still.keys() & now.values.keys()
    rows = earlier | {c: replace(still[c], value=now.values[c]) for c in rates}
    for config, entries in wanted.items():
        there = now.values.get(config)
        if config[1] in _RATES:
            replaced = still[config].replaced if config in still else there
            rows[config] = Throttled(*config, str(rate), replaced)
        elif "*" not in (listed := _entries(there)):
            own = earlier[config].entries if config in earlier else {}
            added = (entry for entry in entries if entry not in listed)
            rows[config] = Throttled(*config, ",".join([*own, *added]))
    found = (replace(row, now=now.values.get(row.config)) for row in rows.values() if row.value)
    return tuple(found)


def _wanted(cluster: Cluster, moves: Sequence[Move]) -> dict[Config, list[str]]:
    """The entries to be listed, and the rates (without entries). Each of the earlier replicas may
    be the leader; only brokers that are up can be configured."""
    up = {broker.id for broker in cluster.brokers(refresh=True)}
    wanted: dict[Config, list[str]] = {}
    for move in moves:
        topic, number = _topic(move.partition.topic), move.partition.partition
        for key, brokers in ((LEADER_REPLICAS, move.before), (FOLLOWER_REPLICAS, move.adding)):
            wanted.setdefault((topic, key), []).extend(f"{number}:{id}" for id in brokers)
            wanted |= {(_broker(id), _RATE_OF[key]): [] for id in brokers if id in up}
    return wanted


def left_behind(
    cluster: Cluster,
    moving: Moving,
    record: Record | None = None,
    topics: Collection[str] | None = None,
    cancelled: Collection[TopicPartition] = (),
) -> tuple[tuple[Throttled, ...], dict[Resource, Failure]]:
    """The throttles that none of the partitions that move needs: all, or those of `topics`, or
    those of partitions that are being `cancelled`; and what could not be read."""
    names = {each.topic for each in cancelled} if cancelled else topics
    record = record or {}
    own = {
        config: row for config, row in record.items()
        if names is None or row.key in _RATES or row.resource.name in names
    }  # fmt: skip
    asked = {_topic(name): None for name in (scan(cluster).names if names is None else names)}
    brokers = [_broker(broker.id) for broker in cluster.brokers(refresh=True)]
    now = _Now.read(cluster, [*brokers, *(each for each, _ in own), *asked], moving)
    own, free = now.still_set(own), now.values.keys() - now.in_use(moving)
    known = {resource for resource, _ in own}
    lists = [row.only(lambda each: each not in moving) for row in own.values()]
    theirs = [
        row.only(lambda each: each not in moving and (not cancelled or each in cancelled))
        for row in now.rows
        if row.resource in asked and row.resource not in known
    ]
    # Kafka's tool gives both rates of a broker the same value.
    named = {(config[0], now.values.get(config)) for config in _rates_of(theirs)}
    rates = [row for row in now.rows if row.key in _RATES and row.config in free]
    ours = [replace(row, replaced=own[row.config].replaced) for row in rates if row.config in own]
    others = [
        row for row in rates if (row.resource, row.value) in named and row.config not in record
    ]
    rows = {row.config: row for row in (*ours, *others, *lists, *theirs) if row.value}
    found = [replace(rows[each.config], now=each.now) for each in now.rows if each.config in rows]
    not_read = {Resource(each.kind, each.name): why for each, why in now.failures.items()}
    return tuple(row for row in found if row.now != row.when_removed), not_read


# -- set and remove --------------------------------------------------------------------------------


class SetThrottle(Struct, frozen=True):
    """Set a throttle: one IncrementalAlterConfigs request (API key 44) for the topics, one for each
    broker. Where one fails, the others are removed again."""

    rows: tuple[Throttled, ...]
    record: ThrottleRecord = field(default_factory=ThrottleRecord)
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        """One change for each config that does not have its value yet."""
        return tuple(row.change(row.now, row.when_set) for row in self._new)

    @property
    def _new(self) -> list[Throttled]:
        return [row for row in self.rows if row.now != row.when_set]

    @property
    def removal(self) -> RemoveThrottle:
        """The step that removes it again."""
        as_set = (replace(row, now=row.when_set) for row in self.rows)
        return RemoveThrottle(tuple(as_set), self.record)

    def reread(self, cluster: Cluster) -> SetThrottle:
        """The same: what a rate replaces is what was read first."""
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Set, or only validate. Raises ShellError where one fails, or the record cannot be
        written."""
        if not validate_only:
            self.record.update(self._recorded)
        failed = _alter(cluster, {row.config: row.when_set for row in self._new}, validate_only)
        results: Results[Change, Change] = Results()
        for row, change in zip(self._new, self.changes, strict=True):
            if why := failed.get(row.config):
                results.failures[change] = why
            else:
                results.values[change] = change
        if results.failures and not validate_only:
            with suppress(ShellError):  # what is left is in the record
                self.removal.send(cluster, validate_only=False)
            change, why = next(iter(results.failures.items()))
            raise ShellError(
                f"{change.resource} could not be set: {why.message}",
                hint=why.hint or "No partition was moved. Without --throttle there is no limit.",
                code=why.name,
            )
        return results

    def _recorded(self, record: Record) -> Record:
        new = dict(record)
        for row in self.rows:
            both = {**(record[row.config].entries if row.config in record else {}), **row.entries}
            new[row.config] = replace(row, value=",".join(both) or row.value)
        return new


class RemoveThrottle(Struct, frozen=True):
    """Remove what a throttle set, by the three rules."""

    rows: tuple[Throttled, ...]
    record: ThrottleRecord = field(default_factory=ThrottleRecord)
    validates = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """One change for each config that is to get another value."""
        return tuple(row.change(row.now, row.when_removed) for row in self._set)

    @property
    def _set(self) -> list[Throttled]:
        return [row for row in self.rows if row.now != row.when_removed]

    def reread(self, cluster: Cluster) -> RemoveThrottle:
        """The same: the configs are read again when it is sent."""
        return self

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Remove. What is gone already counts as removed; what is left as it is says why."""
        moving = under_way(cluster).values
        now = _Now.read(cluster, (row.resource for row in self.rows), moving)
        still, used = now.still_set({row.config: row for row in self.rows}), now.in_use(moving)
        wanted: dict[Config, str | None] = {}
        notes: dict[Config, str] = {}
        for config, row in still.items():
            if config in used:
                notes[config] = _IN_USE
            elif row.resource not in now.failures:
                there = replace(row, now=now.values[config])
                ended = there.only(lambda each: each not in moving)
                wanted[config] = (ended if row.entries else there).when_removed
        changed = {config: to for config, to in wanted.items() if to != now.values[config]}
        failed = _alter(cluster, changed)
        after = now.values | {config: changed[config] for config in changed.keys() - failed.keys()}
        results: Results[Change, Change] = Results()
        for row, change in zip(self._set, self.changes, strict=True):
            config, then = row.config, after.get(row.config)
            if why := failed.get(config) or now.failures.get(row.resource):
                results.failures[change] = replace(
                    why, hint=f"{why.hint} {_LATER}".strip(), see=why.see or Resource("throttle")
                )
            else:
                ours = config in still or row.entries or then is None
                note = notes.get(config, "" if ours else _NOT_OURS)
                results.values[change] = replace(change, after=then, note=note)
        kept = failed.keys() | notes.keys()
        over = {row.config for row in self.rows if row.resource not in now.failures} - kept
        with suppress(ShellError):  # what is in the record too long is seen to be gone (rule 3)
            self.record.update(lambda record: {
                config: row for config, row in record.items()
                if config not in over or row.entries.keys() & _entries(after.get(config)).keys()
            })  # fmt: skip
        return results


def _alter(
    cluster: Cluster, wanted: Mapping[Config, str | None], validate_only: bool = False
) -> dict[Config, Failure]:
    """Set each config, or delete it (None); those that failed."""
    by_resource: dict[ConfigResource, list[ConfigAlteration]] = {}
    for (resource, key), value in wanted.items():
        op = ConfigOp.DELETE if value is None else ConfigOp.SET
        by_resource.setdefault(resource, []).append(ConfigAlteration(key, op, value))
    failed: dict[Config, Failure] = {}
    for group in by_answerer(by_resource).values():
        step = AlterConfigs(tuple((each, tuple(by_resource[each])) for each in group), ())
        configs = [(each, alteration.key) for each in group for alteration in by_resource[each]]
        try:
            answer = step.send(cluster, validate_only=validate_only).failures
        except ShellError as error:
            failed |= dict.fromkeys(configs, as_failure(error))
            continue
        pairs = zip(configs, step.changes, strict=True)
        failed |= {config: answer[change] for config, change in pairs if change in answer}
    done = {config: value for config, value in wanted.items() if config not in failed}
    if done and not validate_only:  # what is read next decides what is restored

        def visible() -> bool:
            now = _Now.read(cluster, by_resource).values
            return all(now.get(config) == value for config, value in done.items())

        wait_until_visible(visible)
    return failed
