"""Requests to the active controller, in a session that expects a certain cluster."""

from __future__ import annotations

from pathlib import Path

from kafka.protocol.admin import DescribeClusterRequest

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
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


def test_controller_is_sent_a_change_after_a_while(sandbox: Sandbox) -> None:
    """Before a change, a silent broker is asked for metadata, which controllers do not serve."""
    controller = parse_addresses(f"127.0.0.1:{sandbox.brokers[0].controller_port}")
    request = DescribeClusterRequest(include_cluster_authorized_operations=False, endpoint_type=2)
    with Cluster(ConnectionConfig(controller)) as cluster:
        for _ in range(2):
            assert cluster.send(request, change=True).cluster_id == sandbox.cluster_id
            for link in cluster._pool.ready():
                link.last_received -= 60


def test_controller_as_bootstrap_server_is_named(sandbox: Sandbox, tmp_path: Path) -> None:
    controller = f"127.0.0.1:{sandbox.brokers[0].controller_port}"
    run = Program(tmp_path, controller)("list-topics")
    assert f"the controller at {controller} does not support Metadata" in run.stderr, str(run)
    assert "Use the address of a broker." in run.stderr, str(run)
