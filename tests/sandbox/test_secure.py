"""The secure sandbox: every listener requires a login, which every properties file provides."""

from __future__ import annotations

import re
import ssl
import stat
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.errors import KafkaError

from kafka_shell.sandbox.cluster import start, stop, wipe
from kafka_shell.sandbox.options import SandboxOptions
from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox
from tests.support.jvm_tools import run_tool
from tests.support.sandbox_brokers import start_broker, stop_broker
from tests.support.sandbox_clients import admin

WAYS = ("sasl-ssl", "sasl-ssl-plain", "sasl-ssl-oauth", "sasl-plaintext", "ssl")


def log_in(sandbox: Sandbox, user: str, **settings: object) -> KafkaAdminClient:
    return admin(
        sandbox,
        security_protocol="SASL_SSL",
        sasl_mechanism="SCRAM-SHA-256",
        ssl_cafile=str(sandbox.folder / "tls" / "ca.pem"),
        **{"sasl_plain_username": user, "sasl_plain_password": passwords(sandbox)[user]} | settings,
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("user", ["admin", "alice"])
def test_property_files_log_in_as_their_user(secure_sandbox: Sandbox, user: str, way: str) -> None:
    file = secure_sandbox.client_properties[f"{user}-{way}"]
    bootstrap = re.search("^bootstrap.servers=(.*)$", file.read_text(), re.MULTILINE)
    assert bootstrap
    done = run_tool(
        "org.apache.kafka.tools.TopicCommand",
        *("--bootstrap-server", bootstrap[1], "--command-config", str(file)),
        *("--create", "--if-not-exists", "--topic", f"by-{user}-{way}"),
    )
    if user == "admin":
        assert done.returncode == 0, done.stdout + done.stderr
    else:
        # Logged in, and no super user.
        assert "Authorization failed" in done.stdout


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


def test_delegation_tokens_can_be_tried(secure_sandbox: Sandbox) -> None:
    done = run_tool(
        "org.apache.kafka.tools.DelegationTokenCommand",
        *("--bootstrap-server", secure_sandbox.bootstrap),
        *("--command-config", str(secure_sandbox.client_properties["alice-sasl-ssl"])),
        *("--create", "--max-life-time-period", "-1"),
    )
    assert "User:alice" in done.stdout, done.stdout + done.stderr


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


@pytest.fixture
def new_folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    wipe(tmp_path)


def test_kafka_3_is_secure_too_and_keeps_its_users(new_folder: Path) -> None:
    sandbox = start(SandboxOptions(new_folder, "3.9", port=0, secure=True))
    stop(new_folder)
    sandbox = start(sandbox.options)
    with log_in(sandbox, "alice") as client:
        assert client.list_topics() == []


def test_several_brokers_know_one_another_and_one_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "several"
    try:
        sandbox = start(SandboxOptions(folder, brokers=3, port=0, secure=True))
        assert known_to_each(sandbox) == [{1, 2, 3}] * 3
        without = stop_broker(folder, 2)
        assert known_to_each(without) == [{1, 3}] * 2
        assert known_to_each(start_broker(folder, 2)) == [{1, 2, 3}] * 3
    finally:
        wipe(folder)


def known_to_each(sandbox: Sandbox) -> list[set[int]]:
    """The brokers that are up, as each running broker knows them."""
    found = []
    for broker in sandbox.brokers:
        if broker.pid is not None:
            address = f"127.0.0.1:{broker.ports['SASL_SSL']}"
            with log_in(sandbox, "admin", bootstrap_servers=address) as client:
                brokers = client.describe_cluster()["brokers"]
            found.append({each["broker_id"] for each in brokers if not each["is_fenced"]})
    return found
