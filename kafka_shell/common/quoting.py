"""Quoting of words in command lines that this program generates: undo lines, hints, completion.

Names from a cluster are quoted for POSIX shells, whose rules this shell shares, and placed so that
a name that starts with `-` is not parsed as an option.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# A comma at the end of a word may be read as punctuation, as in `user alice, client-id app`.
_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./-]*[A-Za-z0-9_@%+=:./-]")


def quote(text: str) -> str:
    """The text as one word. Use `with_option` or `positional` if it may start with `-`."""
    if _SAFE.fullmatch(text):
        return text
    return "'" + quote_rest(text, "'") + "'"


def quote_rest(text: str, open_quote: str) -> str:
    """The text as the rest of a word after an open quote, without the closing one."""
    if open_quote == "'":
        return text.replace("'", "'\"'\"'")
    return re.sub(r'[\\"$`]', r"\\\g<0>", text)


def join(words: Iterable[str]) -> str:
    """The command line that is parsed to these words."""
    return " ".join(quote(word) for word in words)


def with_option(option: str, value: str) -> str:
    """`--group orders`, or `--group=--yes` if the value would be parsed as an option."""
    return f"{option}{'=' if value.startswith('-') else ' '}{quote(value)}"


def positional(option: str, value: str) -> str:
    """The value, or the equivalent option with the value if it would be parsed as an option.

    Use "--" for commands without such an option: all words after it are positional.
    """
    if not value.startswith("-"):
        return quote(value)
    return f"-- {quote(value)}" if option == "--" else with_option(option, value)
