"""Each connection failure has its own error, without a delay and without secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.faults import PASSWORD, hinted, no_secret_in, refused, timed
from tests.support.program import Program


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
        run, seconds = timed(nowhere, "--broker", broker, *argv)
        hinted(refused(run, 3, *words))
        assert run.stdout == ""
        assert seconds < 10, "at once"
    assert not (nowhere.home / "state" / "journal").exists()


@pytest.mark.parametrize("broker", ["host:bar", "host:99999", "host:0", ":9092", "[::1"])
def test_no_address(nowhere: Program, broker: str) -> None:
    run = refused(nowhere("--broker", broker, "list-topics"), 2, "--broker", "host:port")
    hinted(run)


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


def test_a_mistyped_option_beside_a_password(nowhere: Program) -> None:
    login = f'x.PlainLoginModule required username="alice" password="{PASSWORD}";'
    run = nowhere("list-topics", "--adminclient-property", f"sasl.jaas.config={login}", "--nope")
    assert run.status == 2
    assert PASSWORD not in run.stderr, "the line is shown, its secret is not"
