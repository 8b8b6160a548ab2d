"""The broker's documentation of a config, which is HTML, as plain text."""

from __future__ import annotations

import re
from html import unescape

_BREAK = re.compile(r"<\s*(?:br|/?p|/?ul|/?ol|/?dl|/?table|/tr|/?div)\b[^>]*>", re.IGNORECASE)
_ITEM = re.compile(r"<\s*(?:li|dt|dd|tr)\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_BLANKS = re.compile(r"[^\S\n]+")
_BEYOND = re.compile(r"\s*\n\s*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`'\"(])")


def plain(html: str) -> str:
    """Text without tags: a line a paragraph, a dash an item. `a < b` stays as it is."""
    text = html.replace("\n", " ")
    text = _ITEM.sub("\n- ", _BREAK.sub("\n", text))
    text = _BLANKS.sub(" ", unescape(_TAG.sub("", text)))
    text = "".join(char for char in text if char == "\n" or char.isprintable())
    return _BEYOND.sub("\n", text).strip()


def first_sentence(text: str) -> str:
    """The first sentence of the first line."""
    line = text.partition("\n")[0]
    return _SENTENCE.split(line, maxsplit=1)[0]
