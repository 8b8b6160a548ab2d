"""Words of the command lines that this program writes: undo lines, remedies, hints, completion.

A name from a cluster is text and nothing else: quoted for a POSIX shell, which this shell reads
alike, and never in a place where one that starts with `-` would be read as an option.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")


def quote(text: str) -> str:
    """The text as one word. Where an option may stand, it takes `with_option` or `positional`."""
    if _SAFE.fullmatch(text):
        return text
    return "'" + text.replace("'", "'\"'\"'") + "'"


def join(words: Iterable[str]) -> str:
    """The line that reads back as these words."""
    return " ".join(quote(word) for word in words)


def with_option(option: str, value: str) -> str:
    """`--group orders`, and `--group=--yes` where the value would be read as an option."""
    return f"{option}{'=' if value.startswith('-') else ' '}{quote(value)}"


def positional(option: str, value: str) -> str:
    """The value alone, and with the option that means the same where it would be read as one.

    Of a command without such an option it is "--": all words after it are then positional.
    """
    if not value.startswith("-"):
        return quote(value)
    return f"-- {quote(value)}" if option == "--" else with_option(option, value)
