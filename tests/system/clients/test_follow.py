"""The follower and its store: configs that exist, are missing or cannot be read, and the end."""

from __future__ import annotations

import gc
import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import kafka.producer.kafka
import pytest
from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.cluster import ClusterMetadata

from kafka_shell.admin.client_configs.keys import supported_by
from kafka_shell.admin.client_configs.model import (
    CONFIGS_TOPIC,
    REGISTRATIONS_TOPIC,
    ClientConfigAlteration,
    ClientEntity,
    ClientRegistration,
    config_record,
)
from kafka_shell.clients import DynamicKafkaConsumer, DynamicKafkaProducer, follow, internals
from kafka_shell.clients import follow as reading
from kafka_shell.sandbox.state import Sandbox
from tests.support.followed_clients import SOON, USER, Looks, Store, everything, followers, said
from tests.support.frozen_process import freeze, is_frozen, thaw
from tests.support.outages import processes
from tests.support.sandbox_brokers import start_broker, stop_broker
from tests.support.waiting import wait_for

LONG_MS = 110_000  # a test that waited so long would be ended


def producer_of(store: Store, name: str, **configs: Any) -> DynamicKafkaProducer:
    given = {"metadata_max_age_ms": SOON} | store.connection | configs
    return DynamicKafkaProducer(client_id=name, **given)


def software(kind: str) -> tuple[str, str]:
    return f"kafka-sh-{kind}", follow.software_version()


def registered(store: Store, name: str) -> dict[tuple[str, str], tuple[str, ...]]:
    of_it = store.registrations().get(ClientEntity(USER, name), {})
    return {which: said.supported for which, said in of_it.items()}


# -- registrations ---------------------------------------------------------------------------------


def test_a_producer_and_a_consumer_of_one_client_id_both_say_what_they_support(
    store: Store, name: str
) -> None:
    before = time.time() - 1
    producer = producer_of(store, name)
    consumer = DynamicKafkaConsumer(**store.connection, client_id=name)
    wait_for("both have registered", lambda: len(registered(store, name)) == 2)
    assert registered(store, name) == {
        software("producer"): supported_by("producer"),
        software("consumer"): supported_by("consumer"),
    }
    producer.close()
    consumer.close()
    said = store.registrations()[ClientEntity(USER, name)][software("producer")]
    assert before <= said.at / 1000 <= time.time()


def test_a_hundred_clients_of_several_versions_register_at_once(
    store: Store, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions: Counter[str] = Counter()
    lock = threading.Lock()

    def version() -> str:  # of each client id, one client after another is of a newer version
        who = threading.current_thread().name
        with lock:
            versions[who] += 1
            return f"1.{versions[who]}"

    monkeypatch.setattr(follow, "software_version", version)
    ids = [f"{name}-{i % 25}" for i in range(100)]
    store.alter(None, linger_ms="3")
    with ThreadPoolExecutor(20) as pool:
        clients = list(
            pool.map(lambda each: producer_of(store, each, metadata_max_age_ms=10_000), ids)
        )
    assert {client.config["linger_ms"] for client in clients} == {3}, "each looked at its start"

    def all_said() -> bool:
        found = store.registrations()
        of_ids = [found.get(ClientEntity(USER, each), {}) for each in set(ids)]
        return all(
            {version for _, version in each} == {"1.1", "1.2", "1.3", "1.4"} for each in of_ids
        )

    wait_for("all hundred have registered", all_said, 60)
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda client: client.close(), clients))


# -- a store that will not do ----------------------------------------------------------------------


