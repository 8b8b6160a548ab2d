"""The secure sandbox: every listener requires a login, which every properties file provides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafka.admin import KafkaAdminClient

from kafka_shell.sandbox.cluster import start, stop, wipe
from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from tests.support.jvm_tools import run_tool
from tests.support.program import Program
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


def test_delegation_tokens_can_be_tried(secure_sandbox: Sandbox) -> None:
    done = run_tool(
        "org.apache.kafka.tools.DelegationTokenCommand",
        *("--bootstrap-server", secure_sandbox.bootstrap),
        *("--command-config", str(secure_sandbox.client_properties["alice-sasl-ssl"])),
        *("--create", "--max-life-time-period", "-1"),
    )
    assert "User:alice" in done.stdout, done.stdout + done.stderr


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
        files, kafka = sandbox.client_properties, Program(tmp_path / "home")
        admin = ("--output", "json", "--command-config", str(files["admin-sasl-ssl"]))
        kafka.ok("create-topic", "copied", "--replication-factor", "3", *admin)
        (copied,) = kafka.ok("topic", "copied", *admin).json
        assert sorted(copied["topic"]["partitions"][0]["isr"]) == [1, 2, 3]
        quorum = kafka.ok("describe-quorum", *admin).json
        assert [each["role"] for each in quorum["replicas"]] == ["leader", "voter", "voter"]
        alice = kafka("topics", "--command-config", str(files["alice-sasl-ssl"]))
        assert (alice.status, alice.stdout) == (0, ""), "she logs in, and may see nothing yet"
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
