"""Topics to look at and to lose."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.faults import create, delete
from tests.support.program import Program


@pytest.fixture(scope="module")
def topic(cluster: Cluster) -> Iterator[str]:
    """A topic to look at."""
    name = f"fault.{uuid.uuid4().hex[:8]}"
    create(cluster, name)
    yield name
    delete(cluster, name)


@pytest.fixture
def victim(cluster: Cluster) -> Iterator[str]:
    """A topic that may be lost."""
    name = f"fault.victim.{uuid.uuid4().hex[:8]}"
    create(cluster, name)
    yield name
    delete(cluster, name)


@pytest.fixture
def kafka(sandbox: Sandbox, tmp_path: Path) -> Program:
    return Program(tmp_path / "home", sandbox.bootstrap)
