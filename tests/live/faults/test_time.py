"""Deadlines, timeouts, and sessions that are killed."""

from __future__ import annotations

import signal
import subprocess
import sys
import uuid
from pathlib import Path

from kafka_shell.admin.wire.connection import Cluster
from tests.support.faults import delete, exists, hinted, refused
from tests.support.program import Program
from tests.support.waiting import wait_for


def test_a_deadline_that_is_too_short(kafka: Program, cluster: Cluster) -> None:
    name = f"fault.late.{uuid.uuid4().hex[:8]}"
    run = kafka("create-topic", name, "--deadline", "1ms")
    hinted(refused(run, run.status, "deadline"))
    assert run.status in (1, 3)
    assert not exists(cluster, name)


def test_a_timeout_of_nothing_does_not_wait(kafka: Program, cluster: Cluster) -> None:
    name = f"fault.zero.{uuid.uuid4().hex[:8]}"
    run = kafka.ok("create-topic", name, "--timeout", "0")
    assert f"created topic {name}" in run.stdout
    wait_for("the topic is there", lambda: exists(cluster, name))
    delete(cluster, name)


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
