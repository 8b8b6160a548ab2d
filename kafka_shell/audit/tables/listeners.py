"""Listeners of brokers with their security configs, and their certificates."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kafka_shell.audit.table import Column, Slice, Table, Trouble
from kafka_shell.errors import ShellError
from kafka_shell.structs import replace

if TYPE_CHECKING:
    from kafka_shell.admin.wire.connection import Cluster

Rows = Iterator[tuple[Any, ...] | Trouble]
_HANDSHAKE_S = 5.0
_TLS = ("SSL", "SASL_SSL")


def read_listeners(cluster: Cluster, part: Slice) -> Rows:
    """Yield a row per listener; listener.name.NAME.KEY overrides the config of the broker."""
    from kafka_shell.admin.configs import read as configs
    from kafka_shell.admin.configs.model import ConfigResource, ResourceType

    resources = [ConfigResource(ResourceType.BROKER, name) for name in part.names]
    found = configs.describe(cluster, resources)
    for resource, entries in found.values.items():
        configs_of = {entry.name: entry.value or "" for entry in entries}
        for name, address in _addresses(configs_of.get("listeners", "")):
            yield int(resource.name), *_listener(name, address, configs_of)
    for resource, why in found.failures.items():
        yield Trouble(str(resource), why.name, why.message)


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


def read_certificates(cluster: Cluster, part: Slice) -> Rows:
    """Yield a row per TLS listener, from a handshake with its advertised address.

    The expiry is None if the profile does not use TLS, because then no CA is known.
    """
    from kafka_shell.admin.configs import read as configs
    from kafka_shell.admin.configs.model import ConfigResource, ResourceType

    resources = [ConfigResource(ResourceType.BROKER, name) for name in part.names]
    found = configs.describe(cluster, resources)
    for resource, entries in found.values.items():
        configs_of = {entry.name: entry.value or "" for entry in entries}
        advertised = dict(_addresses(configs_of.get("advertised.listeners", "")))
        for name, address in _addresses(configs_of.get("listeners", "")):
            row = _listener(name, address, configs_of)
            if row[2] not in _TLS or row[3]:
                continue
            where = advertised.get(name) or address
            expires = _expires(cluster, where) if cluster.config.uses_tls else None
            if isinstance(expires, Trouble):
                yield expires
            else:
                yield int(resource.name), name, where, expires
    for resource, why in found.failures.items():
        yield Trouble(str(resource), why.name, why.message)


def _expires(cluster: Cluster, where: str) -> int | Trouble | None:
    """Return when the certificate of an address expires, in epoch milliseconds. Does not log in."""
    from kafka_shell.admin.wire.endpoint import parse_addresses
    from kafka_shell.admin.wire.tls import handshake_error, make_context

    try:
        (address,) = parse_addresses(where)
        context = make_context(replace(cluster.config.tls, check_hostname=False))
        with (
            socket.create_connection(address, _HANDSHAKE_S) as plain,
            context.wrap_socket(plain, server_hostname=address.host) as secure,
        ):
            certificate = secure.getpeercert() or {}
    except ssl.SSLError as error:
        why = handshake_error(address, error)
        return Trouble(where, why.code, why.message)
    except (OSError, ShellError, ValueError) as error:
        return Trouble(where, "unreachable", f"TLS handshake with {where} failed: {error}")
    ends = certificate.get("notAfter")
    return int(ssl.cert_time_to_seconds(str(ends)) * 1000) if ends else None


_BROKER = Column("broker_id", "int", "The broker ID.")
_LISTENER = Column("listener", "string", "The listener name.")

TABLES = (
    Table(
        "listeners",
        "One row per listener of a broker.",
        (
            _BROKER,
            _LISTENER,
            Column("address", "string", "The bound address: host:port."),
            Column("protocol", "string", "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL."),
            Column("controller", "boolean", "Whether it is a controller listener."),
            Column("inter_broker", "boolean", "Whether it is the inter-broker listener."),
            Column("sasl_mechanisms", "strings", "PLAIN, SCRAM-SHA-512 ..."),
            Column("client_auth", "string", "ssl.client.auth: none, requested or required."),
            Column(
                "identification",
                "string",
                "ssl.endpoint.identification.algorithm: https, or empty.",
            ),
            Column("tls_versions", "strings", "The enabled TLS versions."),
            Column("max_reauth_ms", "long", "connections.max.reauth.ms.", required=False),
        ),
        read_listeners,
        by="brokers",
    ),
    Table(
        "certificates",
        "One row per TLS listener of a broker.",
        (
            _BROKER,
            _LISTENER,
            Column("address", "string", "The advertised address."),
            Column(
                "expires",
                "time",
                "When the certificate expires; null if the profile does not use TLS.",
                required=False,
            ),
        ),
        read_certificates,
        by="brokers",
    ),
)
