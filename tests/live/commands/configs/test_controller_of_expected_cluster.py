"""Requests to the active controller, in a session that expects a certain cluster."""

from __future__ import annotations

from pathlib import Path

from kafka_shell.sandbox.state import Sandbox
from tests.support.program import Program


def test_controller_is_asked_with_expected_cluster_id(sandbox: Sandbox, tmp_path: Path) -> None:
    kafka = Program(tmp_path)
    config = tmp_path / "config" / "config.toml"
    config.parent.mkdir()
    config.write_text(
        f'[profiles.own]\nbootstrap = "{sandbox.bootstrap}"\ncluster-id = "{sandbox.cluster_id}"\n'
    )
    words = ("alter-configs", "--broker-id", "99", "--delete-config", "log.retention.ms")
    run = kafka("--profile", "own", *words, "--dry-run")
    assert "broker 99" in run.stderr + run.stdout, str(run)
    assert "registered" in run.stderr + run.stdout, str(run)
    assert "support" not in run.stderr + run.stdout, str(run)


def test_controller_as_bootstrap_server_is_named(sandbox: Sandbox, tmp_path: Path) -> None:
    controller = f"127.0.0.1:{sandbox.brokers[0].controller_port}"
    run = Program(tmp_path, controller)("list-topics")
    assert f"the controller at {controller} does not support Metadata" in run.stderr, str(run)
    assert "Use the address of a broker." in run.stderr, str(run)
