"""The commands on dynamic client configs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.admin.client_configs import change as client_config_changes
from kafka_shell.admin.client_configs import read as client_configs
from kafka_shell.admin.client_configs.model import (
    CONFIGS_TOPIC,
    ClientConfigAlteration,
    ClientEntity,
)
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.live.admin.client_configs.test_client_configs import gone
from tests.support.changes import connect, done
from tests.support.program import Program


@pytest.fixture
def cluster(sandbox: Sandbox) -> Iterator[Cluster]:
    with connect(sandbox) as cluster:
        gone(cluster)
        yield cluster
        gone(cluster)


@pytest.fixture
def run(sandbox: Sandbox, cluster: Cluster, tmp_path: Path) -> Program:
    return Program(tmp_path, sandbox.bootstrap)


def test_nothing_is_set_before_anything_is(run: Program) -> None:
    assert "no dynamic client configs" in run.ok("describe-client-configs").stderr
    assert run.ok("describe-client-configs", "--output", "json").json == []


def test_the_first_change_shows_the_topics_and_asks(run: Program, cluster: Cluster) -> None:
    words = ("alter-client-configs", "--user", "alice", "session.timeout.ms=11s", "acks=all")
    refused = run(*words)
    assert refused.status == 2 and f"+ topic {CONFIGS_TOPIC}" in refused.stderr
    assert "alter-acls --add 'allow User:* " in refused.stderr
    assert f"on topic {CONFIGS_TOPIC}" in refused.stderr
    assert list(client_configs.describe(cluster)) == []
    done = run.ok(*words, "--yes")
    assert "altered client-config user alice: session.timeout.ms 11s, acks all" in done.stdout
    assert "alter-client-configs --user alice --delete-config session.timeout.ms" in done.stderr


def test_a_user_with_its_type_in_front_is_warned_about(run: Program) -> None:
    planned = run.ok("alter-client-configs", "--user", "User:alice", "acks=all", "--dry-run")
    assert "User:alice is not the user alice" in " ".join(planned.stdout.split()), str(planned)


def test_undoing_the_first_change_keeps_what_others_set(run: Program, cluster: Cluster) -> None:
    first = run.ok("alter-client-configs", "--user", "alice", "acks=all", "--yes")
    assert f"created topic {CONFIGS_TOPIC}" in first.stdout, str(first)
    assert "delete-topic" not in first.stderr
    id = run.ok("journal", "--last", "1", "--output", "json").json[0]["id"]
    run.ok("alter-client-configs", "--user", "bob", "linger.ms=5")
    run.ok("undo", id)
    assert [(each.entity.user, each.key) for each in client_configs.describe(cluster)] == [
        ("bob", "linger.ms")
    ]


def test_the_printed_undo_restores_the_configs(run: Program, cluster: Cluster) -> None:
    odd = ClientEntity("o'brien, Co", "my app")
    first = [ClientConfigAlteration(odd, "acks", "1")]
    done(client_config_changes.plan_alter(cluster, first), cluster)
    before = client_configs.describe(cluster)
    changed = run.ok("alter-client-configs", "--user", odd.user, "--client-id", "my app",
                     "acks=all", "linger.ms=5")  # fmt: skip
    (undo,) = [line for line in changed.stderr.splitlines() if line.startswith("undo:")]
    run.ok(stdin=undo.removeprefix("undo: "))
    assert client_configs.describe(cluster) == before


def test_each_entity_has_its_outcome(run: Program) -> None:
    run.ok("alter-client-configs", "--user", "alice", "session.timeout.ms=10s", "--yes")
    mixed = run("alter-client-configs", "--user", "alice", "--user", "bob",
                "heartbeat.interval.ms=12s", "--output", "json")  # fmt: skip
    assert mixed.status == 1
    assert {row["resource"]: row["status"] for row in mixed.json["changes"]} == {
        "client-config user alice": "rejected",
        "client-config user bob": "done",
    }
    assert "session.timeout.ms=10000 (of user alice)" in mixed.stderr


def test_resolution_names_the_level(run: Program) -> None:
    run.ok("alter-client-configs", "--user", "alice", "acks=all", "linger.ms=5", "--yes")
    run.ok("alter-client-configs", "--user", "alice", "--client-id", "app", "acks=0")
    found = run.ok("describe-client-configs", "alice", "--client-id", "app", "--resolve")
    assert [line.split() for line in found.lines[1:]] == [
        ["alice", "app", "acks", "0"],
        ["alice", "-", "linger.ms", "5ms"],
    ]
    nobody = run("describe-client-configs", "--resolve")
    assert nobody.status == 2 and "requires a user" in nobody.stderr
