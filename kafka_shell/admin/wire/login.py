"""Entering a broker: ApiVersions (API key 18), then SASL (KIP-12, 43, 152) where it is wanted."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any

from kafka_shell.characters import quoted
from kafka_shell.errors import ShellError

from . import frames
from .endpoint import Address, ConnectionConfig, Patience, Sasl
from .exchanges import Ask, Entry, Login
from .failures import (
    ILLEGAL_SASL_STATE,
    UNSUPPORTED_SASL_MECHANISM,
    UNSUPPORTED_VERSION,
    failure,
    unreachable,
)
from .link_errors import not_kafka

_MECHANISM = re.compile(r"[A-Z0-9_-]{1,20}")  # RFC 4422; anything else is no name to repeat
_MOST_STEPS = 16  # SCRAM takes two, GSSAPI a few: more is a broker gone mad


def log_in(config: ConnectionConfig, address: Address, patience: Patience) -> Login:
    """What a fresh connection says first. Yields requests, is sent bodies, returns an Entry."""
    versions = yield from _api_versions(address)
    if not config.uses_sasl:
        return Entry(versions)
    sasl = config.sasl
    if sasl is None or not sasl.mechanism:
        raise no_credentials(config, address)
    lifetime = yield from _sasl(config, sasl, address, versions, patience)
    return Entry(versions, lifetime)


def greet(config: ConnectionConfig, address: Address) -> Login:
    """ApiVersions alone, without a login: whether somebody answers there."""
    return Entry((yield from _api_versions(address)))


def _api_versions(address: Address) -> Generator[Ask, memoryview, frames.Versions]:
    for version in (3, 0):
        body = yield Ask(
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
    patience: Patience,
) -> Generator[Ask, memoryview, float | None]:
    from .codec import SaslRefusedError, SaslUnsafeError, sasl_mechanism

    if frames.SASL_AUTHENTICATE not in versions:
        raise unreachable(
            f"{address} is older than Kafka 1.0: its SASL framing is not spoken here", "", "too-old"
        )
    client = sasl_mechanism(config, sasl, address, patience)
    body = yield Ask(frames.SASL_HANDSHAKE, 1, frames.sasl_handshake_body(sasl.mechanism))
    _check_handshake(*frames.read_sasl_handshake(body), sasl.mechanism, address)
    version = min(1, versions[frames.SASL_AUTHENTICATE][1])
    answer = frames.SaslAnswer(0, "", b"")
    for _ in range(_MOST_STEPS):
        if client.is_done():
            break
        token = sasl_token(client, sasl, address)
        body = yield Ask(frames.SASL_AUTHENTICATE, version, frames.sasl_authenticate_body(token))
        answer = frames.read_sasl_authenticate(body, version)
        if answer.error:
            said = quoted(answer.message) if answer.message else failure(answer.error).message
            raise _login_failed(sasl, address, said)
        try:
            client.receive(answer.token)
        except SaslUnsafeError as error:
            raise unreachable(
                f"the login at {address} was broken off ({sasl.mechanism}): {error}",
                "Something may be posing as the broker to get at the password. Check the address,"
                " and use SASL_SSL.",
                "sasl-unsafe",
            ) from None
        except SaslRefusedError as error:
            raise _login_failed(sasl, address, str(error)) from None
    if not client.is_authenticated():
        raise _login_failed(sasl, address, "the broker did not confirm it")
    return answer.lifetime / 1000 if answer.lifetime else None


def sasl_token(client: Any, sasl: Sasl, address: Address) -> bytes:
    """The next token of a mechanism, its failures as errors of ours."""
    from .codec import SaslRefusedError

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
        has = f": it has {', '.join(enabled)}" if enabled else ""
        raise unreachable(
            f"{address} has not enabled SASL {mechanism}{has}",
            f"Set sasl.mechanism={enabled[0]}" if enabled else "",
            "sasl-mechanism",
        )
    if error == ILLEGAL_SASL_STATE:
        raise unreachable(
            f"{address} is a listener without login: SASL is not wanted there",
            "Set security.protocol=PLAINTEXT (SSL with TLS), or use the port of the SASL listener.",
            "sasl-not-wanted",
        )
    if error:
        raise unreachable(f"{address} refused the login: {failure(error)}", "", "sasl-failed")


def _names(enabled: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in enabled if _MECHANISM.fullmatch(name))


def _login_failed(sasl: Sasl, address: Address, why: str) -> ShellError:
    if sasl.source is not None:
        sasl.source.forget(sasl.username)  # it may have been changed meanwhile
    who = f" as {sasl.username}" if sasl.username else ""
    why = why.replace('"Authentication failed: ', '"', 1).rstrip(". ")
    hint = "Check the user name, the password and sasl.mechanism."
    if sasl.token:
        who = f" with delegation token {sasl.username}"
        hint = "It may have expired. Its owner can see that with describe-tokens."
    return unreachable(
        f"{address} refused the login{who} ({sasl.mechanism}): {why}",
        hint,
        "sasl-failed",
    )


def no_credentials(config: ConnectionConfig, address: Address) -> ShellError:
    """SASL is configured without saying how."""
    return unreachable(
        f"security.protocol is {config.security_protocol}, but nothing says how to log in",
        "Set sasl.mechanism and sasl.jaas.config in --command-config.",
        "sasl-needed",
    )


def sasl_needed(config: ConnectionConfig, address: Address, enabled: tuple[str, ...]) -> ShellError:
    """A listener that wants a login was sent a request without one."""
    enabled = _names(enabled)
    protocol = "SASL_SSL" if config.uses_tls else "SASL_PLAINTEXT"
    first = f"sasl.mechanism={enabled[0]}" if enabled else "sasl.mechanism"
    return unreachable(
        f"{address} wants a login (SASL: {', '.join(enabled) or 'mechanisms unknown'})",
        f"Set security.protocol={protocol}, {first} and sasl.jaas.config in --command-config.",
        "sasl-needed",
    )
