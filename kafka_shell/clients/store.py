"""The two topics as a client uses them: reads what is set for it, says what it supports."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka import errors as kafka_errors

from kafka_shell.admin.client_configs.format import (
    CONFIGS_TOPIC,
    REGISTER_AGAIN,
    REGISTRATIONS_TOPIC,
    Unreadable,
    read_config,
    registration_record,
)
from kafka_shell.admin.client_configs.model import ClientConfig, ClientEntity, ClientRegistration
from kafka_shell.characters import quoted

from . import internals

log = logging.getLogger("kafka_shell.clients")

_MOST_WAIT_MS = 10_000
# A tombstone is kept for a day (delete.retention.ms): who has slept longer reads all anew.
_STALE_SECONDS = 6 * 3_600
_CONNECTION = (
    "bootstrap_servers", "client_dns_lookup", "security_protocol", "socket_options", "proxy_url",
    "socks5_proxy", "api_version", "selector", "receive_buffer_bytes", "send_buffer_bytes",
    "reconnect_backoff_ms", "reconnect_backoff_max_ms",
)  # fmt: skip


class StoreError(Exception):
    """Why the store cannot be used now. `quiet`: nothing is wrong, there just is none."""

    def __init__(self, message: str, *, quiet: bool = False) -> None:
        super().__init__(message)
        self.quiet = quiet


class Store:
    """One client's view of the two topics. It connects to read, and leaves no connection behind.

    `configs` are what the program gave its own client; `levels` are the entities that bind it.
    Not thread safe, but for `end`.
    """

    def __init__(
        self, configs: Mapping[str, Any], client_id: str, levels: Iterable[ClientEntity]
    ) -> None:
        self._networks = internals.NetworkClients(configs.get("kafka_client"))
        self._connection: dict[str, Any] = {
            key: value
            for key, value in configs.items()
            if key in _CONNECTION or key.startswith(("ssl_", "sasl_"))
        } | {
            "client_id": internals.own_client_id(client_id),
            "bootstrap_timeout_ms": _MOST_WAIT_MS,
            "request_timeout_ms": _MOST_WAIT_MS,
            "metrics_enabled": False,
            "kafka_client": self._networks,
        }
        self._levels = frozenset(levels)
        self._found: dict[tuple[ClientEntity, str], ClientConfig] = {}
        self._positions: dict[int, int] = {}
        self._topic_id: object = None
        self._read_at = 0.0
        self._told: set[str] = set()

    def read(self) -> tuple[ClientConfig, ...]:
        """What is set for this client now, at the end of the log. Raises StoreError."""
        try:
            with self._consumer() as consumer:
                self._read_on(consumer)
        except kafka_errors.UnknownTopicOrPartitionError:
            raise StoreError(f"there is no topic {CONFIGS_TOPIC}", quiet=True) from None
        except kafka_errors.TopicAuthorizationFailedError:
            raise StoreError(f"this user may not read topic {CONFIGS_TOPIC}") from None
        except Exception as error:
            # A plug-in of the program (a token provider, a network client) may raise anything.
            raise StoreError(f"topic {CONFIGS_TOPIC} cannot be read: {_said(error)}") from error
        return tuple(each for each in self._found.values() if each.key != REGISTER_AGAIN)

    @property
    def registration_asked(self) -> str:
        """What was last read of a request to register again: another text is another request."""
        asked = (each.value for each in self._found.values() if each.key == REGISTER_AGAIN)
        return max(asked, default="")

    def register(self, registration: ClientRegistration) -> None:
        """Say what this client supports. Raises StoreError."""
        key, value = registration_record(registration)
        try:
            with self._producer() as producer:
                producer.send(REGISTRATIONS_TOPIC, value, key).get(_MOST_WAIT_MS / 1000)
        except kafka_errors.TopicAuthorizationFailedError:
            raise StoreError(f"this user may not write to topic {REGISTRATIONS_TOPIC}") from None
        except Exception as error:
            said = f"topic {REGISTRATIONS_TOPIC} cannot be written to: {_said(error)}"
            raise StoreError(said) from error

    def end(self) -> None:
        """From another thread: let what is under way fail now, and all that follows."""
        self._networks.end()

    def _read_on(self, consumer: Any) -> None:
        now = time.monotonic()
        topic_id, partitions = internals.find_topic(consumer, CONFIGS_TOPIC, _MOST_WAIT_MS)
        every = [TopicPartition(CONFIGS_TOPIC, partition) for partition in partitions]
        consumer.assign(every)
        ends = consumer.end_offsets(every)
        if (
            topic_id != self._topic_id
            or now - self._read_at > _STALE_SECONDS
            or any(end < self._positions.get(each.partition, 0) for each, end in ends.items())
        ):
            self._found, self._positions = {}, {}
        # Taken anew only at the end: a read that breaks off is done again from where it began.
        found, positions = dict(self._found), dict(self._positions)
        for each in every:
            if each.partition in positions:
                consumer.seek(each, positions[each.partition])
            else:
                consumer.seek_to_beginning(each)
        until = now + _MOST_WAIT_MS / 1000
        while any(consumer.position(each, _MOST_WAIT_MS) < end for each, end in ends.items()):
            if time.monotonic() > until:
                raise kafka_errors.KafkaTimeoutError("its end was not reached in time")
            for records in consumer.poll(timeout_ms=500).values():
                for record in records:
                    self._take(found, record.key, record.value)
        for each in every:
            positions[each.partition] = consumer.position(each, _MOST_WAIT_MS)
        self._found, self._positions = found, positions
        self._topic_id, self._read_at = topic_id, now

    def _take(
        self,
        found: dict[tuple[ClientEntity, str], ClientConfig],
        key: bytes | None,
        value: bytes | None,
    ) -> None:
        said = read_config(key, value)
        if isinstance(said, Unreadable):
            if said.why not in self._told:
                self._told.add(said.why)
                log.warning("Records of topic %s are skipped: %s", CONFIGS_TOPIC, said.why)
        elif said.entity in self._levels:
            if said.value is None:
                found.pop((said.entity, said.key), None)
            else:
                found[said.entity, said.key] = ClientConfig(said.entity, said.key, said.value)

    @contextmanager
    def _consumer(self) -> Iterator[Any]:
        consumer = None
        try:
            consumer = KafkaConsumer(
                **self._connection,
                group_id=None,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                # A session would take a place in the broker's cache for one read.
                enable_incremental_fetch_sessions=False,
            )
            yield consumer
        finally:
            try:
                if consumer is not None:
                    consumer.close(autocommit=False, timeout_ms=1_000)
            finally:
                self._networks.close()

    @contextmanager
    def _producer(self) -> Iterator[Any]:
        producer = None
        try:
            producer = KafkaProducer(**self._connection, max_block_ms=_MOST_WAIT_MS)
            yield producer
        finally:
            try:
                if producer is not None:
                    producer.close(timeout=1)
            finally:
                self._networks.close()


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {quoted(str(error))}" if str(error) else type(error).__name__
