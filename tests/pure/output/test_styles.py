from __future__ import annotations

import pytest

from kafka_shell.output.theme import Depth, depth_of, parse_style, sgr


@pytest.mark.parametrize(
    ("style", "depth", "code"),
    [
        ("", 16777216, ""),
        ("bold underline", 256, "1;4"),
        ("#80c0ff", 16777216, "38;2;128;192;255"),
        ("#fff bg:#000000", 16777216, "38;2;255;255;255;48;2;0;0;0"),
        ("#ff0000", 256, "38;5;196"),
        ("#808080", 256, "38;5;244"),
        ("#0072b2", 256, "38;5;25"),
        ("bg:ansired ansiwhite", 256, "97;41"),
        ("fg:default bold", 256, "1"),
    ],
)
def test_style_strings_become_sgr(style: str, depth: Depth, code: str) -> None:
    assert sgr(parse_style(style), depth) == code


@pytest.mark.parametrize("style", ["blod", "#12", "#zzzzzz", "bg:", "80c0ff"])
def test_an_invalid_style_is_named(style: str) -> None:
    with pytest.raises(ValueError, match="invalid style"):
        parse_style(style)


@pytest.mark.parametrize(
    ("environ", "depth"),
    [
        ({}, 0),
        ({"TERM": "dumb"}, 0),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, 0),
        ({"COLORTERM": "truecolor"}, 0),
        ({"TERM": "xterm"}, 256),
        ({"TERM": "xterm-256color"}, 256),
        ({"TERM": "xterm-direct"}, 16777216),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, 16777216),
    ],
)
def test_the_color_depth_of_the_terminal(environ: dict[str, str], depth: int) -> None:
    assert depth_of(environ) == depth


def test_prompt_toolkit_accepts_the_same_strings() -> None:
    from prompt_toolkit.styles import Style

    Style.from_dict({"a": "bold italic underline blink reverse strike dim #80c0ff bg:ansired"})
