"""The one file that touches inner parts of kafka-python, proved with one minor version of it.

kafka-python copies a program's configs into each of its parts. `ProducerParts` and `ConsumerParts`
know where a value is read while the client runs, set it there, and can put the program's own back.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import kafka
from kafka import errors as kafka_errors
from kafka.coordinator.base import UnjoinedGroupException
from kafka.net.compat import KafkaNetClient
from kafka.protocol.metadata import MetadataRequest

from kafka_shell.admin.client_configs.keys import HEARTBEAT, SESSION, supported_by

VERSION: str = kafka.__version__
PROVED = "3.0."
MAX_POLL_INTERVAL = "max.poll.interval.ms"
# What a group member says at its join, besides the topics: the coordinator keeps these until then.
_JOINED_WITH = (SESSION, MAX_POLL_INTERVAL)


def is_proved() -> bool:
    """Whether this kafka-python is of the minor version that this file was proved with."""
    return VERSION.startswith(PROVED)


def _attribute(key: str) -> str:
    return key.replace(".", "_")


class _Parts:
    """What producers and consumers share: dicts that hold a value, and network clients."""

    kind = ""

    def __init__(self, client: Any, network: Any, *parts: Any) -> None:
        self._network = network
        self._manager = network._manager
        places = (client, *parts, self._manager, self._manager.cluster)
        names = {_attribute(key) for key in supported_by(self.kind)}
        # Each place that reads a value, with what it held at first: a removal brings that back.
        self._places = [
            (place.config, {name: place.config[name] for name in names & set(place.config)})
            for place in places
        ]
        self.own: dict[str, Any] = {
            key: client.config[_attribute(key)] for key in supported_by(self.kind)
        }
        self.in_force = dict(self.own)

    def apply(self, values: Mapping[str, Any]) -> None:
        """Let these values hold, each key's. Thread safe: each is one assignment."""
        for key, value in values.items():
            if value != self.in_force[key]:
                self._set(key, value)
        self.in_force = dict(values)

    @property
    def owed(self) -> tuple[int, ...] | None:
        """What a coordinator is still to hold this client to."""
        return None

    def waits_for_join(self, key: str) -> bool:
        """Whether the value of this key, which else holds at once, waits for a rejoin."""
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
            connection._timeout_secs = value / 1000  # a copy that each connection keeps

    def _after_metadata_max_age_ms(self, value: int) -> None:
        self._manager.cluster._wakeup.notify()  # it sleeps as long as the old value said


class ProducerParts(_Parts):
    """Where a running KafkaProducer reads its values."""

    kind = "producer"

    def __init__(self, producer: Any) -> None:
        sender, self._accumulator = producer._sender, producer._accumulator
        self._transactions = producer._transaction_manager
        self._codecs = producer._COMPRESSORS
        super().__init__(producer, sender._client, sender, self._accumulator)
        self.idempotent = bool(producer.config["enable_idempotence"])

    def apply(self, values: Mapping[str, Any]) -> None:
        super().apply(values)
        self._network.wakeup()  # the sender sleeps as long as the old values said

    def has_codec(self, compression: str | None) -> bool:
        """Whether this program has the library of a codec (None: no compression)."""
        return bool(self._codecs[compression][0]())

    def _after_compression_type(self, value: str | None) -> None:
        self._accumulator.config["compression_attrs"] = self._codecs[value][1]

    def _after_retry_backoff_ms(self, value: int) -> None:
        if self._transactions is not None:
            self._transactions.retry_backoff_ms = value


class ConsumerParts(_Parts):
    """Where a running KafkaConsumer reads its values."""

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
        # On the thread that builds each JoinGroup, so that none is built of half of it.
        self._manager._net.call_soon_threadsafe(lambda: self._membership.want(wanted))

    @property
    def owed(self) -> tuple[int, ...] | None:
        """What the coordinator is still to hold this member to, where it holds it to another."""
        if not self._membership.owes(self.in_force):
            return None
        return tuple(self.in_force[key] for key in _JOINED_WITH)

    def waits_for_join(self, key: str) -> bool:
        return key == HEARTBEAT and self._membership.heartbeat_waits(self.in_force)

    @property
    def can_join(self) -> bool:
        """Whether an assignor in use can tell the coordinator that something has changed."""
        return self._membership.can_join

    def join_again(self) -> None:
        """Let the next poll join the group again, if that is still owed."""
        self._membership.due = True

    def _after_auto_commit_interval_ms(self, value: int) -> None:
        coordinator = self._coordinator
        coordinator.auto_commit_interval = value / 1000
        if coordinator.next_auto_commit_deadline is not None:
            coordinator.next_auto_commit_deadline = min(
                coordinator.next_auto_commit_deadline, time.monotonic() + value / 1000
            )


