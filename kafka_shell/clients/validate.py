"""Validate dynamic configs against the other configs of a client (KIP-649)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from kafka_shell.admin.client_configs.keys import ACKS, HEARTBEAT, KEYS, SESSION, check
from kafka_shell.admin.client_configs.model import ClientConfig
from kafka_shell.base.errors import ShellError

_ALL = -1


class ConfigRule(Struct, frozen=True):
    """A condition on several configs of a client, and the message if it is not met."""

    keys: tuple[str, ...]
    holds: Callable[[Mapping[str, Any]], bool]
    why: str


class ValidatedConfigs(Struct, frozen=True):
    """The effective value of each key, and why dynamic configs were rejected."""

    values: Mapping[str, Any]
    rejected: Mapping[str, str]


def producer_rules(
    *, idempotent: bool, has_codec: Callable[[str | None], bool]
) -> tuple[ConfigRule, ...]:
    """Return the rules for a producer."""
    always = "this producer is idempotent or transactional: {}"
    return (
        ConfigRule(
            (ACKS,), lambda at: not idempotent or at[ACKS] == _ALL,
            always.format("acks must be all"),
        ),
        ConfigRule(
            ("retries",), lambda at: not idempotent or at["retries"] > 0,
            always.format("retries must be positive"),
        ),
        ConfigRule(
            ("compression.type",), lambda at: has_codec(at["compression.type"]),
            "the library for this codec is not installed",
        ),
        ConfigRule(
            ("delivery.timeout.ms", "linger.ms", "request.timeout.ms"),
            lambda at: at["delivery.timeout.ms"] >= at["linger.ms"] + at["request.timeout.ms"],
            "delivery.timeout.ms must be at least linger.ms plus request.timeout.ms",
        ),
    )  # fmt: skip


def consumer_rules(*, idle_ms: float, receive_bytes: int) -> tuple[ConfigRule, ...]:
    """Return the rules for a consumer."""
    return (
        ConfigRule(
            (SESSION, HEARTBEAT), lambda at: at[HEARTBEAT] < at[SESSION],
            "heartbeat.interval.ms must be less than session.timeout.ms",
        ),
        ConfigRule(
            ("request.timeout.ms", "fetch.max.wait.ms"),
            lambda at: at["fetch.max.wait.ms"] < at["request.timeout.ms"] < idle_ms,
            "request.timeout.ms must be greater than fetch.max.wait.ms and less than"
            f" connections_max_idle_ms={idle_ms} of this program",
        ),
        ConfigRule(
            ("fetch.max.bytes", "max.partition.fetch.bytes"),
            lambda at: at["fetch.max.bytes"] + at["max.partition.fetch.bytes"] <= receive_bytes,
            "fetch.max.bytes plus max.partition.fetch.bytes must be at most"
            f" receive_message_max_bytes={receive_bytes} of this program",
        ),
    )  # fmt: skip


def parse(key: str, value: str) -> Any:
    """Convert the value of a config for kafka-python. Raises ShellError if it is invalid."""
    check(key, value)
    if key == ACKS:
        return _ALL if value == "all" else int(value)
    if key == "compression.type":
        return None if value == "none" else value
    return int(value)


def validate(
    own: Mapping[str, Any], configs: Mapping[str, ClientConfig], rules: tuple[ConfigRule, ...]
) -> ValidatedConfigs:
    """Apply the dynamic configs `configs` to the values of the program (`own`).

    Configs of other kinds of clients, such as consumer configs for a producer, are ignored.
    """
    accepted: dict[str, Any] = {}
    rejected: dict[str, str] = {}
    for key, config in configs.items():
        if key in own:
            try:
                accepted[key] = parse(key, config.value)
            except ShellError as error:
                rejected[key] = error.message
        elif key not in KEYS:
            rejected[key] = "unknown to this version of the client"
    while True:
        values = {**own, **accepted}
        broken = next(
            (
                rule
                for rule in rules
                # Values of the program are not validated.
                if not accepted.keys().isdisjoint(rule.keys) and not rule.holds(values)
            ),
            None,
        )
        if broken is None:
            return ValidatedConfigs(values, rejected)
        for key in accepted.keys() & set(broken.keys):
            del accepted[key]
            rejected[key] = broken.why
