"""Commands that only read do not change a new cluster without topics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from kafka_shell.wire import metadata_scan
from tests.support.changes import connect
from tests.support.in_process_shell import Answer, Shell


def _started(folder: Path) -> Iterator[Sandbox]:
    try:
        yield start(SandboxOptions(folder, port=0))
    finally:
        wipe(folder)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    yield from _started(tmp_path_factory.mktemp("fresh"))


@pytest.fixture
def another(tmp_path: Path) -> Iterator[Sandbox]:
    """A cluster that is used, after which it is not fresh any more."""
    yield from _started(tmp_path / "another")


@pytest.fixture
def shell(fresh: Sandbox, tmp_path: Path) -> Shell:
    return Shell(tmp_path, fresh.bootstrap)


READS = {
    "list-groups": 0,
    "describe-group": 0,
    "describe-group nosuch": 1,
    "describe-group nosuch --members": 1,
    "describe-group nosuch --state": 1,
    "list-transactions": 0,
    "describe-transactions nosuch": 1,
    "find-hanging-transactions": None,
    "describe-user alice": None,
    "health": None,
    "delete-group nosuch --dry-run": 1,
    "delete-group nosuch --if-exists --yes": 0,
    "remove-members nosuch --yes": 1,
    "reset-offsets nosuch --to-earliest --topic t --dry-run": None,
    "delete-offsets nosuch --topic t --dry-run": None,
    "fence-producer nosuch --yes": 1,
}


@pytest.mark.parametrize("line", READS)
def test_reading_creates_no_topic(shell: Shell, fresh: Sandbox, line: str) -> None:
    run = shell(line)
    assert run.status == READS[line] if READS[line] is not None else run.status in (0, 1), str(run)
    assert not internal(fresh), str(run)


def internal(sandbox: Sandbox) -> list[str]:
    with connect(sandbox) as cluster:
        return [name for name in metadata_scan.scan(cluster).names if name.startswith("__")]


def test_filters_are_applied_to_no_topics_too(shell: Shell) -> None:
    """Before: the filters, and the warning of outdated metadata, were skipped without topics."""
    run = shell.ok("describe-topic --unavailable-partitions")
    assert "no topic matches the filters (0 topics checked)" in run.err, str(run)


def test_a_read_only_profile_creates_no_topic(fresh: Sandbox, shell: Shell) -> None:
    shell.profile("prod", fresh.bootstrap, guard="read-only")
    shell("describe-group nosuch --profile prod")
    shell("describe-transactions nosuch --profile prod")
    assert not internal(fresh)


def test_the_only_broker_cannot_be_drained(shell: Shell) -> None:
    shell.ok("create-topic drained --partitions 2")
    run: Answer = shell("reassign-partitions --drain 1 --dry-run")
    assert run.status == 1, str(run)
    assert "broker 1 is the only running broker" in run.err
    one = shell("reassign-partitions --drain 1 --topics drained --dry-run")
    assert one.status == 1 and "only running broker" in one.err, str(one)
    shell.ok("delete-topic drained --yes")


def test_the_first_commit_creates_the_group(another: Sandbox, tmp_path: Path) -> None:
    """What is changed may make what it needs."""
    shell = Shell(tmp_path, another.bootstrap)
    shell.ok("create-topic used")
    shell.ok("reset-offsets reader --topic used --to-offset 0 --yes")
    assert shell("describe-group reader --output json").json