class _Membership:
    """A group member's timeouts, and how its coordinator learns of new ones.

    A coordinator takes a member's session timeout only from a JoinGroup whose metadata differs
    from the member's last (3.9 and 4.3 alike). So the values go into the user data of assignors
    that leave it empty; the sticky assignor's own user data differs each time.
    """

    # What a member of this assignor may put before the text. Cooperative members of other languages
    # read a generation there: -1 says the same as nothing.
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

    def want(self, values: Mapping[str, int]) -> None:
        """Let these hold from the next JoinGroup on; a heartbeat that may, at once."""
        self._wanted = dict(values)
        self._set(self._config, _JOINED_WITH)
        self._set(self._heartbeat.config, (MAX_POLL_INTERVAL,))
        if not self.heartbeat_waits(values):
            self._set(self._heartbeat.config, (HEARTBEAT,))
        if self._joined_with is None:
            self._set(self._heartbeat.config, (SESSION,))
        self._coordinator._heartbeat_wakeup.notify()  # it sleeps as long as the old value said

    def owes(self, values: Mapping[str, int]) -> bool:
        joined = self._joined_with
        return joined is not None and joined != tuple(values[key] for key in _JOINED_WITH)

    def heartbeat_waits(self, values: Mapping[str, int]) -> bool:
        """Whether a heartbeat must wait: until the member has joined with a longer session timeout,
        it must be heard within the old one."""
        now: int = self._heartbeat.config[_attribute(HEARTBEAT)]
        return self.owes(values) and values[HEARTBEAT] > now

    def _set(self, config: dict[str, Any], keys: tuple[str, ...]) -> None:
        for key in keys:
            config[_attribute(key)] = self._wanted[key]

    def _needs_rejoin(self) -> bool:
        if self.due and self.owes(self._wanted):
            # Until a join has succeeded; one under way, with old values, takes it back too soon.
            self._coordinator.request_rejoin()
        return bool(self._need_rejoin())

    def _group_protocols(self) -> list[tuple[str, Any]]:
        """The metadata of a JoinGroup, whose timeouts kafka-python has read just before."""
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
            # It would end the program. Its own value has served it so far: join with that.
            self._joined_with = None
            self.want(self._own)
            self._refused(SESSION, value)
            raise UnjoinedGroupException from None


_SUFFIX = "-dynamic-configs"
_here = threading.local()


def own_client_id(client_id: str) -> str:
    """The client id of the short-lived clients that look for the configs of a client; it is in the
    names of their threads."""
    return client_id + _SUFFIX


@contextmanager
def without_kafka_logs() -> Iterator[None]:
    """Whoever looks says in one line what came of it: kafka-python's own lines about the same, from
    this thread and from those of our own clients, are left out (but for its debug lines)."""
    _silence_own_clients()
    _here.looks = True
    try:
        yield
    finally:
        _here.looks = False


def _silence_own_clients() -> None:
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if name.startswith("kafka.") and isinstance(logger, logging.Logger):
            logger.addFilter(_not_ours)  # once: a filter that is there is not added again


def _not_ours(record: logging.LogRecord) -> bool:
    thread = threading.current_thread().name
    ours = getattr(_here, "looks", False) or (
        thread.startswith("kafka-io-") and thread.endswith(_SUFFIX)
    )
    ours = ours or thread.endswith(f"{_SUFFIX}-network-thread")
    return not ours or record.levelno <= logging.DEBUG


class NetworkClients:
    """Makes the network clients of short-lived clients, so that another thread can end them."""

    def __init__(self, make: Callable[..., Any] | None) -> None:
        self._make = make or KafkaNetClient
        self._lock = threading.Lock()
        self._open: list[Any] = []
        self._ended = False

    def __call__(self, **configs: Any) -> Any:
        with self._lock:
            if self._ended:
                raise kafka_errors.KafkaConnectionError("the client is being closed")
            made = self._make(**configs)
            # No client passes these on to where they are read: else the topic's metadata waits for
            # 100 ms after that of the bootstrap, and a topic that is gone is made anew.
            made._manager.cluster.config.update(retry_backoff_ms=5, allow_auto_create_topics=False)
            self._open.append(made)
        return made

    def close(self) -> None:
        """Close those that a constructor which failed has left open."""
        with self._lock:
            left, self._open = self._open, []
        for client in left:
            client.close()

    def end(self) -> None:
        """Fail what others wait for, now and from now on."""
        with self._lock:
            self._ended = True
            left = list(self._open)
        for client in left:
            client._net.stop(timeout_ms=1_000)


def find_topic(consumer: Any, topic: str, timeout_ms: int) -> tuple[Any, list[int]]:
    """Id and partitions of a topic, without making it. Raises the broker's error about it."""
    manager = consumer._client._manager
    consumer.bootstrap(timeout_ms)  # where api_version is given, nothing has connected yet
    request = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=topic)],
        allow_auto_topic_creation=False,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )

    async def ask() -> Any:
        return await manager.wait_for(manager.send(request), timeout_ms)

    found = manager.run(ask).topics[0]
    if found.error_code:
        raise kafka_errors.for_code(found.error_code)(topic)
    return getattr(found, "topic_id", None), [each.partition_index for each in found.partitions]
