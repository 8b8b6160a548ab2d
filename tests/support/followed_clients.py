"""Helpers: configs that an administrator sets, and a consumer that polls."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.errors import KafkaError
from kafka.net.connection import KafkaConnection

from kafka_shell.admin.client_configs.model import (
    CONFIGS_TOPIC,
    REGISTRATIONS_TOPIC,
    ClientConfigAlteration,
    ClientEntity,
    ClientRegistration,
    Unreadable,
    config_record,
    read_registration,
)
from kafka_shell.clients import DynamicKafkaConsumer
from kafka_shell.clients import follow as reading
from tests.support.waiting import wait_for

USER = "ANONYMOUS"
LOGGER = "kafka_shell.clients"
SOON = 300  # metadata_max_age_ms of clients that are to learn of a change soon

Connection = dict[str, Any]


class Store:
    """The two topics on one cluster, and an administrator who writes to them."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._admin = KafkaAdminClient(**connection)
        self._producer = KafkaProducer(**connection)
        self._set: set[tuple[str | None, str]] = set()

    def make(self, **configs: str) -> None:
        compacted = {"cleanup.policy": "compact", **configs}
        topics = [
            NewTopic(name, 1, 1, topic_configs=compacted)
            for name in (CONFIGS_TOPIC, REGISTRATIONS_TOPIC)
        ]
        self._admin.create_topics(topics)
        wait_for("the topics are there", lambda: self.there)

    def make_topic(self, name: str, partitions: int = 1) -> str:
        self._admin.create_topics([NewTopic(name, partitions, 1)])
        return name

    def come_back(self) -> None:
        """Wait until the broker, which has restarted, serves this administrator again."""

        def serves() -> bool:
            try:
                self.make_topic(f"t-{uuid4().hex[:10]}")
                self.alter("nobody", acks=None)
            except KafkaError:
                return False
            return True

        wait_for("the broker is back", serves, 60)

    @property
    def there(self) -> bool:
        return {CONFIGS_TOPIC, REGISTRATIONS_TOPIC} <= self.topics

    @property
    def topics(self) -> set[str]:
        return set(self._admin.list_topics())

    def delete(self) -> None:
        topics = {CONFIGS_TOPIC, REGISTRATIONS_TOPIC}
        self._admin.delete_topics(list(topics))
        wait_for("the topics are gone", lambda: not topics & self.topics)

    @contextmanager
    def deleted(self) -> Iterator[None]:
        """Without the topics, which are made again however the test ends."""
        self.delete()
        try:
            yield
        finally:
            self.make()

    def alter(self, client_id: str | None, user: str = USER, /, **configs: str | None) -> None:
        """Set configs of a client id, or of the user where it is None; `_` stands for `.`."""
        for name, value in configs.items():
            key = name.replace("_", ".")
            self._set.add((client_id, key))
            alteration = ClientConfigAlteration(ClientEntity(user, client_id), key, value)
            self.write(*config_record(alteration))

    def write(self, key: bytes, value: bytes | None) -> None:
        self._producer.send(CONFIGS_TOPIC, value, key).get(10)

    def forget(self) -> None:
        """Remove all that was set."""
        for client_id, key in sorted(self._set, key=str):
            self.alter(client_id, **{key.replace(".", "_"): None})
        self._set.clear()

    def registrations(self) -> dict[ClientEntity, dict[tuple[str, str], ClientRegistration]]:
        """Who registered, by entity, then by software name and version."""
        found: dict[ClientEntity, dict[tuple[str, str], ClientRegistration]] = {}
        for key, value in everything(self.connection, REGISTRATIONS_TOPIC):
            said = read_registration(key, value)
            assert not isinstance(said, Unreadable), said
            software = said.software_name, said.software_version
            if isinstance(said, ClientRegistration):
                found.setdefault(said.entity, {})[software] = said
            else:
                found.get(said.entity, {}).pop(software, None)
        return found

    def close(self) -> None:
        self._producer.close()
        self._admin.close()


