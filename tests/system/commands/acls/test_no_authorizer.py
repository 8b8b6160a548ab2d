"""A cluster without an authorizer has no ACLs: they are not read, changed, exported or applied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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


def test_a_cluster_without_an_authorizer_has_no_acls(open_kafka: Program, tmp_path: Path) -> None:
    def state(text: str) -> str:
        path = tmp_path / "state.yaml"
        path.write_text(f"version: 1\n{text}")
        return str(path)

    open_kafka.ok("create-topic", "t")
    exported = open_kafka.ok("export")
    assert "acls" not in exported.stdout and exported.stderr == ""
    file = state(exported.stdout.removeprefix("version: 1"))
    assert open_kafka.ok("diff", file).stdout.startswith("no differences")
    assert open_kafka.ok("apply", file, "--prune").stderr.startswith("nothing to change")
    file = state("topics: {t: {partitions: 2}}\nacls: {topic t: [allow User:bob Read]}\n")
    compared = open_kafka("diff", file)
    assert compared.status == 1
    assert "partitions: 1 -> 2" in compared.stdout and "1 not compared" in compared.stdout
    assert "authorizer" in compared.stdout + compared.stderr
    applied = open_kafka("apply", file)
    assert applied.status == 1
    assert "acls cannot be compared with the file" in applied.stderr
    assert "authorizer" in applied.stderr and "Use --only KINDS" in applied.stderr
    assert "partitions: 1" in open_kafka.ok("export", "t", "--only", "topics").stdout
    open_kafka.ok("apply", file, "--only", "topics")
    only_scope = state("scope: {acls: ['topic *']}\n")
    assert open_kafka.ok("diff", only_scope).stdout.startswith("no differences")
