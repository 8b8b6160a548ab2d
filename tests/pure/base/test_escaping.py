"""Characters that nobody sees are escaped."""

from __future__ import annotations

import pytest

from kafka_shell.base.text import escape, is_printable


@pytest.mark.parametrize(
    "char",
    ["\u034f", "\u115f", "\u1160", "\u17b4", "\u180b", "\u180f", "\u2800", "\u3164", "\ufe00",
     "\ufe0f", "\uffa0", "\U000e0100", "\U000e01ef", "\u200b", "\u202e", "\ufeff", "\u00ad",
     "\U0001d159", "\U00016fe4"],
)  # fmt: skip
def test_invisible_character_is_escaped(char: str) -> None:
    assert not is_printable(f"orders{char}")
    assert escape(f"orders{char}").isascii()


@pytest.mark.parametrize("text", ["orders", "caf\u00e9", "\u043erders", "\u3042", "\U0001f600"])
def test_visible_text_is_kept(text: str) -> None:
    assert escape(text) == text