def test_without_a_store_a_client_works_says_so_once_and_finds_it_later(
    box: Sandbox, new_store: Store, topic: str, name: str, caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    looks = Looks(monkeypatch)
    # The default of kafka-python, with which it must not create the topics either.
    monkeypatch.setitem(ClusterMetadata.DEFAULT_CONFIG, "allow_auto_create_topics", True)
    with new_store.deleted():
        producer = producer_of(new_store, name, enable_idempotence=False)
        producer.send(topic, b"1").get(10)
        looks.wait(2)
        told, why = said(caplog, name), said(caplog, f"topic {CONFIGS_TOPIC} does not exist")
        assert len(told) == len(why) == 1
        assert not {CONFIGS_TOPIC, REGISTRATIONS_TOPIC} & new_store.topics
    new_store.alter(name, acks="0")
    wait_for("it finds the store", lambda: producer.config["acks"] == 0)
    wait_for("it registers", lambda: software("producer") in registered(new_store, name))
    producer.send(topic, b"2").get(10)
    producer.close()


@pytest.mark.timeout(100)
def test_a_registration_without_its_topic_fails_at_once(
    new_store: Store, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_MOST_WAIT_MS", LONG_MS)  # it does not wait for the topic
    with new_store.deleted():
        own = reading.Store(new_store.connection, name, [])
        with pytest.raises(reading.StoreError, match=f"{REGISTRATIONS_TOPIC} does not exist"):
            own.register(registration(name))
        assert REGISTRATIONS_TOPIC not in new_store.topics


def test_a_registration_leaves_the_log_of_other_producers(
    store: Store, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gc.collect()  # the producers of other tests discard it
    log = logging.getLogger("kafka.producer.kafka")
    monkeypatch.setattr(kafka.producer.kafka, "log", log)
    reading.Store(store.connection, name, []).register(registration(name))
    gc.collect()
    assert kafka.producer.kafka.log is log


def test_an_interval_of_days_can_be_reset(
    store: Store, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "_MOST_SECONDS", 0.3)
    store.alter(name, metadata_max_age_ms="864000000")
    producer = producer_of(store, name)
    assert producer.config["metadata_max_age_ms"] == 864_000_000
    store.alter(name, metadata_max_age_ms=None)
    wait_for("its own value is back", lambda: producer.config["metadata_max_age_ms"] < 10_000)
    producer.close()


def test_records_of_a_newer_format_are_skipped_and_logged_once(
    store: Store, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    def newer(i: int) -> bytes:
        return json.dumps({"version": 2, "who": name, "what": i}).encode()

    for i in range(3):
        store.write(newer(i), b"{}")
    store.write(b"no json", b"\xff")
    store.alter(name, linger_ms="4")
    producer = producer_of(store, name)
    assert producer.config["linger_ms"] == 4
    store.write(newer(3), b"{}")
    store.alter(name, linger_ms="5")
    wait_for("the next is read", lambda: producer.config["linger_ms"] == 5)
    producer.close()
    assert len(said(caplog, "Skipped", "format version is 2")) == 1
    for i in range(4):
        store.write(newer(i), None)
    store.write(b"no json", None)


def test_a_value_that_cannot_be_decoded_replaces_the_one_before(store: Store, name: str) -> None:
    store.alter(name, linger_ms="4")
    producer = producer_of(store, name, linger_ms=1)
    assert producer.config["linger_ms"] == 4
    entity = ClientEntity(USER, name)
    key, _ = config_record(ClientConfigAlteration(entity, "linger.ms", "4"))
    store.write(key, b'{"version":2,"value":["x"]}')
    wait_for("its own value is back", lambda: producer.config["linger_ms"] == 1)
    producer.close()
    store.write(key, None)


def test_another_kafka_python_switches_it_off_with_one_line(
    store: Store,
    topic: str,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(internals, "VERSION", "3.1.0")
    store.alter(name, linger_ms="4")
    with producer_of(store, name) as producer:
        producer.send(topic, b"1").get(10)
        assert producer.config["linger_ms"] == 0
        assert not followers()
    ours = [each for each in caplog.records if each.name.startswith("kafka_shell")]
    assert len(ours) == len(said(caplog, "disabled", "3.0.", "3.1.0")) == 1


@pytest.fixture
def hanging(store: Store, box: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The process of the broker, which hangs when a registration is sent."""
    pid = processes(box)[1] or 0

    class Sending(internals.OwnProducer):
        def send(self, topic: str, *args: Any, **configs: Any) -> Any:
            self.partitions_for(topic)
            freeze(pid)
            return super().send(topic, *args, **configs)

    monkeypatch.setattr(internals, "OwnProducer", Sending)
    yield pid
    thaw(pid)
    store.come_back()


def registration(name: str) -> ClientRegistration:
    return ClientRegistration(ClientEntity(USER, name), "lib", "1", ("acks",), 1)


def test_a_registration_that_cannot_be_written_leaves_no_thread(
    store: Store, hanging: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_MOST_WAIT_MS", 3_000)
    with pytest.raises(reading.StoreError, match=f"cannot write to topic {REGISTRATIONS_TOPIC}"):
        reading.Store(store.connection, name, []).register(registration(name))
    assert not followers(), "it would use all of a core"


@pytest.mark.timeout(100)
def test_a_registration_under_way_ends_with_the_client(
    store: Store, hanging: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_MOST_WAIT_MS", LONG_MS)  # it does not wait for the broker
    own = reading.Store(store.connection, name, [])
    with ThreadPoolExecutor(1) as pool:
        registering = pool.submit(own.register, registration(name))
        wait_for("it is being written", lambda: is_frozen(hanging))
        own.end()
        with pytest.raises(reading.StoreError):
            registering.result()
    assert not followers()


# -- compaction, and a broker that restarts --------------------------------------------------------


@pytest.fixture
def compacting(store: Store) -> Store:
    """A store that is compacted within a second, tombstones and all."""
    with KafkaAdminClient(**store.connection) as admin:
        cleaner = ConfigResource(
            ConfigResourceType.BROKER, "1", configs={"log.cleaner.backoff.ms": "100"}
        )
        soon = {
            "cleanup.policy": "compact", "segment.ms": "100", "min.cleanable.dirty.ratio": "0.001",
            "max.compaction.lag.ms": "100", "delete.retention.ms": "0",
        }  # fmt: skip
        topic = ConfigResource(ConfigResourceType.TOPIC, CONFIGS_TOPIC, configs=soon)
        admin.alter_configs([cleaner, topic])
    return store


def test_a_compaction_in_between_loses_nothing(compacting: Store, name: str) -> None:
    store = compacting
    old = producer_of(store, name)
    store.alter(None, max_block_ms="9000", retry_backoff_ms="77")
    for i in range(40):
        store.alter(name, linger_ms=str(i), batch_size=str(i * 100))
    store.alter(name, batch_size=None)
    wait_for("it is read", lambda: old.config["linger_ms"] == 39)

    def records() -> int:
        store.alter("nobody", acks=None)  # rolls the segment
        return len(everything(store.connection, CONFIGS_TOPIC))

    wait_for("the log is compacted", lambda: records() < 40, 30)
    store.alter(name, linger_ms="41", max_request_size="5000")
    wait_for("who was there reads on", lambda: old.config["max_request_size"] == 5000)
    young = producer_of(store, name)
    for each in (old, young):
        seen = {key: each.config[key] for key in ("linger_ms", "batch_size", "max_block_ms")}
        assert seen == {"linger_ms": 41, "batch_size": 16384, "max_block_ms": 9000}
        assert each._accumulator.config["retry_backoff_ms"] == 77
        each.close()


def test_a_recreated_topic_is_read_from_its_beginning(
    store: Store, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Looks(monkeypatch)
    store.alter(name, linger_ms="7", max_block_ms="8000")
    with producer_of(store, name) as producer:
        assert producer.config["linger_ms"] == 7
        with store.deleted():
            looks.wait(1)
            assert producer.config["linger_ms"] == 7, "what held holds on while nothing is read"
        for i in range(60):
            store.alter("somebody-else", linger_ms=str(i))
        store.alter(name, max_block_ms="8001")
        wait_for("it is read", lambda: producer.config["max_block_ms"] == 8001)
        assert producer.config["linger_ms"] == 0


def test_a_broker_that_goes_and_comes_back_leaves_clients_working_and_following(
    box: Sandbox,
    store: Store,
    topic: str,
    name: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "_MOST_WAIT_MS", 1_000)
    store.alter(name, linger_ms="6")
    consumer = DynamicKafkaConsumer(
        **store.connection, client_id=f"{name}-closed", metadata_max_age_ms=SOON,
        request_timeout_ms=1000, fetch_max_wait_ms=100,
    )  # fmt: skip
    with producer_of(store, name) as producer:
        sent = [producer.send(topic, str(i).encode(), partition=0) for i in range(50)]
        stop_broker(box.folder, 1)
        try:
            wait_for("it is said", lambda: bool(said(caplog, name, "cannot read topic")), 30)
            assert producer.config["linger_ms"] == 6, "what was set holds on"
            sent += [producer.send(topic, str(i).encode(), partition=0) for i in range(50, 100)]
            consumer.close()  # waits for no broker
            ends = f"{name}-closed-dynamic-configs"
            wait_for("its thread ends", lambda: not any(ends in each for each in followers()))
        finally:
            start_broker(box.folder, 1)
            store.come_back()
        assert [future.get(60).offset for future in sent] == list(range(100))
        store.alter(name, linger_ms="8")
        wait_for("it follows", lambda: producer.config["linger_ms"] == 8, 30)
    assert len(said(caplog, f"producer {name} ", "dynamic configs unavailable")) <= 3, (
        "not at each try"
    )


# -- the end ---------------------------------------------------------------------------------------


def test_closing_ends_the_follower_at_once(store: Store, topic: str, name: str) -> None:
    before = threading.active_count()
    clients: list[Any] = [
        producer_of(store, name, metadata_max_age_ms=600_000),
        DynamicKafkaConsumer(topic, **store.connection, client_id=name, group_id=name),
    ]
    assert len(followers()) >= 2
    for client in clients:
        client.close()
        client.close()
    wait_for("each thread has ended", lambda: threading.active_count() <= before)


def test_the_follower_does_not_keep_a_client_alive(store: Store, name: str) -> None:
    producer = producer_of(store, name)
    consumer = DynamicKafkaConsumer(**store.connection, client_id=name)
    network = consumer._client  # kafka-python lets its thread run on where nobody closes it
    del producer, consumer
    gc.collect()
    wait_for("no follower is left", lambda: not followers())
    network.close()


def test_looks_are_spread(store: Store, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second look of each comes at a random moment of the interval after its first."""
    looks, spans = Counter[int](), list[tuple[float, float]]()
    look, random = follow.Follower._update, follow.random.uniform

    def counted(self: follow.Follower) -> None:
        looks[id(self)] += 1
        look(self)

    def chosen(low: float, high: float) -> float:
        spans.append((low, high))
        return random(low, high)

    monkeypatch.setattr(follow.Follower, "_update", counted)
    monkeypatch.setattr(follow.random, "uniform", chosen)
    clients = [producer_of(store, f"{name}-{i}", metadata_max_age_ms=1_500) for i in range(12)]
    wait_for("each has looked again", lambda: len(looks) == 12 and min(looks.values()) > 1)
    for client in clients:
        client.close()
    assert spans.count((0, 1.5)) == 12, spans
