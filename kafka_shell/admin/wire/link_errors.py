"""The errors of connections."""

from __future__ import annotations

import errno
import socket

from kafka_shell.admin.wire.endpoint import Address
from kafka_shell.admin.wire.failures import unreachable
from kafka_shell.common.escaping import quoted
from kafka_shell.errors import ShellError

TEMPORARY = frozenset(
    {"refused", "connect-timeout", "connection-lost", "closed-early", "no-answer", "no-broker"}
)
"""The codes of errors after which the same broker may be reached later."""


def unknown_host(address: Address, error: OSError) -> ShellError:
    """The host name cannot be resolved."""
    if error.errno == socket.EAI_AGAIN:
        return unreachable(
            f"the name server does not respond: cannot resolve {address.host}",
            "Check the network and /etc/resolv.conf.",
            "unknown-host",
        )
    return unreachable(
        f"cannot resolve host name {address.host}",
        "Check the spelling of the bootstrap servers, and the name server of this machine.",
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
        "Set security.protocol=SSL (SASL_SSL if it requires a login) in the client properties.",
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
