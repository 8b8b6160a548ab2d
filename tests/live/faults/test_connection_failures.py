"""Each connection failure has its own error, long before any deadline, and without secrets."""

from __future__ import annotations

import re
import socket
import uuid
from pathlib import Path

import pytest

from kafka_shell.sandbox.state import Sandbox
from tests.support.faults import PASSWORD, hinted, no_secret_in, refused
from tests.support.program import Program

PATIENT = ("--deadline", "1h")  # a test that waited for it would be ended


def test_no_default_cluster(nowhere: Program) -> None:
    """Nothing is named: localhost:9092 is tried, and where nothing is, it says what to do."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", 9092)) == 0:
            pytest.skip("something listens on localhost:9092")
    refused(nowhere("list-topics"), 3, "localhost:9092", "kafka.sh --sandbox")


def test_a_web_server(nowhere: Program, web: str) -> None:
    run = nowhere("--broker", web, "list-topics", *PATIENT)
    hinted(refused(run, 3, f"{web} is an HTTP server"))


def test_a_port_that_says_nothing(nowhere: Program, silent: str) -> None:
    run = nowhere("--broker", silent, "list-topics", "--deadline", "1s")
    hinted(refused(run, 3, silent, "deadline"))


def test_tls_spoken_to_a_plain_port(nowhere: Program, sandbox: Sandbox, tmp_path: Path) -> None:
    config = tmp_path / "tls.properties"
    config.write_text("security.protocol=SSL\n")
    run = nowhere(
        "--broker", sandbox.bootstrap, "--command-config", str(config), "list-topics", *PATIENT
    )
    hinted(refused(run, 3, f"the listener at {sandbox.bootstrap} does not use TLS"))


@pytest.mark.parametrize("listener", ["SSL", "SASL_SSL"])
def test_plain_text_spoken_to_a_tls_port(
    nowhere: Program, secure_sandbox: Sandbox, listener: str
) -> None:
    broker = secure_sandbox.bootstraps[listener]
    run = nowhere("--broker", broker, "list-topics", *PATIENT)
    hinted(refused(run, 3, f"{broker} requires TLS", "security.protocol"))


def test_no_login_where_one_is_wanted(nowhere: Program, secure_sandbox: Sandbox) -> None:
    broker = secure_sandbox.bootstraps["SASL_PLAINTEXT"]
    run = nowhere("--broker", broker, "list-topics")
    hinted(
        refused(run, 3, f"{broker} requires authentication", "SCRAM-SHA-512", "sasl.jaas.config")
    )


@pytest.mark.parametrize("way", ["sasl-ssl", "sasl-ssl-plain", "sasl-plaintext"])
def test_a_wrong_password_is_told_and_told_to_nobody(
    nowhere: Program, secure_sandbox: Sandbox, tmp_path: Path, way: str
) -> None:
    right = secure_sandbox.client_properties[f"alice-{way}"].read_text()
    config = tmp_path / "wrong.properties"
    config.write_text(re.sub('password="[^"]*"', f'password="{PASSWORD}"', right))
    for argv in (
        ("list-topics",),
        ("list-topics", "--output", "json"),
        ("create-topic", "x"),
        ("describe-topic", "--nope"),
        ("set",),
        ("connect",),
        ("journal",),
    ):
        run = nowhere("--command-config", str(config), *argv)
        assert PASSWORD not in run.stdout + run.stderr, str(run)
        if argv[0] in ("list-topics", "create-topic", "connect"):
            hinted(refused(run, 3, "as alice failed", "password"))
    no_secret_in(nowhere.home)


def test_a_login_on_the_line_is_not_kept(nowhere: Program, secure_sandbox: Sandbox) -> None:
    """A password given as an argument is the user's own risk; the program adds none."""
    broker = secure_sandbox.bootstraps["SASL_PLAINTEXT"]
    login = f'x.PlainLoginModule required username="alice" password="{PASSWORD}";'
    run = nowhere(
        "create-topic", "x", "--broker", broker,
        "--adminclient-property", "security.protocol=SASL_PLAINTEXT",
        "--adminclient-property", "sasl.mechanism=PLAIN",
        "--adminclient-property", f"sasl.jaas.config={login}",
    )  # fmt: skip
    refused(run, 3, "as alice failed")
    assert PASSWORD not in run.stdout + run.stderr
    no_secret_in(nowhere.home)


def test_not_authorized(nowhere: Program, secure_sandbox: Sandbox) -> None:
    admin, alice = (
        str(secure_sandbox.client_properties[f"{user}-sasl-plaintext"])
        for user in ("admin", "alice")
    )
    name = f"fault.acl.{uuid.uuid4().hex[:6]}"
    nowhere.ok("--command-config", admin, "create-topic", name)
    for argv, word in (
        (("create-topic", name + ".x"), "TOPIC_AUTHORIZATION_FAILED"),
        (("describe-topic", name), "TOPIC_AUTHORIZATION_FAILED"),
        (("describe-configs", name), "TOPIC_AUTHORIZATION_FAILED"),
        (("alter-configs", name, "retention.ms=1d"), "TOPIC_AUTHORIZATION_FAILED"),
        (("alter-topic", name, "--partitions", "3"), "TOPIC_AUTHORIZATION_FAILED"),
        (("delete-topic", name, "--yes"), "TOPIC_AUTHORIZATION_FAILED"),
        (("alter-configs", "--broker-default", "log.cleaner.threads=2"), "CLUSTER_AUTHORIZATION"),
    ):
        run = refused(nowhere("--command-config", alice, *argv), 1, word)
        if "broker" not in argv[1]:
            assert name in run.stderr, "the error names the topic"
    assert nowhere.ok("--command-config", alice, "list-topics").lines == [], "and sees nothing"
    assert name in nowhere.ok("--command-config", admin, "list-topics").lines
    nowhere.ok("--command-config", admin, "delete-topic", name, "--yes")


@pytest.mark.parametrize(
    ("broker", "words"),
    [
        ("localhost:1", ("localhost:1 refused the connection", "kafka.sh --sandbox")),
        ("localhost:1,127.0.0.1:2", ("refused the connection",)),
        ("no-such-host.invalid:9092", ("cannot resolve host name no-such-host.invalid",)),
    ],
)
def test_no_broker_there(nowhere: Program, broker: str, words: tuple[str, ...]) -> None:
    for argv in (("list-topics",), ("alter-configs", "t", "retention.ms=1d"), ("health",)):
        run = nowhere("--broker", broker, *argv, *PATIENT)
        hinted(refused(run, 3, *words))
        assert run.stdout == ""
    assert not (nowhere.home / "state" / "journal").exists()


def test_a_malformed_login_does_not_repeat_the_password(nowhere: Program, tmp_path: Path) -> None:
    config = tmp_path / "bad.properties"
    for login in (
        f'username="a" password="{PASSWORD}";',
        f'x.PlainLoginModule required username="a" password="{PASSWORD};',
        f"x.PlainLoginModule required username=a {PASSWORD}",
        f'x.PlainLoginModule optional password="{PASSWORD}" ;;',
    ):
        config.write_text(
            f"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config={login}\n"
        )
        run = nowhere("--command-config", str(config), "--broker", "localhost:1", "list-topics")
        assert run.status in (2, 3), str(run)
        assert PASSWORD not in run.stdout + run.stderr, str(run)
    no_secret_in(nowhere.home)
