"""Passwords from a command or the keyring, and warnings about insecure properties."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.settings import load
from kafka_shell.wire import endpoint
from tests.support.password_settings import SASL, loaded, password

JAAS = "org.apache.kafka.common.security.plain.PlainLoginModule required"


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    endpoint._passwords.clear()
    yield
    endpoint._passwords.clear()


def test_the_command_is_not_shown(tmp_path: Path) -> None:
    found = loaded(tmp_path, f'{SASL}password-command = "echo s3cret"\n')
    assert "s3cret" not in repr(found)
    (row,) = (row for row in found.describe() if row.name == "password-command")
    assert row.value == "***"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f'{SASL}password-command = "x"\nkeyring = "y"\n', "cannot be used with keyring"),
        (SASL.replace('username = "al"\n', "") + 'password-command = "x"\n', "username is not set"),
        (SASL.replace('"sasl.mechanism" = "PLAIN"\n', "") + 'keyring = "x"\n',
         "sasl.mechanism is not set"),
        (f"{SASL}password-command = 3\n", "not a string"),
        (f'{SASL}password-command = ""\n', "empty"),
    ],
)  # fmt: skip
def test_incomplete_password_settings(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ShellError, match=why) as caught:
        loaded(tmp_path, text)
    assert caught.value.status is Status.WRONG


def test_a_configured_password_overrides_the_source(tmp_path: Path) -> None:
    jaas = f'"sasl.jaas.config" = \'{JAAS} username="bo" password="s3cret";\'\n'
    found = loaded(tmp_path, f'{SASL}{jaas}password-command = "exit 1"\n')
    sasl = found.connection.sasl
    assert sasl is not None
    assert (sasl.username, sasl.source) == ("bo", None)


def test_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "keyring", None)
    found = loaded(tmp_path, f'{SASL}keyring = "kafka-dev"\n')
    with pytest.raises(ShellError) as caught:
        password(found)
    assert "kafka-sh[keyring]" in caught.value.hint
    assert caught.value.status is Status.WRONG


def test_values_of_unknown_properties_are_not_shown(tmp_path: Path) -> None:
    text = (
        '"aws.secret.access.key" = "s3cret"\n"sasl.jaas.options.hidden" = "s3cret"\n'
        '"sasl.oauthbearer.token.endpoint.url" = "https://al:s3cret@idp.example.com/token"\n'
        '"client.id" = "me"\n'
    )
    found = loaded(tmp_path, text)
    rows = {row.name: row.value for row in found.describe()}
    assert rows["aws.secret.access.key"] == "***"
    assert rows["client.id"] == "me"
    assert "s3cret" not in json.dumps(rows)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SASL + '"ssl.endpoint.identification.algorithm" = ""\n', "identification.algorithm"),
        (SASL.replace("SASL_SSL", "SASL_PLAINTEXT"), "PLAIN without TLS"),
        (
            SASL.replace("SASL_SSL", "PLAINTEXT"),
            "SASL credentials are ignored because security.protocol is PLAINTEXT",
        ),
        (SASL, ""),
    ],
)
def test_insecure_settings_are_warnings(tmp_path: Path, text: str, said: str) -> None:
    warnings = loaded(tmp_path, text).warnings
    assert len(warnings) == bool(said)
    assert all(said in each for each in warnings)


def test_a_loopback_needs_no_tls(tmp_path: Path) -> None:
    found = load(
        {"broker": "127.0.0.1:1", "adminclient-property": [
            ("security.protocol", "SASL_PLAINTEXT"), ("sasl.mechanism", "PLAIN")]},
        {}, tmp_path / "none",
    )  # fmt: skip
    assert found.warnings == ()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_a_password_readable_by_every_user_is_a_warning(tmp_path: Path, mode: int) -> None:
    jaas = f'"sasl.jaas.config" = \'{JAAS} username="al" password="s3cret";\'\n'
    found = loaded(tmp_path, SASL + jaas, mode)
    assert found.warnings == ()
    assert len(found.file_warnings) == (mode == 0o644)
    assert all("readable by every user; run chmod 600" in each for each in found.file_warnings)
    file = tmp_path / "client.properties"
    file.write_text("ssl.key.password=s3cret\n")
    file.chmod(mode)
    named = load({"command-config": str(file), "broker": "a:1"}, {}, tmp_path / "none")
    assert len(named.file_warnings) == (mode == 0o644)
