"""One connection to each of the shared clusters, and small helpers for changes."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import connect, make_topic


@pytest.fixture(scope="session")
def old_cluster(old_sandbox: Sandbox) -> Iterator[Cluster]:
    """The shared broker of Kafka 3.9."""
    with connect(old_sandbox) as cluster:
        yield cluster


@pytest.fixture(params=[pytest.param("4.3", marks=pytest.mark.quick), "3.9"])
def either(request: pytest.FixtureRequest) -> Cluster:
    """The shared brokers of 4.3 and 3.9, one after the other."""
    found: Cluster = request.getfixturevalue("cluster" if request.param == "4.3" else "old_cluster")
    return found


@pytest.fixture
def name() -> str:
    """A topic's name that nobody has used."""
    return f"t-{uuid4().hex[:10]}"


@pytest.fixture
def topic(cluster: Cluster, name: str) -> str:
    """A topic of one partition on the shared broker."""
    return make_topic(cluster, name)
