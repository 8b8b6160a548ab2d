"""Listeners of brokers with their security configs, and their certificates."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kafka_shell.audit.table import Names, ReadFailure, Rows, config_entries, read_failure, table
from kafka_shell.base.errors import ShellError
from kafka_shell.base.structs import replace

if TYPE_CHECKING:
    from kafka_shell.wire.cluster import Cluster
    from kafka_shell.wire.endpoint import Address

_HANDSHAKE_S = 5.0
_TLS = ("SSL", "SASL_SSL")
_EXPIRED = 10  # X509_V_ERR_CERT_HAS_EXPIRED
_NO_CHECK_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME, which the module ssl does not name


@table(
    "listeners",
    "One row per listener of a broker.",
    """
    broker_id        int      The broker ID.
    listener         string   The listener name.
    address          string   The bound address: host:port.
    protocol         string   PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL.
    controller       boolean  Whether it is a controller listener.
    inter_broker     boolean  Whether it is the inter-broker listener.
    sasl_mechanisms  strings  PLAIN, SCRAM-SHA-512 ...
    client_auth      string   ssl.client.auth: none, requested or required.
    identification   string   ssl.endpoint.identification.algorithm: https, or empty.
    tls_versions     strings  The enabled TLS versions.
    max_reauth_ms    long?    connections.max.reauth.ms.
    """,
    by="brokers",
)
def read_listeners(cluster: Cluster, names: Names) -> Rows:
    """The config listener.name.NAME.KEY overrides that of the broker."""
    for broker, entries in (yield from config_entries(cluster, "BROKER", names)):
        configs_of = {entry.name: entry.value or "" for entry in entries}
        for name, address in _addresses(configs_of.get("listeners", "")):
            yield int(broker), *_listener(name, address, configs_of)


def _addresses(text: str) -> Iterator[tuple[str, str]]:
    for each in _words(text):
        name, _, address = each.partition("://")
        yield name.upper(), address


def _listener(name: str, address: str, configs_of: Mapping[str, str]) -> tuple[Any, ...]:
    protocols = dict(
        each.upper().split(":", 1)
        for each in _words(configs_of.get("listener.security.protocol.map", ""))
        if ":" in each
    )
    protocol = protocols.get(name, name)

    def own(key: str) -> str:
        override = configs_of.get(f"listener.name.{name.lower()}.{key}")
        return configs_of.get(key, "") if override is None else override

    inter_broker = configs_of.get("inter.broker.listener.name", "").upper()
    if not inter_broker:
        inter_broker = configs_of.get("security.inter.broker.protocol", "").upper()
    reauth = own("connections.max.reauth.ms")
    return (
        name, address, protocol,
        name in _words(configs_of.get("controller.listener.names", "").upper()),
        name == inter_broker,
        _words(own("sasl.enabled.mechanisms")) if protocol.startswith("SASL") else [],
        own("ssl.client.auth") or "none",
        own("ssl.endpoint.identification.algorithm"),
        _words(own("ssl.enabled.protocols")) if protocol in _TLS else [],
        int(reauth) if reauth.isdigit() else None,
    )  # fmt: skip


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


@table(
    "certificates",
    "One row per TLS listener of a broker.",
    """
    broker_id  int     The broker ID.
    listener   string  The listener name.
    address    string  The advertised address.
    expires    time?   When the certificate expires; null if the profile does not use TLS.
    """,
    by="brokers",
)
def read_certificates(cluster: Cluster, names: Names) -> Rows:
    """From a handshake with the advertised address. The expiry is None if the profile does not use
    TLS, because then no CA is known."""
    for broker, entries in (yield from config_entries(cluster, "BROKER", names)):
        configs_of = {entry.name: entry.value or "" for entry in entries}
        advertised = dict(_addresses(configs_of.get("advertised.listeners", "")))
        for name, address in _addresses(configs_of.get("listeners", "")):
            row = _listener(name, address, configs_of)
            if row[2] not in _TLS or row[3]:
                continue
            where = advertised.get(name) or address
            expires = _expires(cluster, where) if cluster.config.uses_tls else None
            if isinstance(expires, ReadFailure):
                yield expires
            else:
                yield int(broker), name, where, expires


def _expires(cluster: Cluster, where: str) -> int | ReadFailure | None:
    """Return when the certificate of an address expires, in epoch milliseconds. Does not log in."""
    from kafka_shell.wire.endpoint import parse_addresses
    from kafka_shell.wire.tls import handshake_error, make_context

    try:
        (address,) = parse_addresses(where)
        context = make_context(replace(cluster.config.tls, check_hostname=False))
        try:
            return _end_of_certificate(address, context)
        except ssl.SSLCertVerificationError as error:
            if error.verify_code != _EXPIRED:
                raise
            context.verify_flags |= _NO_CHECK_TIME
            expired = _end_of_certificate(address, context)
            if expired is None or expired > time.time() * 1000:
                raise  # that of its CA has expired
            return expired
    except ssl.SSLError as error:
        why = handshake_error(address, error)
        return read_failure(where, why)
    except (OSError, ShellError, ValueError) as error:
        return ReadFailure(where, "unreachable", f"TLS handshake with {where} failed: {error}")


def _end_of_certificate(address: Address, context: ssl.SSLContext) -> int | None:
    with (
        socket.create_connection(address, _HANDSHAKE_S) as plain,
        context.wrap_socket(plain, server_hostname=address.host) as secure,
    ):
        certificate = secure.getpeercert() or {}
    ends = certificate.get("notAfter")
    return int(ssl.cert_time_to_seconds(str(ends)) * 1000) if ends else None
