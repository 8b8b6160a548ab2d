"""Health of a login that may not DESCRIBE the cluster."""

from __future__ import annotations

from pathlib import Path

from kafka_shell.sandbox.state import Sandbox
from tests.support.program import Program


def test_missing_right_is_one_finding(secure_sandbox: Sandbox, tmp_path: Path) -> None:
    file = secure_sandbox.client_properties["alice-sasl-ssl"]
    run = Program(tmp_path)("--command-config", str(file), "health")
    assert run.status == 1, str(run)
    assert run.lines[1:] == [
        "",
        "NOT CHECKED  replication throttles, the metadata quorum, partition reassignments,"
        " hidden topics and groups, log directories: requires DESCRIBE on the cluster",
    ], str(run)
