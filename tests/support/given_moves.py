"""Replicas, reassignments and throttles of a cluster as given facts: nothing is sent or read.

What the program reads and sends, it reads and sends through a few functions. Here these return the
given facts and change them, as brokers do. Time passes only while the program sleeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import pytest
from kafka.protocol.metadata import MetadataResponse

from kafka_shell import admin
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, own_source
from kafka_shell.admin.partitions import batches, in_progress, progress, sizes, steps, throttles
from kafka_shell.admin.partitions.model import Move, Reassignment, TopicPartition
from kafka_shell.admin.partitions.sizes import Sizes
from kafka_shell.admin.partitions.throttles import Config, broker_config
from kafka_shell.admin.topics import min_isr
from kafka_shell.base.results import Failure, Results
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig
from kafka_shell.wire.metadata_scan import MetadataScan
from kafka_shell.wire.model import Broker
from kafka_shell.wire.requests import ANY, Target

Replicas = tuple[int, ...]
Event = tuple[float, Callable[[], object]]
_METADATA_VERSION = 12
_TOPIC = MetadataResponse.MetadataResponseTopic
_PARTITION = _TOPIC.MetadataResponsePartition
_BROKER = MetadataResponse.MetadataResponseBroker
SILENT = Failure("deadline", "the broker did not respond")


class GivenCluster(Cluster):
    """The facts. A move is complete `takes` seconds after its start, if the brokers run that get
    replicas; None: when `complete` is called. `events` happen at their time, in seconds."""

    def __init__(self, topics: Mapping[str, Sequence[Replicas]], *brokers: int) -> None:
        super().__init__(ConnectionConfig())
        self.replicas = {
            TopicPartition(name, number): replicas
            for name, each in topics.items()
            for number, replicas in enumerate(each)
        }
        self.moving: dict[TopicPartition, Reassignment] = {}
        self.values: dict[Config, str] = {}
        self.up, self.registered = set(brokers), set(brokers)
        self.unread: dict[ConfigResource, Failure] = {}
        self.unwritable: dict[ConfigResource, Failure] = {}
        self.refused: dict[TopicPartition, Failure] = {}
        self.racks: dict[int, str] = {}
        self.takes: float | None = None
        self.sizes = Sizes()
        self.ends: dict[tuple[int, TopicPartition], int] = {}
        self.silent: list[Failure] = []  # leaders that do not respond
        self.answers: list[MetadataScan] = []  # what leaders return; if empty, the facts
        self.shown: MetadataScan | None = None  # what brokers return; None: the facts
        self.unlisted = 0  # so often, the controller lists no reassignment
        self.events: list[Event] = []
        self.log: list[str] = []  # what was started, in order
        self.now = time.monotonic()
        self._zero = self.now
        self._since: dict[TopicPartition, float] = {}

    @property
    def seconds(self) -> float:
        """The time since the beginning."""
        return self.now - self._zero

    def sleep(self, seconds: float) -> None:
        """Let time pass, with its events."""
        self.now += seconds
        self._tick()

    def _tick(self) -> None:
        due = [event for event in self.events if event[0] <= self.seconds]
        self.events = [event for event in self.events if event not in due]
        for _, action in due:
            action()
        if self.takes is not None:
            for each in tuple(self.moving):
                if self._since[each] + self.takes <= self.now:
                    self.complete(each)

    # -- what a controller does --------------------------------------------------------------------

    def start(self, each: TopicPartition, after: Replicas) -> None:
        """Reassign a partition."""
        before = self.moving[each].before if each in self.moving else self.replicas[each]
        adding = tuple(id for id in after if id not in before)
        removing = tuple(id for id in before if id not in after)
        self.moving.pop(each, None)
        self.log.append(f"{each} -> {','.join(map(str, after))}")
        if adding or removing:
            self.moving[each] = Reassignment(
                each.topic, each.partition, (*after, *removing), adding, removing
            )
            self._since[each] = self.now
            self.replicas[each] = before
        else:
            self.replicas[each] = after

    def complete(self, *partitions: TopicPartition) -> None:
        """End these reassignments, or all, if the brokers run that get replicas."""
        for each in partitions or tuple(self.moving):
            if set(self.moving[each].adding) <= self.up:
                self.replicas[each] = self.moving.pop(each).after

    def delete(self, topic: str) -> None:
        """Delete a topic with its reassignments and configs."""
        self.replicas = {key: value for key, value in self.replicas.items() if key.topic != topic}
        self.moving = {key: value for key, value in self.moving.items() if key.topic != topic}
        self.values = {key: value for key, value in self.values.items() if key[0].name != topic}

    # -- what the program reads --------------------------------------------------------------------

    def brokers(self, *, refresh: bool = False) -> tuple[Broker, ...]:
        return tuple(Broker(id, f"host-{id}", 9092, self.racks.get(id)) for id in sorted(self.up))

    @property
    def cluster_id(self) -> str:
        return "given"

    def release(self, to: Target = ANY) -> str:
        return "4.3"

    def supports(self, api: object, version: int = 0) -> bool:
        return False

    def under_way(
        self, topics: Collection[str] | None = None
    ) -> Results[TopicPartition, Reassignment]:
        found = sorted(self.moving.items())
        if self.unlisted:
            self.unlisted, found = self.unlisted - 1, []
        return Results({key: each for key, each in found if not topics or key.topic in topics})

    def scan(self, names: Sequence[str] | None = None, *_: object) -> MetadataScan:
        if self.shown is not None:
            return self.shown
        known = list(dict.fromkeys(each.topic for each in self.replicas))
        found = [self._topic(name) for name in (known if names is None else names)]
        brokers = [_BROKER(id, f"host-{id}", 9092, self.racks.get(id)) for id in sorted(self.up)]
        response = MetadataResponse(0, brokers, "given", 1, found)
        return MetadataScan(bytes(response.encode(version=_METADATA_VERSION)), _METADATA_VERSION)

    def _topic(self, name: str) -> Any:
        rows = {key.partition: each for key, each in self.replicas.items() if key.topic == name}
        partitions = []
        for number, replicas in rows.items():
            move = self.moving.get(TopicPartition(name, number))
            isr = [id for id in replicas if id in self.up]
            shown = move.replicas if move else replicas
            leader = isr[0] if isr else -1
            partitions.append(_PARTITION(0, number, leader, 0, list(shown), isr, []))
        return _TOPIC(0 if rows else 3, name, is_internal=False, partitions=partitions)

    def describe_configs(
        self, resources: Sequence[ConfigResource]
    ) -> Results[ConfigResource, tuple[ConfigEntry, ...]]:
        found: Results[ConfigResource, tuple[ConfigEntry, ...]] = Results()
        topics = {each.topic for each in self.replicas}
        for each in resources:
            broker = each == broker_config(each.name)
            if each in self.unread or (broker and int(each.name) not in self.up):
                found.failures[each] = self.unread.get(each, SILENT)
            elif not broker and each.name not in topics:
                found.failures[each] = Failure("UNKNOWN_TOPIC_OR_PARTITION", "no such topic", 3)
            else:
                set_here = {key: value for (res, key), value in self.values.items() if res == each}
                found.values[each] = tuple(
                    ConfigEntry(each, key, value, own_source(each))
                    for key, value in ({min_isr.KEY: "1"} | set_here).items()
                )
        return found

    # -- what the program sends --------------------------------------------------------------------

    def alter(
        self, target: Mapping[Config, str | None], validate_only: bool
    ) -> dict[Config, Failure]:
        failed = {each: self.unwritable[each[0]] for each in target if each[0] in self.unwritable}
        for config, value in target.items():
            if config not in failed and not validate_only:
                self.values.pop(config, None)
                self.values |= {} if value is None else {config: value}
        return failed

    def send_moves(
        self, moves: Sequence[Move], cancel: bool
    ) -> Results[TopicPartition, TopicPartition]:
        results: Results[TopicPartition, TopicPartition] = Results()
        for each in (move.partition for move in moves):
            if each in self.refused:
                results.failures[each] = self.refused[each]
            elif cancel and each not in self.moving:
                results.failures[each] = Failure("NO_REASSIGNMENT_IN_PROGRESS", f"{each}", 85)
            else:
                results.values[each] = each
        for move in moves:
            if move.partition in results.values and cancel:
                self.replicas[move.partition] = self.moving.pop(move.partition).before
            elif move.partition in results.values:
                self.start(move.partition, move.after)
        return results


@contextmanager
def given(topics: Mapping[str, Sequence[Replicas]], *brokers: int) -> Iterator[GivenCluster]:
    """A cluster whose facts are these topics and running brokers, while the block runs."""
    with GivenCluster(topics, *brokers) as facts, pytest.MonkeyPatch.context() as patch:
        _replace(patch, in_progress.under_way, lambda _, topics=None: facts.under_way(topics))
        _replace(patch, metadata_scan.scan, lambda _, *args: facts.scan(*args))
        patch.setattr(configs, "describe", lambda _, each, *__: facts.describe_configs(each))
        patch.setattr(throttles, "_alter", lambda _, new, check=False: facts.alter(new, check))
        patch.setattr(steps, "_send_moves", lambda _, moves, *, cancel: facts.send_moves(
            moves, cancel))  # fmt: skip
        patch.setattr(throttles, "registered", lambda _: frozenset(facts.registered))
        patch.setattr(throttles, "not_running", lambda _: frozenset(facts.registered - facts.up))
        patch.setattr(batches, "_ask", lambda *_: (facts.answers or [facts.scan()], facts.silent))
        patch.setattr(progress, "log_ends", lambda *_: facts.ends)
        patch.setattr(sizes, "read", lambda *_: facts.sizes)
        patch.setattr(time, "monotonic", lambda: facts.now)
        patch.setattr(time, "sleep", facts.sleep)
        yield facts


def _replace(patch: pytest.MonkeyPatch, function: Any, by: Any) -> None:
    """Replace a function in every module of `admin` that imports it."""
    for module in _modules():
        if getattr(module, function.__name__, None) is function:
            patch.setattr(module, function.__name__, by)


@cache
def _modules() -> list[ModuleType]:
    """All modules of `admin`: one that is imported later would keep a replacement."""
    return [
        import_module(each.name) for each in walk_packages(admin.__path__, f"{admin.__name__}.")
    ]
