"""Text from clusters and files cannot control the terminal."""

from __future__ import annotations

import ast
import io
import re
from typing import TextIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.base.errors import did_you_mean
from kafka_shell.base.text import printable, quote, quoted
from kafka_shell.language.tokens import tokenize
from kafka_shell.output.styled_stream import StyledStream
from kafka_shell.output.terminal import SanitizedStream, draw
from kafka_shell.output.text import text
from kafka_shell.output.theme import load
from kafka_shell.output.writer import Writer
from kafka_shell.wire.error_codes import ERRORS
from kafka_shell.wire.failures import failure
from tests.support.places import PACKAGE
from tests.support.samples import Tty

ADMIN = PACKAGE / "admin"
HOSTILE = "a\x1b[2J\x9b31m\x07\x7f\u202eb\u200b\rc"
SPELLED = r"a\x1b[2J\x9b31m\x07\x7f\u202eb\u200b\rc"


def cleaned(screen: io.StringIO) -> TextIO:
    return cast(TextIO, SanitizedStream(cast(TextIO, screen)))


def test_written_text_is_escaped_and_drawn_text_is_not() -> None:
    screen = Tty()
    stream = cleaned(screen)
    stream.write(f"{HOSTILE}\n\tx")
    draw(stream, "\x1b[1m")
    draw(stream, "\r\x1b[K")
    assert screen.getvalue() == f"{SPELLED}\n\tx\x1b[1m\r\x1b[K"


def test_a_file_gets_it_as_it_is() -> None:
    file = io.StringIO()
    cleaned(file).write(HOSTILE)
    StyledStream(file).raw(HOSTILE)
    assert file.getvalue() == HOSTILE * 2


def test_our_colors_get_through_and_theirs_do_not() -> None:
    screen = Tty()
    stream = StyledStream(cleaned(screen), theme=load("midnight"), depth=16777216)
    stream.line(text(HOSTILE, "good"))
    stream.words([HOSTILE])
    stream.raw(f"{HOSTILE}\n")
    shown = screen.getvalue()
    assert shown.count("\x1b") == 2
    assert shown.count(SPELLED) == 3


@pytest.mark.parametrize("format", ["table", "json", "yaml", "csv"])
@given(name=st.text())
def test_no_name_reaches_a_terminal_in_any_format(format: str, name: str) -> None:
    screen = Tty()
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
    (word,) = tokenize(quote(name)).words
    assert word.text == name


def test_the_words_of_a_broker_forge_no_line_of_ours() -> None:
    forged = "no\nhint: run this\x9b\nerror: that"
    said = failure(42, forged, about="topic t").message
    assert "\n" not in said and said.endswith('"' + r"no\nhint: run this\x9b\nerror: that" + '"')
    assert quoted('say "x"') == "\"say 'x'\""
    assert len(quoted("x" * 10_000)) < 1_100
    assert did_you_mean("groups-a b", ["groups-a\nb"]) == r"Did you mean 'groups-a\nb'?"


def test_a_brokers_own_words_are_always_in_quotes_and_ours_never() -> None:
    exists = failure(36, "Topic 'x' already exists.", about="topic x")
    assert str(exists) == "topic x already exists (TOPIC_ALREADY_EXISTS)"
    assert failure(42, "It is bad.", about="topic t").message == 'topic t: "It is bad."'
    for nothing in (None, "", "  "):
        assert failure(19, nothing, about="topic t").message == f"topic t: {ERRORS[19][1]}"
        assert failure(36, nothing, about="topic t").message == "topic t already exists"
        assert failure(24, nothing, about="group g").message == "group g: the group ID is invalid"
    assert failure(3, text="topic t has no partition 7").message == "topic t has no partition 7"
    java = "Request Request(processor=0, headers) needs CREATE permission."
    assert failure(31, java).message == ERRORS[31][1]
    assert failure(31, java).hint == "Requires CREATE permission."
    named = failure(31, java, requires="CREATE on the cluster")  # which says it better
    assert named.hint == "Requires CREATE on the cluster."
    denied = failure(29, "Topic authorization failed.", about="topic t")
    assert denied.message == f"topic t: {ERRORS[29][1]}", "it only repeats the error's name"
    assert failure(31, f"{java}\nhint: x").message.endswith(r'permission.\nhint: x"')


def test_text_of_a_response_is_quoted_in_errors() -> None:
    """`error_message` of a row is given to `failure`, or handed on to who does: it is never part of
    a text as it is."""
    texts = {path: path.read_text() for path in ADMIN.rglob("*.py")}
    wrong = []
    for path in [path for path in texts if re.search("error_message|failure", texts[path])]:
        for node in ast.walk(ast.parse(texts[path])):
            if isinstance(node, ast.JoinedStr | ast.BinOp):
                used = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
                if "error_message" in used:
                    wrong.append(f"{path}:{node.lineno}: the broker's words are not quoted")
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "failure":
                said = [
                    own for own in node.args[1:] if isinstance(own, ast.JoinedStr | ast.Constant)
                ]
                wrong += [f"{path}:{own.lineno}: our own words are `ours`" for own in said]
    assert not wrong, "\n".join(wrong)
