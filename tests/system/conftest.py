"""Clusters that tests may kill, stop and reconfigure: each module has its own. Those of `outages`
borrow one, and must leave it as it was.

`sandbox` and `old_sandbox` are for tests that only use a broker: modules share them, and no test
harms them. The modules of `three_brokers` share three brokers in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.sandbox.cluster import wipe
from kafka_shell.sandbox.jars import no_report
from kafka_shell.sandbox.session import start_with_data
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from kafka_shell.wire.cluster import Cluster
from tests.support import reassigned_topics
from tests.support.brokers import running
from tests.support.changes import connect
from tests.support.program import Program
from tests.support.reassigned_topics import Filled
from tests.support.terminal import Open, Terminal


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One broker, no login, which no test harms."""
    yield from running(SandboxOptions(tmp_path_factory.mktemp("sandbox"), port=0))


@pytest.fixture(scope="module")
def secure_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One broker of the module's own that clients must log in to."""
    yield from running(SandboxOptions(tmp_path_factory.mktemp("secure"), port=0, secure=True))


@pytest.fixture(scope="session")
def old_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One broker of Kafka 3.9, no login, which no test harms."""
    yield from running(SandboxOptions(tmp_path_factory.mktemp("old"), "3.9", port=0))


@pytest.fixture(scope="module")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One broker of the module's own."""
    yield from running(SandboxOptions(tmp_path_factory.mktemp("broker"), port=0))


@pytest.fixture(scope="module")
def three_brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Three brokers of the module's own, in three racks."""
    yield from running(SandboxOptions(tmp_path_factory.mktemp("three"), brokers=3, port=0))


@pytest.fixture(scope="module")
def own_demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A demo company of the module's own, which its tests may change."""
    folder = tmp_path_factory.mktemp("demo")
    try:
        yield start_with_data(SandboxOptions(folder, port=0), no_report)
    finally:
        wipe(folder)


# -- a client of each, unless a module has its own -------------------------------------------------


@pytest.fixture(scope="module")
def cluster(sandbox: Sandbox) -> Iterator[Cluster]:
    """A connection to the broker."""
    with connect(sandbox) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def old_cluster(old_sandbox: Sandbox) -> Iterator[Cluster]:
    """A connection to the broker of Kafka 3.9."""
    with connect(old_sandbox) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def three(three_brokers: Sandbox) -> Iterator[Cluster]:
    """A connection to the three brokers."""
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture
def five(five_brokers: Sandbox) -> Iterator[Cluster]:
    """A connection to the five brokers."""
    with connect(five_brokers) as cluster:
        yield cluster


@pytest.fixture
def kafka_on_three(three_brokers: Sandbox, three: Cluster, tmp_path: Path) -> Iterator[Program]:
    """The program, with the three brokers as its --broker. What it moves does not stay."""
    yield Program(tmp_path / "home", three_brokers.bootstrap)
    reassigned_topics.restore(three)


@pytest.fixture
def kafka_on_five(five_brokers: Sandbox, tmp_path: Path) -> Program:
    """The program, with the five brokers as its --broker."""
    return Program(tmp_path / "home", five_brokers.bootstrap)


@pytest.fixture
def open_terminal(tmp_path: Path) -> Iterator[Open]:
    """Opens shells; each is closed at the end."""
    opened: list[Terminal] = []

    def open_(*arguments: str, **how: object) -> Terminal:
        terminal = Terminal(tmp_path, *arguments, **how)  # type: ignore[arg-type]
        opened.append(terminal)
        return terminal

    yield open_
    for terminal in opened:
        terminal.close()


@pytest.fixture(scope="module")
def filled(three_brokers: Sandbox, three: Cluster) -> Filled:
    """Topics on brokers 1 and 2 of three, with so much in them that a slow move is held."""
    return Filled(three_brokers, three)
