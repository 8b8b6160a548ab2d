"""Positions in partitions as they are typed: earliest, latest, an offset or a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.errors import ShellError, UsageError
from kafka_shell.language.command import Invocation
from kafka_shell.language.kind import Kind, Source

if TYPE_CHECKING:
    from kafka_shell.admin.records.read import Position

STARTS = Kind(
    "text", Source(lambda found, known: known.times(found.prefix, {"earliest": "", "latest": ""}))
)
ENDS = Kind("text", Source(lambda found, known: known.times(found.prefix, {"latest": ""})))
_MOST_DIGITS = 11  # of an offset; longer numbers are milliseconds since the epoch


def position(invocation: Invocation, name: str, now: int) -> Position | None:
    """The position that this option names; None without the option. `now` is in milliseconds."""
    from kafka_shell.admin.partitions.model import EARLIEST, LATEST
    from kafka_shell.admin.records.read import Position
    from kafka_shell.units import parse_time

    text: str | None = invocation[name]
    if text is None:
        return None
    if text in ("earliest", "latest"):
        return Position(time=EARLIEST if text == "earliest" else LATEST)
    if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS:
        return Position(offset=int(text))
    try:
        return Position(time=max(0, parse_time(text, now=now)))
    except ShellError:
        raise UsageError(
            f"--{name} must be an offset, a time such as 2026-01-31T10:00 or -1h, earliest or"
            f" latest, got '{text}'",
            code="bad-value",
            span=invocation.span(name),
        ) from None
