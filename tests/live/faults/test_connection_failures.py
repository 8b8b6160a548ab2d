"""A connection failure ends the program with status 3, and no secret is shown or kept.

Each failure and its error: live/wire/test_connection_faults.
"""

from __future__ import annotations

import re
import socket
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
