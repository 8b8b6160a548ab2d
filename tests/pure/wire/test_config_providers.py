"""Variables in client properties, as Java's config providers resolve them (KIP-421, KIP-887)."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.settings import load

JAVA = "org.apache.kafka.common.config.provider"
PROVIDERS = f"""\
config.providers=file, dir,env
config.providers.file.class={JAVA}.FileConfigProvider
config.providers.dir.class={JAVA}.DirectoryConfigProvider
config.providers.env.class={JAVA}.EnvVarConfigProvider
"""
LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


@pytest.fixture
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of secrets, with a properties file in it."""
    folder = tmp_path / "secrets"
    folder.mkdir()
    (folder / "password").write_text("s3cret")
    (folder / "login.properties").write_text("user = alice\npath.key = x:y\n")
    monkeypatch.setenv("KAFKA_HOST", "kafka-1")
    return folder


def read(tmp_path: Path, text: str) -> dict[str, str]:
    """The properties of a file with this text, as a session uses them."""
    file = tmp_path / "client.properties"
    file.write_text(text)
    found = load({"command-config": str(file)}, {}, tmp_path / "config.toml").properties
    return {name: value.value for name, value in found.items()}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("${env:KAFKA_HOST}:9093", "kafka-1:9093"),
        ("${env:KAFKA_HOST}:1,${env:KAFKA_HOST}:2", "kafka-1:1,kafka-1:2"),
        ("${file:SECRETS/login.properties:user}:1", "alice:1"),
        ("h${dir:SECRETS:password}:1", "hs3cret:1"),
    ],
)
def test_variable_is_replaced(tmp_path: Path, secrets: Path, value: str, expected: str) -> None:
    text = f"{PROVIDERS}bootstrap.servers={value.replace('SECRETS', str(secrets))}\n"
    assert read(tmp_path, text)["bootstrap.servers"] == expected


def test_login_of_profile_comes_from_files(tmp_path: Path, secrets: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f"""
[profiles.prod]
bootstrap = "kafka-1:9093"
"security.protocol" = "SASL_SSL"
"sasl.mechanism" = "PLAIN"
"config.providers" = "dir"
"config.providers.dir.class" = "{JAVA}.DirectoryConfigProvider"
"sasl.jaas.config" = '{LOGIN} username="al" password="${{dir:{secrets}:password}}";'
""")
    settings = load({"profile": "prod"}, {}, config)
    sasl = settings.connection.sasl
    assert sasl and sasl.password and sasl.password.reveal() == "s3cret"
    assert "s3cret" not in repr(settings.describe())


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("config.providers=v\nconfig.providers.v.class=org.acme.VaultProvider", 2, "not supported"),
        ("config.providers=v", 1, "config.providers.v.class is not set"),
        (f"{PROVIDERS}client.id=${{env:KAFKA_NOTHING}}", 5, "${env:KAFKA_NOTHING} is not set"),
        (f"{PROVIDERS}client.id=${{dir:/nowhere:x}}", 5, "${dir:/nowhere:x} is not set"),
        (f"{PROVIDERS}client.id=${{dir:SECRETS:../x}}", 5, "is not set"),
        (f"{PROVIDERS}client.id=${{file:/nowhere:x}}", 5, "cannot be read"),
        (
            f"{PROVIDERS}config.providers.file.param.allowed.paths=/run/secrets\n"
            "client.id=${file:SECRETS/login.properties:user}",
            6,
            "is not set",
        ),
        (
            f"{PROVIDERS}config.providers.env.param.allowlist.pattern=APP_.*\n"
            "client.id=${env:KAFKA_HOST}",
            6,
            "is not set",
        ),
        ("client.id=${env:KAFKA_HOST}", 1, "unknown config provider"),
        (
            f'sasl.jaas.config={LOGIN} username="a" password="${{vault:kafka:pw}}";',
            1,
            "unknown config provider",
        ),
    ],
)
def test_unresolved_variable_is_an_error(
    tmp_path: Path, secrets: Path, text: str, line: int, said: str
) -> None:
    with pytest.raises(ShellError) as caught:
        read(tmp_path, text.replace("SECRETS", str(secrets)))
    assert caught.value.status is Status.WRONG
    assert f"client.properties:{line}: " in caught.value.message, caught.value.message
    assert said in caught.value.message, caught.value.message
