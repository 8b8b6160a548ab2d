"""The metadata cache never waits, never polls, is replaced as a whole, and tolerates an unreachable
cluster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.view import cache, parts
from kafka_shell.view.cache import Cache
from kafka_shell.view.disk import DiskCache
from kafka_shell.view.match import NameIndex
from kafka_shell.view.view import ClusterView, ConfigDoc, Part, TopicIndex
from kafka_shell.wire.endpoint import ConnectionConfig
from kafka_shell.wire.model import Broker

ORDERS = ConfigResource(ResourceType.TOPIC, "orders")
PATIENCE = 30


class Link:
    """Stands where the connection would: what is read is decided by `Kafka`."""

    @contextmanager
    def within(self, seconds: float | None) -> Iterator[None]:
        yield

    def close(self) -> None:
        pass


@dataclass
class Kafka:
    """What the readers would find, and how often they were asked."""

    topics: list[str] = field(default_factory=lambda: ["orders"])
    asked: list[Any] = field(default_factory=list)
    answered: bool = False
    error: ShellError | None = None
    hold: threading.Event = field(default_factory=threading.Event)

    def read_topics(self, cluster: Any, view: ClusterView, now: float) -> ClusterView:
        self.asked.append("topics")
        self.hold.wait(PATIENCE)
        self.answered = True
        if self.error is not None:
            raise self.error
        brokers = (Broker(1, "localhost", 9092, version="4.3"),)
        index = TopicIndex(NameIndex(self.topics))
        return replace(view, brokers=Part(brokers, now), topics=Part(index, now))

    def read_configs(self, cluster: Any, resources: Any, now: float) -> Any:
        wanted = list(resources)
        self.asked.append(tuple(wanted))
        return {resource: Part({}, now) for resource in wanted}

    def read_documentation(self, cluster: Any, view: Any, kind: ResourceType) -> Any:
        self.asked.append(kind)
        if kind is ResourceType.TOPIC and not view.topics.value.names:
            return Failure("NOTHING_THERE", "there is no topic")
        return {"retention.ms": ConfigDoc("retention.ms", text=f"of a {kind.name}")}


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Bench:
    cache: Cache
    kafka: Kafka
    clock: Clock
    swapped: threading.Condition

    def until(self, condition: Callable[[], bool]) -> None:
        with self.swapped:
            assert self.swapped.wait_for(condition, PATIENCE)

    def idle(self) -> None:
        self.until(lambda: not self.cache.state.reading and bool(self.kafka.asked))


@pytest.fixture
def kafka(monkeypatch: pytest.MonkeyPatch) -> Kafka:
    kafka = Kafka()
    kafka.hold.set()
    for name in ("read_topics", "read_configs", "read_documentation"):
        monkeypatch.setattr(cache, name, getattr(kafka, name))
    return kafka


@pytest.fixture
def bench(tmp_path: Path, kafka: Kafka) -> Iterator[Bench]:
    clock, swapped = Clock(), threading.Condition()
    cache = Cache(ConnectionConfig(), tmp_path, clock, open_cluster=lambda _: Link())  # type: ignore[arg-type, return-value]

    def told() -> None:
        with swapped:
            swapped.notify_all()

    cache.on_swap(told)
    yield Bench(cache, kafka, clock, swapped)
    kafka.hold.set()
    cache.close()


def test_nothing_is_read_before_the_user_types(bench: Bench) -> None:
    assert bench.cache.view.topics.value.names == ()
    assert threading.active_count() == 1 or not any(t.name == "view" for t in threading.enumerate())
    assert not bench.kafka.asked


def test_typing_reads_and_only_when_the_view_is_old(bench: Bench) -> None:
    bench.cache.touch()
    bench.until(lambda: "orders" in bench.cache.view.topics.value)
    bench.idle()
    asked = list(bench.kafka.asked)
    bench.clock.now += 29
    bench.cache.touch()
    assert bench.kafka.asked == asked
    bench.clock.now += 2
    bench.kafka.topics.append("payments")
    bench.cache.touch()
    bench.until(lambda: "payments" in bench.cache.view.topics.value)
    bench.idle()
    assert bench.kafka.asked == [*asked, "topics"]


def test_the_prompt_never_waits_for_a_refresh(bench: Bench) -> None:
    bench.kafka.hold.clear()
    before = bench.cache.view
    bench.cache.touch()
    bench.until(lambda: bench.cache.state.reading == ("topics",))
    assert bench.cache.view.topics is before.topics
    bench.cache.touch()
    bench.kafka.hold.set()
    bench.until(lambda: len(bench.cache.view.topics.value) == 1)
    bench.idle()
    assert bench.kafka.asked.count("topics") == 1


def test_requested_data_is_read_once_and_refreshed_when_old(bench: Bench) -> None:
    for _ in range(3):
        bench.cache.request(ORDERS)
    bench.until(lambda: ORDERS in bench.cache.view.configs)
    bench.idle()
    bench.cache.request(ORDERS)
    assert bench.kafka.asked.count((ORDERS,)) == 1
    bench.clock.now += 31
    bench.cache.request(ORDERS)
    bench.until(lambda: bench.kafka.asked.count((ORDERS,)) == 2)


def test_a_change_reloads_its_parts_even_during_a_read(bench: Bench) -> None:
    bench.cache.request(ORDERS)
    bench.until(lambda: ORDERS in bench.cache.view.configs)
    bench.idle()
    bench.cache.refresh(frozenset({"configs"}))
    bench.until(lambda: bench.kafka.asked.count((ORDERS,)) == 2)
    bench.idle()
    bench.kafka.hold.clear()
    bench.cache.refresh(frozenset({"topics"}))
    bench.until(lambda: "topics" in bench.cache.state.reading)
    bench.cache.refresh(frozenset({"topics"}))
    bench.kafka.hold.set()
    bench.until(lambda: bench.kafka.asked.count("topics") == 3)
    bench.cache.refresh(frozenset({"something nobody reads"}))


def test_documentation_is_read_once_a_version_and_then_from_disk(
    bench: Bench, tmp_path: Path
) -> None:
    bench.cache.touch()
    bench.until(lambda: bool(bench.cache.view.docs(ResourceType.BROKER)))
    bench.idle()
    assert bench.kafka.asked == ["topics", ResourceType.TOPIC, ResourceType.BROKER]
    bench.cache.request(ResourceType.TOPIC)
    bench.kafka.asked.clear()
    other = Cache(ConnectionConfig(), tmp_path, bench.clock, open_cluster=lambda _: Link())  # type: ignore[arg-type, return-value]
    other.on_swap(lambda: None)
    read = threading.Event()
    other.on_swap(lambda: read.set() if other.view.read_at and not other.state.reading else None)
    other.touch()
    assert read.wait(PATIENCE)
    other.close()
    assert bench.kafka.asked == ["topics"]
    assert other.view.docs(ResourceType.TOPIC)["retention.ms"].text == "of a TOPIC"


def test_an_empty_cluster_is_documented_when_its_first_topic_is_there(bench: Bench) -> None:
    bench.kafka.topics.clear()
    bench.cache.touch()
    bench.until(lambda: ResourceType.TOPIC in bench.cache.view.documentation)
    part = bench.cache.view.documentation[ResourceType.TOPIC]
    assert part.error is not None
    bench.idle()
    bench.kafka.topics.append("first")
    bench.cache.refresh(frozenset({"topics"}))
    bench.until(lambda: "retention.ms" in bench.cache.view.docs(ResourceType.TOPIC))


def test_an_unreachable_cluster_keeps_the_view_with_backoff(bench: Bench) -> None:
    bench.cache.touch()
    bench.until(lambda: bool(bench.cache.view.topics.value.names))
    bench.idle()
    bench.kafka.error = ShellError("refused", code="refused", status=Status.UNREACHABLE)
    bench.clock.now += 31
    bench.cache.touch()
    bench.until(lambda: bench.cache.state.failure is not None)
    state = bench.cache.state
    assert state.unreachable
    assert (state.since, state.retry_at) == (bench.clock.now, bench.clock.now + 1)
    assert bench.cache.view.topics.value.names == ("orders",)
    assert bench.cache.view.topics.error is not None
    asked = len(bench.kafka.asked)
    bench.cache.touch()
    bench.cache.request(ORDERS)
    assert len(bench.kafka.asked) == asked
    bench.clock.now += 1.5
    bench.cache.touch()
    bench.until(lambda: bench.cache.state.attempts == 2)
    assert bench.cache.state.since == state.since
    bench.kafka.error = ShellError("no response within 15 s", code="deadline")
    bench.cache.retry()
    bench.until(lambda: bench.cache.state.attempts == 3)
    assert not bench.cache.state.unreachable, "a slow cluster is not an unreachable one"
    bench.kafka.error = None
    bench.cache.retry()
    bench.until(lambda: bench.cache.state.failure is None and not bench.cache.state.reading)
    assert bench.cache.view.topics.error is None


def test_names_of_the_last_session_are_there_before_the_cluster_answers(
    bench: Bench, tmp_path: Path
) -> None:
    bench.cache.touch()
    bench.until(lambda: bool(bench.cache.view.topics.value.names))
    bench.idle()
    bench.kafka.hold.clear()
    cold = Cache(ConnectionConfig(), tmp_path, bench.clock, open_cluster=lambda _: Link())  # type: ignore[arg-type, return-value]
    seen = threading.Event()
    cold.on_swap(lambda: seen.set() if "orders" in cold.view.topics.value else None)
    cold.touch()
    assert seen.wait(PATIENCE)
    assert cold.view.read_at == 0
    bench.kafka.hold.set()
    cold.close()


def test_closing_does_not_wait_for_requests_in_flight(bench: Bench) -> None:
    bench.kafka.hold.clear()
    bench.cache.touch()
    bench.until(lambda: bool(bench.cache.state.reading))
    bench.cache.close()
    assert not bench.kafka.answered


# -- parts that a line wants -----------------------------------------------------------------------


def test_a_part_is_read_on_request_and_fresh_for_30_seconds(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []

    def read(cluster: Any, wanted: Any, held: Any, now: float, *rest: Any) -> dict[str, Part[Any]]:
        asked.append(tuple(wanted))
        why = Failure("GROUP_AUTHORIZATION_FAILED", "no") if "users" in wanted else None
        return {name: Part(NameIndex(["a"]), now, why) for name in wanted}

    monkeypatch.setattr(parts, "read", read)
    bench.cache.touch()
    bench.idle()
    assert not asked, "nobody wants such names"
    bench.cache.request("groups")
    bench.until(lambda: "a" in bench.cache.view.groups.value)
    bench.idle()
    bench.clock.now += 29
    assert not bench.cache.request("groups")
    assert asked == [("groups",)]
    bench.clock.now += 2
    assert bench.cache.request("groups"), "a menu must wait for it, although it has old values"
    bench.until(lambda: len(asked) == 2)
    bench.idle()
    bench.cache.refresh(frozenset({"groups", "quotas"}))
    bench.until(lambda: len(asked) == 3)
    assert asked[2] == ("groups",), "quotas were never wished for"
    bench.idle()
    bench.cache.request("users")
    bench.until(lambda: bench.cache.view.users.error is not None)
    bench.idle()
    assert bench.cache.state.failure is None, "a part that may not be read is no lost cluster"


def test_whatever_is_on_disk_the_cluster_is_read(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: DiskCache, bootstrap: str) -> ClusterView:
        raise TypeError("nothing that anybody thought of")

    monkeypatch.setattr(DiskCache, "view", broken)
    bench.cache.touch()
    bench.until(lambda: "orders" in bench.cache.view.topics.value.index)
    assert any("cannot be used" in note for note in bench.cache.notes())
