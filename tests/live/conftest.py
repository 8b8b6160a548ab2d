"""One broker for each worker, one with logins, and the demo company: no test stops, kills or
reconfigures them, and each test works on names of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from kafka_shell.wire.cluster import Cluster
from tests.support.brokers import running
from tests.support.changes import connect
from tests.support.schema_registry import Registry, running_registry


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One broker, no login."""
    yield from running(SandboxOptions(tmp_path_factory.mktemp("sandbox"), port=0))


@pytest.fixture(scope="session")
def secure_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One broker that clients must log in to."""
    yield from running(SandboxOptions(tmp_path_factory.mktemp("secure"), port=0, secure=True))


@pytest.fixture(scope="session")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """Apicurio Registry, empty at first. Tests register schemas of their own subjects."""
    with running_registry(tmp_path_factory.mktemp("registry")) as registry:
        yield registry


@pytest.fixture(scope="session")
def cluster(sandbox: Sandbox) -> Iterator[Cluster]:
    """A connection to the broker."""
    with connect(sandbox) as cluster:
        yield cluster
