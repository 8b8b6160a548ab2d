"""Checks of many client configs at once."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from kafka_shell.admin.client_configs import change, checks
from kafka_shell.admin.client_configs.model import (
    ClientConfig,
    ClientConfigAlteration,
    ClientEntity,
    resolve,
)
from kafka_shell.admin.client_configs.read import ConfigLog
from kafka_shell.wire.cluster import Cluster

MANY = 200
SESSION, HEARTBEAT = "session.timeout.ms", "heartbeat.interval.ms"


def alterations(key: str, value: str) -> list[ClientConfigAlteration]:
    """Of a user, and of a client id of each of many users."""
    entities = [ClientEntity(f"user-{number}", "app") for number in range(MANY)]
    return [ClientConfigAlteration(each, key, value) for each in (ClientEntity("all"), *entities)]


def test_limits_are_read_once(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before: once for each config that is replaced."""
    read: list[str] = []

    def limits(cluster: Cluster) -> tuple[int, int]:
        read.append("session")
        return 6_000, 1_800_000

    def registered(cluster: Cluster) -> set[str]:
        read.append("registered")
        return {"strange.key"}

    monkeypatch.setattr(checks, "session_limits", limits)
    monkeypatch.setattr(change, "_registered", registered)
    wanted = [*alterations(SESSION, "10000"), *alterations("strange.key", "new")]
    held = {(each.entity, each.key): "9000" for each in wanted}
    monkeypatch.setattr(change, "read_log", lambda cluster: ConfigLog(held, {}))
    monkeypatch.setattr(change.client_config_store, "check", lambda cluster: _STATE)
    plan = change.plan_alter(cluster, wanted)
    assert plan.refused.ok and len(plan.changes) == 2 * (MANY + 1)
    assert read == ["session", "registered"]


_STATE = change.client_config_store.StoreState()


def test_only_the_configs_of_a_user_are_looked_at(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: all configs of all users, for each entity."""
    looked_at = 0

    def counted(
        configs: Iterable[ClientConfig], user: str, client_id: str
    ) -> dict[str, ClientConfig]:
        nonlocal looked_at
        configs = list(configs)
        looked_at += len(configs)
        return resolve(configs, user, client_id)

    monkeypatch.setattr(checks, "resolve", counted)
    wanted = alterations(HEARTBEAT, "9000")
    held = {(each.entity, SESSION): "10000" for each in wanted}
    held[ClientEntity("all", "slow"), SESSION] = "8000"
    limits = checks.ConfigConstraints(cluster, set)
    assert list(checks.wrong(limits, wanted, held)) == [ClientEntity("all").resource]
    assert looked_at < 5 * MANY
