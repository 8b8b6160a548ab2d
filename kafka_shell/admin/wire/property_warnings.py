"""Warnings about client properties that are valid, but probably a mistake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from kafka_shell.admin.wire.client_properties import KNOWN, is_secret
from kafka_shell.admin.wire.endpoint import ConnectionConfig, is_loopback
from kafka_shell.admin.wire.properties import Property
from kafka_shell.common.units import to_path

# Correct properties of Java that are similar to a property in KNOWN.
_NEIGHBORS = {"sasl.oauthbearer.jwks.endpoint.url", "socket.connection.setup.timeout.max.ms"}
_IDENTIFICATION = "ssl.endpoint.identification.algorithm"


def connection_warnings(
    properties: Mapping[str, Property], connection: ConnectionConfig
) -> tuple[str, ...]:
    """Misspelled names, unused logins, disabled checks, and unencrypted passwords."""
    return (
        *_misspelled(properties),
        *_unused_credentials(properties, connection),
        *_no_host_name_check(properties, connection),
        *_unencrypted_password(connection),
    )


def _misspelled(properties: Mapping[str, Property]) -> Iterator[str]:
    for name, found in properties.items():
        if name in KNOWN or name in _NEIGHBORS or "." not in name:
            continue
        from difflib import get_close_matches

        near = get_close_matches(name, KNOWN, n=1, cutoff=0.88)
        if near:
            yield f"{found.where}: unknown client property {name}; did you mean {near[0]}?"


def _unused_credentials(
    properties: Mapping[str, Property], connection: ConnectionConfig
) -> Iterator[str]:
    """SASL credentials that are ignored because of security.protocol; Java does not say so."""
    names = ("sasl.jaas.config", "sasl.mechanism", "password-command", "keyring")
    found = next((properties[name] for name in names if name in properties), None)
    if found is None or connection.uses_sasl:
        return
    name = connection.security_protocol
    yield f"{found.where}: SASL credentials are ignored because security.protocol is {name}"


def _no_host_name_check(
    properties: Mapping[str, Property], connection: ConnectionConfig
) -> Iterator[str]:
    found = properties.get(_IDENTIFICATION)
    if found is not None and connection.uses_tls and not found.value.strip():
        yield (
            f"{found.where}: {_IDENTIFICATION} is empty: any host with a trusted certificate"
            " can impersonate a broker"
        )


def _unencrypted_password(connection: ConnectionConfig) -> Iterator[str]:
    sasl = connection.sasl
    if sasl is None or sasl.mechanism not in ("PLAIN", "OAUTHBEARER") or connection.uses_tls:
        return
    if all(is_loopback(address.host) for address in connection.bootstrap):
        return
    secret = "password" if sasl.mechanism == "PLAIN" else "token"
    yield (
        f"SASL {sasl.mechanism} without TLS: the {secret} is sent unencrypted;"
        " use security.protocol=SASL_SSL"
    )


def file_warnings(properties: Mapping[str, Property]) -> Iterator[str]:
    """Files with secrets that every user of this machine can read."""
    files: dict[Path, str] = {}
    for name, found in properties.items():
        if is_secret(name) and found.value:
            files.setdefault(Path(found.where.rpartition(":")[0]), "secrets")
    store = properties.get("ssl.keystore.location")
    if store is not None and store.value.strip():
        files.setdefault(to_path(store.value.strip()), "a private key")
    for file, content in files.items():
        try:
            mode = file.stat().st_mode if file.name else 0
        except OSError:
            continue
        if mode & 0o004:
            yield f"{file} contains {content} and is readable by every user; run chmod 600 on it"
