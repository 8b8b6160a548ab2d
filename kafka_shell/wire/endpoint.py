"""The address of a cluster and its security settings, and the sources of passwords. No sockets."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from msgspec import Struct, field

from kafka_shell.base.errors import ShellError, Status, UsageError, missing_package
from kafka_shell.base.plans import Secret
from kafka_shell.base.text import escape, masked

_TIMEOUT_S = 60.0  # a password manager may ask its user first

# The prompt and its cache log in at the same time, but the user must be asked only once.
_reading = Lock()
_passwords: dict[tuple[PasswordSource, str], Secret] = {}


class PasswordSource(Struct, frozen=True):
    """A shell command that prints the password, or the service name in the keyring."""

    command: str = ""
    keyring: str = ""
    where: str = ""

    def __repr__(self) -> str:
        return f"PasswordSource({self.where})"  # the command itself may contain a secret

    def read(self, username: str) -> Secret:
        """The password. It is cached until a login fails. Raises ShellError."""
        with _reading:
            password = _passwords.get((self, username))
            if password is None:
                text = self._from_command() if self.command else self._from_keyring(username)
                password = _passwords[self, username] = Secret(text)
            return password

    def forget(self, username: str) -> None:
        """Remove the password from the cache."""
        _passwords.pop((self, username), None)

    def _from_command(self) -> str:
        import subprocess

        try:
            done = subprocess.run(
                ["/bin/sh", "-c", self.command],
                stdin=subprocess.DEVNULL,  # standard input may be a script
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise self._failed(f"timed out after {_TIMEOUT_S:g} s", "") from None
        errors = done.stderr.decode("utf-8", "replace").strip().splitlines()
        if done.returncode:
            message = errors[0] if errors else ""
            raise self._failed(f"failed with exit status {done.returncode}", message)
        try:
            lines = done.stdout.decode("utf-8").splitlines()
        except UnicodeDecodeError:
            raise self._failed("printed text that is not UTF-8", "") from None
        if not lines or not lines[0]:
            raise self._failed("printed no password", "")
        return lines[0]

    def _failed(self, how: str, message: str) -> ShellError:
        detail = f": {masked(message, '***')}" if message else ""
        return ShellError(
            f"{self.where}: password-command {how}{detail}",
            hint="Use a command that prints the password on the first line of standard output.",
            code="password-command",
            status=Status.UNREACHABLE,
        )

    def _from_keyring(self, username: str) -> str:
        try:
            import keyring
        except ImportError:
            raise missing_package(f"{self.where}: a keyring", "keyring", "keyring") from None
        try:
            password: str | None = keyring.get_password(self.keyring, username)
        except Exception as error:  # each backend has its own exceptions
            raise ShellError(
                f"{self.where}: the keyring cannot be read: {masked(str(error), '***')}",
                hint="Unlock it, or check it with: keyring diagnose",
                code="keyring",
                status=Status.UNREACHABLE,
            ) from None
        if not password:
            raise ShellError(
                f"{self.where}: the keyring has no password of user {username} for {self.keyring}",
                hint=f"Store it with: keyring set {self.keyring} {username}",
                code="keyring",
                status=Status.UNREACHABLE,
            )
        return password


DEFAULT_PORT = 9092
STAND_INS = "stand-ins-"
"""The beginning of the cluster IDs of sandboxes whose broker answers for others at its address."""

LimitTime = Callable[[float], float]
"""Limits a number of seconds to the time that is left until the command's deadline."""

Refuse = Callable[[int, object], ShellError | None]
"""Why a request must not be sent, by its API key and target (`requests.Target`); None if it may."""

BrokerConfigs = Callable[[Any], Mapping[str, Any]]
"""Returns the configs of a broker by key, given the cluster."""


class _HostAndPort(NamedTuple):
    host: str
    port: int


class Address(_HostAndPort):
    """A host (a name, or an IP address without brackets) and a port."""

    __slots__ = ()

    def __new__(cls, host: str, port: int) -> Address:
        return super().__new__(cls, normalize_host(host), port)

    def __str__(self) -> str:
        host = escape(self.host)  # advertised listeners may contain any characters
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"


def normalize_host(host: str) -> str:
    """Return a name in lower case and without a final dot, which certificates do not have, so that
    equal hosts are equal; an IPv6 address as it is."""
    return host if ":" in host else host.rstrip(".").lower()


