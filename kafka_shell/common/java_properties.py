"""Java properties files."""

from __future__ import annotations

import re
from collections.abc import Mapping


def to_properties(settings: Mapping[str, str]) -> str:
    """Return the text of a Java properties file."""
    return "".join(f"{key}={escape(value)}\n" for key, value in settings.items())


def escape(value: str) -> str:
    """Escape a value for a Java properties file, which Java reads as ISO-8859-1."""
    return re.sub(r"[^ -~]|^ ", _code_units, value.replace("\\", "\\\\"))


def _code_units(match: re.Match[str]) -> str:
    return re.sub("....", r"\\u\g<0>", match[0].encode("utf-16-be", "surrogatepass").hex())
