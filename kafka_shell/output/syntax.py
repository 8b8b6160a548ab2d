"""Colors of diffs, JSON, YAML and other languages. Imported when the first of them is colored."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pygments.lexers import get_lexer_by_name
from pygments.token import Error, Generic

from kafka_shell.output.theme import Depth, Theme, parse_style, sgr

_PARTS = {"added": Generic.Inserted, "removed": Generic.Deleted}  # of a diff
_lexer = lru_cache(get_lexer_by_name)
# In characters: lexing more would take seconds. For XML, it may take time quadratic in the length.
MOST = 500_000
_MOST_XML = 4_000


class Syntax:
    """Adds the colors of a theme to printable text in a language. The text stays as it is."""

    def __init__(self, theme: Theme, depth: Depth) -> None:
        self._theme, self._depth = theme, depth
        self._codes: dict[Any, str] = {Error: ""}  # a value may be cut

    def __call__(self, source: str, language: str) -> str:
        """The text with the theme's color codes."""
        if language in _PARTS:
            return self._colored(_PARTS[language], source)
        if len(source) > (_MOST_XML if language == "xml" else MOST):
            return source
        lines = source + "\n"  # lexers of lines require the end of the last one
        split = [(token, part) for _, token, part in _lexer(language).get_tokens_unprocessed(lines)]
        if "".join(part for _, part in split) != lines:
            return source
        return "".join(self._colored(token, part) for token, part in split).removesuffix("\n")

    def _colored(self, token: Any, part: str) -> str:
        if token not in self._codes:
            self._codes[token] = sgr(parse_style(self._theme.token_style(token)), self._depth)
        code = self._codes[token]
        if not code:
            return part
        return "\n".join(
            f"\x1b[{code}m{line}\x1b[0m" if line.strip() else line for line in part.split("\n")
        )
