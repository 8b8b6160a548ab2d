"""Characters of names and messages that come from elsewhere: what a terminal would obey (C0, C1,
DEL), hide (zero width) or turn around (bidi) is spelled out.
"""

from __future__ import annotations

_LONGEST_QUOTE = 1_000
_NAMED = {"\n": r"\n", "\t": r"\t", "\r": r"\r"}


def escape(value: str) -> str:
    r"""What a terminal may not be sent as it is, spelled out: `\x1b`, `\n`, `\u202e`, ..."""
    if value.isprintable():
        return value
    return "".join(char if char.isprintable() else _spelled(char) for char in value)


def printable(value: str) -> str:
    """The same for a text of several lines: ends of lines and tabs stay."""
    if value.isprintable():
        return value
    if "\t" in value:
        return "\t".join(map(printable, value.split("\t")))
    return "\n".join(map(escape, value.split("\n")))


def quoted(value: str) -> str:
    """The words of another program, in quotes and on one line, so that they are never taken for
    ours: no line of theirs can begin with `error:` or `hint:`. No more of them than anybody reads.
    """
    short = value if len(value) <= _LONGEST_QUOTE else value[:_LONGEST_QUOTE] + "…"
    return '"' + escape(short).replace('"', "'") + '"'


def _spelled(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