def everything(connection: Connection, topic: str) -> list[tuple[bytes | None, bytes | None]]:
    """Key and value of each record of a topic's only partition, in order."""
    with KafkaConsumer(**connection, auto_offset_reset="earliest") as consumer:
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        end = consumer.end_offsets([partition])[partition]
        consumer.seek_to_beginning(partition)
        found: list[tuple[bytes | None, bytes | None]] = []
        while consumer.position(partition) < end:
            for records in consumer.poll(500).values():
                found += [(record.key, record.value) for record in records]
        return found


class Looks:
    """How often each follower has begun to read the store."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._begun: Counter[reading.Store] = Counter()
        read = reading.Store.read

        def counted(store: reading.Store) -> Any:
            self._begun[store] += 1
            return read(store)

        monkeypatch.setattr(reading.Store, "read", counted)

    def wait(self, count: int) -> None:
        """Wait until each follower has read the store so many times more, and applied it."""
        until = {store: begun + count + 1 for store, begun in self._begun.items()}
        wait_for(
            f"each has read {count} times",
            lambda: all(self._begun[store] >= begun for store, begun in until.items()),
        )


class Wire:
    """Each request that clients of this process send, by client id and kind."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str, Any]] = []

    def of(self, client_id: str, kind: str) -> list[Any]:
        """The requests of one kind that a client has sent, in order: `ProduceRequest` ..."""
        return [
            request
            for name, what, request in self.sent
            if (name, what) == (client_id, f"{kind}Request")
        ]

    def last(self, client_id: str, kind: str) -> Any:
        sent = self.of(client_id, kind)
        return sent[-1] if sent else None


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    found = Wire()
    send = KafkaConnection._send_request

    def sniff(self: Any, request: Any, *args: Any, **options: Any) -> Any:
        found.sent.append((self.config["client_id"], type(request).__name__, request))
        return send(self, request, *args, **options)

    monkeypatch.setattr(KafkaConnection, "_send_request", sniff)
    return found


class Member:
    """A consumer in a group, polled by a thread of its own until it is frozen or closed."""

    def __init__(self, consumer: Any) -> None:
        self.consumer = consumer
        self.coordinator = consumer._coordinator
        self.polled: Counter[int] = Counter()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        # kafka-python sends a join again that ended between two polls, which is one more rebalance:
        # so polls are long.
        while not self._stop.is_set():
            for records in self.consumer.poll(4_000).values():
                self.polled.update(int(record.value) for record in records)

    @property
    def generation(self) -> int:
        return int(self.coordinator._generation.generation_id)

    @property
    def stable(self) -> bool:
        return bool(self.coordinator.stable())

    @property
    def member_id(self) -> str:
        return str(self.coordinator._generation.member_id)

    def freeze(self) -> None:
        """No more polls, no more heartbeats; its connections stay open."""
        self.stall()
        self._thread.join()
        self.consumer._net.stop()

    def stall(self) -> None:
        """No more polls."""
        self._stop.set()

    def close(self) -> None:
        self.stall()
        self._thread.join()
        self.consumer.close()


@contextmanager
def running(*consumers: Any) -> Iterator[list[Member]]:
    """Members that have joined their group one after the other: the first one leads it."""
    found: list[Member] = []
    try:
        for consumer in consumers:
            found.append(Member(consumer))
            wait_for("the member has joined", lambda: found[-1].stable)
        yield found
    finally:
        for one in found:
            one.stall()
        with ThreadPoolExecutor(len(consumers)) as pool:
            list(pool.map(Member.close, found))
        for consumer in consumers[len(found) :]:
            consumer.close()


def dynamic(connection: Connection, topic: str, group: str, **configs: Any) -> Any:
    """A dynamic consumer that is to join a group."""
    given = {"metadata_max_age_ms": SOON} | connection | configs
    return DynamicKafkaConsumer(topic, group_id=group, **given)


@contextmanager
def member(connection: Connection, topic: str, group: str, **configs: Any) -> Iterator[Member]:
    """A dynamic consumer that has joined its group."""
    with running(dynamic(connection, topic, group, **configs)) as (found,):
        yield found


def said(caplog: pytest.LogCaptureFixture, *words: str) -> list[str]:
    """The follower's log lines that hold all these words."""
    return [
        record.getMessage()
        for record in caplog.records
        if record.name == LOGGER and all(word in record.getMessage() for word in words)
    ]


def followers() -> list[str]:
    """Threads that follow dynamic configs."""
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if "dynamic-configs" in name]
