"""Read the dynamic configs of a client from Kafka, and register its supported configs."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka import errors as kafka_errors

from kafka_shell.admin.client_configs.model import (
    CONFIGS_TOPIC,
    REGISTER_AGAIN,
    REGISTRATIONS_TOPIC,
    ClientConfig,
    ClientEntity,
    ClientRegistration,
    Unreadable,
    read_config,
    registration_record,
)
from kafka_shell.base.text import quoted
from kafka_shell.clients import internals

log = logging.getLogger("kafka_shell.clients")

_MOST_WAIT_MS = 10_000
# Tombstones are kept for a day (delete.retention.ms); after a longer pause everything is reread.
_STALE_SECONDS = 6 * 3_600
_CONNECTION = (
    "bootstrap_servers", "client_dns_lookup", "security_protocol", "socket_options", "proxy_url",
    "socks5_proxy", "api_version", "selector", "receive_buffer_bytes", "send_buffer_bytes",
    "reconnect_backoff_ms", "reconnect_backoff_max_ms",
)  # fmt: skip


class StoreError(Exception):
    """The store cannot be used. `quiet`: dynamic configs are not set up, which is not an error."""

    def __init__(self, message: str, *, quiet: bool = False) -> None:
        super().__init__(message)
        self.quiet = quiet


class Store:
    """The dynamic configs of one client. Connects for each read and disconnects afterwards.

    `configs` are those of the client; `levels` are the entities that apply to it. Not thread-safe,
    except for `end`.
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
        self._registering: Any = None  # the producer
        self._levels = frozenset(levels)
        self._found: dict[tuple[ClientEntity, str], ClientConfig] = {}
        self._positions: dict[int, int] = {}
        self._topic_id: object = None
        self._read_at = 0.0
        self._reported: set[str] = set()

    def read(self) -> tuple[ClientConfig, ...]:
        """Return the current dynamic configs of this client. Raises StoreError."""
        try:
            with self._consumer() as consumer:
                self._read_on(consumer)
        except kafka_errors.UnknownTopicOrPartitionError:
            raise StoreError(f"topic {CONFIGS_TOPIC} does not exist", quiet=True) from None
        except kafka_errors.TopicAuthorizationFailedError:
            raise StoreError(f"requires READ on topic {CONFIGS_TOPIC}") from None
        except Exception as error:
            # Plugins of the program (token provider, network client) can raise any exception.
            raise StoreError(f"cannot read topic {CONFIGS_TOPIC}: {_text(error)}") from error
        return tuple(each for each in self._found.values() if each.key != REGISTER_AGAIN)

    @property
    def registration_request(self) -> str:
        """The last request to register again; a different text is a new request."""
        requests = (each.value for each in self._found.values() if each.key == REGISTER_AGAIN)
        return max(requests, default="")

    def register(self, registration: ClientRegistration) -> None:
        """Register the supported configs of this client. Raises StoreError."""
        key, value = registration_record(registration)
        try:
            # A producer would not stop asking for a missing topic.
            with self._consumer() as consumer:
                internals.find_topic(consumer, REGISTRATIONS_TOPIC, _MOST_WAIT_MS)
            with self._producer() as producer:
                producer.send(REGISTRATIONS_TOPIC, value, key).get(_MOST_WAIT_MS / 1000)
        except kafka_errors.UnknownTopicOrPartitionError:
            raise StoreError(f"topic {REGISTRATIONS_TOPIC} does not exist", quiet=True) from None
        except kafka_errors.TopicAuthorizationFailedError:
            raise StoreError(f"requires WRITE on topic {REGISTRATIONS_TOPIC}") from None
        except Exception as error:
            message = f"cannot write to topic {REGISTRATIONS_TOPIC}: {_text(error)}"
            raise StoreError(message) from error

    def end(self) -> None:
        """Make the current and all later operations fail. Can be called from another thread."""
        if (producer := self._registering) is not None:
            internals.discard_producer(producer)
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
        # Saved only at the end, so that an interrupted read is repeated.
        found, positions = dict(self._found), dict(self._positions)
        for each in every:
            if each.partition in positions:
                consumer.seek(each, positions[each.partition])
            else:
                consumer.seek_to_beginning(each)
        until = now + _MOST_WAIT_MS / 1000
        while any(consumer.position(each, _MOST_WAIT_MS) < end for each, end in ends.items()):
            if time.monotonic() > until:
                raise kafka_errors.KafkaTimeoutError("timed out before the end of the log")
            for records in consumer.poll(timeout_ms=500).values():
                for record in records:
                    self._apply(found, record.key, record.value)
        for each in every:
            positions[each.partition] = consumer.position(each, _MOST_WAIT_MS)
        self._found, self._positions = found, positions
        self._topic_id, self._read_at = topic_id, now

    def _apply(
        self,
        found: dict[tuple[ClientEntity, str], ClientConfig],
        key: bytes | None,
        value: bytes | None,
    ) -> None:
        config = read_config(key, value)
        if isinstance(config, Unreadable):
            if config.why not in self._reported:
                self._reported.add(config.why)
                log.warning("Skipped records of topic %s: %s", CONFIGS_TOPIC, config.why)
            replaced = read_config(key, None)
            if not isinstance(replaced, Unreadable):
                found.pop((replaced.entity, replaced.key), None)
        elif config.entity in self._levels:
            if config.value is None:
                found.pop((config.entity, config.key), None)
            else:
                found[config.entity, config.key] = ClientConfig(
                    config.entity, config.key, config.value
                )

    @contextmanager
    def _consumer(self) -> Iterator[Any]:
        consumer = None
        try:
            consumer = KafkaConsumer(
                **self._connection,
                group_id=None,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                # A fetch session would occupy the cache of the broker for a single read.
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
            producer = internals.OwnProducer(**self._connection, max_block_ms=_MOST_WAIT_MS)
            self._registering = producer
            yield producer
        finally:
            try:
                self._registering = None
                if producer is not None:
                    internals.close_producer(producer)
            finally:
                self._networks.close()


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {quoted(str(error))}" if str(error) else type(error).__name__
