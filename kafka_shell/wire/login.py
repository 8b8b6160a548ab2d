"""Login at a broker: ApiVersions (API key 18), then SASL if configured (KIP-12, 43, 152)."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any, NamedTuple

from kafka_shell.base.errors import ShellError
from kafka_shell.base.text import quoted
from kafka_shell.wire import frames
from kafka_shell.wire.endpoint import Address, ConnectionConfig, LimitTime, Sasl
from kafka_shell.wire.error_codes import (
    ILLEGAL_SASL_STATE,
    UNSUPPORTED_SASL_MECHANISM,
    UNSUPPORTED_VERSION,
)
from kafka_shell.wire.failures import (
    SaslRefusedError,
    SaslUnsafeError,
    failure,
    not_kafka,
    unreachable,
)

_MECHANISM = re.compile(r"[A-Z0-9_-]{1,20}")  # RFC 4422; other names are not shown
_MAX_STEPS = 16  # SCRAM has two, GSSAPI a few


class LoginRequest(NamedTuple):
    """One request of the login. The generator that yields it receives the response's body."""

    api_key: int
    version: int
    body: bytes
    flexible: bool = False


class LoginResult(NamedTuple):
    """The result of a login. `lifetime` is in seconds, None for unlimited."""

    versions: frames.Versions
    lifetime: float | None = None


_HINTS = {
    "AWS_MSK_IAM": "Check that IAM allows this identity kafka-cluster:Connect.",
    "GSSAPI": "Check the principal, the clock, and the key tables of the brokers.",
    "OAUTHBEARER": "Check that the brokers accept the issuer, audience and scope of the token.",
}

Login = Generator[LoginRequest, memoryview, LoginResult]


def log_in(config: ConnectionConfig, address: Address, limit_time: LimitTime) -> Login:
    """The login of a new connection. Yields requests, receives response bodies."""
    versions = yield from _api_versions(address)
    if not config.uses_sasl:
        return LoginResult(versions)
    sasl = config.sasl
    if sasl is None or not sasl.mechanism:
        raise no_credentials(config, address)
    lifetime = yield from _sasl(config, sasl, address, versions, limit_time)
    return LoginResult(versions, lifetime)


def request_api_versions(config: ConnectionConfig, address: Address) -> Login:
    """Only ApiVersions, without SASL: whether a broker responds."""
    return LoginResult((yield from _api_versions(address)))


def _api_versions(address: Address) -> Generator[LoginRequest, memoryview, frames.Versions]:
    for version in (3, 0):
        body = yield LoginRequest(
            frames.API_VERSIONS, version, frames.api_versions_body(version), flexible=version >= 3
        )
        error, versions = frames.read_api_versions(body, version)
        if not error:
            return versions
        if error != UNSUPPORTED_VERSION:
            raise unreachable(f"{address} refused the connection: {failure(error)}", "", "refused")
    raise not_kafka(address, b"")


def _sasl(
    config: ConnectionConfig,
    sasl: Sasl,
    address: Address,
    versions: frames.Versions,
    limit_time: LimitTime,
) -> Generator[LoginRequest, memoryview, float | None]:
    from kafka_shell.wire.codec import sasl_mechanism

    if frames.SASL_AUTHENTICATE not in versions:
        raise unreachable(
            f"{address} is older than Kafka 1.0: its SASL framing is not supported", "", "too-old"
        )
    client = sasl_mechanism(config, sasl, address, limit_time)
    body = yield LoginRequest(frames.SASL_HANDSHAKE, 1, frames.sasl_handshake_body(sasl.mechanism))
    _check_handshake(*frames.read_sasl_handshake(body), sasl.mechanism, address)
    version = min(1, versions[frames.SASL_AUTHENTICATE][1])
    answer = frames.SaslAnswer(0, "", b"")
    for _ in range(_MAX_STEPS):
        if client.is_done():
            break
        token = sasl_token(client, sasl, address)
        body = yield LoginRequest(
            frames.SASL_AUTHENTICATE, version, frames.sasl_authenticate_body(token)
        )
        answer = frames.read_sasl_authenticate(body, version)
        if answer.error:
            why = quoted(answer.message) if answer.message else failure(answer.error).message
            raise _login_failed(sasl, address, why)
        try:
            client.receive(answer.token)
        except SaslUnsafeError as error:
            raise unreachable(
                f"authentication at {address} was aborted ({sasl.mechanism}): {error}",
                "The server may be impersonating the broker to get the password. Check the address,"
                " and use SASL_SSL.",
                "sasl-unsafe",
            ) from None
        except SaslRefusedError as error:
            raise _login_failed(sasl, address, str(error)) from None
    if not client.is_authenticated():
        raise _login_failed(sasl, address, "the broker did not confirm the authentication")
    return answer.lifetime / 1000 if answer.lifetime else None


def sasl_token(client: Any, sasl: Sasl, address: Address) -> bytes:
    """The next token of a mechanism. Raises ShellError."""
    try:
        token: bytes = client.auth_bytes()
    except SaslRefusedError as error:
        raise _login_failed(sasl, address, str(error)) from None
    return token


def _check_handshake(
    error: int, enabled: tuple[str, ...], mechanism: str, address: Address
) -> None:
    if error == UNSUPPORTED_SASL_MECHANISM:
        enabled = _names(enabled)
        mechanisms = f" (enabled: {', '.join(enabled)})" if enabled else ""
        raise unreachable(
            f"SASL {mechanism} is not enabled at {address}{mechanisms}",
            f"Set sasl.mechanism={enabled[0]}." if enabled else "",
            "sasl-mechanism",
        )
    if error == ILLEGAL_SASL_STATE:
        raise unreachable(
            f"the listener at {address} does not use SASL",
            "Set security.protocol=PLAINTEXT (SSL with TLS), or use the port of a SASL listener.",
            "sasl-not-wanted",
        )
    if error:
        raise unreachable(f"SASL handshake at {address}: {failure(error)}", "", "sasl-failed")


def _names(enabled: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in enabled if _MECHANISM.fullmatch(name))


def _login_failed(sasl: Sasl, address: Address, why: str) -> ShellError:
    if sasl.source is not None:
        sasl.source.forget(sasl.username)  # the password may have changed
    who = f" as {sasl.username}" if sasl.username else ""
    why = why.replace('"Authentication failed: ', '"', 1).rstrip(". ")
    hint = _HINTS.get(sasl.mechanism, "Check the user name, the password and sasl.mechanism.")
    if sasl.token:
        who = f" with delegation token {sasl.username}"
        hint = "The token may have expired. Check its expiry time as its owner."
    return unreachable(
        f"authentication at {address}{who} failed ({sasl.mechanism}): {why}",
        hint,
        "sasl-failed",
    )


def no_credentials(config: ConnectionConfig, address: Address) -> ShellError:
    """SASL is configured without credentials."""
    return unreachable(
        f"security.protocol is {config.security_protocol}, but no credentials are configured",
        "Set sasl.mechanism and sasl.jaas.config in the client properties.",
        "sasl-needed",
    )


def sasl_needed(config: ConnectionConfig, address: Address, enabled: tuple[str, ...]) -> ShellError:
    """The listener requires authentication."""
    enabled = _names(enabled)
    protocol = "SASL_SSL" if config.uses_tls else "SASL_PLAINTEXT"
    first = f"sasl.mechanism={enabled[0]}" if enabled else "sasl.mechanism"
    return unreachable(
        f"{address} requires authentication (SASL: {', '.join(enabled) or 'unknown mechanisms'})",
        f"Set security.protocol={protocol}, {first} and sasl.jaas.config in the client properties.",
        "sasl-needed",
    )
