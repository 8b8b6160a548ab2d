"""Scripts on standard input."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.support.program import Run

Script = Callable[..., Run]


def documents(text: str) -> Iterator[Any]:
    """Yield the JSON answers of the lines of a script."""
    decoder, text = json.JSONDecoder(), text.strip()
    while text:
        answer, end = decoder.raw_decode(text)
        yield answer
        text = text[end:].lstrip()
