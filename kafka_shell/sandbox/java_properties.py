"""Java properties files."""

from __future__ import annotations

from collections.abc import Mapping


def to_properties(settings: Mapping[str, str]) -> str:
    """Return the text of a Java properties file."""
    return "".join(f"{key}={escape(value)}\n" for key, value in settings.items())


def escape(value: str) -> str:
    """Escape a value for a Java properties file."""
    return value.replace("\\", "\\\\").replace("\n", "\\n")
