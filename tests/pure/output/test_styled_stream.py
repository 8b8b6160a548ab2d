from __future__ import annotations

import io
import os
from collections.abc import Iterator

import pytest

from kafka_shell.output.styled_stream import PipeClosed, StyledStream
from kafka_shell.output.text import Text, text
from kafka_shell.output.theme import load


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
