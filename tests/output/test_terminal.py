"""The last place before a terminal: what comes from elsewhere does not steer it."""

from __future__ import annotations

import io
from typing import TextIO, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_shell.admin.failures import failure
from kafka_shell.admin.login import _in_quotes
from kafka_shell.characters import as_word, printable, quoted
from kafka_shell.errors import did_you_mean
from kafka_shell.language.tokens import tokenize
from kafka_shell.output.pane import Pane
from kafka_shell.output.terminal import Cleaned, Drawing, draw
from kafka_shell.output.text import text
from kafka_shell.output.theme import load
from kafka_shell.output.writer import Writer

pytestmark = pytest.mark.quick

HOSTILE = "a\x1b[2J\x9b31m\x07\x7f\u202eb\u200b\rc"
SPELLED = r"a\x1b[2J\x9b31m\x07\x7f\u202eb\u200b\rc"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def cleaned(screen: io.StringIO) -> TextIO:
    return cast(TextIO, Cleaned(cast(TextIO, screen)))


def test_what_is_written_is_spelled_out_and_what_is_drawn_is_not() -> None:
    screen = Screen()
    stream = cleaned(screen)
    stream.write(f"{HOSTILE}\n\tx")
    draw(stream, "\x1b[1m")
    Drawing(stream).write("\r\x1b[K")
    assert screen.getvalue() == f"{SPELLED}\n\tx\x1b[1m\r\x1b[K"


def test_a_file_gets_it_as_it_is() -> None:
    file = io.StringIO()
    cleaned(file).write(HOSTILE)
    Pane(file).raw(HOSTILE)
    assert file.getvalue() == HOSTILE * 2


def test_our_colours_get_through_and_theirs_do_not() -> None:
    screen = Screen()
    pane = Pane(cleaned(screen), theme=load("midnight"), depth=16777216)
    pane.line(text(HOSTILE, "good"))
    pane.words([HOSTILE])
    pane.raw(f"{HOSTILE}\n")
    shown = screen.getvalue()
    assert shown.count("\x1b") == 2
    assert shown.count(SPELLED) == 3


@pytest.mark.parametrize("format", ["table", "json", "yaml", "csv"])
@settings(deadline=None)  # the first one imports
@given(name=st.text())
def test_no_name_reaches_a_terminal_in_any_format(format: str, name: str) -> None:
    screen = Screen()
    writer = Writer(cleaned(screen), cleaned(screen), format, width=80)
    writer.write(({"name": name},))
    writer.write(name)
    assert {char for char in screen.getvalue() if not char.isprintable()} <= {"\n", "\t"}


@given(st.text())
def test_spelling_out_twice_is_spelling_out_once(value: str) -> None:
    assert printable(printable(value)) == printable(value)


@given(
    st.text(st.characters(blacklist_categories=["Cs", "Cc", "Cf", "Zl", "Zp", "Zs", "Cn", "Co"]))
)
def test_a_word_of_a_hint_is_read_back_as_the_name(name: str) -> None:
    (word,) = tokenize(as_word(name)).words
    assert word.text == name


def test_the_words_of_a_broker_forge_no_line_of_ours() -> None:
    forged = "no\nhint: run this\x9b\nerror: that"
    said = failure(42, forged, about="topic t").message
    assert "\n" not in said and said.endswith('"' + r"no\nhint: run this\x9b\nerror: that" + '"')
    assert failure(42, "The topic is bad.", about="topic t").message == "topic t: The topic is bad."
    assert _in_quotes("Authentication failed: Invalid\n\x07hint: x.") == r'"Invalid\n\x07hint: x"'
    assert quoted('say "x"') == "\"say 'x'\""
    assert did_you_mean("groups-a b", ["groups-a\nb"]) == r"Did you mean 'groups-a\nb'?"
