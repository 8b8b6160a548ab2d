"""`sandbox` as a command: nothing is deleted without a word."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pexpect
import pytest

from kafka_shell.sandbox import Sandbox

from ..program import Program

PATIENCE_S = 60


@pytest.fixture
def kafka(tmp_path: Path, sandbox: Sandbox) -> Program:
    """The program with a home of its own; Kafka's jars are where the shared sandbox has them."""
    assert sandbox.running
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Program(tmp_path, environ={"XDG_CACHE_HOME": cache})


def test_it_starts_tells_and_is_wiped_only_with_consent(kafka: Program) -> None:
    try:
        started = kafka.ok("sandbox", "start", "--port", "0", "--empty", "--output", "json").json
        assert started["state"] == "up"
        assert kafka.ok("topics", "--broker", started["bootstrap"]).stdout == ""
        refused = kafka("sandbox", "wipe")
        assert refused.status == 2, str(refused)
        assert "--yes" in refused.stderr
        assert kafka.ok("sandbox", "status", "--output", "json").json["state"] == "up"
    finally:
        kafka.ok("sandbox", "wipe", "--yes")
    assert kafka.ok("sandbox", "status", "--output", "json").json["state"] == "none"


def test_a_prompt_needs_a_terminal_at_both_ends(kafka: Program) -> None:
    child = pexpect.spawn(
        "/bin/sh",
        ["-c", f"{sys.executable} -m kafka_shell --broker 127.0.0.1:1 | cat; echo ended"],
        env=kafka.environment(), timeout=PATIENCE_S,
    )  # fmt: skip
    child.expect("no terminal for a prompt")
    child.expect("ended")
    child.close()


def test_the_sandbox_session_watches_and_says_what_becomes_of_it(kafka: Program) -> None:
    child = pexpect.spawn(
        sys.executable, ["-m", "kafka_shell", "--sandbox", "--port", "0", "--empty"],
        env=kafka.environment(), timeout=PATIENCE_S, dimensions=(30, 100),
    )  # fmt: skip
    child.expect("Tab completes")
    child.send("watch 1 health\r")
    child.expect("all is well")
    child.sendcontrol("c")
    child.send("exit\r")
    child.expect("sandbox stopped")
    child.close()
    kafka.ok("sandbox", "wipe", "--yes")
