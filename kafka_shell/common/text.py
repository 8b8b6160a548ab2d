"""Parts of texts: the beginning of a long one, and what several begin with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile


def short(text: str) -> str:
    """At most 60 characters of a text, for a message."""
    return text if len(text) <= 60 else text[:57] + "..."


def common_prefix(words: Sequence[str]) -> str:
    """What all the words begin with. (Python 3.15 deprecates os.path.commonprefix.)"""
    pairs = zip(min(words, default=""), max(words, default=""), strict=False)
    return "".join(one for one, other in takewhile(lambda pair: pair[0] == pair[1], pairs))
