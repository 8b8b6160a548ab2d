"""Positions in partitions as they are typed: earliest, latest, an offset or a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.errors import ShellError, UsageError
from kafka_shell.language.command import Invocation
from kafka_shell.language.kind import CandidateSource, Kind

if TYPE_CHECKING:
    from kafka_shell.admin.records.read import Position

STARTS = Kind(
    "text",
    CandidateSource(lambda found, known: known.times(found.prefix, {"earliest": "", "latest": ""})),
)
ENDS = Kind("text", CandidateSource(lambda found, known: known.times(found.prefix, {"latest": ""})))
_MOST_DIGITS = 11  # of an offset


def position(invocation: Invocation, name: str, now: int) -> Position | None:
    """The position that this option names; None without the option. `now` is in milliseconds."""
    from kafka_shell.admin.partitions.model import EARLIEST, LATEST
    from kafka_shell.admin.records.read import Position

    text: str | None = invocation[name]
    if text is None:
        return None
    if text in ("earliest", "latest"):
        return Position(time=EARLIEST if text == "earliest" else LATEST)
    try:
        offset, time = offset_or_time(text, now)
        return Position(offset) if time is None else Position(time=time)
    except ShellError:
        raise UsageError(
            f"--{name} must be an offset, a time such as 2026-01-31T10:00 or -1h, earliest or"
            f" latest, got '{text}'",
            code="bad-value",
            span=invocation.span(name),
        ) from None


def offset_or_time(text: str, now: int) -> tuple[int | None, int | None]:
    """An offset and None, or None and a time (milliseconds since the epoch), as `now`.

    A number of more than 11 digits is a time, as in the output of read-records: taken for an offset
    it would be after the end of the log, and all records would be skipped or deleted. Raises
    ShellError if it is neither.
    """
    from kafka_shell.common.units import parse_time

    if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS:
        return int(text), None
    return None, max(0, parse_time(text, now=now))
