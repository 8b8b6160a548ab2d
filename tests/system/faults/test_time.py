"""Deadlines, timeouts, and sessions that are killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_shell.sandbox.state import Sandbox
from tests.support.faults import hinted, refused
from tests.support.outages import frozen
from tests.support.program import Program


@pytest.fixture(scope="module")
def sandbox(own_broker: Sandbox) -> Sandbox:
    """A broker that these tests may freeze."""
    return own_broker


@pytest.mark.parametrize("command", ["list-topics", "connect"])
def test_a_broker_that_has_stopped(kafka: Program, sandbox: Sandbox, command: str) -> None:
    with frozen(sandbox):
        run = kafka(command, "--deadline", "1s")
    hinted(refused(run, run.status, "deadline", sandbox.bootstrap))
    assert run.status in (1, 3)


def test_a_sandbox_does_not_outlive_a_shell_that_is_killed(tmp_path: Path) -> None:
    """SIGTERM and a closed terminal end the sandbox that this run started."""
    kafka = Program(tmp_path / "home", environ={"HOME": str(Path.home())})  # Kafka's jars
    process = subprocess.Popen(
        [sys.executable, "-m", "kafka_shell", "--sandbox", "--empty", "--port", "0"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=kafka.environment(), text=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("!echo up\n")
    process.stdin.flush()
    assert process.stdout.readline() == "up\n", process.stderr
    assert kafka.ok("sandbox", "status", "--output", "json").json["state"] == "up"
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM, err
    assert kafka.ok("sandbox", "status", "--output", "json").json["state"] == "down"
