"""A running producer: effects of changed configs on its requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kafka import TopicPartition
from kafka import errors as kafka_errors
from kafka.record import MemoryRecords

from kafka_shell.clients import DynamicKafkaProducer
from tests.support.followed_clients import SOON, Store, Wire, everything, said
from tests.support.waiting import wait_for

LOG: dict[str, Any] = {"metadata_max_age_ms": SOON}
Make = Callable[..., DynamicKafkaProducer]


@pytest.fixture
def make(store: Store, name: str) -> Iterator[Make]:
    """A producer with the test's name as client id, closed at the end."""
    made: list[DynamicKafkaProducer] = []

    def one(**configs: Any) -> DynamicKafkaProducer:
        made.append(DynamicKafkaProducer(**store.connection, client_id=name, **LOG | configs))
        return made[-1]

    yield one
    for producer in made:
        producer.close()


def plain(make: Make, **configs: Any) -> DynamicKafkaProducer:
    """A producer without idempotence."""
    return make(enable_idempotence=False, **{"acks": 1} | configs)


class Sender:
    """Sends numbers, one after the other, for as long as the test wants."""

    def __init__(self, producer: DynamicKafkaProducer, topic: str) -> None:
        self.sent = 0
        self._stop = threading.Event()
        self._producer, self._topic = producer, topic
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._producer.send(self._topic, str(self.sent).encode(), partition=0)
            self.sent += 1
            time.sleep(0.001)

    def stop(self) -> int:
        self._stop.set()
        self._thread.join()
        self._producer.flush()
        return self.sent


def acks_seen(wire: Wire, name: str) -> list[int]:
    """The acks of its produce requests, without repetitions."""
    seen: list[int] = []
    for request in wire.of(name, "Produce"):
        if seen[-1:] != [request.acks]:
            seen.append(request.acks)
    return seen


def test_acks_change_while_it_sends_and_no_record_is_lost_or_out_of_order(
    store: Store, topic: str, name: str, wire: Wire, make: Make
) -> None:
    sender = Sender(plain(make), topic)
    wait_for("records flow", lambda: acks_seen(wire, name) == [1])
    store.alter(name, acks="all")
    wait_for("all replicas are waited for", lambda: acks_seen(wire, name) == [1, -1])
    store.alter(name, acks="0")
    wait_for("none is waited for", lambda: acks_seen(wire, name) == [1, -1, 0])
    store.alter(name, acks=None)
    wait_for("its own value is back", lambda: acks_seen(wire, name) == [1, -1, 0, 1])
    sent = sender.stop()
    wait_for("each record is there", lambda: len(everything(store.connection, topic)) >= sent)
    values = [int(value or b"-1") for _, value in everything(store.connection, topic)]
    assert values == list(range(sent)), "records were lost, doubled or out of order"


