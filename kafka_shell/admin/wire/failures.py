"""Failures that brokers report, and the exceptions of the connection."""

from __future__ import annotations

import re

from kafka_shell.admin.wire import error_codes as codes
from kafka_shell.common.escaping import quoted
from kafka_shell.common.resource import Resource
from kafka_shell.errors import ShellError, Status
from kafka_shell.plan.results import Failure, as_failure, mentions

# The request went to the wrong broker, or the broker is not ready. Nothing was done: retry.
COORDINATION = frozenset(
    {
        codes.COORDINATOR_LOAD_IN_PROGRESS,
        codes.COORDINATOR_NOT_AVAILABLE,
        codes.NOT_COORDINATOR,
        codes.NOT_CONTROLLER,
    }
)
# Another broker is the coordinator. One that is still loading its state stays the coordinator.
COORDINATOR_MOVED = frozenset({codes.COORDINATOR_NOT_AVAILABLE, codes.NOT_COORDINATOR})
AUTHORIZATION = frozenset(
    {
        codes.TOPIC_AUTHORIZATION_FAILED,
        codes.GROUP_AUTHORIZATION_FAILED,
        codes.CLUSTER_AUTHORIZATION_FAILED,
        codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        codes.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
    }
)
MOVED = COORDINATION | {codes.LEADER_NOT_AVAILABLE, codes.NOT_LEADER_OR_FOLLOWER}
# ... or a leader that has not applied the creation of the topic, or its election, yet.
NEW_LEADER = MOVED | {
    codes.UNKNOWN_TOPIC_OR_PARTITION,
    codes.FENCED_LEADER_EPOCH,
    codes.UNKNOWN_LEADER_EPOCH,
}
# A broker's message with its whole request object in it, and the missing operation at the end.
_NEEDS = re.compile(r"Request Request\(.*\) needs ([A-Z_]{1,40} permission)\.?", re.DOTALL)

_DENIED = re.compile(r"([A-Z][a-z]+ )?[Aa]uthorization failed\.")  # and nothing more

MAY_STILL_HAPPEN = "; the change may still be applied"
"""The end of the message if the deadline passed after a change was sent."""
DEADLINE_EXCEEDED = "deadline exceeded"
"""In the message if a longer deadline of the user may help."""


def late(extensible: bool) -> str:
    """What happened: the deadline of the user has passed, or a limit of the program."""
    return DEADLINE_EXCEEDED if extensible else "timed out"


def error_name(code: int) -> str:
    """Kafka's name of an error code, or its number if unknown."""
    return codes.ERRORS[code][0] if code in codes.ERRORS else f"UNKNOWN_ERROR_{code}"


def failure(
    code: int,
    message: str | None = None,
    *,
    text: str = "",
    about: str = "",
    hint: str = "",
    see: Resource | None = None,
) -> Failure:
    """A failure with Kafka's error code.

    `message` is the broker's own message and is always shown in quotes; `text` replaces it. Without
    either, the error code's description is used. `about` is the resource (`topic orders`); it is
    prepended unless the message contains it.
    """
    default = codes.ERRORS.get(code, ("", ""))[1] or f"the broker returned error code {code}"
    remote = (message or "").strip()
    if code in AUTHORIZATION and _DENIED.fullmatch(remote):
        remote = ""
    if needed := _NEEDS.fullmatch(remote):
        text, hint = default, hint or f"Requires {needed[1]}."
    shown = text or (quoted(remote) if remote else default)
    subject = f"{about}: " if about and not mentions(text or remote or default, about) else ""
    return Failure(error_name(code), subject + shown, code, hint, see)


def requires(code: int, permission: str) -> str:
    """The hint of an authorization error, for example "Requires DESCRIBE on topic orders."."""
    return f"Requires {permission}." if code in AUTHORIZATION else ""


def failure_of_rest(error: ShellError | KeyboardInterrupt, *, received: bool) -> Failure:
    """The failure of the items whose request raised this error. Raises the error if no outcome of
    others was `received` before: then it is that of the whole step."""
    if not received:
        raise error
    if isinstance(error, KeyboardInterrupt):
        message = f"interrupted before the broker responded{MAY_STILL_HAPPEN}"
        return Failure("outcome-unknown", message)
    return as_failure(error)


def in_one_line(failure: Failure) -> str:
    """The failure in one line, with the missing permission (from its hint)."""
    hint = failure.hint if failure.code in AUTHORIZATION else ""
    message = failure.message.rstrip(". ")
    stop = "" if message.endswith('."') else "."  # a broker's own text may end with one
    return (f"{message}{stop} {hint}" if hint else message).rstrip(". ").replace("\n", " ")


def as_error(failure: Failure) -> ShellError:
    """A Failure as an exception."""
    error = BrokerError(failure.message, hint=failure.hint, code=failure.name, see=failure.see)
    error.kafka_code = failure.code
    return error


class BrokerError(ShellError):
    """A broker refused the whole request. `kafka_code` is Kafka's error code."""

    kafka_code: int | None = None


def unreachable(message: str, hint: str, code: str) -> ShellError:
    """An error with exit status 3: no connection, or authentication failed."""
    return ShellError(message, hint=hint, code=code, status=Status.UNREACHABLE)


class OtherClusterError(ShellError):
    """Another cluster answers at the address of the expected one. Nothing was sent to it. `sent`:
    something was sent to the expected one before."""

    sent = False

    def __init__(self, where: str, expected: str, found: str) -> None:
        super().__init__(
            f"{where} is now cluster {quoted(found)}, not cluster {expected}",
            hint="Nothing was sent.",
            code="other-cluster",
        )
        self.where = where
        self.found = found


class NoBrokerError(ShellError):
    """No broker at all could be reached."""
