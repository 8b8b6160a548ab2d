"""Which dynamic configs a client accepts, without a broker."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_shell.admin.client_configs.keys import KEYS, check
from kafka_shell.admin.client_configs.model import ClientConfig, ClientEntity
from kafka_shell.base.errors import ShellError
from kafka_shell.clients.follow import user_of
from kafka_shell.clients.validate import ValidatedConfigs, consumer_rules, producer_rules, validate

PRODUCER: dict[str, Any] = {
    "acks": 1, "retries": float("inf"), "compression.type": None, "linger.ms": 0,
    "delivery.timeout.ms": 120_000, "request.timeout.ms": 30_000,
}  # fmt: skip
CONSUMER: dict[str, Any] = {
    "session.timeout.ms": 45_000, "heartbeat.interval.ms": 3_000, "request.timeout.ms": 30_000,
    "fetch.max.wait.ms": 500, "fetch.max.bytes": 52_428_800, "max.partition.fetch.bytes": 1_048_576,
}  # fmt: skip


def found(**configs: str) -> dict[str, ClientConfig]:
    entity = ClientEntity("alice", "app")
    named = {name.replace("_", "."): value for name, value in configs.items()}
    return {key: ClientConfig(entity, key, value) for key, value in named.items()}


def produce(
    *, idempotent: bool = False, codecs: tuple[str, ...] = (), **configs: str
) -> ValidatedConfigs:
    rules = producer_rules(idempotent=idempotent, has_codec=lambda name: name in (None, *codecs))
    return validate(PRODUCER, found(**configs), rules)


def consume(**configs: str) -> ValidatedConfigs:
    rules = consumer_rules(idle_ms=540_000, receive_bytes=100_000_000)
    return validate(CONSUMER, found(**configs), rules)


@pytest.mark.parametrize(("text", "value"), [("all", -1), ("-1", -1), ("0", 0), ("1", 1)])
def test_acks_are_as_kafka_python_has_them(text: str, value: int) -> None:
    assert produce(acks=text).values == PRODUCER | {"acks": value}


def test_other_configs_keep_the_values_of_the_program() -> None:
    assert produce() == ValidatedConfigs(PRODUCER, {})
    assert produce(max_poll_records="7") == ValidatedConfigs(PRODUCER, {}), "a consumer's"


@pytest.mark.parametrize(
    ("configs", "refused"),
    [
        ({"acks": "2"}, {"acks"}),
        ({"linger_ms": "soon"}, {"linger.ms"}),
        ({"linger_ms": "--5"}, {"linger.ms"}),
        ({"linger_ms": "-1"}, {"linger.ms"}),
        ({"linger_ms": "1" * 5000}, {"linger.ms"}),
        ({"linger_ms": "٣"}, {"linger.ms"}),
        ({"compression_type": "zstd"}, {"compression.type"}),
        ({"unheard_of": "1"}, {"unheard.of"}),
        ({"linger_ms": "90001"}, {"linger.ms"}),
        (
            {"linger_ms": "60000", "request_timeout_ms": "60001"},
            {"linger.ms", "request.timeout.ms"},
        ),
        ({"delivery_timeout_ms": "100"}, {"delivery.timeout.ms"}),
    ],
)
def test_a_producer_rejects_conflicting_configs(configs: dict[str, str], refused: set[str]) -> None:
    rules = producer_rules(idempotent=False, has_codec=lambda name: name is None)
    decision = validate(PRODUCER, found(**configs, max_poll_records="1"), rules)
    assert set(decision.rejected) == refused
    assert decision.values == PRODUCER


def test_values_that_only_bear_each_other_are_taken_together() -> None:
    decision = produce(delivery_timeout_ms="5000", request_timeout_ms="1000", linger_ms="10")
    assert not decision.rejected
    decision = produce(delivery_timeout_ms="5000", request_timeout_ms="none", linger_ms="10")
    assert set(decision.rejected) == {"delivery.timeout.ms", "request.timeout.ms", "linger.ms"}
    assert decision.values == PRODUCER


def test_an_idempotent_producer_keeps_to_all_and_tries_again() -> None:
    own = PRODUCER | {"acks": -1}
    rules = producer_rules(idempotent=True, has_codec=lambda name: True)
    decision = validate(own, found(acks="1", retries="0", compression_type="gzip"), rules)
    assert set(decision.rejected) == {"acks", "retries"}
    assert decision.values == own | {"compression.type": "gzip"}
    assert not validate(own, found(acks="-1", retries="1"), rules).rejected


@pytest.mark.parametrize(
    ("configs", "refused"),
    [
        ({"heartbeat_interval_ms": "45000"}, {"heartbeat.interval.ms"}),
        ({"session_timeout_ms": "3000"}, {"session.timeout.ms"}),
        (
            {"session_timeout_ms": "9000", "heartbeat_interval_ms": "9000"},
            {"session.timeout.ms", "heartbeat.interval.ms"},
        ),
        ({"fetch_max_wait_ms": "30000"}, {"fetch.max.wait.ms"}),
        ({"request_timeout_ms": "540000"}, {"request.timeout.ms"}),
        ({"fetch_max_bytes": "99999999"}, {"fetch.max.bytes"}),
    ],
)
def test_a_consumer_rejects_conflicting_configs(configs: dict[str, str], refused: set[str]) -> None:
    decision = consume(**configs)
    assert set(decision.rejected) == refused
    assert decision.values == CONSUMER


def test_a_program_that_breaks_a_rule_by_itself_is_left_alone() -> None:
    rules = consumer_rules(idle_ms=540_000, receive_bytes=1)
    assert validate(CONSUMER, found(heartbeat_interval_ms="1"), rules).rejected == {}


def test_a_rule_that_the_program_breaks_does_not_hide_the_others() -> None:
    rules = consumer_rules(idle_ms=540_000, receive_bytes=100_000_000)
    own = CONSUMER | {"heartbeat.interval.ms": 50_000}
    too_much = validate(own, found(fetch_max_bytes="99999999"), rules)
    assert too_much.values == own and too_much.rejected.keys() == {"fetch.max.bytes"}


def test_each_key_says_what_it_is_and_checks_its_values() -> None:
    for key in KEYS.values():
        assert key.about.endswith("."), key
        assert key.takes_effect and key.of, key
        check(key.name, key.choices[0] if key.choices else str(2**31 - 1))
        with pytest.raises(ShellError):
            check(key.name, "nonsense")


@pytest.mark.parametrize(
    ("configs", "user"),
    [
        ({}, "ANONYMOUS"),
        ({"security_protocol": "SSL"}, "ANONYMOUS"),
        ({"security_protocol": "SSL", "ssl_certfile": "me.pem"}, None),
        ({"security_protocol": "SASL_SSL", "sasl_plain_username": "bob"}, "bob"),
        ({"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "OAUTHBEARER"}, None),
        (
            {
                "security_protocol": "SASL_SSL",
                "sasl_mechanism": "OAUTHBEARER",
                "sasl_plain_username": "not used",
            },
            None,
        ),
        ({"sasl_plain_username": "not used"}, "ANONYMOUS"),
    ],
)
def test_the_user_is_whom_the_brokers_see(configs: dict[str, str], user: str | None) -> None:
    assert user_of(configs, None) == user
    assert user_of(configs, "CN=me") == "CN=me"
