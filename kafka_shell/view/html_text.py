"""Convert the HTML documentation of configs to plain text."""

from __future__ import annotations

import re
from html import unescape

from kafka_shell.common.escaping import is_printable

_BREAK = re.compile(r"<\s*(?:br|/?p|/?ul|/?ol|/?dl|/?table|/tr|/?div)\b[^>]*>", re.IGNORECASE)
_ITEM = re.compile(r"<\s*(?:li|dt|dd|tr)\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_BLANKS = re.compile(r"[^\S\n]+")
_LINE_BREAKS = re.compile(r"\s*\n\s*")


def plain(html: str) -> str:
    """Return the text without tags: a line per paragraph, a dash per item. `a < b` is kept."""
    text = html.replace("\n", " ")
    text = _ITEM.sub("\n- ", _BREAK.sub("\n", text))
    text = _BLANKS.sub(" ", unescape(_TAG.sub("", text)))
    text = "".join(char for char in text if char == "\n" or is_printable(char))
    return _LINE_BREAKS.sub("\n", text).strip()
