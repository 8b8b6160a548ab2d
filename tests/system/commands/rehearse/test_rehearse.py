"""`rehearse` on one broker: its report, and that it changes and leaves nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.commands.rehearse.run import difference, state_of
from kafka_shell.commands.rehearse.twins import read_original, running_twin
from kafka_shell.sandbox.jars import no_report
from kafka_shell.sandbox.process import find_all
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.sandbox.twin.build import connect as connect_to_twin
from kafka_shell.sandbox.twin.build import take
from tests.support.changes import connect, done, make_topic
from tests.support.outages import frozen
from tests.support.program import Program
from tests.support.waiting import wait_for


@pytest.fixture(scope="module")
def sandbox(own_broker: Sandbox) -> Sandbox:
    """A broker that these tests may freeze."""
    return own_broker


@pytest.fixture(scope="module", autouse=True)
def old(sandbox: Sandbox) -> Iterator[None]:
    with connect(sandbox) as cluster:
        make_topic(cluster, "rehearsed.old")
    yield


def twins(kafka: Program) -> list[Path]:
    folder = kafka.home / "cache" / "twins"
    return list(folder.iterdir()) if folder.exists() else []


def test_the_next_rehearsal_of_an_unchanged_cluster_takes_the_twin_that_is_ready(
    sandbox: Sandbox, kafka: Program
) -> None:
    """Somebody at a terminal may try again."""
    root = kafka.home / "cache" / "twins"
    at_terminal(kafka, "rehearse create-topic rehearsed.again")
    (first,) = twins(kafka)
    at_terminal(kafka, "rehearse create-topic rehearsed.again")
    (second,) = twins(kafka)
    assert second != first
    assert not find_all(first)
    wait_for("it is ready", (second / "spare-ready").exists, 60)
    with connect(sandbox) as cluster:
        reading = read_original(cluster, (), no_report)
        make_topic(cluster, "rehearsed.since")
        changed = read_original(cluster, (), no_report)
        done(topic_changes.plan_delete(cluster, ["rehearsed.since"]), cluster)
    assert take(root, changed.original, no_report) is None, "that of another cluster"
    with running_twin(root, reading.original, no_report) as twin:
        assert twin.folder == second
        with connect_to_twin(twin) as cluster:
            assert not difference(reading.state, state_of(cluster)).changes
    assert twins(kafka) == []
    assert not find_all(second)


def at_terminal(kafka: Program, line: str) -> None:
    words = ["-m", "kafka_shell", "--broker", kafka.broker, *line.split()]
    child: pexpect.spawn[str] = pexpect.spawn(
        sys.executable, words, env=kafka.environment(), encoding="utf-8", timeout=120
    )
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0, child.before


def test_a_frozen_broker(kafka: Program, sandbox: Sandbox) -> None:
    with frozen(sandbox):
        run = kafka("--deadline", "2s", "rehearse", "list-topics")
    assert run.status in (1, 3), run
    assert "error: " in run.stderr
    assert twins(kafka) == []