def test_acks_of_an_idempotent_producer_are_ignored_and_logged_once(
    store: Store, topic: str, name: str, wire: Wire, make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    store.alter(name, acks="0", linger_ms="1")
    producer = make()
    producer.send(topic, b"1").get(10)
    assert acks_seen(wire, name) == [-1]
    assert producer.config["linger_ms"] == 1, "what it can take, it takes"
    store.alter(name, acks="1")
    wait_for("the other value is ignored too", lambda: bool(said(caplog, "ignored acks=1")))
    store.alter(name, acks="all")
    wait_for("all is taken", lambda: bool(said(caplog, "accepted acks=all")))
    assert len(said(caplog, "ignored acks=0", "idempotent")) == 1, "once, however often it looks"


def test_the_first_request_uses_dynamic_configs(
    store: Store, topic: str, name: str, wire: Wire, make: Make
) -> None:
    store.alter(None, acks="0", request_timeout_ms="7000")
    store.alter(name, acks="all")
    producer = plain(make)
    producer.send(topic, b"1").get(10)
    first = wire.of(name, "Produce")[0]
    assert (first.acks, first.timeout_ms) == (-1, 7000), "its client id's over its user's"


def attributes(wire: Wire, name: str) -> list[tuple[int, int]]:
    """(codec, number of records) of each batch sent."""
    found = []
    for request in wire.of(name, "Produce"):
        for of_topic in request.topic_data:
            for partition in of_topic.partition_data:
                for batch in MemoryRecords(bytes(partition.records)):
                    found.append((batch.compression_type, len(list(batch))))
    return found


def test_batches_change_their_size_their_wait_and_their_codec(
    store: Store, topic: str, name: str, wire: Wire, make: Make
) -> None:
    producer = plain(make, linger_ms=60_000)

    def send(count: int) -> None:
        futures = [producer.send(topic, b"x" * 20, partition=0) for _ in range(count)]
        assert all(future.get(30) for future in futures)

    waiting = producer.send(topic, b"waits for a minute", partition=0)
    store.alter(name, compression_type="gzip", linger_ms="1000")
    waiting.get(10)
    assert attributes(wire, name) == [(0, 1)], "a batch that waited is let go as it was"
    send(5)
    assert attributes(wire, name)[1:] == [(1, 5)], "one batch, with gzip"
    store.alter(name, compression_type="none", batch_size="0")
    now = producer._accumulator.config
    wait_for("it holds", lambda: (now["batch_size"], now["compression_attrs"]) == (0, 0))
    assert producer.config["batch_size"] == 0
    send(3)
    assert attributes(wire, name)[2:] == [(0, 1)] * 3, "each record alone, without a codec"


def test_a_record_that_is_too_large_now_is_refused(
    store: Store, topic: str, name: str, make: Make
) -> None:
    producer = plain(make)
    producer.send(topic, b"x" * 2_000).get(10)
    store.alter(name, max_request_size="1000")
    wait_for("it holds", lambda: producer.config["max_request_size"] == 1000)
    with pytest.raises(kafka_errors.MessageSizeTooLargeError):
        producer.send(topic, b"x" * 2_000)
    store.alter(name, max_request_size=None)
    wait_for("it is back", lambda: producer.config["max_request_size"] == 1048576)
    producer.send(topic, b"x" * 2_000).get(10)


def test_a_batch_that_waits_fails_at_the_new_delivery_timeout(
    store: Store, topic: str, name: str, make: Make
) -> None:
    producer = plain(make)
    producer.send(topic, b"1", partition=0).get(10)
    producer._accumulator.muted.add(TopicPartition(topic, 0))  # as if another were in flight
    waiting = producer.send(topic, b"2", partition=0)
    store.alter(name, request_timeout_ms="500", delivery_timeout_ms="600", retries="0")
    with pytest.raises(kafka_errors.KafkaTimeoutError):
        waiting.get(10)
    assert producer._sender.config["retries"] == 0
    store.alter(name, request_timeout_ms=None, retries=None)
    wait_for("what the program's own request timeout does not bear goes too",
             lambda: producer.config["delivery_timeout_ms"] == 120_000)  # fmt: skip
    wait_for("its very own value is back",
             lambda: producer._sender.config["retries"] == float("inf"))  # fmt: skip


def test_max_block_ms_is_applied(store: Store, name: str, make: Make) -> None:
    store.alter(name, max_block_ms="200")
    producer = plain(make)
    with pytest.raises(kafka_errors.KafkaTimeoutError, match=r"0\.2 secs"):
        producer.send(name, b"to a topic that is not there")


def test_request_timeout_ms_is_applied_to_open_connections(
    store: Store, topic: str, name: str, make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    producer = plain(make)
    producer.send(topic, b"1").get(10)
    connections = producer._sender._client._manager._conns.values()

    def timeouts() -> set[float]:
        return {each._timeout_at(now=0) for each in connections}

    assert timeouts() == {30}
    store.alter(name, request_timeout_ms="4000", retry_backoff_ms="50")
    wait_for("it holds", lambda: timeouts() == {4})
    assert producer._sender.config["request_timeout_ms"] == 4000
    wait_for("it holds", lambda: producer._accumulator.config["retry_backoff_ms"] == 50)
    store.alter(name, request_timeout_ms=None)
    wait_for("it is back", lambda: timeouts() == {30})
    assert producer._sender.config["request_timeout_ms"] == 30_000
    producer.send(topic, b"2").get(10)


def test_metadata_max_age_ms_is_applied(
    store: Store, topic: str, name: str, wire: Wire, make: Make
) -> None:
    store.alter(name, metadata_max_age_ms="1000")
    producer = plain(make, metadata_max_age_ms=3_600_000)
    producer.send(topic, b"1").get(10)
    before = len(wire.of(name, "Metadata"))
    wait_for("it asks again and again", lambda: len(wire.of(name, "Metadata")) > before + 1)
