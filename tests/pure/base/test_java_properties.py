"""Values in properties files as Java reads them: ISO-8859-1, with escapes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.base.files import escape, to_properties
from kafka_shell.wire.client_properties import parse_properties


@pytest.mark.parametrize(
    ("value", "escaped"),
    [
        ("/home/josé", r"/home/jos\u00e9"),
        ("😀", r"\ud83d\ude00"),
        (" a b ", r"\u0020a b "),
        ("C:\\tls", r"C:\\tls"),
        ("a\nb", r"a\u000ab"),
    ],
)
def test_escapes(value: str, escaped: str) -> None:
    assert escape(value) == escaped


@given(st.text())
def test_a_written_value_is_read_again(value: str) -> None:
    written = to_properties({"key": value})
    assert written.isascii()
    assert parse_properties(written, "file")["key"].value == value
