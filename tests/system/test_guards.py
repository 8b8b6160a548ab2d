"""Guarded clusters: the questions, who may answer them, and that "no" changes nothing."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.guarded import (
    ALTER,
    DELETE,
    State,
    Terminal,
    guarded_program,
    guarded_topic,
    terminals,
    words,
)
from tests.support.program import Program
from tests.support.waiting import wait_for

QUESTION = {"confirm": r"\[y/N\]", "typed": "Type .* to confirm: "}


@pytest.fixture
def kafka(sandbox: Sandbox, tmp_path: Path) -> Program:
    return guarded_program(tmp_path, sandbox.bootstrap)


@pytest.fixture(scope="module")
def topic(cluster: Cluster) -> Iterator[str]:
    """A topic that no test changes, if the guards hold."""
    yield from guarded_topic(cluster)


@pytest.fixture
def victim(cluster: Cluster) -> Iterator[str]:
    """A topic to change."""
    yield from guarded_topic(cluster)


@pytest.fixture
def terminal(kafka: Program) -> Iterator[Terminal]:
    yield from terminals(kafka)


def ended(child: pexpect.spawn[str]) -> tuple[int | None, str]:
    """Wait for the end: status, and what was said since the last question."""
    child.expect(pexpect.EOF)
    text = child.before or ""
    child.close()
    assert "Traceback" not in text
    return child.exitstatus, text


@pytest.mark.parametrize(
    ("guard", "command", "answer"), [("confirm", ALTER, "yes"), ("typed", DELETE, "  typed ")]
)
def test_agreed(
    terminal: Terminal, victim: str, guard: str, command: tuple[str, ...], answer: str
) -> None:
    child = terminal("--profile", guard, *words(command, victim))
    child.expect(QUESTION[guard])
    assert victim in (child.before or ""), "the plan is shown before the question"
    child.sendline(answer)
    status, text = ended(child)
    assert status == 0, text
    assert f"{'deleted' if command is DELETE else 'altered'} topic {victim}" in text


@pytest.mark.parametrize(
    ("guard", "answer", "command"),
    [("confirm", "", DELETE), ("confirm", "^D", ALTER), ("typed", "Typed", ALTER)],
)
def test_declined(
    kafka: Program,
    cluster: Cluster,
    terminal: Terminal,
    topic: str,
    guard: str,
    answer: str,
    command: tuple[str, ...],
) -> None:
    state = State(kafka, cluster, topic)
    child = terminal("--profile", guard, *words(command, topic))
    child.expect(QUESTION[guard])
    if answer == "^D":
        child.sendeof()
    else:
        child.sendline(answer)
    status, text = ended(child)
    assert status == 1, text
    assert "nothing was changed" in text
    assert state.same


def test_ctrl_c_at_the_question(
    kafka: Program, cluster: Cluster, terminal: Terminal, topic: str
) -> None:
    state = State(kafka, cluster, topic)
    child = terminal("--profile", "typed", *words(DELETE, topic))
    child.expect(QUESTION["typed"])
    child.sendintr()
    status, text = ended(child)
    assert status == 130, text
    assert "no changes made" in text
    assert state.same


def test_a_terminal_that_goes_away_at_the_question(
    kafka: Program, cluster: Cluster, terminal: Terminal, topic: str
) -> None:
    state = State(kafka, cluster, topic)
    child = terminal("--profile", "confirm", *words(DELETE, topic))
    child.expect(QUESTION["confirm"])
    child.close(force=False)
    wait_for("it ends", lambda: not child.isalive())
    assert state.same


def test_killed_at_the_question(
    kafka: Program, cluster: Cluster, terminal: Terminal, topic: str
) -> None:
    state = State(kafka, cluster, topic)
    child = terminal("--profile", "confirm", *words(DELETE, topic))
    child.expect(QUESTION["confirm"])
    os.kill(child.pid, signal.SIGTERM)
    child.expect(pexpect.EOF)
    assert state.same


def test_read_only_does_not_even_ask(
    kafka: Program, cluster: Cluster, terminal: Terminal, topic: str
) -> None:
    state = State(kafka, cluster, topic)
    child = terminal("--profile", "read-only", *words(DELETE, topic))
    status, text = ended(child)
    assert status == 1
    assert "y/N" not in text
    assert "read-only" in text
    assert state.same


def test_a_script_on_standard_input_is_no_answer(
    kafka: Program, cluster: Cluster, terminal: Terminal, topic: str, tmp_path: Path
) -> None:
    """stderr is a terminal, but the next line of the script must not be taken for a yes."""
    state = State(kafka, cluster, topic)
    script = tmp_path / "script"
    script.write_text(f"delete-topic {topic}\ny\n")
    child = pexpect.spawn(
        "/bin/sh",
        ["-c", f"cat {script} | {sys.executable} -m kafka_shell --profile confirm; echo ended $?"],
        env=kafka.environment(), encoding="utf-8", timeout=20,
    )  # fmt: skip
    child.expect("ended 2")
    assert "not a terminal" in child.before
    child.close()
    assert state.same


def test_a_file_run_at_a_terminal_may_ask(
    kafka: Program, terminal: Terminal, victim: str, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text(f"delete-topic {victim}\n")
    child = terminal("--profile", "confirm", "source", str(script))
    child.expect(QUESTION["confirm"])
    child.sendline("y")
    status, text = ended(child)
    assert status == 0, text
    assert f"deleted topic {victim}" in text


def test_the_prompt_asks_too_and_goes_on(
    kafka: Program, cluster: Cluster, terminal: Terminal, victim: str
) -> None:
    state = State(kafka, cluster, victim)
    child = terminal("--profile", "typed", "--shell")
    child.expect("kafka:typed!>")
    child.sendline(f"alter-configs {victim} segment.ms=1h")
    child.expect("to confirm:")
    child.sendline("wrong")
    child.expect("nothing was changed")
    child.expect("kafka:typed!>")
    child.sendline(f"alter-configs {victim} segment.ms=1h")
    child.expect("to confirm:")
    child.sendintr()
    child.expect("no changes made")
    child.expect("kafka:typed!>")
    assert state.same
    child.sendline(f"alter-configs {victim} segment.ms=1h")
    child.expect("to confirm:")
    child.sendline("typed")
    child.expect(f"altered topic {victim}")
    child.expect("kafka:typed!>")
    child.sendeof()
    child.expect(pexpect.EOF)
    assert not state.same
