"""Access to internals of kafka-python, tested with one minor version.

kafka-python copies the configs of a client into many objects. `ProducerConfigs` and
`ConsumerConfigs` set a value in all places where it is read, and can restore the original value.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import kafka
from kafka import KafkaProducer
from kafka import errors as kafka_errors
from kafka.coordinator.base import UnjoinedGroupException
from kafka.net.compat import KafkaNetClient
from kafka.protocol.metadata import MetadataRequest

from kafka_shell.admin.client_configs.keys import HEARTBEAT, SESSION, supported_by

VERSION: str = kafka.__version__
TESTED = "3.0."
MAX_POLL_INTERVAL = "max.poll.interval.ms"
# Sent in JoinGroup requests: the coordinator uses these values until the next join.
_JOINED_WITH = (SESSION, MAX_POLL_INTERVAL)


def is_supported() -> bool:
    """Return whether this version of kafka-python is supported."""
    return VERSION.startswith(TESTED)


def _attribute(key: str) -> str:
    return key.replace(".", "_")


class _RunningConfigs:
    """Base of producers and consumers: the dicts that contain a value, and network clients."""

    kind = ""

    def __init__(self, client: Any, network: Any, *objects: Any) -> None:
        self._network = network
        self._manager = network._manager
        places = (client, *objects, self._manager, self._manager.cluster)
        names = {_attribute(key) for key in supported_by(self.kind)}
        # Each dict with its original values, to restore them.
        self._places = [
            (place.config, {name: place.config[name] for name in names & set(place.config)})
            for place in places
        ]
        self.own: dict[str, Any] = {
            key: client.config[_attribute(key)] for key in supported_by(self.kind)
        }
        self.in_force = dict(self.own)

    def apply(self, values: Mapping[str, Any]) -> None:
        """Apply a value for every key. Thread-safe: each is a single assignment."""
        for key, value in values.items():
            if value != self.in_force[key]:
                self._set(key, value)
        self.in_force = dict(values)

    @property
    def rejoin_values(self) -> tuple[int, ...] | None:
        """Values that require a rejoin, or None."""
        return None

    def waits_for_join(self, key: str) -> bool:
        """Return whether this key takes effect with a rejoin only."""
        return False

    def _set(self, key: str, value: Any) -> None:
        name = _attribute(key)
        own = value == self.own[key]
        for config, at_first in self._places:
            if name in at_first:
                config[name] = at_first[name] if own else value
        after = getattr(self, f"_after_{name}", None)
        if after is not None:
            after(value)

    def _after_request_timeout_ms(self, value: int) -> None:
        for connection in list(self._manager._conns.values()):
            connection.config["request_timeout_ms"] = value
            connection._timeout_secs = value / 1000  # each connection has a copy

    def _after_metadata_max_age_ms(self, value: int) -> None:
        self._manager.cluster._wakeup.notify()  # it sleeps for the old interval


class ProducerConfigs(_RunningConfigs):
    """The configs of a running KafkaProducer."""

    kind = "producer"

    def __init__(self, producer: Any) -> None:
        sender, self._accumulator = producer._sender, producer._accumulator
        self._transactions = producer._transaction_manager
        self._codecs = producer._COMPRESSORS
        super().__init__(producer, sender._client, sender, self._accumulator)
        self.idempotent = bool(producer.config["enable_idempotence"])

    def apply(self, values: Mapping[str, Any]) -> None:
        super().apply(values)
        self._network.wakeup()  # the sender sleeps for the old interval

    def has_codec(self, compression: str | None) -> bool:
        """Return whether the library of a codec is installed (None: no compression)."""
        return bool(self._codecs[compression][0]())

    def _after_compression_type(self, value: str | None) -> None:
        self._accumulator.config["compression_attrs"] = self._codecs[value][1]

    def _after_retry_backoff_ms(self, value: int) -> None:
        if self._transactions is not None:
            self._transactions.retry_backoff_ms = value


class ConsumerConfigs(_RunningConfigs):
    """The configs of a running KafkaConsumer."""

    kind = "consumer"

    def __init__(self, consumer: Any, refused: Callable[[str, int], None]) -> None:
        self._coordinator = consumer._coordinator
        super().__init__(consumer, consumer._client, consumer._fetcher, self._coordinator)
        config = consumer.config
        self.group: str | None = config["group_id"]
        self.idle_ms = config["connections_max_idle_ms"]
        self.receive_bytes = config["receive_message_max_bytes"]
        self._membership = _Membership(self._coordinator, refused)

    def _set(self, key: str, value: Any) -> None:
        if key not in (*_JOINED_WITH, HEARTBEAT):
            super()._set(key, value)

    def apply(self, values: Mapping[str, Any]) -> None:
        super().apply(values)
        wanted = {key: values[key] for key in (*_JOINED_WITH, HEARTBEAT)}
        # In the thread that builds JoinGroup requests, so that all values change at once.
        self._manager._net.call_soon_threadsafe(lambda: self._membership.set_timeouts(wanted))

    @property
    def rejoin_values(self) -> tuple[int, ...] | None:
        """The new group timeouts, if the coordinator still uses old ones."""
        if not self._membership.must_rejoin(self.in_force):
            return None
        return tuple(self.in_force[key] for key in _JOINED_WITH)

    def waits_for_join(self, key: str) -> bool:
        return key == HEARTBEAT and self._membership.heartbeat_waits(self.in_force)

    @property
    def can_join(self) -> bool:
        """Whether an assignor in use can make the coordinator notice a change."""
        return self._membership.can_join

    def rejoin(self) -> None:
        """Rejoin the group with the next poll, if it is still necessary."""
        self._membership.due = True

    def _after_auto_commit_interval_ms(self, value: int) -> None:
        coordinator = self._coordinator
        coordinator.auto_commit_interval = value / 1000
        if coordinator.next_auto_commit_deadline is not None:
            coordinator.next_auto_commit_deadline = min(
                coordinator.next_auto_commit_deadline, time.monotonic() + value / 1000
            )


class _Membership:
    """The timeouts of a group member, and the rejoin that makes the coordinator use new ones.

    A coordinator uses a new session timeout only if the metadata of a JoinGroup differs from the
    previous one (Kafka 3.9 and 4.3). So the values are added to the user data of assignors that
    leave it empty; the user data of the sticky assignor always differs.
    """

    # Prefix of the user data by assignor. Other cooperative clients read a generation there: -1
    # means none.
    _PREFIXES: Mapping[str, bytes] = {
        "range": b"",
        "roundrobin": b"",
        "cooperative-sticky": b"\xff\xff\xff\xff",
    }
    _DIFFERS_ALWAYS = "sticky"

    def __init__(self, coordinator: Any, refused: Callable[[str, int], None]) -> None:
        self.due = False
        self._coordinator = coordinator
        self._config = coordinator.config
        self._heartbeat = coordinator.heartbeat
        self._refused = refused
        self._own = {key: self._config[_attribute(key)] for key in (*_JOINED_WITH, HEARTBEAT)}
        self._wanted = dict(self._own)
        self._joined_with: tuple[int, ...] | None = None
        self.can_join = bool({*self._PREFIXES, self._DIFFERS_ALWAYS} & set(coordinator._assignors))
        self._protocols = coordinator.group_protocols
        self._need_rejoin = coordinator.need_rejoin
        self._join = coordinator._do_join_and_sync_async
        coordinator.group_protocols = self._group_protocols
        coordinator.need_rejoin = self._needs_rejoin
        coordinator._do_join_and_sync_async = self._do_join_and_sync

    def set_timeouts(self, values: Mapping[str, int]) -> None:
        """Use these values from the next JoinGroup on; the heartbeat interval at once if
        possible."""
        self._wanted = dict(values)
        self._set(self._config, _JOINED_WITH)
        self._set(self._heartbeat.config, (MAX_POLL_INTERVAL,))
        if not self.heartbeat_waits(values):
            self._set(self._heartbeat.config, (HEARTBEAT,))
        if self._joined_with is None:
            self._set(self._heartbeat.config, (SESSION,))
        self._coordinator._heartbeat_wakeup.notify()  # it sleeps for the old interval

    def must_rejoin(self, values: Mapping[str, int]) -> bool:
        joined = self._joined_with
        return joined is not None and joined != tuple(values[key] for key in _JOINED_WITH)

    def heartbeat_waits(self, values: Mapping[str, int]) -> bool:
        """Return whether a longer heartbeat interval must wait for the new session timeout."""
        now: int = self._heartbeat.config[_attribute(HEARTBEAT)]
        return self.must_rejoin(values) and values[HEARTBEAT] > now

    def _set(self, config: dict[str, Any], keys: tuple[str, ...]) -> None:
        for key in keys:
            config[_attribute(key)] = self._wanted[key]

    def _needs_rejoin(self) -> bool:
        if self.due and self.must_rejoin(self._wanted):
            # Repeated until a join has succeeded: a join in progress would reset it.
            self._coordinator.request_rejoin()
        return bool(self._need_rejoin())

    def _group_protocols(self) -> list[tuple[str, Any]]:
        """Return the metadata of a JoinGroup; kafka-python has just read the timeouts."""
        self.due = False
        self._joined_with = tuple(self._wanted[key] for key in _JOINED_WITH)
        self._set(self._heartbeat.config, (SESSION, HEARTBEAT))
        protocols: list[tuple[str, Any]] = self._protocols()
        text = ",".join(
            f"{key}={self._wanted[key]}"
            for key in _JOINED_WITH
            if self._wanted[key] != self._own[key]
        )
        for name, metadata in protocols:
            if text and name in self._PREFIXES and not metadata.user_data:
                metadata.user_data = self._PREFIXES[name] + text.encode()
        return protocols

    async def _do_join_and_sync(self) -> Any:
        try:
            return await self._join()
        except kafka_errors.InvalidSessionTimeoutError:
            value = self._wanted[SESSION]
            if value == self._own[SESSION]:
                raise
            # Raising it would end the program, so rejoin with the original value.
            self._joined_with = None
            self.set_timeouts(self._own)
            self._refused(SESSION, value)
            raise UnjoinedGroupException from None


_SUFFIX = "-dynamic-configs"
_thread = threading.local()


def own_client_id(client_id: str) -> str:
    """Return the client ID of the short-lived clients that read dynamic configs; it is part of
    their thread names."""
    return client_id + _SUFFIX


@contextmanager
def without_kafka_logs() -> Iterator[None]:
    """Suppress logs of kafka-python above DEBUG from this thread and the threads of our own
    clients, because the follower logs the outcome itself."""
    _silence_own_clients()
    _thread.suppress = True
    try:
        yield
    finally:
        _thread.suppress = False


def _silence_own_clients() -> None:
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if name.startswith("kafka.") and isinstance(logger, logging.Logger):
            logger.addFilter(_is_foreign)  # does not add a filter twice


def _is_foreign(record: logging.LogRecord) -> bool:
    thread = threading.current_thread().name
    ours = getattr(_thread, "suppress", False) or (
        thread.startswith("kafka-io-") and thread.endswith(_SUFFIX)
    )
    ours = ours or thread.endswith(f"{_SUFFIX}-network-thread")
    return not ours or record.levelno <= logging.DEBUG


class NetworkClients:
    """Creates the network clients of short-lived clients, so that another thread can stop them."""

    def __init__(self, make: Callable[..., Any] | None) -> None:
        self._make = make or KafkaNetClient
        self._lock = threading.Lock()
        self._open: list[Any] = []
        self._ended = False

    def __call__(self, **configs: Any) -> Any:
        with self._lock:
            if self._ended:
                raise kafka_errors.KafkaConnectionError("the client is closing")
            client = self._make(**configs)
            # Clients do not pass these on: metadata would be delayed by 100 ms, and a deleted topic
            # would be created again.
            client._manager.cluster.config.update(
                retry_backoff_ms=5, allow_auto_create_topics=False
            )
            self._open.append(client)
        return client

    def close(self) -> None:
        """Close clients that a failed constructor has left open."""
        with self._lock:
            left, self._open = self._open, []
        for client in left:
            client.close()

    def end(self) -> None:
        """Make current and future operations fail."""
        with self._lock:
            self._ended = True
            left = list(self._open)
        for client in left:
            client._net.stop(timeout_ms=1_000)


class OwnProducer(KafkaProducer):  # type: ignore[misc]
    """A producer of this package, which closes it. That of kafka-python closes itself when it is
    collected, and then discards the log of all producers of the program."""

    def __del__(self) -> None:
        pass


def close_producer(producer: Any) -> None:
    """Close a producer within some two seconds, also with records that cannot be written: for those
    its own close() raises an error and leaves its thread running, which never waits once its
    connections are closed."""
    try:
        producer.close(timeout=1)
    except kafka_errors.KafkaTimeoutError:
        discard_producer(producer)
        producer._sender.join(1)


def discard_producer(producer: Any) -> None:
    """Make what is being written fail, and the thread of the producer end."""
    producer._sender.force_close()


def find_topic(consumer: Any, topic: str, timeout_ms: int) -> tuple[Any, list[int]]:
    """Return ID and partitions of a topic without creating it. Raises the error of the broker."""
    manager = consumer._client._manager
    consumer.bootstrap(timeout_ms)  # not connected yet if api_version is set
    request = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=topic)],
        allow_auto_topic_creation=False,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )

    async def ask() -> Any:
        return await manager.wait_for(manager.send(request), timeout_ms)

    row = manager.run(ask).topics[0]
    if row.error_code:
        raise kafka_errors.for_code(row.error_code)(topic)
    return getattr(row, "topic_id", None), [each.partition_index for each in row.partitions]
