"""The login of a session is sent to its cluster, and to no other address."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.settings import Settings, load, load_for_line
from kafka_shell.wire.endpoint import Address

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
CONFIG = f"""
[profiles.dev]
bootstrap = "dev:1,dev:2"
"security.protocol" = "SASL_SSL"
"sasl.mechanism" = "PLAIN"
"sasl.jaas.config" = '{MODULE} required username="al" password="s3cret";'
"""
OWN_LOGIN = f'sasl.jaas.config={MODULE} required username="own" password="x";'


@pytest.fixture
def session(tmp_path: Path) -> Settings:
    (tmp_path / "config.toml").write_text(CONFIG)
    return load({"profile": "dev"}, {}, tmp_path / "config.toml")


def line(session: Settings, flags: dict[str, object], folder: Path) -> Settings:
    known = (Address("dev-3.example.com", 9092),)
    return load_for_line(session, flags, {}, folder / "config.toml", known)


@pytest.mark.parametrize(
    ("flags", "username"),
    [
        ({"broker": "other:1"}, ""),
        ({"broker": "dev:1,other:1"}, ""),
        ({"broker": "dev:9"}, ""),
        ({"adminclient-property": ["bootstrap.servers=other:1"]}, ""),
        ({"broker": "DEV.:2"}, "al"),
        ({"broker": "dev-3.example.com:9092"}, "al"),
        ({"adminclient-property": ["client.id=x"]}, "al"),
        ({"broker": "other:1", "profile": "dev"}, ""),
        ({"broker": "other:1", "profile": "dev", "adminclient-property": [OWN_LOGIN]}, "own"),
        ({"broker": "dev:2", "profile": "dev"}, "al"),
        ({"broker": "other:1", "adminclient-property": [OWN_LOGIN]}, "own"),
    ],
)
def test_login_is_for_brokers_of_session(
    session: Settings, tmp_path: Path, flags: dict[str, object], username: str
) -> None:
    found = line(session, flags, tmp_path)
    assert found.connection.sasl is not None
    assert found.connection.sasl.username == username
    assert bool(found.warnings) is not bool(username)
    if not username:
        assert found.connection.sasl.password is None
        assert "to send one, add --command-config FILE" in found.warnings[0]
