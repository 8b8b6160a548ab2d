"""PEM files and values, written in the ways that Java reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives import serialization

from kafka_shell.admin.schemas.settings import registry_settings
from kafka_shell.base.errors import ShellError
from kafka_shell.wire.client_properties import parse_properties, to_connection
from kafka_shell.wire.endpoint import Tls
from kafka_shell.wire.tls import make_context

WAYS: list[Callable[[str], str]] = [
    lambda pem: pem,
    lambda pem: pem.replace("\n", "\r\n"),
    lambda pem: f"# Autorité de certification\n{pem}",
    lambda pem: pem.replace("-----END CERTIFICATE-----\n", "-----END CERTIFICATE-----\nNº 2 é\n"),
    lambda pem: pem.replace("\n", " "),
    lambda pem: pem.replace("\n", ""),
    lambda pem: "\n".join(f"   {line}" for line in pem.splitlines()),
]


@pytest.fixture(scope="module")
def authorities() -> str:
    return "".join(trustme.CA().cert_pem.bytes().decode() for _ in range(2))


@pytest.fixture(scope="module")
def leaf() -> trustme.LeafCert:
    return trustme.CA().issue_cert("localhost")


def pem_key(leaf: trustme.LeafCert, password: str = "", *, traditional: bool = False) -> str:
    key = serialization.load_pem_private_key(leaf.private_key_pem.bytes(), None)
    private = serialization.PrivateFormat
    return key.private_bytes(
        serialization.Encoding.PEM,
        private.TraditionalOpenSSL if traditional else private.PKCS8,
        serialization.BestAvailableEncryption(password.encode())
        if password
        else serialization.NoEncryption(),
    ).decode()


def in_properties(name: str, pem: str) -> str:
    r"""A value whose lines are continued: each but the last ends with ` \`."""
    return f"{name}={pem.strip().replace(chr(10), ' ' + chr(92) + chr(10))}\n"


def connection_tls(text: str) -> Tls:
    return to_connection(parse_properties(f"security.protocol=SSL\n{text}", "f")).tls


@pytest.mark.parametrize("write", WAYS)
def test_both_certificates_of_truststore_are_read(
    write: Callable[[str], str], authorities: str, tmp_path: Path
) -> None:
    path = tmp_path / "ca.pem"
    path.write_text(write(authorities), encoding="utf-8", newline="")
    for tls in (Tls(ca_text=write(authorities)), Tls(ca_file=str(path))):
        assert len(make_context(tls).get_ca_certs()) == 2


def test_continued_lines_are_read(authorities: str, leaf: trustme.LeafCert) -> None:
    chain = "".join(blob.bytes().decode() for blob in leaf.cert_chain_pems)
    ca = in_properties("ssl.truststore.certificates", authorities)
    text = (
        ca
        + in_properties("ssl.keystore.certificate.chain", chain)
        + in_properties("ssl.keystore.key", pem_key(leaf))
    )
    assert len(make_context(connection_tls(text)).get_ca_certs()) == 2
    registry = registry_settings(
        parse_properties(
            "schema.registry.url=https://a\n"
            + "".join(f"schema.registry.{line}\n" if line[:3] == "ssl" else f"{line}\n"
                      for line in ca.splitlines()), "f",
        )
    )  # fmt: skip
    assert registry is not None
    assert len(make_context(registry.tls).get_ca_certs()) == 2


@pytest.mark.parametrize("traditional", [False, True])
def test_encrypted_key_is_read(leaf: trustme.LeafCert, traditional: bool) -> None:
    chain = "".join(blob.bytes().decode() for blob in leaf.cert_chain_pems)
    key = pem_key(leaf, "s3cret", traditional=traditional)
    text = "ssl.key.password=s3cret\n" + "".join(
        f"{name}={value.replace(chr(10), chr(92) + 'n')}\n"
        for name, value in (("ssl.keystore.certificate.chain", chain), ("ssl.keystore.key", key))
    )
    make_context(connection_tls(text))


@pytest.mark.parametrize("text", ["é", "-----BEGIN CERTIFICATE-----é-----END CERTIFICATE-----"])
def test_invalid_certificate_is_an_error(text: str) -> None:
    with pytest.raises(ShellError, match="contains no valid PEM certificates"):
        make_context(Tls(ca_text=text))
