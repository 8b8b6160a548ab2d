"""The secure sandbox: every listener requires a login, which every properties file provides."""

from __future__ import annotations

import re
import ssl
import stat

import psutil
import pytest
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import KafkaError

from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox
from tests.support.sandbox_clients import admin


def log_in(sandbox: Sandbox, user: str, **settings: object) -> KafkaAdminClient:
    return admin(
        sandbox,
        security_protocol="SASL_SSL",
        sasl_mechanism="SCRAM-SHA-256",
        ssl_cafile=str(sandbox.folder / "tls" / "ca.pem"),
        **{"sasl_plain_username": user, "sasl_plain_password": passwords(sandbox)[user]} | settings,
    )


def test_passwords_log_in_elsewhere_too(secure_sandbox: Sandbox) -> None:
    with log_in(secure_sandbox, "admin") as client:
        client.create_topics([NewTopic("secret", 1, 1)])
        assert client.describe_user_scram_credentials().keys() >= {"admin", "alice"}
    with log_in(secure_sandbox, "alice") as client:
        assert client.list_topics() == []


def test_a_wrong_password_is_refused(secure_sandbox: Sandbox) -> None:
    with pytest.raises(KafkaError):
        log_in(secure_sandbox, "alice", sasl_plain_password="wrong", bootstrap_timeout_ms=2000)


def test_tls_names_this_machine_and_wants_a_certificate(secure_sandbox: Sandbox) -> None:
    port = secure_sandbox.brokers[0].ports["SSL"]
    trust = ssl.create_default_context(cafile=secure_sandbox.folder / "tls" / "ca.pem")
    for name in ("localhost", "127.0.0.1"):
        with pytest.raises((ssl.SSLError, ConnectionError)):
            _hello(name, port, trust)
    key = secure_sandbox.folder / "tls" / "alice.pem"
    trust.load_cert_chain(key)
    for name in ("localhost", "127.0.0.1"):
        assert _hello(name, port, trust)


def _hello(host: str, port: int, context: ssl.SSLContext) -> bytes:
    """Ask for ApiVersions (API key 18) version 0; returns the length of the answer."""
    import socket

    request = bytes.fromhex("0000000a 0012 0000 00000001 ffff")
    with (
        socket.create_connection(("127.0.0.1", port), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname=host) as connection,
    ):
        connection.sendall(request)
        return connection.recv(4)


def test_secrets_stay_private(secure_sandbox: Sandbox) -> None:
    broker = secure_sandbox.brokers[0]
    folder = secure_sandbox.folder
    for path in [*folder.glob("*"), *folder.glob("clients/*"), *folder.glob("tls/*")]:
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077, path
    command_line = " ".join(psutil.Process(broker.pid).cmdline())
    log = broker.log.read_text()
    for secret in re.findall(r'": "(.*)"', (folder / "secrets.json").read_text()):
        assert secret not in command_line
        assert secret not in log
