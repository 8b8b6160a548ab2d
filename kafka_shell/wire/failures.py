"""Failures that brokers report, and the exceptions of the connection."""

from __future__ import annotations

import errno
import re
import socket
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.results import Failure, as_failure, mentions
from kafka_shell.base.structs import Resource, replace
from kafka_shell.base.text import quoted
from kafka_shell.wire import error_codes as codes
from kafka_shell.wire.endpoint import Address
from kafka_shell.wire.frames import MalformedError

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

# What a broker says that its error code does not say shorter.
_REDUNDANT = re.compile(r"([A-Z][a-z]+ )?[Aa]uthorization failed\.|Topic '.*' already exists\.")

MAY_STILL_HAPPEN = "; the change may still be applied"
"""The end of the message if the deadline passed after a change was sent."""


def late(extensible: bool) -> str:
    """What happened: the deadline of the user has passed, or a limit of the program."""
    return "deadline exceeded" if extensible else "timed out"


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
    requires: str = "",
) -> Failure:
    """A failure with Kafka's error code.

    `message` is the broker's own message and is always shown in quotes; `text` replaces it. Without
    either, the error code's description is used. `about` is the resource (`topic orders`), which
    is named unless the message contains it. `requires` is the permission that the API requires:
    `DESCRIBE on topic orders`.
    """
    default = codes.ERRORS.get(code, ("", ""))[1] or f"the broker returned error code {code}"
    remote = (message or "").strip()
    if _REDUNDANT.fullmatch(remote):
        remote = ""
    if needed := _NEEDS.fullmatch(remote):
        text, requires = default, needed[1] if code in AUTHORIZATION and not requires else requires
    shown = text or (quoted(remote) if remote else default)
    if about and not mentions(text or remote or default, about):
        # The resource is the subject of `the topic already exists`.
        kind = re.escape(about.partition(" ")[0])
        subject = rf"the (topic or partition|{kind}) (?=(already|does|has|is) )"
        named, count = re.subn(f"^{subject}", lambda _: f"{about} ", shown)
        shown = named if count else f"{about}: {shown}"
    return requiring(Failure(error_name(code), shown, code, hint, see), requires)


def requiring(why: Failure, requires: str) -> Failure:
    """The failure, which names this permission if it is an authorization error."""
    if not requires or why.code not in AUTHORIZATION:
        return why
    return replace(why, hint=f"Requires {requires}.", requires=requires)


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
    message = failure.message.rstrip(". ")
    if failure.requires:
        stop = "" if message.endswith('."') else "."  # a broker's own text may end with one
        message += f"{stop} Requires {failure.requires}"
    return message.replace("\n", " ")


def as_error(failure: Failure) -> ShellError:
    """A Failure as an exception."""
    error = BrokerError(failure.message, hint=failure.hint, code=failure.name, see=failure.see)
    error.kafka_code, error.requires = failure.code, failure.requires
    return error


class BrokerError(ShellError):
    """A broker refused the whole request. `kafka_code` is Kafka's error code, and `requires` the
    missing permission."""

    kafka_code: int | None = None
    requires = ""


def raise_first(failures: Mapping[Any, Failure]) -> None:
    """Raise the first of the failures, if there are any."""
    for why in failures.values():
        raise as_error(why)


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
            code="other-cluster",
        )
        self.where = where
        self.found = found


class NoBrokerError(ShellError):
    """No broker at all could be reached."""


# The errors of connections.

TEMPORARY = frozenset(
    {
        "refused",
        "connect-timeout",
        "connection-lost",
        "closed-early",
        "no-answer",
        "no-broker",
        "via",
    }
)
"""The codes of errors after which the same broker may be reached later."""


def unknown_host(address: Address, error: OSError) -> ShellError:
    """The host name cannot be resolved."""
    if error.errno == socket.EAI_AGAIN:
        return unreachable(
            f"cannot resolve {address.host}: the DNS server does not respond",
            "Check the network and /etc/resolv.conf.",
            "unknown-host",
        )
    return unreachable(
        f"cannot resolve host name {address.host}",
        "Check the bootstrap servers for typos, then DNS on this machine.",
        "unknown-host",
    )


def connect_error(address: Address, error: OSError | None) -> ShellError:
    """The TCP connection failed."""
    code = error.errno if error else None
    if code == errno.ECONNREFUSED:
        return unreachable(
            f"{address} refused the connection: no process listens on this port",
            "Check that the broker is running and that the port is correct.",
            "refused",
        )
    if code == errno.ETIMEDOUT:
        return connect_timeout(address)
    why = errno.errorcode.get(code or 0, "") if code else "no address"
    if code in (errno.ENETUNREACH, errno.EHOSTUNREACH):
        why = "no route to host"
    return unreachable(f"{address} cannot be reached: {why}", "Check the network.", "unreachable")


