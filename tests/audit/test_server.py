"""The local Spark server: started, used by an audit of another process, and ended when idle."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from kafka_shell.audit import server
from kafka_shell.sandbox.state import Sandbox


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kafka_shell", *words, "--output", "json"],
        capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "KAFKA_SH_HOME": str(home)},
    )  # fmt: skip


def state(home: Path, action: str, *words: str) -> Any:
    done = run(home, "spark", action, *words)
    assert done.returncode == 0, done.stderr
    return msgspec.json.decode(done.stdout)


def test_an_audit_uses_the_server_that_ends_when_idle(
    demo_sandbox: Sandbox, tmp_path: Path
) -> None:
    folder = tmp_path / "state" / "spark-server"
    assert state(tmp_path, "status")["state"] == "stopped"
    assert state(tmp_path, "start", "--idle", "5m")["state"] == "running"
    try:
        found = server.running(folder)
        assert found is not None
        shown = state(tmp_path, "start")
        assert shown["pid"] == found.pid, "it runs already"
        assert found.token not in str(shown)
        assert stat.S_IMODE((folder / "server.json").stat().st_mode) == 0o600
        commands = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        assert found.token not in commands
        _is_refused(found)
        audit = run(tmp_path, "--broker", demo_sandbox.bootstrap, "spark", "audit", "--controls",
                    "T01,Q02,S05")  # fmt: skip
        assert audit.returncode == 1, audit.stderr
        controls = {each["control"] for each in msgspec.json.decode(audit.stdout)["findings"]}
        assert {"T01", "Q02"} <= controls
        assert not (tmp_path / "state" / "spark" / "spark.log").exists(), "Spark was started"
        long_ago = time.time() - 3600
        os.utime(folder / "server.used", (long_ago, long_ago))
        until = time.monotonic() + 60
        while server.running(folder) is not None and time.monotonic() < until:
            time.sleep(0.1)
        assert state(tmp_path, "status")["state"] == "stopped"
    finally:
        server.stop(folder)
    assert not server.stop(folder)


def _is_refused(found: server.Server) -> None:
    """Without its token."""
    program = (
        "from pyspark.sql import SparkSession\n"
        f"SparkSession.builder.remote('sc://localhost:{found.port}/;token=other').create()"
        ".range(1).collect()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=120, check=False)  # fmt: skip
    assert done.returncode != 0 and "UNAUTHENTICATED" in done.stderr, done.stderr[-2000:]
