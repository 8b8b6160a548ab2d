"""Connection options on a line are merged with those of the session, for the same cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_shell.base.errors import ShellError, Status, UsageError
from kafka_shell.settings import Settings, load, load_for_line
from kafka_shell.wire.endpoint import Address
from tests.support.program import Program

PLAIN = (
    "org.apache.kafka.common.security.plain.PlainLoginModule"
    ' required username="al" password="s3cret";'
)
CONFIG = f"""
default = "prod"
[profiles.prod]
bootstrap = "prod:1"
[profiles.dev]
bootstrap = "dev:1"
guard = "read-only"
"security.protocol" = "SASL_SSL"
"sasl.jaas.config" = '{PLAIN}'
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "config.toml"
    file.write_text(CONFIG)
    file.chmod(0o600)
    return file


def line(session: dict[str, object], flags: dict[str, object], config: Path) -> Settings:
    return load_for_line(load(session, {}, config), flags, {}, config)


def host(found: Settings) -> str:
    return found.connection.bootstrap[0].host


def test_a_property_stays_in_the_session(config: Path) -> None:
    found = line({"profile": "dev"}, {"adminclient-property": [("client.id", "y")]}, config)
    assert (host(found), found.guard, found.profile) == ("dev", "read-only", "dev")
    assert found.connection.client_id == "y"
    assert found.connection.sasl is not None
    found = line({"broker": "a:1"}, {"adminclient-property": [("client.id", "y")]}, config)
    assert (host(found), found.profile) == ("a", "")


def test_a_file_stays_in_the_session(config: Path, tmp_path: Path) -> None:
    file = tmp_path / "other.properties"
    file.write_text("client.id=other\n")
    for session, expected in (
        ({"profile": "dev"}, "dev"), ({"broker": "a:1"}, "a"), ({}, "prod"),
    ):  # fmt: skip
        found = line(session, {"command-config": str(file)}, config)
        assert host(found) == expected
        assert found.connection.client_id == "other"


