"""A topic with records, and a group that has read some of them."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.group_data import commit, filled, forget


@pytest.fixture(scope="module")
def topic(cluster: Cluster, sandbox: Sandbox) -> str:
    """Ten records in each of two partitions."""
    return filled(sandbox, cluster, f"read-{uuid4().hex[:8]}")


@pytest.fixture
def group(cluster: Cluster, topic: str) -> Iterator[str]:
    """A group at 3 and 6 of 10."""
    name = f"g-{uuid4().hex[:8]}"
    commit(cluster, name, topic, 3, 6)
    yield name
    forget(cluster, name)
