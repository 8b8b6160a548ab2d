"""The configs of replication throttles (KIP-73), and the record of those that were set."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from msgspec import Struct

from kafka_shell.admin.configs import read as configs_module
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.partitions.model import Reassignment, TopicPartition
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.error_codes import UNKNOWN_TOPIC_OR_PARTITION
from kafka_shell.common.structs import replace
from kafka_shell.plan.model import Change, Resource
from kafka_shell.plan.results import Failure, Results

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
        kept = (each for each in self.entries if each.partition(":")[2] not in gone)
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
        every = dict.fromkeys([*resources, *(topic_config(each.topic) for each in moving or ())])
        known = known or Results()
        there = known.values.keys() | known.failures.keys()
        missing = [each for each in every if each not in there]
        read = configs_module.describe(cluster, missing, _KEYS)
        found = Results.merge([known, read])
        values = {
            (resource, entry.name): entry.value
            for resource, entries in found.values.items()
            for entry in entries
            if entry.name in _KEYS and entry.overridden and entry.value
        }
        gone = {r for r, why in found.failures.items() if why.code == UNKNOWN_TOPIC_OR_PARTITION}
        failures = {r: why for r, why in found.failures.items() if r not in gone}
        return cls(values, failures, frozenset(gone))

    @property
    def rows(self) -> list[Throttled]:
        """All configs, also those set by others."""
        return [Throttled(*config, value, now=value) for config, value in self.values.items()]

    def in_use(self, moving: Moving) -> set[Config]:
        """The rates for partitions that are being reassigned: if the lists of a topic could not be
        read, all rates of their brokers."""
        unread = [each for each in moving.values() if topic_config(each.topic) in self.failures]
        maybe = {
            (broker_config(id), key) for each in unread for id in each.replicas for key in RATES
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
