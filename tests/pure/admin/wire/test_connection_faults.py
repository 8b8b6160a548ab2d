"""Each way in which a connection fails has a specific error, without a delay."""

from __future__ import annotations

import time

import pytest
import trustme

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.endpoint import Address, ConnectionConfig, Tls, parse_addresses
from kafka_shell.errors import ShellError, Status
from kafka_shell.plan.model import Secret
from kafka_shell.sandbox.state import Sandbox

PASSWORD = "s3cret-never-shown"
# What fails without a wait, on a machine that does other things too: a wait is 10 s and longer.
AT_ONCE_S = 8


def fails(bootstrap: str, *, at_once: float = AT_ONCE_S, **more: object) -> ShellError:
    """The error of a first request. It comes long before any deadline and shows no password."""
    config = ConnectionConfig(parse_addresses(bootstrap), **more)  # type: ignore[arg-type]
    started = time.monotonic()
    with Cluster(config) as cluster, pytest.raises(ShellError) as caught:
        cluster.brokers()
    assert time.monotonic() - started < at_once
    error = caught.value
    assert error.status is Status.UNREACHABLE
    assert error.hint
    assert PASSWORD not in f"{error.message}{error.hint}{error!r}"
    return error


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA(organization_name="test")


@pytest.fixture(scope="module")
def ca(secure_sandbox: Sandbox) -> Tls:
    return Tls(ca_file=str(secure_sandbox.folder / "tls" / "ca.pem"))


def test_a_name_that_does_not_resolve() -> None:
    error = fails("no-such-host.invalid:9092", at_once=10)
    assert error.code == "unknown-host"
    assert "no-such-host.invalid" in error.message


@pytest.mark.parametrize("host", ["x" * 64 + ".invalid", "a..b"])
def test_an_invalid_host_name(host: str) -> None:
    assert fails(f"{host}:9092", at_once=10).code == "unknown-host"


def test_one_error_names_all_servers() -> None:
    error = fails("127.0.0.1:1,no-such-host.invalid:2,127.0.0.1:3", at_once=10)
    assert error.code == "no-broker"
    for name in ("127.0.0.1:1", "no-such-host.invalid", "127.0.0.1:3"):
        assert name in error.message


def test_every_target_fails_at_once() -> None:
    from kafka.protocol.admin import ListGroupsRequest

    from kafka_shell.admin.wire.requests import CONTROLLER, Call, Coordinator, CoordinatorKind, Node

    config = ConnectionConfig((Address("127.0.0.1", 1),))
    for target in (CONTROLLER, Coordinator(CoordinatorKind.GROUP, "g"), Node(1)):
        started = time.monotonic()
        with Cluster(config) as cluster, pytest.raises(ShellError) as caught:
            cluster.send_all([Call(ListGroupsRequest(), target)] * 3)
        assert caught.value.code == "refused"
        assert time.monotonic() - started < AT_ONCE_S


@pytest.mark.parametrize(
    ("tls", "words"),
    [
        (Tls(ca_file="/nope/ca.pem"), "/nope/ca.pem cannot be read"),
        (Tls(ca_file=__file__), "contains no valid PEM certificates"),
        (Tls(certificate_text="-----BEGIN CERTIFICATE-----"), "no private key"),
        (
            Tls(certificate_text="nonsense", key_text=Secret("-----BEGIN PRIVATE KEY-----")),
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
        from kafka_shell.admin.wire.tls import make_context

        secret = None if password is None else Secret(password)
        make_context(Tls(certificate_text=chain, key_text=Secret(pem), key_password=secret))

    opened(PASSWORD)
    with pytest.raises(ShellError, match="no password is set"):
        opened(None)
    with pytest.raises(ShellError, match=r"ssl\.key\.password is wrong") as caught:
        opened(f"not-{PASSWORD}")
    assert PASSWORD not in str(caught.value)
