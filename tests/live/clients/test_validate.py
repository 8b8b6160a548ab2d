"""Which dynamic configs a client accepts, without a broker."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kafka_shell.admin.client_configs.model import ClientConfig, ClientEntity
from kafka_shell.clients.follow import Follower, Store

CONSUMER: dict[str, Any] = {
    "session.timeout.ms": 45_000, "heartbeat.interval.ms": 3_000, "request.timeout.ms": 30_000,
    "fetch.max.wait.ms": 500, "fetch.max.bytes": 52_428_800, "max.partition.fetch.bytes": 1_048_576,
}  # fmt: skip


def found(**configs: str) -> dict[str, ClientConfig]:
    entity = ClientEntity("alice", "app")
    named = {name.replace("_", "."): value for name, value in configs.items()}
    return {key: ClientConfig(entity, key, value) for key, value in named.items()}


@pytest.mark.parametrize("text", ["6000", "0006000"])
def test_a_value_that_the_coordinator_rejected_is_tried_again_when_it_was_changed(
    text: str,
) -> None:
    running = SimpleNamespace(kind="consumer", own=CONSUMER)
    store = Store({}, "app", ())
    follower = Follower(running, store, ClientEntity("alice", "app"), (), rejoin=True)
    follower.reject("session.timeout.ms", 6_000)
    for _ in range(2):
        assert follower._validate(found(session_timeout_ms=text)).rejected
    assert not follower._validate(found(session_timeout_ms="7000")).rejected
    assert not follower._validate(found(session_timeout_ms=text)).rejected
