"""The audit tables of real clusters: schemas, rows, and resources that cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest

from kafka_shell.audit.tables import TABLES, batches, groups
from kafka_shell.audit.tasks import PLACES, ReadTask, Sampling, Target
from kafka_shell.sandbox.state import Sandbox
from tests.support import cluster_tables
from tests.support.changes import connect, make_topic
from tests.support.in_process_shell import Shell
from tests.support.keyed_records import produce


@pytest.fixture(scope="module")
def demo(demo_sandbox: Sandbox) -> cluster_tables.ClusterTables:
    """The demo company's tables."""
    return cluster_tables.read(demo_sandbox.bootstrap)


def test_everything_of_the_demo_company_is_read(demo: cluster_tables.ClusterTables) -> None:
    assert demo.failures == []
    empty = {name for name in TABLES if not demo.tables[name].num_rows}
    assert empty <= {
        "reassignments", "client_configs", "effective_client_configs", "transactions",
        "open_transactions", "group_members", "certificates",
    }  # fmt: skip


def test_tables_agree_with_each_other(demo: cluster_tables.ClusterTables) -> None:
    topics = {row["topic"]: row for row in demo.rows("topics")}
    (cluster,) = demo.rows("clusters")
    assert cluster["topics"] == len(topics)
    assert cluster["partitions"] == demo.tables["partitions"].num_rows
    assert sum(topic["partitions"] for topic in topics.values()) == cluster["partitions"]
    replicas = sum(len(row["replicas"]) for row in demo.rows("partitions"))
    assert replicas == demo.tables["replicas"].num_rows
    assert {row["topic"] for row in demo.rows("topic_configs")} == set(topics)
    assert {row["topic"] for row in demo.rows("partition_offsets")} == set(topics)
    on_disk = {(row["topic"], row["partition"]) for row in demo.rows("disk_replicas")}
    assert on_disk == {(row["topic"], row["partition"]) for row in demo.rows("partitions")}


def test_topics_override_what_they_inherit(demo: cluster_tables.ClusterTables) -> None:
    rows = {(row["topic"], row["key"]): row for row in demo.rows("topic_configs")}
    carts = rows["web.carts", "cleanup.policy"]
    assert (carts["value"], carts["inherited"]) == ("compact,delete", "delete")
    assert carts["overridden"] and not rows["orders.cancelled", "retention.ms"]["overridden"]


def test_no_table_holds_a_secret(demo: cluster_tables.ClusterTables) -> None:
    for row in demo.rows("broker_configs"):
        if row["sensitive"]:
            assert row["value"] is None and row["static_value"] is None


def test_effective_quotas_are_what_resolve_quota_says(demo: cluster_tables.ClusterTables) -> None:
    held = {
        (row["user"], row["client_id"], row["key"]): (row["value"], row["source"])
        for row in demo.rows("effective_quotas")
    }
    assert held["alice", None, "producer_byte_rate"] == (5 * 1024 * 1024, "User")
    assert held["svc-payments", "checkout", "producer_byte_rate"] == (1024 * 1024, "Client of user")
    assert held[None, None, "producer_byte_rate"] == (100 * 1024 * 1024, "Default user")


def test_offsets_of_groups(demo: cluster_tables.ClusterTables) -> None:
    for row in demo.rows("group_offsets"):
        if row["offset"] is not None and row["latest"] is not None:
            assert row["lag"] == row["latest"] - row["offset"]
    commits = demo.rows("group_commits")
    assert {row["group"] for row in commits} <= {row["group"] for row in demo.rows("groups")}
    assert any(row["lag"] is not None for row in commits)


def test_commits_that_were_not_read_are_named(
    demo_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "_FETCH_BYTES", 1)  # one batch
    monkeypatch.setattr(groups, "_MOST_FETCHES", 1)
    tables = cluster_tables.read(demo_sandbox.bootstrap, ["group_commits"])
    assert tables.failures
    for row in tables.failures:
        assert row["error"] == "incomplete" and "__consumer_offsets" in row["resource"]
        found = re.fullmatch(
            r"read only up to offset (\d+) of (\d+): later commits are not read", row["reason"]
        )
        assert found is not None and 0 < int(found[1]) < int(found[2])


def test_batches_tell_what_producers_did(sandbox: Sandbox) -> None:
    topic = f"batches-{uuid4().hex[:8]}"
    with connect(sandbox) as cluster:
        make_topic(cluster, topic)
    produce(sandbox.bootstrap, topic, [b"a", b"b", None], partition=0, at=1_700_000_000_000)
    produce(sandbox.bootstrap, topic, [b"a"] * 5, partition=0, idempotent=False)
    produce(sandbox.bootstrap, topic, [b"big"], partition=0, size=200_000)
    tables = cluster_tables.read(sandbox.bootstrap, ["batches", "record_samples"])
    rows = [row for row in tables.rows("batches") if row["topic"] == topic]
    rows.sort(key=lambda row: row["base_offset"])
    assert [row["records"] for row in rows] == [3, 5, 1]
    assert [row["producer_id"] is None for row in rows] == [False, True, False]
    assert rows[0]["base_timestamp"].timestamp() == 1_700_000_000
    assert rows[2]["size"] > 200_000  # larger than a sample, and read all the same
    assert {row["codec"] for row in rows} == {"none"}
    (keys,) = [row for row in tables.rows("record_samples") if row["topic"] == topic]
    assert (keys["records"], keys["null_keys"], keys["distinct_keys"]) == (9, 1, 3)
    assert keys["top_key_records"] == 6
    assert keys["packed_bytes"] < keys["plain_bytes"] / 10
    alone = cluster_tables.read(sandbox.bootstrap, ["record_samples"])
    assert keys in [row | {"collected_at": keys["collected_at"]}
                    for row in alone.rows("record_samples")]  # fmt: skip


