"""Pygments lexers of commands, for the prompt, and of sessions, for examples in documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from pygments.lexer import Lexer
from pygments.lexers.sql import SqlLexer
from pygments.token import Comment, Error, Generic, Name, Number, Operator, String, Text

from kafka_shell.base.text import is_printable
from kafka_shell.commands import REGISTRY
from kafka_shell.language.cursor import LONGEST, classify
from kafka_shell.language.tokens import logical_lines

UNSEEN = "\ufffd"
_LINES = 10_000  # kept, so that a key in a large paste does not classify all its lines again
_SESSION_LINE = re.compile(r"(kafka(?::\S+?)?(?:[?!]| ro)?> |· +)?(.*\n?)")
_QUOTED = re.compile(r"""(["']?)(.*?)(\1?)""", re.DOTALL)
_ERROR = re.compile(r"\S*error: |hint: |interrupted$")

# The classes of words. These tokens have the styles of roles in every theme.
TOKENS: dict[str, Any] = {
    "command": Name.Function.Shell,
    "unknown-command": Error.Shell,
    "unknown-option": Error.Shell,
    "error": Error.Shell,
    "option": Name.Attribute.Shell,
    "number": Number.Shell,
    "string": String.Shell,
    "shell": String.Shell,
    "pattern": String.Regex.Shell,
    "operator": Operator.Shell,
    "comment": Comment.Shell,
}


class CommandLexer(Lexer):  # type: ignore[misc]
    """Lines of commands, as at the prompt and in scripts."""

    name = "kafka.sh"
    aliases = ("kafka.sh",)
    filenames: tuple[str, ...] = ("*.kafka",)

    def get_tokens_unprocessed(self, text: str, at: int = 0) -> Iterator[tuple[int, Any, str]]:
        """Yield the position, type and text of each token. Pasted lines are separate commands."""
        lines = [line for _, line in logical_lines(text.split("\n"))]
        for number, line in enumerate([text] if len(text) > LONGEST else lines):
            for token, part in ((Text, "\n" if number else ""), *_tokens(line)):
                yield at, token, part
                at += len(part)


class SessionLexer(CommandLexer):
    """Prompts with commands, their output and errors."""

    name = "kafka.sh session"
    aliases = ("kafka.sh-session",)
    filenames = ()

    def get_tokens_unprocessed(self, text: str, at: int = 0) -> Iterator[tuple[int, Any, str]]:
        """Yield the position, type and text of each token."""
        for match in _SESSION_LINE.finditer(text):
            prompt, line = match[1], match[2]
            if prompt:
                yield match.start(), Generic.Prompt, prompt
                yield from super().get_tokens_unprocessed(line, match.start(2))
            elif line:
                yield match.start(), Generic.Error if _ERROR.match(line) else Generic.Output, line


@lru_cache(_LINES)
def _tokens(line: str) -> tuple[tuple[Any, str], ...]:
    """The tokens of one logical line."""
    tokens: list[tuple[Any, str]] = []
    shown, at = _visible(line), 0
    for (start, end), name in classify(line, REGISTRY):
        part = shown[start:end]
        tokens.append((Text, shown[at:start]))
        tokens += _sql(part) if name == "sql" else [(TOKENS.get(name, Text), part)]
        at = end
    return (*tokens, (Text, shown[at:]))


def _sql(part: str) -> list[tuple[Any, str]]:
    """A query, which may be quoted and incomplete."""
    quote, query, end = _QUOTED.fullmatch(part).groups()  # type: ignore[union-attr]
    inner = [(token, text) for _, token, text in SqlLexer().get_tokens_unprocessed(query)]
    return [(String.Shell, quote), *inner, (String.Shell, end)]


def _visible(text: str) -> str:
    """Replace invisible and bidirectional characters; prompt_toolkit escapes control characters."""
    if is_printable(text):
        return text
    return "".join(char if char < "\xa0" or is_printable(char) else UNSEEN for char in text)
