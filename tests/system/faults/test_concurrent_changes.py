"""Changes that others make while the shell asks for confirmation or applies a plan."""

from __future__ import annotations

import sys
from pathlib import Path

import pexpect

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.faults import Terminal, create, delete, ended, exists
from tests.support.outages import frozen
from tests.support.program import Program


def test_a_topic_that_vanishes_at_the_question(
    terminal: Terminal, cluster: Cluster, victim: str
) -> None:
    child = terminal("delete-topic", victim)
    child.expect(r"\[y/N\]")
    delete(cluster, victim)
    child.sendline("y")
    status, text = ended(child)
    assert status == 1, text
    assert victim in text
    assert "UNKNOWN_TOPIC" in text
    assert "deleted topic" not in text


def test_a_topic_created_again_at_the_question_is_not_lost(
    terminal: Terminal, cluster: Cluster, victim: str
) -> None:
    child = terminal("delete-topic", victim)
    child.expect(r"\[y/N\]")
    delete(cluster, victim)
    create(cluster, victim)
    child.sendline("y")
    status, text = ended(child)
    assert status == 1, text
    assert exists(cluster, victim), "the new one has another id"
    assert "UNKNOWN_TOPIC" in text


def test_one_of_two_topics_vanishes(
    kafka: Program, terminal: Terminal, cluster: Cluster, victim: str
) -> None:
    other = f"{victim}.other"
    create(cluster, other)
    child = terminal("delete-topic", victim, other)
    child.expect(r"\[y/N\]")
    delete(cluster, victim)
    child.sendline("y")
    status, text = ended(child)
    assert status == 1, text
    assert f"deleted topic {other}" in text
    assert "1 done" in text
    assert "1 failed" in text
    assert not exists(cluster, other)
    assert kafka.ok("journal", "--output", "json").json[-1]["status"] == "failed"


def test_a_config_that_changes_at_the_question(
    kafka: Program, sandbox: Sandbox, cluster: Cluster, victim: str, tmp_path: Path
) -> None:
    config = kafka.home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[profiles.p]\nbootstrap = "{sandbox.bootstrap}"\nguard = "confirm"\n')
    child = pexpect.spawn(
        sys.executable,
        ["-m", "kafka_shell", "--profile", "p", "alter-configs", victim, "retention.ms=30d"],
        env={**kafka.environment(), "NO_COLOR": "1"}, encoding="utf-8", timeout=20,
    )  # fmt: skip
    child.expect(r"\[y/N\]")
    Program(tmp_path / "other", sandbox.bootstrap).ok("alter-configs", victim, "retention.ms=31d")
    child.sendline("y")
    status, text = ended(child)
    assert status == 1, text
    assert "changed while waiting for confirmation: was 7d, is 31d" in " ".join(text.split())
    assert "(nothing was changed)" in text
    assert "31d" in kafka.ok("describe-configs", victim).stdout


def test_a_broker_that_stops_answering_at_the_question(
    kafka: Program, terminal: Terminal, sandbox: Sandbox, cluster: Cluster, victim: str
) -> None:
    """Before a change is sent the cluster is looked at once more: without an answer, it is not."""
    child = terminal("delete-topic", victim, "--deadline", "3s")
    child.expect(r"\[y/N\]")
    with frozen(sandbox):
        child.sendline("y")
        status, text = ended(child)
    assert status == 1, text
    assert "(nothing was changed)" in text
    assert "deleted topic" not in text
    assert kafka.ok("journal", "--output", "json").json == []
    assert exists(cluster, victim)


def test_ctrl_c_before_a_change_is_sent(
    kafka: Program, terminal: Terminal, sandbox: Sandbox, cluster: Cluster, victim: str
) -> None:
    child = terminal("delete-topic", victim)
    child.expect(r"\[y/N\]")
    with frozen(sandbox):
        child.sendline("y")
        child.expect("waiting for broker 1")
        child.sendintr()
        status, text = ended(child)
    assert status == 130, text
    assert kafka.ok("journal", "--output", "json").json == []
    assert exists(cluster, victim)
