"""Sessions that are killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from tests.support.program import Program


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
