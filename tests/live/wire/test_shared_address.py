"""Brokers that have the same address, as behind a port-forward."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from kafka_shell.sandbox import config as layout
from kafka_shell.sandbox.cluster import wipe
from kafka_shell.sandbox.session import options_from, start_with_data
from kafka_shell.sandbox.state import Sandbox
from tests.support.program import Program


def started(folder: Path) -> Generator[Sandbox]:
    options = options_from(folder, port=0, topics=3, stand_in_brokers=1)
    try:
        yield start_with_data(options, lambda task, done, total: None, empty=True)
    finally:
        wipe(folder)


@pytest.fixture(scope="module")
def forwarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A broker, and one that advertises the same address. It is not marked as a stand-in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "STAND_INS", "")
        running = started(tmp_path_factory.mktemp("forwarded"))
        sandbox = next(running)
    yield sandbox
    running.close()


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    yield from started(tmp_path_factory.mktemp("stand-in"))


def test_response_is_not_attributed_to_another_broker(forwarded: Sandbox, tmp_path: Path) -> None:
    kafka = Program(tmp_path, forwarded.bootstrap)
    named = f"brokers 1, 1001 have the same address, {forwarded.bootstrap}"
    run = kafka("describe-log-dirs", "--broker-id", "1001")
    assert run.status == 1, str(run)
    assert named in run.stderr, str(run)
    assert "node-1" not in run.stdout + run.stderr, str(run)
    run = kafka.ok("list-topics")
    assert run.stderr.count(named) == 1, str(run)
    assert len(run.lines) == 5, str(run)


def test_stand_ins_are_not_warned_of(stand_in: Sandbox, tmp_path: Path) -> None:
    kafka = Program(tmp_path, stand_in.bootstrap)
    assert kafka.ok("list-topics").stderr == ""
    assert "node-1" in kafka.ok("describe-log-dirs", "--broker-id", "1001").stdout
