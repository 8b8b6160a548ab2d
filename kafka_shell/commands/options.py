"""What several families share: values of options, hints and warnings that name options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Advice, Plan
from kafka_shell.base.results import Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import OFFSET, as_offset, format_time, odd_hour, parse_time
from kafka_shell.base.waits import CHANGE_MS
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation


def timeout_ms(invocation: Invocation) -> int:
    """The value of --timeout, or its default."""
    timeout: int | None = invocation.get("timeout")
    return CHANGE_MS if timeout is None else timeout


def with_hint(plan: Plan, name: str, hint: str) -> Plan:
    """The plan with this hint instead of the core's for items refused with this error name."""
    failures = {
        resource: replace(failure, hint=hint) if failure.name == name and failure.hint else failure
        for resource, failure in plan.refused.failures.items()
    }
    return replace(plan, refused=Results(plan.refused.values, failures))


def add_resume(error: ShellError, resume: str) -> None:
    """Add to the hint of an interrupted wait the command that continues it."""
    if resume:
        error.hint = f"{error.hint}\nTo continue: {resume}".strip()


def future_warning(time: int, now: int, meaning: str) -> str:
    """A warning about a time in the future, empty for others: of records it usually is a mistake.
    `meaning` is what the command does there. Times are in milliseconds."""
    return f"{format_time(time)} is in the future: {meaning}" if time > now else ""


K = TypeVar("K")
V = TypeVar("V")


def reported(
    parts: Iterable[Results[K, V]], total: int, context: Context
) -> Iterator[Results[K, V]]:
    """The parts as they arrive, with their progress reported. `total` is the number of keys; with
    none, nothing is read."""
    if not total:
        return
    task, done = "reading configs", 0
    context.report(task, 0, total)
    try:
        for part in parts:
            done = min(done + len(part.values) + len(part.failures), total - 1)
            context.report(task, done, total)
            yield part
    finally:
        context.report(task, total, total)


def with_time(plan: Plan, text: str, time: int, context: Context) -> Plan:
    """The plan with the time that selects its offsets, as it was typed and as an instant."""
    if not plan.steps:
        return plan
    meaning = "latest is used if there is no later record"
    now = int(context.clock() * 1000)
    warning = future_warning(time, now, meaning)
    note = odd_hour(text, time, now) or f"{text} is {format_time(time)}"
    return plan.advised(Advice(warnings=tuple(filter(None, [warning])), notes=(note,)))


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
