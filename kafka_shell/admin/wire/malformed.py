"""The error for responses that cannot be read, with the broker and the API."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from kafka_shell.admin.wire.frames import MalformedError
from kafka_shell.errors import ShellError, Status

_HINT = "A proxy or a defect of the broker may have corrupted it."
_OURS = "If the broker is not at fault, this is a bug in kafka.sh: please report it with"
_READERS = "kafka_shell.admin."
_HERE = (__name__, "kafka_shell.admin.wire.connection")
# Called by the code that reads responses.
_SHARED = ("kafka_shell.plan", "kafka_shell.common.units", *_HERE)


def malformed(who: str, api: str, why: object, status: Status = Status.FAILED) -> ShellError:
    """The response of a broker cannot be read. `why` is an exception or a reason."""
    reason = _describe(why) if isinstance(why, Exception) else why
    return ShellError(
        f"{who} sent a malformed response to {api}: {reason}",
        hint=_HINT,
        code="malformed-answer",
        status=status,
    )


@contextmanager
def reading(sender: Callable[[], tuple[str, str] | None]) -> Iterator[None]:
    """Turn exceptions of the code that reads responses into ShellErrors.

    A decoded response can still be invalid: the requested partition or a name is missing, or a
    number is unknown. `sender` returns the broker and the API of the last responses.
    """
    try:
        yield
    except (ShellError, ImportError, NameError):  # of an installation that was changed meanwhile
        raise
    except Exception as error:
        sent_by = sender() if _while_reading(error.__traceback__) else None
        if sent_by is None:
            raise
        raise _unexpected(*sent_by, error) from error


def _unexpected(who: str, api: str, error: Exception) -> ShellError:
    """A decoded response with unexpected content. `__cause__` is for crash.log."""
    return ShellError(
        f"{who} sent a malformed response to {api}, or kafka.sh misread it: {_describe(error)}",
        hint=f"{_OURS} crash.log.",
        code="malformed-answer",
    )


def _while_reading(trace: TracebackType | None) -> bool:
    """Whether an exception comes from the code that reads responses, and not from its caller."""
    modules = []
    while trace is not None:
        modules.append(trace.tb_frame.f_globals.get("__name__", ""))
        trace = trace.tb_next
    while modules and modules[0] in _HERE:
        del modules[0]
    called = [
        name
        for name in modules[1:]  # the first one only calls the code that reads responses
        if name.startswith("kafka_shell.")
        and not name.startswith(_SHARED)
        and not name.endswith(".model")
    ]
    return bool(called) and called[-1].startswith(_READERS)


def _describe(error: Exception) -> str:
    """The type and place of an exception, without any part of the response."""
    if isinstance(error, MalformedError):
        return str(error)
    trace, place = error.__traceback__, ""
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        if name.startswith("kafka_shell."):
            place = f" in {name.removeprefix('kafka_shell.')}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return type(error).__name__ + place
