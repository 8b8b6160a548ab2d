"""Reads facts about a plan within one time budget; what could not be read is not checked."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, partial
from typing import TypeVar

from msgspec import Struct

from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ResourceType
from kafka_shell.admin.configs.read import by_name, in_parts
from kafka_shell.admin.facts import attempt, not_checked, not_checked_of, time_is_over
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import GroupListing
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.advice.altered_configs import AlteredConfig, altered_configs, inherited_keys
from kafka_shell.base.plans import NotChecked, Plan
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.units import counted
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import MetadataScan, scan

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
Item = TypeVar("Item")

_AT_ONCE = 1_000  # partitions or groups


class TopicValues(Struct, frozen=True):
    """The values of some keys in all topics that could be read."""

    values: Mapping[str, Mapping[str, ConfigEntry]]

    def inheriting(self, key: str) -> list[str]:
        """Return the topics without a value of their own for this key."""
        return [
            name
            for name, entries in self.values.items()
            if key not in entries or not entries[key].overridden
        ]


class Reads:
    """The reads of all questions about one plan. `not_checked` is what could not be read.

    A read may take half of the time that is left, so that a broker that does not respond leaves
    time for the reads after it.
    """

    def __init__(self, cluster: Cluster, plan: Plan) -> None:
        self.cluster, self.plan = cluster, plan
        self.not_checked: list[NotChecked] = []
        self.metadata: MetadataScan | None = None  # of all topics, if a question has read it
        self._until = time_is_over()

    def attempt(self, about: str, read: Callable[[], T]) -> T | None:
        """Return what `read` returns; None if it fails: then it is not checked."""
        with self._some_time():
            outcome = attempt(read)
        if isinstance(outcome, Failure):
            self.not_checked.append(not_checked(about, outcome))
            return None
        return outcome

    def attempt_all(
        self,
        about: str,
        noun: str,
        items: Sequence[Item],
        read: Callable[[Sequence[Item]], Results[K, V]],
    ) -> dict[K, V]:
        """Return the values of all items, a thousand per read. The others are not checked, in one
        line: `the records of 3 partitions`."""
        values: dict[K, V] = {}
        failures: list[Failure] = []
        with self._some_time():
            for start in range(0, len(items), _AT_ONCE):
                part = items[start : start + _AT_ONCE]
                results = attempt(partial(read, part))
                if isinstance(results, Failure):
                    failures += [results] * (len(items) - start)
                    break
                values |= results.values
                failures += results.failures.values()
        self.miss(about, failures, noun)
        return values

    def sizes(
        self, about: str, partitions: Sequence[TopicPartition], brokers: Collection[int]
    ) -> tuple[dict[TopicPartition, tuple[int, ...]], Collection[int]] | None:
        """Return the bytes of each replica on these brokers, or on all of them, and the brokers
        that reported all of theirs."""
        few = partitions if len(partitions) <= _AT_ONCE else None
        dirs = self.attempt(
            about, lambda: log_dirs.describe(self.cluster, sorted(brokers) or None, few)
        )
        if dirs is None:
            return None
        complete = log_dirs.without_offline(dirs)
        self.miss("the size of replicas on", complete.failures.values(), "broker")
        sizes: dict[TopicPartition, tuple[int, ...]] = dict.fromkeys(partitions, ())
        for replica in (replica for of in dirs for one in of for replica in one.replicas):
            partition = replica.topic_partition
            if partition in sizes and not replica.future:
                sizes[partition] += (replica.size,)
        return sizes, complete.values.keys()

    def _some_time(self) -> AbstractContextManager[None]:
        return self.cluster.within(max(0.0, self._until - time.monotonic()) / 2)

    def miss(self, about: str, failures: Collection[Failure], noun: str) -> None:
        """Report these failures as one line (`the records of 3 partitions`), if there are any."""
        self.not_checked += not_checked_of(about, failures, noun)

    def is_over(self) -> bool:
        """Whether the time is over, for what is computed without requests."""
        return time.monotonic() >= self._until

    @cached_property
    def altered(self) -> list[AlteredConfig]:
        """The altered configs of the plan."""
        return altered_configs(self.plan)

    @cached_property
    def groups(self) -> list[GroupListing] | None:
        """The visible groups; None if they could not be listed."""
        listed = self.attempt("groups", lambda: groups.list_groups(self.cluster))
        if listed is None:
            return None
        self.miss("the groups of", listed.failures.values(), "coordinator")
        with self._some_time():
            hidden = attempt(lambda: groups.hidden(self.cluster))
        if hidden:
            self.not_checked.append(not_checked("other groups", hidden))
        return list(listed)

    @cached_property
    def topic_values(self) -> TopicValues | None:
        """The values of all topics for the altered keys of brokers that topics inherit; None if
        there are no such keys, or the values could not be read."""
        inherited, keys = inherited_keys(self.altered)
        if not inherited:
            return None
        names = ", ".join(inherited)
        values = self.attempt(f"the topics that inherit {names}", lambda: self._values(keys))
        if values is None:
            return None
        read, failures = values
        if failures:
            about = f"whether {counted(len(failures), 'topic')} inherit {names}"
            self.not_checked.append(not_checked(about, failures[0]))
        return read

    def _values(self, keys: Collection[str]) -> tuple[TopicValues, list[Failure]]:
        self.metadata = scan(self.cluster)
        values: dict[str, Mapping[str, ConfigEntry]] = {}
        failures: list[Failure] = []
        resources = [ConfigResource(ResourceType.TOPIC, name) for name in self.metadata.names]
        for part in in_parts(self.cluster, resources, sorted(keys)):
            failures += part.failures.values()
            values |= {resource.name: by_name(entries) for resource, entries in part.values.items()}
        return TopicValues(values), failures
