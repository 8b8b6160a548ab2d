"""Words of a line that reads back as it was meant."""

from __future__ import annotations

from kafka_shell.language.tokens import quote


def word(option: str, text: str) -> str:
    """A bare word, but behind its option where it would be taken for one."""
    return with_option(option, text) if text.startswith("-") else quote(text)


def with_option(option: str, value: str) -> str:
    """`--option value`, both words."""
    return f"{option}={quote(value)}" if value.startswith("-") else f"{option} {quote(value)}"