def test_logs_are_sampled_once_where_and_as_fast_as_is_wanted(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = f"sampled-{uuid4().hex[:8]}"
    with connect(sandbox) as cluster:
        make_topic(cluster, topic)
    for _ in range(3):
        produce(sandbox.bootstrap, topic, [b"k"], partition=0, size=100_000)

    pauses: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: 0.0, sleep=pauses.append)  # no fetch takes time
    monkeypatch.setattr(batches, "time", clock)

    def sampled(places: tuple[str, ...], rate: int) -> cluster_tables.ClusterTables:
        task = ReadTask(Target("c", bootstrap=sandbox.bootstrap, config_file="/no/config.toml"),
                    ("batches", "record_samples"), (topic,), Sampling(places, rate))  # fmt: skip
        return cluster_tables.of_tasks([task], task.tables)

    whole = sampled(PLACES, 400_000)
    assert {row["base_offset"] for row in whole.rows("batches")} == {0, 1, 2}
    (keys,) = whole.rows("record_samples")
    assert keys["records"] == 3
    assert max(pauses) > 0.75, "300,000 bytes, 400,000 a second"
    pauses.clear()
    newest = sampled(("latest",), 0)
    assert {row["place"] for row in newest.rows("batches")} == {"latest"}
    none = sampled((), 0)
    assert not none.rows("batches") and not none.rows("record_samples")
    assert {row["table"] for row in none.failures} == {"batches", "record_samples"}
    assert not pauses


def test_listeners_of_a_secured_broker(secure_sandbox: Sandbox, secure: Path) -> None:
    tables = cluster_tables.read(secure_sandbox.bootstrap, ["listeners", "certificates"], secure)
    rows = {row["listener"]: row for row in tables.rows("listeners")}
    assert rows["SASL_SSL"]["protocol"] == "SASL_SSL"
    assert "SCRAM-SHA-512" in rows["SASL_SSL"]["sasl_mechanisms"]
    assert rows["SSL"]["client_auth"] == "required" and rows["SSL"]["sasl_mechanisms"] == []
    assert rows["CONTROLLER"]["controller"] and rows["CONTROLLER"]["sasl_mechanisms"] == ["PLAIN"]
    assert [name for name, row in rows.items() if row["inter_broker"]] == ["SASL_PLAINTEXT"]
    ends = {row["listener"]: row["expires"] for row in tables.rows("certificates")}
    assert set(ends) == {"SSL", "SASL_SSL"} and all(ends.values())


@pytest.fixture
def secure(secure_sandbox: Sandbox, tmp_path: Path) -> Iterator[Path]:
    """A profile that speaks TLS as the admin."""
    file = secure_sandbox.folder / "clients" / "admin-sasl-ssl.properties"
    yield _profile(tmp_path, secure_sandbox.bootstrap, file)


def _profile(folder: Path, bootstrap: str, properties: Path) -> Path:
    config = folder / "config.toml"
    config.write_text(
        f'[profiles.secure]\nbootstrap = "{bootstrap}"\ncommand-config = "{properties}"\n'
    )
    return config


def test_who_may_read_little_gets_reasons(secure_sandbox: Sandbox, tmp_path: Path) -> None:
    file = secure_sandbox.folder / "clients" / "alice-sasl-ssl.properties"
    tables = cluster_tables.read(
        secure_sandbox.bootstrap, config=_profile(tmp_path, secure_sandbox.bootstrap, file)
    )
    unread = {row["table"] for row in tables.failures}
    assert unread >= {"acls", "scram_users", "quotas", "broker_configs"}
    for row in tables.failures:
        assert row["error"] != "internal" and row["reason"]
        assert "password" not in row["reason"].lower()


def test_effective_quotas_of_users_that_may_not_be_read(
    secure_sandbox: Sandbox, tmp_path: Path
) -> None:
    """A login that may describe quotas, but not credentials."""
    place = secure_sandbox.bootstraps["SASL_PLAINTEXT"]
    admin, alice = (
        Path(secure_sandbox.client_properties[f"{name}-sasl-plaintext"])
        for name in ("admin", "alice")
    )
    shell = Shell(tmp_path / "home", place)
    rule = "allow User:alice DescribeConfigs on cluster"
    shell.ok(f"alter-acls --add '{rule}' --command-config {admin}")
    try:
        tables = cluster_tables.read(
            place, ["effective_quotas", "quotas"], _profile(tmp_path, place, alice)
        )
    finally:
        shell.ok(f"alter-acls --remove '{rule}' --yes --command-config {admin}")
    unread = {row["table"]: row["error"] for row in tables.failures}
    assert unread == {"effective_quotas": "CLUSTER_AUTHORIZATION_FAILED"}
