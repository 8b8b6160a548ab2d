"""Each way in which a connection fails has a specific error, without a delay."""

from __future__ import annotations

import pytest
import trustme

from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Secret
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import Address, ConnectionConfig, Tls

PASSWORD = "s3cret-never-shown"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA(organization_name="test")


NO_KEY = "-----BEGIN PRIVATE KEY-----x-----END PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("tls", "words"),
    [
        (Tls(ca_file="/nope/ca.pem"), "/nope/ca.pem cannot be read"),
        (Tls(ca_file=__file__), "contains no valid PEM certificates"),
        (Tls(certificate_text="-----BEGIN CERTIFICATE-----"), "no private key"),
        (
            Tls(certificate_text="nonsense", key_text=Secret(NO_KEY)),
            "no valid PEM certificate and key",
        ),
    ],
)
def test_invalid_tls_files(tls: Tls, words: str) -> None:
    config = ConnectionConfig((Address("localhost", 1),), security_protocol="SSL", tls=tls)
    with Cluster(config) as cluster, pytest.raises(ShellError) as caught:
        cluster.brokers()
    assert (caught.value.code, words in caught.value.message) == ("tls-files", True)


def test_an_encrypted_key_does_not_prompt(authority: trustme.CA) -> None:
    from cryptography.hazmat.primitives import serialization as form

    leaf = authority.issue_cert("client")
    key = form.load_pem_private_key(leaf.private_key_pem.bytes(), None)
    pem = key.private_bytes(
        form.Encoding.PEM,
        form.PrivateFormat.PKCS8,
        form.BestAvailableEncryption(PASSWORD.encode()),
    ).decode()
    chain = leaf.cert_chain_pems[0].bytes().decode()

    def opened(password: str | None) -> None:
        from kafka_shell.wire.tls import make_context

        secret = None if password is None else Secret(password)
        make_context(Tls(certificate_text=chain, key_text=Secret(pem), key_password=secret))

    opened(PASSWORD)
    with pytest.raises(ShellError, match="no password is set"):
        opened(None)
    with pytest.raises(ShellError, match=r"ssl\.key\.password is wrong") as caught:
        opened(f"not-{PASSWORD}")
    assert PASSWORD not in str(caught.value)
