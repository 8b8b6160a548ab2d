from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.base.text import escape
from kafka_shell.output.text import cut, hang, pad, paragraphs, text, width, wrap
from tests.support.samples import plain


@pytest.mark.parametrize(
    ("raw", "spelled"),
    [
        ("orders", "orders"),
        ("a\x1b[31mb", r"a\x1b[31mb"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("a\u202eb", r"a\u202eb"),
        ("\udcff", r"\udcff"),
        ("\U000e0001", r"\U000e0001"),
        ("größe 訂單", "größe 訂單"),
    ],
)
def test_what_a_terminal_may_not_get_is_spelled_out(raw: str, spelled: str) -> None:
    assert escape(raw) == spelled


@given(st.text())
def test_text_is_always_printable(raw: str) -> None:
    assert text(raw).plain.isprintable()


def test_wide_characters_take_two_cells_and_combining_ones_none() -> None:
    assert width("訂單") == 4
    assert width("e\u0301") == 1


def test_cut_marks_missing_text() -> None:
    assert cut(text("orders"), 6).plain == "orders"
    assert cut(text("orders.v2"), 6).plain == "order…"
    assert cut(text("訂單訂單"), 6).plain == "訂單…"


@given(st.text(st.characters(codec="utf-8"), max_size=80), st.integers(2, 30))
def test_wrap_keeps_everything_but_spaces_and_fits(raw: str, cells: int) -> None:
    line = text(raw)
    pieces = wrap(line, cells)
    assert all(piece.width <= cells for piece in pieces)
    assert "".join(p.plain for p in pieces).replace(" ", "") == line.plain.replace(" ", "")


def test_a_record_of_a_megabyte_is_wrapped_line_by_line() -> None:
    assert len(wrap(text("é" * 1_000_000), 80)) == 12_500  # minutes, if each line read the rest


def test_wrap_breaks_after_commas_and_spaces() -> None:
    assert plain(wrap(text("PLAINTEXT://a:1,SSL://b:2"), 20)) == "PLAINTEXT://a:1,\nSSL://b:2"
    assert plain(wrap(text("one two three"), 8)) == "one two\nthree"
    assert plain(wrap(text("read 1,048,588 records"), 12)) == "read\n1,048,588\nrecords"


def test_hang_indents_what_follows() -> None:
    assert plain(hang(text("one two three four"), 10, 2)) == "one two\n  three\n  four"
    assert plain(hang(text("one two three four"), None, 2)) == "one two three four"


def test_paragraphs_keep_blank_lines() -> None:
    assert plain(paragraphs("one two\n\nthree", 5)) == "one\ntwo\n\nthree"


def test_pad_right_aligns() -> None:
    assert pad(text("12"), 4, "right").plain == "  12"
    assert pad(text("訂"), 4).plain == "訂  "
