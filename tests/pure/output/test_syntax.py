"""Text in other languages: colored on a terminal, and the same text everywhere."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.records.formats import Formats
from kafka_shell.admin.records.model import Record
from kafka_shell.base.command_results import Document, StreamedOutput
from kafka_shell.base.text import escape, printable
from kafka_shell.commands.records.record_table import RecordTable, page
from kafka_shell.output.syntax import MOST, Syntax
from kafka_shell.output.text import SYNTAX, Text, text
from kafka_shell.output.theme import load
from tests.support.samples import drawn

SGR = re.compile(r"\x1b\[[\d;]*m")
HOSTILE = b'{"id": 1, "name": "\\u001b]0;title\\u0007", "raw": "\xe2\x80\xae", "ok": [true, null]}'
XML = b"<order id='1'>\x1b[2J\n  <item/>\n</order>"


def written(value: object, format: str = "table", *, color: bool) -> str:
    theme, depth = load("midnight"), 16777216
    return drawn(value, format, tty=True, theme=theme, color=color, width=60, depth=depth)


def lines(found: Iterator[Text] | list[Text]) -> StreamedOutput:
    return StreamedOutput([list(found)], {})


def record(value: bytes) -> Record:
    return Record("orders", 0, 7, 0, "CreateTime", None, value, ())


@pytest.mark.parametrize("value", [HOSTILE, XML, HOSTILE[:-3], b"a: 1"])
def test_a_hostile_value_stays_escaped(value: bytes) -> None:
    for width in (40, 60, 200, None):
        table = RecordTable(Formats(), width, [record(value)])
        for shown in ([table.line(record(value))], list(page(record(value), Formats(), width))):
            plain = written(lines(shown), color=False)
            colored = written(lines(shown), color=True)
            assert SGR.sub("", colored) == plain
            assert plain == printable(plain) and "\u202e" not in plain


def test_values_are_colored() -> None:
    table = RecordTable(Formats(), None, [record(HOSTILE)])
    assert '\x1b[38;2;126;231;135m"id"\x1b[0m' in written(
        lines([table.line(record(HOSTILE))]), color=True
    )
    assert "\x1b[38;2;126;231;135m<order\x1b[0m" in written(
        lines(page(record(XML), Formats(), None)), color=True
    )


@pytest.mark.parametrize("format", ["json", "yaml"])
def test_formats_are_colored_and_keep_their_text(format: str) -> None:
    rows = ({"name": "a\x1b[2J", "count": 3}, {"name": "12", "count": None})
    for value in (lambda: rows, lambda: iter(rows), lambda: rows[0]):
        plain, colored = (written(value(), format, color=each) for each in (False, True))
        assert "\x1b[" in colored
        assert SGR.sub("", colored) == plain == printable(plain)
    csv = written(rows, "csv", color=True)
    assert "\x1b" not in csv


def test_a_document_has_the_colors_of_its_language() -> None:
    state = "topics:\n  orders:\n    partitions: 3\n"
    colored = written(Document(state, "yaml"), color=True)
    assert "\x1b[38;2;126;231;135mtopics\x1b[0m" in colored and SGR.sub("", colored) == state
    assert written(Document(state), color=True) == state


@pytest.mark.parametrize("language", SYNTAX)
@given(st.text())
def test_colors_change_no_character(language: str, source: str) -> None:
    for shown in (escape(source), printable(source)):
        colored = Syntax(load("mono"), 256)(shown, language)
        assert SGR.sub("", colored) == shown


@pytest.mark.parametrize(
    ("source", "language"), [(f'"{"x" * MOST}"', "json"), ("<" + "&" * 100_000, "xml")]
)
def test_text_that_would_take_long_is_not_colored(source: str, language: str) -> None:
    assert "\x1b" not in Syntax(load("midnight"), 256)(source, language)


def test_pygments_is_not_used_without_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kafka_shell.output.syntax", None)  # importing it fails
    for value in (lines([text("{}", "json")]), Document("a: 1\n", "yaml")):
        written(value, color=False)
    written(({"name": "a"},), "yaml", color=False)
    with pytest.raises(ImportError):
        written(Document("a: 1\n", "yaml"), color=True)
