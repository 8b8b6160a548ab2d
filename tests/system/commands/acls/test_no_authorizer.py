"""A cluster without an authorizer has no ACLs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_shell.audit.tables.access import read_acls
from kafka_shell.sandbox import config
from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import Broker, Sandbox, SandboxOptions
from tests.support.changes import connect
from tests.support.program import Program

AUTHORIZER = ("authorizer.class.name", "super.users")


@pytest.fixture(scope="module")
def open_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    folder = tmp_path_factory.mktemp("open")
    settings = config.node_settings

    def without_authorizer(sandbox: Sandbox, broker: Broker) -> dict[str, str]:
        found = settings(sandbox, broker)
        return {key: value for key, value in found.items() if key not in AUTHORIZER}

    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(config, "node_settings", without_authorizer)
            yield start(SandboxOptions(folder, "4.3", 1, port=0))
    finally:
        wipe(folder)


@pytest.fixture
def open_kafka(open_sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("home"), open_sandbox.bootstrap)


def test_reading_finds_no_acls(open_sandbox: Sandbox, open_kafka: Program) -> None:
    run = open_kafka.ok("list-acls")
    assert run.stdout == ""
    assert "no ACLs: the brokers have no authorizer configured" in run.stderr
    with connect(open_sandbox) as cluster:
        assert list(read_acls.read(cluster, ())) == [], "a snapshot is complete"


@pytest.mark.parametrize(
    "words",
    [
        ("check-acl", "--principal", "User:a", "--operation", "Read", "--topic", "t"),
        ("alter-acls", "--topic", "t", "--add", "allow User:a Read", "--dry-run"),
    ],
)
def test_verdicts_and_changes_require_authorizer(
    open_kafka: Program, words: tuple[str, ...]
) -> None:
    run = open_kafka(*words)
    assert run.status == 1, str(run)
    assert "no authorizer" in run.stderr, str(run)
