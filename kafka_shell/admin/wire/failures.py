"""Error codes of answers as failures with a name and a sentence."""

from __future__ import annotations

import re

from kafka_shell.characters import quoted
from kafka_shell.errors import ShellError, Status
from kafka_shell.plan.results import Failure, names
from kafka_shell.resource import Resource

from .error_codes import ERRORS

NONE = 0
REQUEST_TIMED_OUT = 7
COORDINATOR_LOAD_IN_PROGRESS = 14
COORDINATOR_NOT_AVAILABLE = 15
NOT_COORDINATOR = 16
UNSUPPORTED_SASL_MECHANISM = 33
ILLEGAL_SASL_STATE = 34
UNSUPPORTED_VERSION = 35
NOT_CONTROLLER = 41
CONCURRENT_TRANSACTIONS = 51

# The broker asked was the wrong one, or not ready, and nothing was done: ask again.
COORDINATION = frozenset(
    {COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, NOT_CONTROLLER}
)
AUTHORIZATION = frozenset({29, 30, 31, 53, 65})  # of topic, group, cluster, transaction, token
MOVED = COORDINATION | {5, 6}  # and LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER
# The broker prints its own request object, and then the operation that is missing.
_NEEDS = re.compile(r"Request Request\(.*\) needs ([A-Z_]{1,40} permission)\.?", re.DOTALL)


def error_name(code: int) -> str:
    """Kafka's own name of an error code; one that is not known here keeps its number."""
    return ERRORS[code][0] if code in ERRORS else f"UNKNOWN_ERROR_{code}"


def failure(
    code: int,
    message: str | None = None,
    *,
    ours: str = "",
    about: str = "",
    hint: str = "",
    see: Resource | None = None,
) -> Failure:
    """A failure that a broker reported, or would report.

    `message` is the broker's own text and is always shown in quotes; `ours` is what this program
    says instead. Without either it is the error code's sentence. `about` names the resource
    (`topic orders`) and is added where the text does not name it.
    """
    known = ERRORS.get(code, ("", ""))[1] or f"the broker answered error code {code}"
    remote = (message or "").strip()
    if found := _NEEDS.fullmatch(remote):
        ours = f"{known}: it needs {found[1]}"
    said = ours or (quoted(remote) if remote else known)
    subject = f"{about}: " if about and not names(ours or remote or known, about) else ""
    return Failure(error_name(code), subject + said, code, hint, see)


def needs(code: int, permission: str) -> str:
    """The hint of an authorization error: which operation on which resource is missing."""
    return f"It takes {permission}." if code in AUTHORIZATION else ""


def as_failure(error: ShellError) -> Failure:
    """A failure of this side (or one that came by this way) as data."""
    code = getattr(error, "kafka_code", None)
    return Failure(error.code, error.message, code, error.hint, error.see)


def as_error(why: Failure, status: Status = Status.FAILED) -> ShellError:
    """A failure as the exception that ends a command."""
    error = BrokerError(why.message, hint=why.hint, code=why.name, status=status, see=why.see)
    error.kafka_code = why.code
    return error


class BrokerError(ShellError):
    """A broker's refusal of a whole request. `kafka_code` is Kafka's error code."""

    kafka_code: int | None = None


def unreachable(message: str, hint: str, code: str) -> ShellError:
    """No connection, or no login: exit status 3."""
    return ShellError(message, hint=hint, code=code, status=Status.UNREACHABLE)


class OtherClusterError(ShellError):
    """Another cluster answers where the one that is meant was. Nothing was sent to it."""

    def __init__(self, where: str, expected: str, found: str) -> None:
        super().__init__(
            f"{where} is cluster {found} now, not cluster {expected}",
            hint="Nothing was sent to it.",
            code="other-cluster",
        )
        self.where = where
        self.expected = expected
        self.found = found


class NoBrokerError(ShellError):
    """Not one broker could be entered: no call has a chance."""
