"""Long output goes to a pager; the order of output is kept."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TextIO, cast

import pytest

from kafka_shell.output.styled_stream import PipeClosed
from kafka_shell.shell.paging import (
    PagedOutput,
    StderrStream,
    UnpagedReport,
)
from tests.support.waiting import wait_for


@pytest.fixture
def terminal() -> io.StringIO:
    return io.StringIO()


def paged(terminal: io.StringIO, pager: str, rows: int = 8) -> PagedOutput:
    return PagedOutput(terminal, {"PAGER": pager, "PATH": "/usr/bin:/bin"}, lambda: rows)


def test_short_output_is_not_paged(terminal: io.StringIO, tmp_path: Path) -> None:
    out = paged(terminal, f"sh -c 'cat > {tmp_path}/paged'")
    with out.during():
        out.write("1\n2\n3\n")
    assert terminal.getvalue() == "1\n2\n3\n"
    assert not (tmp_path / "paged").exists()


def test_only_less_opens_at_the_end(terminal: io.StringIO, tmp_path: Path) -> None:
    out = paged(terminal, f"sh -c 'cat > {tmp_path}/paged'")
    with out.during(at_end=True):
        out.write("line\n" * 100)
    assert terminal.getvalue() == "line\n" * 100
    assert not (tmp_path / "paged").exists()


def test_long_output_is_paged(terminal: io.StringIO, tmp_path: Path) -> None:
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


def test_a_missing_pager_is_ignored(terminal: io.StringIO) -> None:
    out = paged(terminal, "/no/such/pager")
    with out.during():
        out.write("line\n" * 100)
    assert terminal.getvalue() == "line\n" * 100


def test_a_slow_command_is_seen_while_it_runs(terminal: io.StringIO) -> None:
    out = paged(terminal, "true")
    with out.during():
        out.write("first\n")
        wait_for("it is seen", terminal.getvalue)
        out.write("second\n" * 100)
        assert terminal.getvalue().count("second") == 100


def test_messages_do_not_overtake_answers(terminal: io.StringIO) -> None:
    out = paged(terminal, "true")
    err = cast(TextIO, StderrStream(cast(TextIO, terminal), out))
    with out.during():
        out.write("answer\n")
        err.write("error\n")
        out.write("more\n")
    assert terminal.getvalue() == "answer\nerror\nmore\n"


def test_messages_wait_for_the_pager(terminal: io.StringIO, tmp_path: Path) -> None:
    out = paged(terminal, f"sh -c 'cat > {tmp_path}/paged'")
    err = cast(TextIO, StderrStream(cast(TextIO, terminal), out))
    with out.during():
        out.write("line\n" * 100)
        err.write("error\n")
        assert terminal.getvalue() == ""
    assert terminal.getvalue() == "error\n"


def test_a_question_waits_for_the_pager_and_for_its_plan(
    terminal: io.StringIO, tmp_path: Path
) -> None:
    """Before: it was asked over the pager, and its plan was written after the answer."""
    out = paged(terminal, f"sh -c 'cat > {tmp_path}/paged'")
    err = cast(TextIO, StderrStream(cast(TextIO, terminal), out))
    with out.during():
        out.write("line\n" * 100)
        err.write("the plan\n")
        out.before_question()
        assert terminal.getvalue() == "the plan\n"
        assert (tmp_path / "paged").read_text() == "line\n" * 100
        out.write("done\n")
    assert terminal.getvalue() == "the plan\ndone\n"


def test_no_pager_where_none_is_wanted(terminal: io.StringIO, tmp_path: Path) -> None:
    out = PagedOutput(terminal, {"PAGER": f"sh -c 'cat > {tmp_path}/paged'"}, lambda: 5,
                lambda: False)  # fmt: skip
    with out.during():
        out.write("line\n" * 100)
    assert terminal.getvalue() == "line\n" * 100
    assert not (tmp_path / "paged").exists()


def test_a_pager_runs_no_programs_and_writes_no_files(
    terminal: io.StringIO, tmp_path: Path
) -> None:
    out = PagedOutput(
        terminal,
        {"PAGER": f"sh -c 'env > {tmp_path}/seen; cat'", "LESSSECURE": "", "PATH": "/usr/bin:/bin"},
        lambda: 5,
    )
    with out.during():
        out.write("line\n" * 10)
    assert "LESSSECURE=1" in (tmp_path / "seen").read_text().splitlines()


def test_progress_is_not_drawn_over_the_pager(terminal: io.StringIO) -> None:
    reported: list[str] = []
    out = paged(terminal, "sh -c 'cat > /dev/null'")
    report = UnpagedReport(lambda task, done, total: reported.append(task), out)
    with out.during():
        report("before", 0, None)
        out.write("row\n" * 100)
        report("meanwhile", 0, None)
    report("afterwards", 0, None)
    assert reported == ["before", "afterwards"]