def test_a_session_of_nothing_stays_where_it_is(tmp_path: Path) -> None:
    """A file of the session named the cluster; another file on the line is not localhost."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("bootstrap.servers=first:1\n")
    second.write_text("client.id=x\n")
    nowhere = tmp_path / "config.toml"
    found = line({"command-config": str(first)}, {"command-config": str(second)}, nowhere)
    assert (host(found), found.connection.client_id) == ("first", "x")


def test_a_file_with_another_cluster_is_a_warning(config: Path, tmp_path: Path) -> None:
    file = tmp_path / "other.properties"
    file.write_text("client.id=other\nbootstrap.servers=other:1\n")
    found = line({"profile": "dev"}, {"command-config": str(file)}, config)
    assert host(found) == "dev"
    (warning,) = found.warnings
    assert f"{file}:2: bootstrap.servers is ignored" in warning
    assert "dev:1" in warning


def test_the_flag_overrides_the_file_with_a_warning(config: Path, tmp_path: Path) -> None:
    file = tmp_path / "other.properties"
    file.write_text("bootstrap.servers=other:1\n")
    found = load({"broker": "a:1", "command-config": str(file)}, {}, config)
    assert host(found) == "a"
    assert found.warnings == (
        f"{file}:1: bootstrap.servers is ignored, because --broker selects a:1",
    )
    same = load({"broker": "other:1", "command-config": str(file)}, {}, config)
    assert same.warnings == ()


def test_a_broker_on_the_line_keeps_the_guard(config: Path) -> None:
    found = line({"profile": "dev"}, {"broker": "b:2"}, config)
    assert (host(found), found.guard, found.profile_address) == ("b", "read-only", False)


def test_a_profile_on_the_line_ignores_the_session(config: Path) -> None:
    found = line({"profile": "dev", "broker": "b:2"}, {"profile": "prod"}, config)
    assert (host(found), found.guard, found.connection.sasl) == ("prod", "", None)


def test_the_profile_flag_overrides_the_environment_s_cluster(config: Path) -> None:
    found = load({"profile": "dev"}, {"KAFKA_SH_BROKER": "prod:1"}, config)
    assert host(found) == "dev"
    assert found.warnings == ("KAFKA_SH_BROKER is ignored: --profile selects the cluster",)


@pytest.mark.parametrize("name", ["broker", "profile", "command-config", "adminclient-property"])
@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_option_is_an_error(config: Path, name: str, value: str) -> None:
    given = (value,) if name == "adminclient-property" else value
    with pytest.raises(UsageError, match=f"--{name} is empty") as caught:
        load({name: given}, {}, config)
    assert caught.value.status is Status.WRONG
    with pytest.raises(UsageError, match="empty"):
        line({"profile": "dev"}, {name: given}, config)


def test_an_empty_property_is_an_error(config: Path, tmp_path: Path) -> None:
    """Before: localhost was used."""
    file = tmp_path / "client.properties"
    file.write_text("bootstrap.servers=\n")
    with pytest.raises(ShellError, match=r"client\.properties:1: bootstrap\.servers is empty"):
        load({"command-config": str(file)}, {}, config)


@pytest.mark.parametrize("name", ["KAFKA_SH_BROKER", "KAFKA_SH_PROFILE", "KAFKA_SH_COMMAND_CONFIG"])
def test_an_empty_variable_is_an_error(config: Path, name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} is set but empty"):
        load({}, {name: ""}, config)


@pytest.mark.parametrize(
    "argv",
    [
        ("--broker=", "delete-topic", "t", "--yes"),
        ("delete-topic", "t", "--yes", "--broker="),
        ("delete-topic", "t", "--yes", "--bootstrap-server", ""),
        ("--delete-topic", "--broker", "", "t", "--yes"),
        ("topics", "--profile="),
        ("--command-config", "", "topics"),
        ("config-command", "--bootstrap-server=", "--entity-type", "topics", "--describe"),
    ],
)
def test_an_unset_variable_is_not_the_default_profile(
    tmp_path: Path, argv: tuple[str, ...]
) -> None:
    run = Program(tmp_path)(*argv)
    assert run.status == 2, str(run)
    assert "is empty" in run.stderr


def test_an_empty_option_on_a_line(tmp_path: Path) -> None:
    for words in ("--broker=", "--broker ''", "--profile=", "--command-config ''"):
        run = Program(tmp_path)(stdin=f"delete-topic t --yes {words}\n")
        assert run.status == 2, str(run)
        assert "is empty" in run.stderr or "must not be empty" in run.stderr


def test_an_empty_home_variable(tmp_path: Path) -> None:
    run = Program(tmp_path)("sandbox", "wipe", "--yes", environ={"KAFKA_SH_HOME": ""})
    assert run.status == 2, str(run)
    assert "KAFKA_SH_HOME" in run.stderr


@pytest.mark.parametrize("value", ["9092", "true", '""', "1.5"])
def test_a_number_is_not_a_host(config: Path, value: str) -> None:
    config.write_text(f"[profiles.dev]\nbootstrap = {value}\n")
    with pytest.raises(ShellError) as caught:
        load({"profile": "dev"}, {}, config)
    assert caught.value.status is Status.WRONG
    assert f"{config}:2: bootstrap is " in caught.value.message


def test_a_port_is_not_a_host() -> None:
    with pytest.raises(ShellError, match="missing host"):
        load({"broker": "9092"}, {}, Path("/nowhere"))


@pytest.mark.parametrize(
    "given",
    [
        ["client.id=a=b,request.timeout.ms=1500"],
        ["client.id=a=b", "request.timeout.ms=1500"],
        [("client.id", "a=b,request.timeout.ms=1500")],
        ["client.id=a=b, request.timeout.ms=1500"],
    ],
)
def test_properties_are_a_list(given: list[object]) -> None:
    found = load({"adminclient-property": given}, {}, Path("/nowhere"))
    assert found.connection.client_id == "a=b"
    assert found.connection.request_timeout == 1.5


def test_a_comma_in_a_value() -> None:
    given = ["bootstrap.servers=a:1,b:2,client.id=x,y"]
    found = load({"adminclient-property": given}, {}, Path("/nowhere"))
    assert found.connection.bootstrap == (Address("a", 1), Address("b", 2))
    assert found.connection.client_id == "x,y"


@pytest.mark.parametrize("given", ["client.id", "=x"])
def test_a_property_without_a_name_or_value(given: str) -> None:
    with pytest.raises(UsageError, match="key=value"):
        load({"adminclient-property": [given]}, {}, Path("/nowhere"))
