"""The login of a session is sent to its cluster, and to no other address."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.admin.schemas.settings import registry_settings
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
CONFIG += """
"schema.registry.url" = "https://schemas.dev"
"basic.auth.credentials.source" = "USER_INFO"
"schema.registry.basic.auth.user.info" = "al:s3cret"
[profiles.token]
"security.protocol" = "SASL_SSL"
"sasl.mechanism" = "OAUTHBEARER"
"sasl.oauthbearer.token.endpoint.url" = "https://login.dev"
"sasl.oauthbearer.client.credentials.client.secret" = "s3cret"
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
        assert "to send credentials, add --command-config FILE" in found.warnings[0]


@pytest.mark.parametrize("one_shot", [False, True])
@pytest.mark.parametrize(
    ("url", "own", "user"),
    [
        ("https://schemas.dev", (), "al"),
        ("https://u:pw@schemas.dev.example.com", (), "u"),
        ("https://schemas.dev.example.com", (), ""),
        ("https://other", ("basic.auth.credentials.source=SASL_INHERIT",), "al"),
        (
            "https://other",
            ("bearer.auth.token=x", "bearer.auth.credentials.source=STATIC_TOKEN"),
            "",
        ),
    ],
)
def test_login_is_for_schema_registry_of_session(
    session: Settings, tmp_path: Path, one_shot: bool, url: str, own: tuple[str, ...], user: str
) -> None:
    given = [f"schema.registry.url={url}", *own]
    if one_shot:
        flags = {"profile": "dev", "adminclient-property": given}
        found = load(flags, {}, tmp_path / "config.toml")
    else:
        found = line(session, {"adminclient-property": given}, tmp_path)
    registry = registry_settings(found.properties)
    assert registry is not None
    assert registry.user == user
    shown = "***" if "@" in url else url
    lost = url != "https://schemas.dev" and not own
    assert [each for each in found.warnings if f"are not sent to {shown};" in each] == (
        list(found.warnings) if lost else []
    )
    assert bool(found.warnings) is lost


@pytest.mark.parametrize(
    ("url", "secret"), [("https://login.dev", True), ("https://login.dev.example.com", False)]
)
def test_login_is_for_token_endpoint_of_profile(tmp_path: Path, url: str, secret: bool) -> None:
    (tmp_path / "config.toml").write_text(CONFIG)
    given = [f"sasl.oauthbearer.token.endpoint.url={url}"]
    flags = {"profile": "token", "broker": "any:1", "adminclient-property": given}
    found = load(flags, {}, tmp_path / "config.toml")
    assert found.connection.sasl is not None and found.connection.sasl.oauth is not None
    assert found.connection.sasl.oauth.token_endpoint == url
    assert (found.connection.sasl.oauth.client_secret is not None) is secret
    assert bool(found.warnings) is not secret


def test_token_endpoint_is_no_login(tmp_path: Path) -> None:
    """Neither one that is kept, nor an added one: its secret is lost, and a warning tells."""
    name, file = "sasl.oauthbearer.token.endpoint.url", tmp_path / "config.toml"
    file.write_text(f'[profiles.p]\nbootstrap = "p:1"\n"{name}" = "https://a"\n')
    flags = {"profile": "p", "adminclient-property": [f"{name}=https://b"]}
    assert not [each for each in load(flags, {}, file).warnings if "is not sent" in each]
    file.write_text(CONFIG.replace("[profiles.token]", '[profiles.token]\nbootstrap = "t:1"'))
    flags = {"profile": "token", "broker": "other:1"}
    flags["adminclient-property"] = [f"{name}=https://b"]
    warnings = load(flags, {}, file).warnings
    assert [each for each in warnings if "are not sent to other:1" in each], warnings
