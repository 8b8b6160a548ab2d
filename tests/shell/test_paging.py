"""Long output goes to a pager; everything keeps its order."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import TextIO, cast

import pytest

from kafka_shell.output.pane import PipeClosed
from kafka_shell.shell.paging import PATIENCE_S, Beside, Paged, pager_command

pytestmark = pytest.mark.quick


@pytest.fixture
def terminal() -> io.StringIO:
    return io.StringIO()


def paged(terminal: io.StringIO, pager: str, rows: int = 5) -> Paged:
    return Paged(terminal, {"PAGER": pager, "PATH": "/usr/bin:/bin"}, lambda: (rows, 80))


def test_what_fits_is_written_as_it_is(terminal: io.StringIO, tmp_path: Path) -> None:
    out = paged(terminal, f"sh -c 'cat > {tmp_path}/paged'")
    with out.during():
        out.write("1\n2\n3\n")
    assert terminal.getvalue() == "1\n2\n3\n"
    assert not (tmp_path / "paged").exists()


def test_what_does_not_goes_to_the_pager(terminal: io.StringIO, tmp_path: Path) -> None:
    out = paged(terminal, f"sh -c 'cat > {tmp_path}/paged'")
    lines = "".join(f"{number}\n" for number in range(100))
    with out.during():
        out.write(lines[:10])
        out.write(lines[10:])
    assert terminal.getvalue() == ""
    assert (tmp_path / "paged").read_text() == lines
    with out.during():
        out.write("next\n")
    assert terminal.getvalue() == "next\n"


def test_leaving_the_pager_ends_the_command(terminal: io.StringIO) -> None:
    out = paged(terminal, "true")
    with pytest.raises(PipeClosed), out.during():
        for _ in range(10_000):
            out.write("line\n" * 100)


def test_a_pager_that_is_not_there_is_done_without(terminal: io.StringIO) -> None:
    out = paged(terminal, "/no/such/pager")
    with out.during():
        out.write("line\n" * 100)
    assert terminal.getvalue() == "line\n" * 100


def test_a_slow_command_is_seen_while_it_runs(terminal: io.StringIO) -> None:
    out = paged(terminal, "true")
    with out.during():
        out.write("first\n")
        until = time.monotonic() + 20 * PATIENCE_S
        while not terminal.getvalue():
            assert time.monotonic() < until
        out.write("second\n" * 100)
        assert terminal.getvalue().count("second") == 100


def test_messages_do_not_overtake_answers(terminal: io.StringIO) -> None:
    out = paged(terminal, "true")
    err = cast(TextIO, Beside(cast(TextIO, terminal), out))
    with out.during():
        out.write("answer\n")
        err.write("error\n")
        out.write("more\n")
    assert terminal.getvalue() == "answer\nerror\nmore\n"


def test_messages_wait_for_the_pager(terminal: io.StringIO, tmp_path: Path) -> None:
    out = paged(terminal, f"sh -c 'cat > {tmp_path}/paged'")
    err = cast(TextIO, Beside(cast(TextIO, terminal), out))
    with out.during():
        out.write("line\n" * 100)
        err.write("error\n")
        assert terminal.getvalue() == ""
    assert terminal.getvalue() == "error\n"


def test_which_pager() -> None:
    assert pager_command({"PAGER": "more -d"}) == ["more", "-d"]
    assert pager_command({"PAGER": ""}) is None
    assert pager_command({"PAGER": "cat"}) is None
    assert pager_command({"PATH": "/usr/bin:/bin"}) == ["less", "-RFX"]
    own = pager_command({"PATH": "/nowhere"})
    assert own is not None and own[1] == "-c"
