"""The expiry of the certificates of brokers, read in a handshake."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import trustme

from kafka_shell.audit.table import ReadFailure
from kafka_shell.audit.tables import listeners
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, Tls, parse_addresses
from tests.live.wire.test_connection_faults import certificate_server, listener

EXPIRED = datetime(2020, 1, 1, tzinfo=UTC)


def expiry(leaf: trustme.LeafCert, authority: trustme.CA) -> int | ReadFailure | None:
    """What is read of a server with this certificate by a profile that trusts the CA."""
    tls = Tls(ca_text=authority.cert_pem.bytes().decode())
    with listener(certificate_server(leaf)) as address:
        config = ConnectionConfig(parse_addresses(address), security_protocol="SSL", tls=tls)
        with Cluster(config) as cluster:
            return listeners._expires(cluster, address)


def test_an_expired_certificate_is_read() -> None:
    authority = trustme.CA()
    leaf = authority.issue_cert("127.0.0.1", not_after=EXPIRED)
    assert expiry(leaf, authority) == EXPIRED.timestamp() * 1000


@pytest.mark.parametrize(
    "issue",
    [
        lambda own: trustme.CA().issue_cert("127.0.0.1", not_after=EXPIRED),
        lambda own: own.issue_cert("127.0.0.1", not_before=datetime.now(UTC) + timedelta(days=1)),
    ],
    ids=["another CA", "not valid yet"],
)
def test_a_certificate_that_is_not_trusted_is_a_failure(
    issue: Callable[[trustme.CA], trustme.LeafCert],
) -> None:
    authority = trustme.CA()
    assert isinstance(expiry(issue(authority), authority), ReadFailure)
