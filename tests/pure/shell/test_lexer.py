"""Pygments lexers of commands and sessions, for documentation."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.token import Error, Generic, Name

from kafka_shell.shell import lexer
from kafka_shell.shell.lexer import CommandLexer, SessionLexer
from tests.support.places import ROOT

SESSION = """kafka> topics --long | head -1
NAME    PARTITIONS
orders  3
kafka:prod!> delete-topic 'orders
·            .placed' --yes
error: topic 'orders.placed' does not exist
hint: Run list-topics to see the names.
"""


def tokens(lexer: Lexer, text: str) -> list[tuple[object, str]]:
    return [(token, part) for token, part in lexer.get_tokens(text) if part.strip()]


def test_a_session_has_prompts_commands_output_and_errors() -> None:
    found = tokens(SessionLexer(), SESSION)
    assert found[0] == (Generic.Prompt, "kafka> ")
    assert found[1] == (Name.Function.Shell, "topics")
    assert (Generic.Output, "orders  3\n") in found
    assert (Generic.Prompt, "kafka:prod!> ") in found
    assert (Name.Function.Shell, "delete-topic") in found
    assert [part for token, part in found if token is Generic.Error] == [
        "error: topic 'orders.placed' does not exist\n",
        "hint: Run list-topics to see the names.\n",
    ]


def test_a_script_is_commands() -> None:
    found = tokens(CommandLexer(), "# nightly\nhealth && no-such\n")
    assert (Name.Function.Shell, "health") in found
    assert (Error.Shell, "no-such") in found


@pytest.mark.parametrize("of", [CommandLexer, SessionLexer])
@given(st.text())
def test_lexers_keep_every_printable_character(of: type[Lexer], text: str) -> None:
    found = "".join(part for _, _, part in of().get_tokens_unprocessed(text))
    assert len(found) == len(text)
    assert all(a in (b, lexer.UNSEEN) for a, b in zip(found, text, strict=True))


def test_formatters_of_pygments_know_the_tokens() -> None:
    html = highlight(SESSION, SessionLexer(), HtmlFormatter())
    assert '<span class="gp">kafka&gt; </span>' in html
    assert '<span class="nf nf-Shell">topics</span>' in html


def test_the_lexers_are_registered() -> None:
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    for name, where in entries["pygments.lexers"].items():
        module, _, attribute = where.partition(":")
        assert module == lexer.__name__
        assert name in getattr(lexer, attribute).aliases