def normalize_url(url: str) -> str:
    """Return a URL with its host as in `normalize_host`."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    if not host.startswith("["):
        host, colon, port = host.partition(":")
        host = f"{normalize_host(host)}{colon}{port}"
    return parts._replace(netloc=f"{user}{at}{host}").geturl()


def is_loopback(host: str) -> bool:
    """Whether a host is this machine without asking a name server."""
    return re.fullmatch(r"localhost|::1|127(\.\d{1,3}){3}", normalize_host(host)) is not None


def parse_addresses(text: str) -> tuple[Address, ...]:
    """Addresses of a list such as `host:9092,[::1]:9092`. Raises UsageError."""
    addresses = tuple(_parse(word.strip()) for word in text.split(",") if word.strip())
    if not addresses:
        raise UsageError("no broker address", hint="Use host:port[,host:port].", code="bad-address")
    return addresses


def parse_address_map(text: str) -> tuple[tuple[str, str], ...]:
    """Pairs of a list such as `broker-2.internal:9092=localhost:19092,*.dc2:9092=gw:{port+10}`.
    Raises UsageError."""
    pairs = tuple(word.strip().partition("=") for word in text.split(",") if word.strip())
    for pattern, _, target in pairs:
        if (
            ":" not in pattern
            or not _VARIABLE.sub("1", target).strip().rpartition(":")[2].isdecimal()
        ):
            raise UsageError(
                f"{pattern}={target} does not map an address to an address",
                hint="Use HOST:PORT=HOST:PORT, with * in the first and {port+N} or {*+N} in the"
                " second.",
                code="bad-address-map",
            )
    return tuple((pattern.strip().lower(), target.strip()) for pattern, _, target in pairs)


_VARIABLE = re.compile(r"\{(port|\*)([+-]\d+)?\}")


def _mapped(address: Address, pattern: str, target: str) -> Address | None:
    """The address to connect to, if the pattern matches the advertised one."""
    match = re.fullmatch(re.escape(pattern).replace(r"\*", "(.*?)"), str(address))
    if match is None:
        return None
    values = {"port": str(address.port), "*": match[1] if match.groups() else ""}

    def value(variable: re.Match[str]) -> str:
        given = values[variable[1]]
        return str(int(given) + int(variable[2])) if variable[2] and given.isdecimal() else given

    return parse_addresses(_VARIABLE.sub(value, target))[0]


def _parse(word: str) -> Address:
    # Java accepts `PLAINTEXT://host:port` in bootstrap.servers and ignores the protocol.
    rest = word.rpartition("://")[2]
    if rest.startswith("["):
        host, bracket, port = rest[1:].partition("]")
        port = port.removeprefix(":")
        if not bracket:
            raise _bad(word, "missing closing bracket")
    elif rest.count(":") > 1:
        raise _bad(word, "an IPv6 address must be in brackets, such as [::1]:9092")
    else:
        host, _, port = rest.partition(":")
    if not host.rstrip(".") or (host.isascii() and host.isdigit()):
        raise _bad(word, "missing host")
    if not port:
        return Address(host, DEFAULT_PORT)
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise _bad(word, f"the port must be an integer from 1 to 65535, got {port!r}")
    return Address(host, int(port))


def _bad(word: str, why: str) -> UsageError:
    return UsageError(
        f"{word!r} is not a valid broker address: {why}",
        hint="Use host:port[,host:port].",
        code="bad-address",
    )


class Via(Struct, frozen=True):
    """A proxy between this program and brokers, registries and token endpoints. `scheme` is socks5,
    http (CONNECT), or ssh, whose port is 0 to use that of ssh_config."""

    scheme: str
    host: str
    port: int
    username: str = ""
    password: Secret | None = None

    def __str__(self) -> str:
        host = str(Address(self.host, self.port)) if self.port else escape(self.host)
        return f"{self.scheme}://{host}"


_VIA_PORTS = {"socks5": 1080, "http": 8080, "ssh": 0}


def parse_via(text: str) -> Via:
    """Return a proxy such as `socks5://user:password@proxy:1080` or `ssh://bastion`. Raises
    UsageError, without the text, which may have a password."""
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = parts.hostname or ""
    unused: tuple[str, ...] = (parts.path.strip("/"), parts.query, parts.fragment)
    if parts.scheme == "ssh":
        unused = (*unused, parts.password or "")
    if parts.scheme not in _VIA_PORTS or not host or host.startswith("-") or any(unused):
        raise UsageError(
            "via is not the URL of a proxy",
            hint="Use socks5://HOST:PORT, http://HOST:PORT or ssh://HOST, and %2F for / in a"
            " password.",
            code="bad-via",
        )
    return Via(
        parts.scheme,
        host,
        port or _VIA_PORTS[parts.scheme],
        unquote(parts.username or ""),
        Secret(unquote(parts.password)) if parts.password else None,
    )


PKCS12, JKS = b"\x30", b"\xfe\xed\xfe\xed"
"""How the files of Java's stores begin."""


