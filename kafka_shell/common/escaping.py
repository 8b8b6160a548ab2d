"""Escaping of text from clusters and files: characters that control a terminal (C0, C1, DEL), are
invisible (zero width, blank) or change the direction (bidi) are written as escapes.
"""

from __future__ import annotations

import re

_MAX_QUOTE = 1_000  # characters
_NAMED = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}


# Letters, marks and symbols that are not drawn: what Unicode calls default-ignorable, besides the
# characters that Python does not call printable, and the blank of Braille.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)


def is_printable(text: str) -> bool:
    """Return whether all characters of the text are visible, or blanks."""
    return text.isprintable() and (text.isascii() or _INVISIBLE.search(text) is None)


def escape(value: str) -> str:
    r"""The text with characters that are not printable as escapes: `\x1b`, `\n`, `\u202e`."""
    if is_printable(value):
        return value
    return "".join(char if is_printable(char) else _escape(char) for char in value)


def printable(value: str) -> str:
    """Like `escape`, but line breaks and tabs are kept."""
    if is_printable(value):
        return value
    if "\t" in value:
        return "\t".join(map(printable, value.split("\t")))
    return "\n".join(map(escape, value.split("\n")))


def quoted(value: str) -> str:
    """Text of another program in quotes and on one line, shortened if very long, so that it cannot
    be mistaken for an `error:` or `hint:` of this program."""
    short = value if len(value) <= _MAX_QUOTE else value[:_MAX_QUOTE] + "…"
    return '"' + escape(short).replace('"', "'") + '"'


def _escape(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
