"""The `sandbox` command: nothing is deleted without confirmation."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pexpect
import pytest

from kafka_shell.language.command import SANDBOX
from kafka_shell.sandbox.jars import locked_versions
from kafka_shell.sandbox.state import Sandbox, exact_version
from tests.support.program import Process

PATIENCE_S = 60


@pytest.fixture
def kafka(tmp_path: Path, sandbox: Sandbox) -> Process:
    """The program with a home of its own; Kafka's jars are where the shared sandbox has them."""
    assert sandbox.running
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Process(tmp_path, environ={"XDG_CACHE_HOME": cache})


def test_a_prompt_needs_a_terminal_at_both_ends(kafka: Process) -> None:
    child = pexpect.spawn(
        "/bin/sh",
        ["-c", f"{sys.executable} -m kafka_shell --broker 127.0.0.1:1 | cat; echo ended"],
        env=kafka.environment(), timeout=PATIENCE_S,
    )  # fmt: skip
    child.expect("standard output is not a terminal")
    child.expect("ended")
    child.close()


def test_the_session_reports_whether_the_sandbox_was_stopped(kafka: Process) -> None:
    child = pexpect.spawn(
        sys.executable, ["-m", "kafka_shell", "--sandbox", "--port", "0", "--empty"],
        env=kafka.environment(), timeout=PATIENCE_S, dimensions=(30, 100),
    )  # fmt: skip
    child.expect("Tab: complete")
    child.send("watch 1 health\r")
    child.expect("healthy")
    child.sendcontrol("c")
    child.send("exit\r")
    child.expect("sandbox stopped")
    child.close()
    kafka.ok("sandbox", "wipe", "--yes")


def prompt(kafka: Process, *argv: str) -> pexpect.spawn:
    child = pexpect.spawn(
        sys.executable, ["-m", "kafka_shell", *argv],
        env={**kafka.environment(), "NO_COLOR": "1", "PROMPT_TOOLKIT_NO_CPR": "1"},
        timeout=PATIENCE_S, dimensions=(30, 120),
    )  # fmt: skip
    child.expect("Tab: complete")
    return child


def test_a_prompt_without_a_cluster_connects_to_the_sandbox(kafka: Process) -> None:
    child = prompt(kafka, "--shell", "--broker", "127.0.0.1:1")
    try:
        child.expect("connect to another cluster")
        child.send("connect sandbox\r")
        child.expect("there is no sandbox")
        child.send("sandbox start --port 0 --empty\r")
        child.expect("now connected to the sandbox")
        child.send("create-topic here\r")
        child.expect("created topic here")
        child.send("connect sandbox\r")
        child.expect("cluster .*, 1 broker")
        child.send("sandbox wipe\r")
        child.expect("Delete the sandbox and all its data")
        assert b"Another shell" not in child.before
        child.send("n\r")
        child.expect("nothing was deleted")
    finally:
        child.close(force=True)
        kafka.ok("sandbox", "wipe", "--yes")


def test_the_sandbox_of_this_prompt_is_not_in_use_by_another_shell(kafka: Process) -> None:
    child = prompt(kafka, "--sandbox", "--port", "0", "--empty")
    try:
        child.send("sandbox wipe\r")
        child.expect("Delete the sandbox and all its data")
        assert b"Another shell" not in child.before
        child.send("y\r")
        child.expect("state +none")
        child.expect("kafka>")
        child.send("exit\r")
        child.expect(pexpect.EOF)
        assert b"still running" not in child.before
    finally:
        child.close(force=True)
        kafka.ok("sandbox", "wipe", "--yes")


def test_it_starts_tells_and_is_wiped_only_with_consent(kafka: Process) -> None:
    try:
        options = ("--brokers", "2", "--secure", "--port", "0", "--empty", "--output", "json")
        started = kafka.ok("sandbox", "start", *options).json
        assert (started["state"], started["brokers"], started["secure"]) == ("up", 2, True)
        files = {Path(each).stem: each for each in started["clients"]}
        assert kafka.ok("topics", "--command-config", files["admin-sasl-ssl"]).stdout == ""
        refused = kafka("sandbox", "wipe")
        assert refused.status == 2, str(refused)
        assert "--yes" in refused.stderr
        assert kafka.ok("sandbox", "status", "--output", "json").json["state"] == "up"
    finally:
        kafka.ok("sandbox", "wipe", "--yes")
    assert kafka.ok("sandbox", "status", "--output", "json").json["state"] == "none"


@pytest.mark.parametrize("state", ['{"format": 0}', '{"format": 1, "made": false}'])
def test_an_unreadable_or_unfinished_sandbox_is_wiped(kafka: Process, state: str) -> None:
    folder = Path(kafka.ok("sandbox", "status", "--output", "json").json["folder"])
    (folder / "node-1").mkdir(parents=True)
    (folder / "sandbox.json").write_text(state)
    assert kafka.ok("sandbox", "wipe", "--yes", "--output", "json").json["state"] == "none"
    assert {path.name for path in folder.iterdir()} <= {"lock", "users"}


def test_the_environment_has_no_say_in_the_sandbox(kafka: Process) -> None:
    """A profile that is exported must not lend its name, guard and login to the sandbox."""
    config = kafka.home / "config" / "config.toml"
    config.parent.mkdir()
    config.write_text('[profiles.prod]\nbootstrap = "prod:1"\nguard = "read-only"\n')
    try:
        run = kafka(
            "--sandbox", "--port", "0", "--empty",
            stdin="create-topic a\nconnect\nlist-topics --adminclient-property client.id=x\n",
            environ={"KAFKA_SH_PROFILE": "prod"},
        )  # fmt: skip
        assert run.status == 0, str(run)
        assert "prod" not in run.stdout
        assert run.lines[-1] == "a"
    finally:
        kafka.ok("sandbox", "wipe", "--yes")


def test_versions_are_those_there_are() -> None:
    (option,) = (each for each in SANDBOX if each.name == "--kafka-version")
    assert set(option.choices) == {each.rpartition(".")[0] for each in locked_versions()}
    assert [exact_version(each) for each in option.choices] == sorted(locked_versions())[::-1]