def is_pem(data: bytes) -> bool:
    """Return whether a file is PEM, not a store of Java."""
    return b"-----BEGIN" in data


class Tls(Struct, frozen=True):
    """TLS settings. Each `*_file` is the path of a PEM file, or of a JKS or PKCS12 store, each
    `*_text` is PEM text.

    Without a CA, the system's trust store is used. The certificate's file may contain the key.
    """

    ca_file: str = ""
    ca_text: str = ""
    ca_password: Secret | None = None
    certificate_file: str = ""
    certificate_text: str = ""
    certificate_password: Secret | None = None
    key_text: Secret | None = None
    key_password: Secret | None = None
    check_hostname: bool = True
    minimum_version: str = "TLSv1.2"


class Assertion(Struct, frozen=True):
    """A JWT that proves to a token endpoint who the client is (RFC 7523): that of a file, or one
    signed with a private key. Its lifetime is in seconds, as is the time before now from which it
    is valid."""

    file: str = ""
    key_file: str = ""
    key_password: Secret | None = None
    algorithm: str = "RS256"
    template_file: str = ""
    claims: tuple[tuple[str, str], ...] = ()
    lifetime: int = 300
    valid_before: int = 60
    with_id: bool = False


class OAuth(Struct, frozen=True):
    """The source of OAUTHBEARER tokens; the first one that is set is used.

    `unsecured_claims` are the claims of an unsigned token (development brokers only). Endpoints
    are https URLs; `allow_loopback_http` also allows http on localhost. An assertion replaces the
    client secret, or, with `jwt_bearer`, the client credentials grant (KIP-1139, KIP-1258).
    """

    token: Secret | None = None
    token_file: str = ""
    token_endpoint: str = ""
    client_id: str = ""
    client_secret: Secret | None = None
    scope: str = ""
    assertion: Assertion | None = None
    jwt_bearer: bool = False
    unsecured_claims: tuple[tuple[str, str | float | tuple[str, ...]], ...] = ()
    extensions: tuple[tuple[str, str], ...] = ()
    allow_loopback_http: bool = False


class Sasl(Struct, frozen=True):
    """SASL settings: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, GSSAPI or AWS_MSK_IAM.

    `token`: the user name is the ID of a delegation token, and the password its HMAC (KIP-48).
    `options` are those of Java's login module, for GSSAPI and AWS_MSK_IAM.
    """

    mechanism: str
    username: str = ""
    password: Secret | None = None
    oauth: OAuth | None = None
    options: tuple[tuple[str, str], ...] = ()
    token: bool = False
    source: PasswordSource | None = None
    """The source of the password if it is not set here. Read at each login."""


class ConnectionConfig(Struct, frozen=True):
    """The connection settings of one cluster and user. Times are in seconds; reprs mask secrets.

    `call_timeout` limits calls without a deadline (Java's default.api.timeout.ms);
    `request_timeout` is how long a broker may take to respond.
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
    address_map: tuple[tuple[str, str], ...] = ()
    """Advertised addresses, which may have a `*`, and the addresses to connect to."""
    via: Via | None = None
    cluster_id: str = ""
    """The only cluster to use, or empty for the first one that responds."""
    avoid: frozenset[int] = frozenset()  # brokers that do not respond: nothing is sent to them
    behind: frozenset[Address] = frozenset()
    """Brokers whose metadata is out of date: they get no requests that any broker can answer."""
    refuse: Refuse | None = None
    """Checked before every request is sent. `requests.read_only` refuses changes."""
    broker_configs: BrokerConfigs | None = None
    """Returns the configs of a broker, where brokers do not: on a twin."""

    def reachable(self, address: Address) -> Address:
        """The address to connect to for an advertised one. TLS verifies the advertised host."""
        mapped = (_mapped(address, *pair) for pair in self.address_map)
        return next((target for target in mapped if target is not None), address)

    def route(self, address: Address) -> Via | None:
        """Return the proxy to an address to connect to; None to this machine."""
        return None if is_loopback(address.host) else self.via

    @property
    def uses_tls(self) -> bool:
        """Whether the protocol is SSL or SASL_SSL."""
        return self.security_protocol in ("SSL", "SASL_SSL")

    @property
    def uses_sasl(self) -> bool:
        """Whether the protocol is SASL_PLAINTEXT or SASL_SSL."""
        return self.security_protocol in ("SASL_PLAINTEXT", "SASL_SSL")
