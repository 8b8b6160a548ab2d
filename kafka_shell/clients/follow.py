"""Follow the dynamic configs of a client: read, validate, apply and log them."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka import errors as kafka_errors

from kafka_shell.admin.client_configs.keys import KEYS, SESSION, supported_by
from kafka_shell.admin.client_configs.model import (
    CONFIGS_TOPIC,
    REGISTER_AGAIN,
    REGISTRATIONS_TOPIC,
    RENEW_MS,
    ClientConfig,
    ClientEntity,
    ClientRegistration,
    Unreadable,
    read_config,
    registration_record,
    resolve,
)
from kafka_shell.base.errors import ShellError
from kafka_shell.base.text import quoted
from kafka_shell.base.waits import GRACE_S
from kafka_shell.clients import internals
from kafka_shell.clients.validate import ConfigRule, ValidatedConfigs, parse, validate

log = logging.getLogger("kafka_shell.clients")

ANONYMOUS = "ANONYMOUS"  # the principal of unauthenticated clients
_INTERVAL = "metadata.max.age.ms"
_LEAST_SECONDS = 0.1
_MOST_SECONDS = 300.0  # also if a dynamic metadata.max.age.ms of days is to be reset
_STOP_SECONDS = 2.0


def user_of(configs: Mapping[str, Any], given: str | None) -> str | None:
    """Return the user name of a client, or None if it does not follow from its configs.

    The user of a certificate, Kerberos ticket or token is known to the brokers only.
    """
    if given is not None:
        return given
    protocol = configs.get("security_protocol", "PLAINTEXT")
    if protocol.startswith("SASL"):
        mechanism = configs.get("sasl_mechanism", "PLAIN")
        named = mechanism == "PLAIN" or mechanism.startswith("SCRAM-")
        return configs.get("sasl_plain_username") if named else None
    certificate = any(configs.get(key) for key in ("ssl_certfile", "ssl_context"))
    return None if protocol == "SSL" and certificate else ANONYMOUS


class Follower:
    """A thread that applies dynamic configs to a client.

    `rejoin` is whether a consumer rejoins its group for a new session or poll timeout.
    """

    def __init__(
        self,
        running_configs: Any,
        store: Store,
        entity: ClientEntity,
        rules: tuple[ConfigRule, ...],
        rejoin: bool,
    ) -> None:
        self._running_configs = running_configs
        self._store = store
        self._entity = entity
        self._rules = rules
        self._rejoin = rejoin
        self._name = f"{running_configs.kind} {entity.client_id} of user {entity.user}"
        self._stopping = False
        self._wake = threading.Event()
        self._found: Mapping[str, ClientConfig] = {}
        self._logged: dict[str, tuple[ClientConfig, str]] = {}
        self._errors: dict[str, str] = {}
        self._rejections: SimpleQueue[tuple[str, Any]] = SimpleQueue()  # of other threads
        self._rejected: dict[str, Any] = {}
        self._register_at = 0.0
        self._request: str | None = None  # the last request to register again; None before a read
        self._planned: object = None
        self._join_at: float | None = None
        self._thread = threading.Thread(
            target=self._run, name=internals.own_client_id(entity.client_id or ""), daemon=True
        )

    def start(self) -> None:
        """Read the configs once, before the client sends its first request; then periodically."""
        self._update()
        self._thread.start()

    def stop(self, *, wait: bool = True) -> None:
        """Stop the thread; applied values stay. Can be called from any thread, repeatedly."""
        self._stopping = True
        self._wake.set()
        if not wait or self._thread is threading.current_thread() or not self._thread.is_alive():
            return
        self._thread.join(GRACE_S)  # the current operation usually ends quickly
        if self._thread.is_alive():
            self._store.end()
            self._thread.join(_STOP_SECONDS)

    def reject(self, key: str, value: Any) -> None:
        """Ignore a value that the coordinator has rejected. Can be called from any thread."""
        self._rejections.put((key, value))
        self._wake.set()

    @property
    def _interval(self) -> float:
        seconds = float(self._running_configs.in_force[_INTERVAL]) / 1000
        return min(max(_LEAST_SECONDS, seconds), _MOST_SECONDS)

    def _run(self) -> None:
        try:
            self._follow()
        except Exception as error:
            if not self._stopping:  # otherwise the client was closed meanwhile
                _log_disabled(self._name, error)

    def _follow(self) -> None:
        # Random, so that clients that start together do not read at the same time.
        next_read = time.monotonic() + random.uniform(0, self._interval)
        while not self._stopping:
            self._maybe_register()
            until = next_read if self._join_at is None else min(next_read, self._join_at)
            self._wake.wait(max(0.0, until - time.monotonic()))
            self._wake.clear()
            if self._stopping:
                return
            now = time.monotonic()
            if now >= next_read:
                self._update()
                next_read = now + self._interval
            else:
                self._apply(self._found)  # a value may have been rejected
            self._maybe_rejoin(now)

    def _update(self) -> None:
        try:
            with internals.without_kafka_logs():
                read = self._store.read()
        except StoreError as error:
            self._log_error("read", error, "Current values stay in effect.")
            return
        self._clear_error("read")
        request = self._store.registration_request
        if self._request not in (None, request):
            self._register_at = 0.0
        self._request = request
        self._apply(resolve(read, self._entity.user, self._entity.client_id or ""))

    def _apply(self, configs: Mapping[str, ClientConfig]) -> None:
        self._found = configs
        decision = self._validate(configs)
        if decision.values != self._running_configs.in_force:
            self._running_configs.apply(decision.values)
            self._plan_rejoin()
        self._log(configs, decision)

    def _validate(self, configs: Mapping[str, ClientConfig]) -> ValidatedConfigs:
        while not self._rejections.empty():
            key, value = self._rejections.get()
            self._rejected[key] = value
        # A rejected value is tried again if it was removed or changed meanwhile.
        self._rejected = {
            key: value
            for key, value in self._rejected.items()
            if key in configs and _is(configs[key], value)
        }
        rejected = tuple(_never(key, value) for key, value in self._rejected.items())
        return validate(self._running_configs.own, configs, (*rejected, *self._rules))

    # A rejoin rebalances the whole group. Members wait until the others have read the new values
    # too, so that a single rebalance is enough.
    def _plan_rejoin(self) -> None:
        rejoin_values = self._running_configs.rejoin_values
        if rejoin_values == self._planned:
            return
        self._planned, self._join_at = rejoin_values, None
        if rejoin_values is None:
            return
        if self._rejoin and self._running_configs.can_join:
            wait = self._interval * random.uniform(1.1, 1.3)
            self._join_at = time.monotonic() + wait
            when = f"when it rejoins its group in {wait:.0f} s, or with an earlier rebalance"
        elif self._rejoin:
            when = "with the next rebalance (its assignor does not support rejoining)"
        else:
            when = "with the next rebalance (dynamic_config_rejoin is off)"
        log.info("%s: new group timeouts take effect %s.", self._name, when)

    def _maybe_rejoin(self, now: float) -> None:
        if self._join_at is None or now < self._join_at:
            return
        self._join_at = None
        if self._running_configs.rejoin_values is not None:
            log.info("%s: rejoining its group, which causes a rebalance.", self._name)
            self._running_configs.rejoin()

    def _maybe_register(self) -> None:
        now = time.monotonic()
        if now < self._register_at or "read" in self._errors:
            return
        registration = ClientRegistration(
            self._entity,
            f"kafka-sh-{self._running_configs.kind}",
            software_version(),
            supported_by(self._running_configs.kind),
            int(time.time() * 1000),
        )
        try:
            with internals.without_kafka_logs():
                self._store.register(registration)
        except StoreError as error:
            if not self._stopping:
                effect = "Its supported configs are not visible to administrators."
                self._log_error("register", error, effect)
            self._register_at = now + self._interval
            return
        self._clear_error("register")
        self._register_at = now + RENEW_MS / 1000 * random.uniform(0.5, 1)

    def _log_error(self, operation: str, error: StoreError, effect: str) -> None:
        if self._stopping or self._errors.get(operation) == str(error):
            return
        self._errors[operation] = str(error)
        level = logging.INFO if error.quiet else logging.WARNING
        log.log(level, "%s: dynamic configs unavailable: %s. %s", self._name, error, effect)

    def _clear_error(self, operation: str) -> None:
        if self._errors.pop(operation, None) is not None:
            log.info("%s: dynamic configs are available again.", self._name)

    def _log(self, configs: Mapping[str, ClientConfig], decision: ValidatedConfigs) -> None:
        """Log each config that was accepted, ignored or removed, once."""
        logged: dict[str, tuple[ClientConfig, str]] = {}
        for key, config in configs.items():
            if key not in decision.values and key not in decision.rejected:
                continue  # a config of another kind of client
            why = decision.rejected.get(key, "")
            logged[key] = config, why
            if self._logged.get(key) == (config, why):
                continue
            if why:
                log.warning("%s: ignored %s: %s.", self._name, _shown(config), why)
            else:
                when = KEYS[
                    SESSION if self._running_configs.waits_for_join(key) else key
                ].takes_effect
                log.info("%s: accepted %s: it takes effect %s.", self._name, _shown(config), when)
        for key in self._logged.keys() - logged.keys():
            log.info("%s: %s was reset to the value of the program.", self._name, key)
        self._logged = logged


def follow(
    running_configs: Callable[[Callable[[str, Any], None]], Any],
    rules: Callable[[Any], tuple[ConfigRule, ...]],
    configs: Mapping[str, Any],
    client_id: str,
    user: str | None,
    rejoin: bool = True,
) -> Follower | None:
    """Start following dynamic configs, or log why not. Never raises an exception.

    `running_configs` gets the function to call with a rejected value; `rules` gets its result.
    """
    try:
        if not internals.is_supported():
            log.warning(
                "Dynamic configs are disabled: they require kafka-python %sx, got %s.",
                internals.TESTED,
                internals.VERSION,
            )
            return None
        name = user_of(configs, user)
        if name is None:
            log.warning(
                "Client %s: dynamic configs are disabled, because the user name is unknown. Pass"
                " dynamic_config_user.",
                client_id,
            )
            return None
        entity = ClientEntity(name, client_id)
        store = Store(configs, client_id, (ClientEntity(name), entity))
        # The configs need the follower to reject values, and the follower needs the configs.
        followers: list[Follower] = []
        running = running_configs(lambda key, value: followers[0].reject(key, value))
        followers.append(Follower(running, store, entity, rules(running), rejoin))
        followers[0].start()
        return followers[0]
    except Exception as error:
        _log_disabled(f"Client {client_id}", error)
        return None


def _log_disabled(name: str, error: Exception) -> None:
    log.warning("%s: dynamic configs are disabled: %s: %s", name, type(error).__name__, error)
    log.debug("%s: traceback", name, exc_info=error)


def _is(config: ClientConfig, value: Any) -> bool:
    try:
        return bool(parse(config.key, config.value) == value)
    except ShellError:
        return False


def _never(key: str, value: Any) -> ConfigRule:
    why = "rejected by the group coordinator: outside the limits of the brokers"
    return ConfigRule((key,), lambda at: bool(at[key] != value), why)


def software_version() -> str:
    """Return the software version for registrations: kafka.sh and kafka-python."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        ours = version("kafka-sh")
    except PackageNotFoundError:
        ours = "0"
    return f"{ours}-kafka-python-{internals.VERSION}"


def _shown(config: ClientConfig) -> str:
    return f"{config.key}={config.value} ({config.entity})"


# -- Read the dynamic configs of a client from Kafka, and register its supported configs -----------


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
        return tuple(config for config in self._found.values() if config.key != REGISTER_AGAIN)

    @property
    def registration_request(self) -> str:
        """The last request to register again; a different text is a new request."""
        requests = (config.value for config in self._found.values() if config.key == REGISTER_AGAIN)
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
        configs, positions = dict(self._found), dict(self._positions)
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
                    self._apply(configs, record.key, record.value)
        for each in every:
            positions[each.partition] = consumer.position(each, _MOST_WAIT_MS)
        self._found, self._positions = configs, positions
        self._topic_id, self._read_at = topic_id, now

    def _apply(
        self,
        configs: dict[tuple[ClientEntity, str], ClientConfig],
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
                configs.pop((replaced.entity, replaced.key), None)
        elif config.entity in self._levels:
            if config.value is None:
                configs.pop((config.entity, config.key), None)
            else:
                configs[config.entity, config.key] = ClientConfig(
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
