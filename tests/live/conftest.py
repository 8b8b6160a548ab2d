"""One broker for each worker, one with logins, and the demo company: no test stops, kills or
reconfigures them, and each test works on names of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.sandbox.cluster import leave, wipe
from kafka_shell.sandbox.jars import no_report
from kafka_shell.sandbox.options import SandboxOptions
from kafka_shell.sandbox.session import start_with_data
from kafka_shell.sandbox.sharing import attach, exclusive_lock
from kafka_shell.sandbox.state import Sandbox
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
def demo_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One broker with the demo company on it, for all workers. Tests only look at it."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "demo"
    starting = folder.with_name("demo-starting")  # its lock is held until the data is complete
    with exclusive_lock(starting):
        attachment = attach(folder)
        sandbox = start_with_data(SandboxOptions(folder, port=0), no_report)
    yield sandbox
    with exclusive_lock(starting):
        if leave(attachment):
            wipe(folder)


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
