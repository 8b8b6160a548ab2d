"""Long output goes to a pager; the order of output is kept."""

from __future__ import annotations

import os
import pty
import termios
from pathlib import Path

import pytest

from kafka_shell.shell.paging import (
    LESS_PROMPT,
    pager_command,
    typed_ahead,
)
from tests.support.waiting import wait_for


@pytest.mark.parametrize("typed", [b"topics --lo", b"topics\n!touch x\n"])
def test_typed_ahead_input_is_detected_and_kept(typed: bytes) -> None:
    keyboard, terminal = pty.openpty()
    try:
        assert not typed_ahead(terminal)
        os.write(keyboard, typed)
        wait_for("the terminal has it", lambda: typed_ahead(terminal))
        assert termios.tcgetattr(terminal)[3] & termios.ICANON
        os.write(keyboard, b"\n")
        assert os.read(terminal, 6) == b"topics"
    finally:
        os.close(keyboard)
        os.close(terminal)


def test_a_stream_that_is_no_terminal_has_nothing_typed_ahead(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file:
        assert not typed_ahead(file.fileno())


def test_which_pager() -> None:
    assert pager_command({"PAGER": "more -d"}) == ["more", "-d"]
    assert pager_command({"PAGER": ""}) is None
    assert pager_command({"PAGER": "cat"}) is None
    assert pager_command({"PAGER": "less -P'"}) is None
    less = pager_command({"PATH": "/usr/bin:/bin"})
    assert less is not None and less[:2] == ["less", "-RXK"]
    assert all(word.endswith(LESS_PROMPT) for word in less[3:])
    assert pager_command({"PAGER": "/usr/bin/less -S"}) == ["/usr/bin/less", *less[1:], "-S"]
    assert pager_command({"PATH": "/usr/bin:/bin"}, at_end=True) == [*less, "+G"]
    assert pager_command({"PAGER": "more -d"}, at_end=True) is None
    assert pager_command({"PATH": "/nowhere"}, at_end=True) is None
    own = pager_command({"PATH": "/nowhere"})
    assert own is not None and own[1:3] == ["-I", "-c"]
