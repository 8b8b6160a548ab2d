from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.output.styled_stream import PipeClosed, StyledStream, columns_of
from kafka_shell.output.text import Text, text
from kafka_shell.output.theme import load

pytestmark = pytest.mark.quick


def test_colors_are_added_only_if_enabled() -> None:
    stream = io.StringIO()
    StyledStream(stream, theme=load("midnight"), depth=16777216).line(text("a", "good") + " b")
    StyledStream(stream, theme=load("midnight"), depth=0).line(text("a", "good") + " b")
    assert stream.getvalue() == "\x1b[38;2;127;216;143ma\x1b[0m b\na b\n"


def test_trailing_spaces_go() -> None:
    stream = io.StringIO()
    StyledStream(stream).line(text("a  ") + "  ")
    assert stream.getvalue() == "a\n"


def test_trailing_spaces_of_names_stay() -> None:
    for names in (["a ", "b"], ["a ", "\x1b"]):
        stream = io.StringIO()
        StyledStream(stream).words(names)
        assert stream.getvalue().splitlines()[0] == "a "


def test_a_terminal_of_unknown_width_has_80_columns() -> None:
    terminal, other = pty.openpty()  # reports 0 columns
    with open(terminal, "wb"), open(other, "w") as stream:  # noqa: PTH123 - descriptors
        assert columns_of(stream) == 80
        termios.tcsetwinsize(other, (24, 100))
        assert columns_of(stream) == 100
    assert columns_of(io.StringIO()) is None


def test_a_stream_without_unicode_gets_escapes() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    StyledStream(stream).line(text("größer…"))
    assert raw.getvalue() == b"gr\\xf6\\xdfer...\n"


def test_the_first_of_very_many_lines_are_shown_before_the_last_is_made() -> None:
    stream, seen = io.StringIO(), []

    def lines() -> Iterator[Text]:
        for number in range(2_000):
            seen.append(stream.getvalue().count("\n"))
            yield text(str(number))

    StyledStream(stream).lines(lines())
    assert stream.getvalue().splitlines() == list(map(str, range(2_000)))
    assert seen[-1] == 1_000


def test_something_is_hidden_before_anything_is_written() -> None:
    stream, calls = io.StringIO(), []
    styled = StyledStream(stream, before=lambda: calls.append(stream.getvalue()))
    styled.line(text("a"))
    styled.line(text("b"))
    assert calls == ["", "a\n"]


def test_a_closed_pipe_is_a_signal_and_later_writes_are_quiet() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as stream:  # noqa: PTH123 - a descriptor
        styled = StyledStream(stream)
        with pytest.raises(PipeClosed):
            styled.line(text("a"))
        styled.line(text("b"))


def test_a_reader_that_stops_early_ends_nothing_badly(tmp_path: Path) -> None:
    program = tmp_path / "rows.py"
    program.write_text(
        "import sys\n"
        "from kafka_shell.output.styled_stream import PipeClosed\n"
        "from kafka_shell.output.writer import Writer\n"
        "try:\n"
        "    Writer(sys.stdout, sys.stderr).write(str(n) for n in range(10**6))\n"
        "except PipeClosed:\n"
        "    sys.exit(0)\n"
    )
    root = Path(__file__).parent.parent.parent
    ended = subprocess.run(
        f"{sys.executable} {program} | head -n 2; echo ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
        check=True,
        timeout=60,
    )
    assert (ended.stdout, ended.stderr) == ("0\n1\n0\n", "")
