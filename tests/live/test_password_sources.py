"""Passwords from a command or the keyring, and warnings about insecure properties."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.wire import endpoint
from tests.support.password_settings import SASL, loaded, password


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    endpoint._passwords.clear()
    yield
    endpoint._passwords.clear()


@pytest.mark.parametrize("key", ["password-command", "password_command"])
def test_the_first_line_of_a_command(tmp_path: Path, key: str) -> None:
    found = loaded(tmp_path, f"{SASL}{key} = \"echo 's3 cret'; echo more\"\n")
    assert found.connection.sasl is not None
    assert found.connection.sasl.username == "al"
    assert password(found) == "s3 cret"


def test_the_command_runs_at_the_login(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    found = loaded(tmp_path, f'{SASL}password-command = "echo x >> {ran}; echo s3cret"\n')
    assert not ran.exists()
    for _ in range(3):
        password(found)
    assert ran.read_text() == "x\n", "the user is asked once"
    sasl = found.connection.sasl
    assert sasl is not None
    assert sasl.source is not None
    sasl.source.forget("al")
    password(found)
    assert ran.read_text() == "x\nx\n", "a login that failed reads it again"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("exit 3", "exit status 3"),
        ("echo no such entry >&2; exit 1", "no such entry"),
        ("true", "printed no password"),
        ("printf '\\\\377'", "not UTF-8"),
        ("echo password=s3cret >&2; exit 1", "exit status 1"),
    ],
)
def test_a_command_that_fails(tmp_path: Path, command: str, why: str) -> None:
    found = loaded(tmp_path, f'{SASL}password-command = "{command}"\n')
    with pytest.raises(ShellError) as caught:
        password(found)
    assert caught.value.status is Status.UNREACHABLE
    assert f"config.toml:6: password-command {why}" in caught.value.message or (
        why in caught.value.message
    )
    assert "s3cret" not in caught.value.message
