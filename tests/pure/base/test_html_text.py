"""The broker's documentation as plain text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.base.text import text_of_html


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("The <code>cleanup.policy</code>, or <b>none</b>.", "The cleanup.policy, or none."),
        ("One.<p>Two.</p><ul><li>a</li> <li>b</li></ul>", "One.\nTwo.\n- a\n- b"),
        ("See <a href='x'>there</a>&nbsp;&mdash; if a &lt; b", "See there — if a < b"),
        ("if a < b and b > c", "if a < b and b > c"),
        ("a  \n  b<br>c<br/>d", "a b\nc\nd"),
        ("", ""),
    ],
)
def test_tags_become_lines_and_dashes(html: str, text: str) -> None:
    assert text_of_html(html) == text


@given(st.text())
def test_it_takes_anything_and_leaves_nothing_unprintable(html: str) -> None:
    text = text_of_html(html)
    assert all(char == "\n" or char.isprintable() for char in text)
    assert text == text.strip()
