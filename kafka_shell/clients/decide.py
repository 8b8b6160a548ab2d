"""Which dynamic configs a client takes: those that its own configs bear (KIP-649)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kafka_shell.admin.client_configs.keys import ACKS, HEARTBEAT, KEYS, SESSION, check
from kafka_shell.admin.client_configs.model import ClientConfig
from kafka_shell.errors import ShellError

_ALL = -1


@dataclass(frozen=True, slots=True)
class Rule:
    """What several values of one client must hold together, and why if they do not."""

    keys: tuple[str, ...]
    holds: Callable[[Mapping[str, Any]], bool]
    why: str


@dataclass(frozen=True, slots=True)
class Decision:
    """A value for each key that the client has, and why a dynamic config was not taken."""

    values: Mapping[str, Any]
    refused: Mapping[str, str]


def producer_rules(
    *, idempotent: bool, has_codec: Callable[[str | None], bool]
) -> tuple[Rule, ...]:
    """What a producer's values must hold."""
    always = "this producer is idempotent or transactional: {}"
    return (
        Rule(
            (ACKS,), lambda at: not idempotent or at[ACKS] == _ALL,
            always.format("it keeps to acks=all"),
        ),
        Rule(
            ("retries",), lambda at: not idempotent or at["retries"] > 0,
            always.format("it must try again"),
        ),
        Rule(
            ("compression.type",), lambda at: has_codec(at["compression.type"]),
            "this program has no library for that codec",
        ),
        Rule(
            ("delivery.timeout.ms", "linger.ms", "request.timeout.ms"),
            lambda at: at["delivery.timeout.ms"] >= at["linger.ms"] + at["request.timeout.ms"],
            "delivery.timeout.ms must be at least linger.ms and request.timeout.ms together",
        ),
    )  # fmt: skip


def consumer_rules(*, idle_ms: float, receive_bytes: int) -> tuple[Rule, ...]:
    """What a consumer's values must hold."""
    return (
        Rule(
            (SESSION, HEARTBEAT), lambda at: at[HEARTBEAT] < at[SESSION],
            "heartbeat.interval.ms must be below session.timeout.ms",
        ),
        Rule(
            ("request.timeout.ms", "fetch.max.wait.ms"),
            lambda at: at["fetch.max.wait.ms"] < at["request.timeout.ms"] < idle_ms,
            "request.timeout.ms must be above fetch.max.wait.ms, and below this program's"
            f" connections_max_idle_ms={idle_ms}",
        ),
        Rule(
            ("fetch.max.bytes", "max.partition.fetch.bytes"),
            lambda at: at["fetch.max.bytes"] + at["max.partition.fetch.bytes"] <= receive_bytes,
            "fetch.max.bytes and max.partition.fetch.bytes together must be within this program's"
            f" receive_message_max_bytes={receive_bytes}",
        ),
    )  # fmt: skip


def parse(key: str, value: str) -> Any:
    """A config's text as kafka-python has it. Raises ShellError where no client could take it."""
    check(key, value)
    if key == ACKS:
        return _ALL if value == "all" else int(value)
    if key == "compression.type":
        return None if value == "none" else value
    return int(value)


def decide(
    own: Mapping[str, Any], found: Mapping[str, ClientConfig], rules: tuple[Rule, ...]
) -> Decision:
    """The program's `own` values, with what was `found` for this client in place of them.

    A key that others have (a consumer's, for a producer) is none of this client's, and passed over.
    """
    taken: dict[str, Any] = {}
    refused: dict[str, str] = {}
    for key, config in found.items():
        if key in own:
            try:
                taken[key] = parse(key, config.value)
            except ShellError as error:
                refused[key] = error.message
        elif key not in KEYS:
            refused[key] = "this version of the client does not know it"
    while True:
        values = {**own, **taken}
        broken = next((rule for rule in rules if not rule.holds(values)), None)
        blamed = [key for key in broken.keys if key in taken] if broken else []
        if broken is None or not blamed:  # what only the program's own values break is its affair
            return Decision(values, refused)
        for key in blamed:
            del taken[key]
            refused[key] = broken.why
