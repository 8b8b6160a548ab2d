"""Follows the dynamic configs of one client: looks, decides, lets them hold, and says so."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from kafka_shell import __version__
from kafka_shell.admin.client_configs.format import RENEW_MS
from kafka_shell.admin.client_configs.keys import KEYS, SESSION, supported_by
from kafka_shell.admin.client_configs.model import ClientConfig, ClientEntity, ClientRegistration
from kafka_shell.admin.client_configs.resolve import resolve

from . import internals
from .decide import Decision, Rule, decide
from .store import Store, StoreError

log = logging.getLogger("kafka_shell.clients")

ANONYMOUS = "ANONYMOUS"  # Kafka's own name for who did not log in
_INTERVAL = "metadata.max.age.ms"
_LEAST_SECONDS = 0.1
_GRACE_SECONDS = 0.25
_STOP_SECONDS = 2.0


def user_of(configs: Mapping[str, Any], given: str | None) -> str | None:
    """Who a client is for its brokers, or None where its configs do not tell.

    A certificate, a ticket or a token names a user that only the brokers know.
    """
    if given is not None:
        return given
    protocol = configs.get("security_protocol", "PLAINTEXT")
    if protocol.startswith("SASL"):
        return configs.get("sasl_plain_username")
    shown = any(configs.get(key) for key in ("ssl_certfile", "ssl_context"))
    return None if protocol == "SSL" and shown else ANONYMOUS


class Follower:
    """A thread that keeps one client to what administrators set for it.

    `rejoin` says whether a consumer may rejoin its group for a new timeout of its membership.
    """

    def __init__(
        self, parts: Any, store: Store, entity: ClientEntity, rules: tuple[Rule, ...], rejoin: bool
    ) -> None:
        self._parts = parts
        self._store = store
        self._entity = entity
        self._rules = rules
        self._rejoin = rejoin
        self._name = f"{parts.kind} {entity.client_id} of user {entity.user}"
        self._stopping = False
        self._wake = threading.Event()
        self._found: Mapping[str, ClientConfig] = {}
        self._told: dict[str, tuple[ClientConfig, str]] = {}
        self._trouble: dict[str, str] = {}
        self._refused: dict[str, Any] = {}
        self._register_at = 0.0
        self._asked: str | None = None  # the last request to register again; None before a look
        self._planned: object = None
        self._join_at: float | None = None
        self._thread = threading.Thread(
            target=self._run, name=internals.own_client_id(entity.client_id or ""), daemon=True
        )

    def start(self) -> None:
        """Look once, before the client sends its first request; then again and again."""
        self._look()
        self._thread.start()

    def stop(self, *, wait: bool = True) -> None:
        """End the thread. What it has set holds on. From any thread, more than once."""
        self._stopping = True
        self._wake.set()
        if not wait or self._thread is threading.current_thread() or not self._thread.is_alive():
            return
        self._thread.join(_GRACE_SECONDS)  # what is under way is mostly done in no time
        if self._thread.is_alive():
            self._store.end()
            self._thread.join(_STOP_SECONDS)

    def refuse(self, key: str, value: Any) -> None:
        """The coordinator did not take this value: leave it, and look for another."""
        self._refused[key] = value
        self._wake.set()

    @property
    def _interval(self) -> float:
        return max(_LEAST_SECONDS, float(self._parts.in_force[_INTERVAL]) / 1000)

    def _run(self) -> None:
        try:
            self._follow()
        except Exception as error:
            if not self._stopping:  # else what it would have changed was closed meanwhile
                _tell_off(self._name, error)

    def _follow(self) -> None:
        # Clients that start together look apart, each within the first interval.
        next_look = time.monotonic() + random.uniform(0, self._interval)
        while not self._stopping:
            self._maybe_register()
            until = next_look if self._join_at is None else min(next_look, self._join_at)
            self._wake.wait(max(0.0, until - time.monotonic()))
            self._wake.clear()
            if self._stopping:
                return
            now = time.monotonic()
            if now >= next_look:
                self._look()
                next_look = now + self._interval
            else:
                self._take(self._found)  # a value may have been refused
            self._maybe_join(now)

    def _look(self) -> None:
        try:
            with internals.without_kafka_logs():
                read = self._store.read()
        except StoreError as error:
            self._tell_trouble("read", error, "What holds now goes on to hold.")
            return
        self._tell_no_trouble("read")
        asked = self._store.registration_asked
        if self._asked not in (None, asked):
            self._register_at = 0.0
        self._asked = asked
        self._take(resolve(read, self._entity.user, self._entity.client_id or ""))

    def _take(self, found: Mapping[str, ClientConfig]) -> None:
        self._found = found
        decision = self._decided(found)
        if decision.values != self._parts.in_force:
            self._parts.apply(decision.values)
            self._plan_join()
        self._tell(found, decision)

    def _decided(self, found: Mapping[str, ClientConfig]) -> Decision:
        # Set anew, to another value or to the same one after a removal, it is tried again.
        self._refused = {
            key: value
            for key, value in self._refused.items()
            if key in found and found[key].value == str(value)
        }
        refused = tuple(_never(key, value) for key, value in self._refused.items())
        return decide(self._parts.own, found, (*refused, *self._rules))

    # A rejoin rebalances the whole group, and every member that has the new values then joins with
    # them. So a member waits until each of the others has looked too: then one rebalance does.
    def _plan_join(self) -> None:
        owed = self._parts.owed
        if owed == self._planned:
            return
        self._planned, self._join_at = owed, None
        if owed is None:
            return
        if self._rejoin and self._parts.can_join:
            wait = self._interval * random.uniform(1.1, 1.3)
            self._join_at = time.monotonic() + wait
            how = f"joins its group again in {wait:.0f} s, or with a rebalance before that"
        elif self._rejoin:
            how = "joins its group again: its assignor cannot bring that about"
        else:
            how = "joins its group again: dynamic_config_rejoin is off"
        log.info("%s: what its coordinator must know holds when it %s.", self._name, how)

    def _maybe_join(self, now: float) -> None:
        if self._join_at is None or now < self._join_at:
            return
        self._join_at = None
        if self._parts.owed is not None:
            log.info("%s: joins its group again, which rebalances it once.", self._name)
            self._parts.join_again()

    def _maybe_register(self) -> None:
        now = time.monotonic()
        if now < self._register_at or "read" in self._trouble:
            return
        registration = ClientRegistration(
            self._entity,
            f"kafka-sh-{self._parts.kind}",
            software_version(),
            supported_by(self._parts.kind),
            int(time.time() * 1000),
        )
        try:
            with internals.without_kafka_logs():
                self._store.register(registration)
        except StoreError as error:
            if not self._stopping:
                said = "Administrators do not see what it supports."
                self._tell_trouble("register", error, said)
            self._register_at = now + self._interval
            return
        self._tell_no_trouble("register")
        self._register_at = now + RENEW_MS / 1000 * random.uniform(0.5, 1)

    def _tell_trouble(self, doing: str, error: StoreError, so: str) -> None:
        if self._stopping or self._trouble.get(doing) == str(error):
            return
        self._trouble[doing] = str(error)
        level = logging.INFO if error.quiet else logging.WARNING
        log.log(level, "%s: no dynamic configs: %s. %s", self._name, error, so)

    def _tell_no_trouble(self, doing: str) -> None:
        if self._trouble.pop(doing, None) is not None:
            log.info("%s: the topic of dynamic configs can be used now.", self._name)

    def _tell(self, found: Mapping[str, ClientConfig], decision: Decision) -> None:
        """Each config that was accepted or ignored, and each that is gone: once."""
        told: dict[str, tuple[ClientConfig, str]] = {}
        for key, config in found.items():
            if key not in decision.values and key not in decision.refused:
                continue  # a producer's, for a consumer
            why = decision.refused.get(key, "")
            told[key] = config, why
            if self._told.get(key) == (config, why):
                continue
            if why:
                log.warning("%s: ignored %s: %s.", self._name, _shown(config), why)
            else:
                when = KEYS[SESSION if self._parts.waits_for_join(key) else key].takes_effect
                log.info("%s: accepted %s: it holds %s.", self._name, _shown(config), when)
        for key in self._told.keys() - told.keys():
            log.info("%s: %s is back to the program's own value.", self._name, key)
        self._told = told


def follow(
    parts: Callable[[Callable[[str, Any], None]], Any],
    rules: Callable[[Any], tuple[Rule, ...]],
    configs: Mapping[str, Any],
    client_id: str,
    user: str | None,
    rejoin: bool = True,
) -> Follower | None:
    """Start to follow, or say in one line why not. A client never fails for its follower's sake.

    `parts` takes what to call with a refused value; `rules` takes the parts.
    """
    try:
        if not internals.is_proved():
            proved = f"they were proved with kafka-python {internals.PROVED}x"
            log.warning("Dynamic configs are off: %s, not %s.", proved, internals.VERSION)
            return None
        name = user_of(configs, user)
        if name is None:
            log.warning(
                "Client %s: dynamic configs are off: its login does not tell who it is for its"
                " brokers; pass dynamic_config_user.",
                client_id,
            )
            return None
        entity = ClientEntity(name, client_id)
        store = Store(configs, client_id, (ClientEntity(name), entity))
        # The parts are made before the follower that they tell of a refusal.
        made: list[Follower] = []
        known = parts(lambda key, value: made[0].refuse(key, value))
        made.append(Follower(known, store, entity, rules(known), rejoin))
        made[0].start()
        return made[0]
    except Exception as error:
        _tell_off(f"Client {client_id}", error)
        return None


def _tell_off(name: str, error: Exception) -> None:
    log.warning("%s: dynamic configs are off: %s: %s", name, type(error).__name__, error)
    log.debug("%s: that came from here.", name, exc_info=error)


def _never(key: str, value: Any) -> Rule:
    said = "the group's coordinator does not take it: it is outside the brokers' limits"
    return Rule((key,), lambda at: bool(at[key] != value), said)


def software_version() -> str:
    """The version that a registration names: ours, and kafka-python's."""
    return f"{__version__}-kafka-python-{internals.VERSION}"


def _shown(config: ClientConfig) -> str:
    return f"{config.key}={config.value} ({config.entity})"
