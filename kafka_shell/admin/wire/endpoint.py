"""Where a cluster is and how one logs in: plain values, no sockets."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct, field

from kafka_shell.characters import escape
from kafka_shell.errors import UsageError
from kafka_shell.plan.model import Secret

from .password_source import PasswordSource

DEFAULT_PORT = 9092

Patience = Callable[[float], float]
"""So many seconds, or fewer where the command has fewer left: `--deadline` is one limit."""


class Address(NamedTuple):
    """A host (a name or an IP literal, without brackets) and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = escape(self.host)  # a cluster may advertise anything
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"


def parse_addresses(text: str) -> tuple[Address, ...]:
    """`host:port` pairs between commas; `[::1]:9092` for IPv6. Raises UsageError."""
    addresses = tuple(_parse(word.strip()) for word in text.split(",") if word.strip())
    if not addresses:
        raise UsageError("no broker is named", hint="name one as host:port", code="bad-address")
    return addresses


def _parse(word: str) -> Address:
    # Java accepts `PLAINTEXT://host:port` in bootstrap.servers; the protocol there means nothing.
    rest = word.rpartition("://")[2]
    if rest.startswith("["):
        host, bracket, port = rest[1:].partition("]")
        port = port.removeprefix(":")
        if not bracket:
            raise _bad(word, "its bracket is not closed")
    elif rest.count(":") > 1:
        raise _bad(word, "an IPv6 address goes in brackets: [::1]:9092")
    else:
        host, _, port = rest.partition(":")
    if not host:
        raise _bad(word, "it has no host")
    if host.isascii() and host.isdigit():
        raise _bad(word, "it has a port and no host")
    if not port:
        return Address(host, DEFAULT_PORT)
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise _bad(word, f"{port!r} is no port (1 to 65535)")
    return Address(host, int(port))


def _bad(word: str, why: str) -> UsageError:
    return UsageError(
        f"{word!r} is no broker address: {why}", hint="write host:port", code="bad-address"
    )


class Tls(Struct, frozen=True):
    """What TLS trusts and shows. Each `*_file` is a PEM path, each `*_text` PEM itself.

    Without a CA the system's trust store holds. The key may stand in the certificate's file.
    """

    ca_file: str = ""
    ca_text: str = ""
    certificate_file: str = ""
    certificate_text: str = ""
    key_text: Secret | None = None
    key_password: Secret | None = None
    check_hostname: bool = True
    minimum_version: str = "TLSv1.2"


class OAuth(Struct, frozen=True):
    """Where an OAUTHBEARER token comes from; the first that is set is used.

    `unsecured_claims` make an unsigned token (development brokers only). An endpoint is an https
    address; `allow_loopback_http` also takes http on this machine itself.
    """

    token: Secret | None = None
    token_file: str = ""
    token_endpoint: str = ""
    client_id: str = ""
    client_secret: Secret | None = None
    scope: str = ""
    unsecured_claims: tuple[tuple[str, str | float | tuple[str, ...]], ...] = ()
    extensions: tuple[tuple[str, str], ...] = ()
    allow_loopback_http: bool = False


class Sasl(Struct, frozen=True):
    """How one logs in: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER or GSSAPI.

    `token`: the user name is a delegation token's id and the password its HMAC (KIP-48, SCRAM).
    """

    mechanism: str
    username: str = ""
    password: Secret | None = None
    oauth: OAuth | None = None
    service_name: str = "kafka"
    token: bool = False
    source: PasswordSource | None = None
    """Where the password comes from when it is not written down: read at each login."""


class ConnectionConfig(Struct, frozen=True):
    """One cluster and one identity. Times are seconds; reprs show no secret.

    `call_timeout` bounds a call for which nobody set a deadline (Java's default.api.timeout.ms);
    `request_timeout` is how long a broker may be silent while an answer is due.
    """

    bootstrap: tuple[Address, ...] = (Address("localhost", DEFAULT_PORT),)
    security_protocol: str = "PLAINTEXT"
    sasl: Sasl | None = None
    tls: Tls = field(default_factory=Tls)
    client_id: str = "kafka-sh"
    connect_timeout: float = 10.0
    request_timeout: float = 30.0
    call_timeout: float = 60.0
    backoff: float = 0.1
    backoff_max: float = 1.0
    max_frame: int = 1 << 27
    cluster_id: str = ""
    """The only cluster to talk to, or empty: then the first one that answers."""
    avoid: frozenset[int] = frozenset()  # brokers known not to answer: nothing is sent to them

    @property
    def uses_tls(self) -> bool:
        """Whether the protocol is SSL or SASL_SSL."""
        return self.security_protocol in ("SSL", "SASL_SSL")

    @property
    def uses_sasl(self) -> bool:
        """Whether the protocol is SASL_PLAINTEXT or SASL_SSL."""
        return self.security_protocol in ("SASL_PLAINTEXT", "SASL_SSL")