def connect_timeout(address: Address) -> ShellError:
    """There was no response to the TCP handshake."""
    return unreachable(
        f"{address} does not respond: TCP connection timed out",
        "The host may be down, or a firewall may block it. Check the address and the network.",
        "connect-timeout",
    )


def lost(address: Address) -> ShellError:
    """An established connection was closed."""
    return unreachable(
        f"the connection to {address} was lost",
        "The broker may be restarting. Retry the command.",
        "connection-lost",
    )


def token_expired(address: Address, token: str) -> ShellError:
    """The connection was closed at the first request after a login with a delegation token: that is
    how brokers reject an expired token."""
    return unreachable(
        f"{address} closed the session of delegation token {token}: the token may have expired",
        "Check its expiry time as its owner, or use a new delegation token.",
        "token-expired",
    )


def silent(address: Address, seconds: float) -> ShellError:
    """A response is overdue."""
    return unreachable(
        f"{address} accepted the connection but has not responded for {seconds:.0f} s",
        "The broker may be overloaded, or the address may not be a Kafka listener.",
        "no-answer",
    )


def not_kafka(address: Address, data: bytes) -> ShellError:
    """The other side does not use the Kafka protocol. `data` is the beginning of its response."""
    if is_tls_alert(data):
        return tls_needed(address)
    words = data.partition(b"\r")[0].partition(b"\n")[0][:40]
    text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in words)
    response = f": it responded with {quoted(text)}" if sum(c.isalnum() for c in text) >= 3 else ""
    what = "an HTTP server" if data[:5] == b"HTTP/" else "not a Kafka broker"
    return unreachable(
        f"{address} is {what}{response}",
        "Check the port. Kafka's default port is 9092.",
        "not-kafka",
    )


def is_tls_alert(data: bytes) -> bool:
    """Whether a response begins with an alert of TLS, which a TLS listener sends to plaintext."""
    return data[:2] == b"\x15\x03"


def tls_needed(address: Address) -> ShellError:
    """A plaintext connection to a TLS listener."""
    return unreachable(
        f"{address} requires TLS",
        "Set security.protocol=SSL (SASL_SSL if it also uses SASL) in the client properties.",
        "tls-needed",
    )


def closed_early(address: Address, uses_tls: bool) -> ShellError:
    """Closed before the first response, for an unknown reason."""
    if uses_tls:
        hint = "The broker may be starting or stopping, or it may not be a Kafka broker. Try again."
    else:
        hint = "The listener may require TLS (security.protocol=SSL), or not be a Kafka broker."
    return unreachable(
        f"{address} closed the connection at the first request", hint, "closed-early"
    )


# The error for responses that cannot be read, with the broker and the API.

# What reading a response of unexpected content raises.
_UNEXPECTED = (
    ArithmeticError, AssertionError, AttributeError, LookupError, StopIteration, TypeError,
    ValueError, struct.error,
)  # fmt: skip


class MisreadError(ShellError):
    """An unexpected exception after a response was decoded, which is its `__cause__`: a bug of
    kafka.sh, or unexpected content of the response."""


def malformed(who: str, api: str, why: object, status: Status = Status.FAILED) -> ShellError:
    """The response of a broker cannot be read. `why` is an exception or a reason."""
    reason = _describe(why) if isinstance(why, Exception) else why
    return ShellError(
        f"{who} sent a malformed response to {api}: {reason}",
        hint="Check the proxies between this machine and the broker, and the broker's log.",
        code="malformed-answer",
        status=status,
    )


@contextmanager
def reading(sender: Callable[[], tuple[str, str] | None]) -> Iterator[None]:
    """Turn unexpected exceptions into MisreadErrors.

    A decoded response can still be invalid: the requested partition or a name is missing, or a
    number is unknown. `sender` returns the broker and the API of the last responses, if any.
    """
    try:
        yield
    except _UNEXPECTED as error:
        sent_by = sender()
        if sent_by is None:
            raise
        who, api = sent_by
        raise MisreadError(
            f"internal error in kafka.sh, or {who} sent a malformed response to {api}:"
            f" {_describe(error)}",
            hint="Please report it as a bug in kafka.sh, unless the broker is at fault.",
            code="malformed-answer",
        ) from error


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


class SaslRefusedError(Exception):
    """A mechanism failed. The text has no secret, and messages of the broker or a library are in
    quotes."""


class SaslUnsafeError(SaslRefusedError):
    """The server's challenge could expose the password."""
