"""Answers that make no sense: one error for all of them, which names the broker and the API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from kafka_shell.errors import ShellError, Status

from .frames import MalformedError

_HINT = "A proxy, or a fault of the broker, may have garbled it."
_OURS = "If the broker is sound, this is a bug in kafka.sh: please report it with the details in"
_READERS = "kafka_shell.admin."
_HERE = (__name__, "kafka_shell.admin.wire.connection")
# Called by whoever reads an answer.
_SHARED = ("kafka_shell.plan", "kafka_shell.units", *_HERE)


def malformed(who: str, api: str, why: object, status: Status = Status.FAILED) -> ShellError:
    """The answer of a broker cannot be read. `why` is an exception or some words."""
    said = _told(why) if isinstance(why, Exception) else why
    return ShellError(
        f"{who} sent a malformed answer to {api}: {said}",
        hint=_HINT,
        code="malformed-answer",
        status=status,
    )


@contextmanager
def reading(sender: Callable[[], tuple[str, str] | None]) -> Iterator[None]:
    """Where a verb cannot make sense of what a broker answered, that is the error.

    A decoded answer can still lack what it must have: the one partition that was asked about, a
    name, a known number. `sender` gives the broker and the API of the last answers.
    """
    try:
        yield
    except ShellError:
        raise
    except Exception as error:
        sent_by = sender() if _while_reading(error.__traceback__) else None
        if sent_by is None:
            raise
        raise _senseless(*sent_by, error) from error


def _senseless(who: str, api: str, error: Exception) -> ShellError:
    """A decoded answer that a verb could not use. `__cause__` is for crash.log."""
    return ShellError(
        f"{who} sent a malformed answer to {api}, or kafka.sh misread it: {_told(error)}",
        hint=f"{_OURS} crash.log.",
        code="malformed-answer",
    )


def _while_reading(trace: TracebackType | None) -> bool:
    """Whether an exception comes from the code that reads answers, and not from its caller."""
    modules = []
    while trace is not None:
        modules.append(trace.tb_frame.f_globals.get("__name__", ""))
        trace = trace.tb_next
    while modules and modules[0] in _HERE:
        del modules[0]
    called = [
        name
        for name in modules[1:]  # the first is who reads nothing itself, but calls who does
        if name.startswith("kafka_shell.")
        and not name.startswith(_SHARED)
        and not name.endswith(".model")
    ]
    return bool(called) and called[-1].startswith(_READERS)


def _told(error: Exception) -> str:
    """An exception in words that quote nothing of what was received: its kind and its place."""
    if isinstance(error, MalformedError):
        return str(error)
    trace, place = error.__traceback__, ""
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        if name.startswith("kafka_shell."):
            place = f" in {name.removeprefix('kafka_shell.')}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return type(error).__name__ + place
