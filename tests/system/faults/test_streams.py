"""Terminals and streams: tiny, closed, full, or of another encoding."""

from __future__ import annotations

import sys

import pexpect
import pytest

from tests.support.faults import (
    ANSI,
    READS,
    Terminal,
    ended,
    leave,
)
from tests.support.program import Program


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (0, 0)])
def test_a_tiny_terminal(terminal: Terminal, topic: str, rows: int, columns: int) -> None:
    for argv in (("describe-topic", topic), ("help",)):
        child = terminal(*argv, rows=rows, columns=columns, PAGER="cat")
        status, text = ended(child)
        assert status == 0, text
        assert text.strip()


def test_the_prompt_in_a_tiny_terminal_that_is_resized(terminal: Terminal) -> None:
    child = terminal("--shell", rows=2, columns=9)
    child.expect(READS)
    child.setwinsize(3, 7)
    child.setwinsize(50, 200)
    child.setwinsize(1, 2)
    child.setwinsize(30, 100)
    child.sendline("!echo still $((40 + 2))")
    child.expect("still 42")
    assert "Traceback" not in leave(child)


@pytest.mark.parametrize(
    ("environ", "argv", "coloured"),
    [
        ({}, (), True),
        ({"NO_COLOR": "1", "PROMPT_TOOLKIT_NO_CPR": "1"}, (), False),
        ({}, ("--no-color",), False),
        ({"TERM": "dumb"}, (), False),
    ],
)
def test_colour_only_where_it_is_wanted(
    kafka: Program, topic: str, environ: dict[str, str], argv: tuple[str, ...], coloured: bool
) -> None:
    for command in (("describe-topic", topic, "no-such"), ("list-topicz",)):
        child = pexpect.spawn(
            sys.executable,
            ["-m", "kafka_shell", "--broker", kafka.broker, *command, *argv],
            env=kafka.environment() | environ, encoding="utf-8", timeout=20,
        )  # fmt: skip
        _, text = ended(child)
        if coloured:
            assert ANSI.search(text), text
        elif command[0] != "list-topicz" or argv == ():
            assert not ANSI.search(text), text
