"""Passwords from a command or the keyring, and warnings about insecure properties."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.base.errors import ShellError
from kafka_shell.context import ClusterSession, Context, Paths
from kafka_shell.run.reporting import warn_of_settings
from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.settings import Settings, load
from kafka_shell.wire import endpoint
from kafka_shell.wire.cluster import Cluster
from tests.support.program import Process
from tests.support.samples import Tty


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    endpoint._passwords.clear()
    yield
    endpoint._passwords.clear()


def password(found: Settings) -> str:
    sasl = found.connection.sasl
    assert sasl is not None
    assert sasl.source is not None
    return sasl.source.read(sasl.username).reveal()


def profile_of(secure: Sandbox, more: str, mechanism: str = "SCRAM-SHA-512") -> str:
    return (
        f'[profiles.dev]\nbootstrap = "{secure.bootstraps["SASL_SSL"]}"\nusername = "admin"\n'
        f'"security.protocol" = "SASL_SSL"\n"sasl.mechanism" = "{mechanism}"\n'
        f'"ssl.truststore.location" = "{secure.folder / "tls" / "ca.pem"}"\n{more}'
    )


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_real_login_with_a_command(
    secure_sandbox: Sandbox, tmp_path: Path, mechanism: str
) -> None:
    file = tmp_path / "config" / "config.toml"
    file.parent.mkdir()
    secret = tmp_path / "secret"
    secret.write_text(passwords(secure_sandbox)["admin"] + "\n")
    command = f'password-command = "cat {secret}"\n'
    file.write_text(profile_of(secure_sandbox, command, mechanism))
    kafka = Process(tmp_path)  # a password is asked for once in a process
    kafka.ok("--profile", "dev", "list-topics")
    # A script on standard input is not the command's; a line's own options keep the login.
    file.write_text(file.read_text().replace("cat ", "cat - "))
    kafka.ok("--profile", "dev", stdin="list-topics --adminclient-property client.id=x\n")
    secret.write_text("wrong\n")
    run = kafka("--profile", "dev", "list-topics")
    assert run.status == 3, str(run)
    assert "as admin failed" in run.stderr


@pytest.fixture
def keyring_of() -> Iterator[dict[tuple[str, str], str]]:
    """A keyring in memory, in place of this machine's."""
    import keyring
    from keyring.backend import KeyringBackend

    kept: dict[tuple[str, str], str] = {}

    class InMemory(KeyringBackend):
        priority = 1

        def get_password(self, service: str, username: str) -> str | None:
            return kept.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            kept[service, username] = password

    before = keyring.get_keyring()
    keyring.set_keyring(InMemory())
    yield kept
    keyring.set_keyring(before)


def test_a_real_login_with_the_keyring(
    secure_sandbox: Sandbox, tmp_path: Path, keyring_of: dict[tuple[str, str], str]
) -> None:
    file = tmp_path / "config.toml"
    file.write_text(profile_of(secure_sandbox, 'keyring = "kafka-dev"\n'))
    found = load({"profile": "dev"}, {}, file)
    with Cluster(found.connection) as cluster:
        with pytest.raises(ShellError) as caught:
            cluster.brokers()
        assert "no password of user admin for kafka-dev" in caught.value.message
        assert caught.value.hint == "Store it with: keyring set kafka-dev admin"
        keyring_of["kafka-dev", "admin"] = passwords(secure_sandbox)["admin"]
        assert len(cluster.brokers()) == 1


@pytest.mark.parametrize("terminal", [True, False])
def test_a_readable_file_is_reported_once_and_only_on_a_terminal(
    tmp_path: Path, terminal: bool
) -> None:
    file = tmp_path / "client.properties"
    file.write_text("ssl.key.password=s3cret\n")
    file.chmod(0o644)
    found = load({"command-config": str(file), "broker": "a:1"}, {}, tmp_path / "none")
    err = Tty() if terminal else io.StringIO()
    context = Context(ClusterSession(found), Paths.of({}), err, err)
    for _ in range(2):
        warn_of_settings(context, found)
    assert " ".join(err.getvalue().split()).count("run chmod 600 on it") == terminal
