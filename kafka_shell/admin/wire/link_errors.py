"""Why a connection does not come about, or ends: each failure its own error."""

from __future__ import annotations

import errno
import socket

from kafka_shell.characters import quoted
from kafka_shell.errors import ShellError

from .endpoint import Address
from .failures import unreachable


def unknown_host(address: Address, error: OSError) -> ShellError:
    """The name has no address, or the name server did not say."""
    if error.errno == socket.EAI_AGAIN:
        return unreachable(
            f"the name server did not answer for {address.host}",
            "Check the network and /etc/resolv.conf.",
            "unknown-host",
        )
    return unreachable(
        f"the name {address.host} does not resolve",
        "Check the spelling of --broker, and that this machine's name server knows the name.",
        "unknown-host",
    )


def connect_error(address: Address, error: OSError | None) -> ShellError:
    """Why no TCP connection came about."""
    code = error.errno if error else None
    if code == errno.ECONNREFUSED:
        return unreachable(
            f"{address} refused the connection: nothing listens there",
            "Is the broker up, and the port right? Without a cluster at hand: kafka.sh --sandbox",
            "refused",
        )
    if code == errno.ETIMEDOUT:
        return connect_timeout(address)
    why = errno.errorcode.get(code or 0, "") if code else "no address"
    text = "there is no route to it" if code in (errno.ENETUNREACH, errno.EHOSTUNREACH) else why
    return unreachable(f"{address} cannot be reached: {text}", "Check the network.", "unreachable")


def connect_timeout(address: Address) -> ShellError:
    """Nothing came back for the TCP handshake."""
    return unreachable(
        f"{address} does not answer: no TCP connection came about",
        "A firewall may drop it, or the machine is down. Check the address and the network.",
        "connect-timeout",
    )


def lost(address: Address) -> ShellError:
    """It was up, and is not any more."""
    return unreachable(
        f"the connection to {address} was lost",
        "The broker may be restarting. Try again.",
        "connection-lost",
    )


def token_expired(address: Address, token: str) -> ShellError:
    """A login by delegation token was taken, and ended at the first request: brokers end a session
    whose token has expired without a word."""
    return unreachable(
        f"{address} ended the session of delegation token {token}: the token has probably expired",
        "Its owner can see that with describe-tokens. Create a new one with create-token.",
        "token-expired",
    )


def silent(address: Address, seconds: float) -> ShellError:
    """An answer is due and does not come."""
    return unreachable(
        f"{address} took the connection but has not answered for {seconds:.0f} s",
        "The broker may be overloaded, or this is no Kafka listener.",
        "no-answer",
    )


def not_kafka(address: Address, data: bytes) -> ShellError:
    """The other side speaks something else; `data` is how it began."""
    if data[:2] == b"\x15\x03":
        return tls_needed(address)
    words = data.partition(b"\r")[0].partition(b"\n")[0][:40]
    text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in words)
    said = f": it answers {quoted(text)}" if sum(c.isalnum() for c in text) >= 3 else ""
    what = "an HTTP server" if data[:5] == b"HTTP/" else "not a Kafka broker"
    return unreachable(
        f"{address} is {what}{said}", "Check the port: Kafka's is usually 9092.", "not-kafka"
    )


def tls_needed(address: Address) -> ShellError:
    """A TLS port was spoken to in plain text."""
    return unreachable(
        f"{address} speaks TLS, but was spoken to in plain text",
        "Set security.protocol=SSL, or SASL_SSL where it wants a login, in --command-config.",
        "tls-needed",
    )


def closed_early(address: Address) -> ShellError:
    """Closed before the first answer: it could be anything."""
    return unreachable(
        f"{address} closed the connection at the first request",
        "It may be no broker, or a listener that wants TLS (security.protocol=SSL).",
        "closed-early",
    )
