"""Syntax highlighting while typing."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer

from kafka_shell.common.escaping import is_printable
from kafka_shell.language.cursor import LONGEST
from kafka_shell.language.highlight import classify
from kafka_shell.language.logical_lines import logical_lines
from kafka_shell.language.registry import Registry

_LINES = 10_000  # kept, so that a key in a large paste does not classify all its lines again
UNSEEN = "\ufffd"

# Token classes of the language -> roles of the theme.
_ROLES = {
    "command": "command",
    "unknown-command": "unknown",
    "unknown-option": "unknown",
    "error": "unknown",
    "option": "option",
    "number": "number",
    "string": "string",
    "pattern": "pattern",
    "operator": "operator",
    "comment": "comment",
    "shell": "string",
}


class ShellLexer(Lexer):
    """Highlights commands of the registry."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._classified = lru_cache(_LINES)(self._classify)

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """Return a function from line number to fragments."""
        lines = self._lines(document.text)

        def line(number: int) -> StyleAndTextTuples:
            return lines[number] if number < len(lines) else []

        return line

    def _lines(self, text: str) -> list[StyleAndTextTuples]:
        """Return the fragments of each line; pasted lines are separate commands."""
        lines: list[StyleAndTextTuples] = []
        if len(text) > LONGEST:
            return _split([("", text)])
        for _, one in logical_lines(text.split("\n")):
            lines += self._classified(one)
        return lines

    def _classify(self, text: str) -> list[StyleAndTextTuples]:
        """Return the fragments of the rows of one logical line."""
        fragments: StyleAndTextTuples = []
        at = 0
        for (start, end), name in classify(text, self._registry):
            role = _ROLES.get(name, "")
            fragments += [
                ("", text[at:start]),
                (f"class:{role}" if role else "", text[start:end]),
            ]
            at = end
        fragments.append(("", text[at:]))
        return _split(fragments)


def _split(fragments: StyleAndTextTuples) -> list[StyleAndTextTuples]:
    lines: list[StyleAndTextTuples] = [[]]
    for style, text, *_ in fragments:
        first, *rest = _visible(text).split("\n")
        lines[-1].append((style, first))
        lines += [[(style, part)] for part in rest]
    return lines


def _visible(text: str) -> str:
    """Replace invisible and bidirectional characters; prompt_toolkit escapes control characters."""
    if is_printable(text):
        return text
    return "".join(char if char < "\xa0" or is_printable(char) else UNSEEN for char in text)
