"""Names of groups, users, client IDs and more, read from a real cluster as far as permitted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.base.plans import Secret
from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.view import parts as names
from kafka_shell.view.cache import Cache
from kafka_shell.view.disk import DiskCache
from kafka_shell.view.match import NameIndex
from kafka_shell.view.view import PARTS, ClusterView, Part
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, Sasl, parse_addresses
from tests.live.view.test_real_cluster import Watched
from tests.support.changes import connect


@pytest.fixture
def demo(demo_sandbox: Sandbox, tmp_path: Path) -> Iterator[Watched]:
    config = ConnectionConfig(parse_addresses(demo_sandbox.bootstrap))
    cache = Cache(config, tmp_path)
    yield Watched(cache)
    cache.close()


def wished(watched: Watched, *parts: str) -> ClusterView:
    for part in parts:
        watched.cache.request(part)
    watched.until(lambda: all(watched.cache.view.part(part).read_at for part in parts))
    return watched.cache.view


def test_every_part_of_the_demo_company(demo: Watched) -> None:
    view = wished(demo, *PARTS)
    assert {part: view.part(part).error for part in PARTS} == dict.fromkeys(PARTS)
    assert "orders-enricher" in view.groups.value
    assert {"alice", "bob", "svc-payments"} <= set(view.users.value.names)
    assert "User:alice" in view.principals.value
    assert "checkout" in view.client_ids.value
    assert len(view.client_metrics.value) >= 1
    assert any(quota.key == "producer_byte_rate" for quota in view.quotas.value)
    assert "metadata.version" in [feature.name for feature in view.features.value]


def test_only_requested_parts_are_read_and_refreshed(demo: Watched) -> None:
    view = wished(demo, "groups")
    assert [part for part in PARTS if view.part(part).read_at] == ["groups"]
    before = view.groups.read_at
    demo.cache.request("groups")
    demo.cache.refresh(frozenset({"groups", "users"}))
    demo.until(lambda: demo.cache.view.groups.read_at > before)
    demo.until(lambda: not demo.cache.state.reading)
    assert not demo.cache.view.users.read_at, "nobody has wished for the users"


def test_names_are_kept_for_the_next_start(demo: Watched, tmp_path: Path) -> None:
    view = wished(demo, "groups", "users")
    demo.until(lambda: not demo.cache.state.reading)
    kept = DiskCache(tmp_path).view(demo.cache.bootstrap)
    assert kept.groups.value.names == view.groups.value.names
    assert kept.users.value.names == view.users.value.names
    assert not kept.groups.read_at, "from disk is not from the cluster"


def test_a_missing_permission_is_an_error_of_its_part(secure_sandbox: Sandbox) -> None:
    where = parse_addresses(secure_sandbox.bootstraps["SASL_PLAINTEXT"])
    sasl = Sasl("SCRAM-SHA-256", "alice", Secret(passwords(secure_sandbox)["alice"]))
    config = ConnectionConfig(where, security_protocol="SASL_PLAINTEXT", sasl=sasl)
    held = ClusterView().with_part("users", Part(NameIndex(["kept"])))
    with Cluster(config) as cluster:
        parts = names.read(cluster, PARTS, held.part, 1.0, {})
    for part in ("users", "principals", "client_ids", "quotas", "client_metrics"):
        why = parts[part].error
        assert why is not None and "AUTHORIZATION" in why.name, f"{part}: {why}"
    assert parts["users"].value.names == ("kept",), "what was known is still offered"
    for part in ("groups", "transactional_ids", "features"):
        assert parts[part].error is None, "these show what one may see"


def test_client_ids_of_too_many_groups_are_not_read_and_old_ones_not_kept(
    demo_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(names, "_MOST_GROUPS", 1)
    before = ClusterView().with_part("client_ids", Part(NameIndex(["gone"])))
    with connect(demo_sandbox) as cluster:
        found = names.read(cluster, ["client_ids"], before.part, 1.0, {})["client_ids"]
    assert found.error is not None and "at most 1 groups" in found.error.message
    assert found.value.names, "those with a quota are read"
    assert "gone" not in found.value, "it is not in a source that was read"
