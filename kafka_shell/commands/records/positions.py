"""Positions in partitions as they are typed: earliest, latest, an offset or a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.common.structs import replace
from kafka_shell.common.units import OFFSET, as_offset, format_time, odd_hour, parse_time
from kafka_shell.errors import ShellError, UsageError
from kafka_shell.language.command import Invocation
from kafka_shell.language.kind import CandidateSource, Kind

if TYPE_CHECKING:
    from kafka_shell.admin.records.read import Position
    from kafka_shell.context import Context
    from kafka_shell.plan.model import Plan

STARTS = Kind(
    "text",
    CandidateSource(lambda found, known: known.times(found.prefix, {"earliest": "", "latest": ""})),
)
ENDS = Kind("text", CandidateSource(lambda found, known: known.times(found.prefix, {"latest": ""})))


def position(invocation: Invocation, name: str, context: Context) -> Position | None:
    """The position that this option names; None without the option."""
    from kafka_shell.admin.partitions.model import EARLIEST, LATEST
    from kafka_shell.admin.records.read import Position

    text: str | None = invocation[name]
    if text is None:
        return None
    if text in ("earliest", "latest"):
        return Position(time=EARLIEST if text == "earliest" else LATEST)
    try:
        offset, time = offset_or_time(text, int(context.clock() * 1000))
        if time is None:
            return Position(offset)
        if note := odd_hour(text, time):
            context.note(note)
        return Position(time=time)
    except ShellError:
        raise UsageError(
            f"--{name} must be an offset, a time such as 2026-01-31T10:00 or -1h, earliest or"
            f" latest, got '{text}'",
            code="bad-value",
            span=invocation.span(name),
        ) from None


def check_order(invocation: Invocation, start: Position, end: Position, to: str) -> None:
    """Raise UsageError if the end, of the option `to`, is before the start of --from whatever a
    partition contains."""
    if start.offset is not None and end.offset is not None:
        reversed_ = end.offset < start.offset
    else:
        times = start.offset is None and end.offset is None and min(start.time, end.time) >= 0
        reversed_ = times and end.time < start.time
    if reversed_:
        raise UsageError(
            f"--{to} {invocation[to]} is before --from {invocation['from']}",
            code="bad-value",
            span=invocation.span(to),
        )


def future_warning(time: int, now: int, meaning: str) -> str:
    """A warning about a time in the future, empty for others: of records it usually is a mistake.
    `meaning` is what the command does there. Times are in milliseconds."""
    return f"{format_time(time)} is in the future: {meaning}" if time > now else ""


def with_time(plan: Plan, text: str, time: int, context: Context) -> Plan:
    """The plan with the time that selects its offsets, as it was typed and as an instant."""
    if not plan.steps:
        return plan
    meaning = "latest is used if there are no records that late"
    warning = future_warning(time, int(context.clock() * 1000), meaning)
    note = odd_hour(text, time) or f"{text} is {format_time(time)}"
    return replace(plan, warnings=tuple(filter(None, (warning, *plan.warnings))),
                   notes=(*plan.notes, note))  # fmt: skip


def offset_or_time(text: str, now: int) -> tuple[int | None, int | None]:
    """An offset and None, or None and a time (milliseconds since the epoch), as `now`.

    A number of more than 11 digits is a time, as in the output of read-records: taken for an offset
    it would be after the end of the log, and all records would be skipped or deleted. Such an
    offset is `offset:N`. Raises ShellError if it is neither.
    """
    number = text.removeprefix(OFFSET)
    if number.isascii() and number.isdigit() and (number != text or as_offset(text) == text):
        return int(number), None
    return None, max(0, parse_time(text, now=now))
