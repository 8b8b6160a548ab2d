"""A topic for each test, whose records may have old timestamps."""

from __future__ import annotations

import pytest

from kafka_shell.wire.cluster import Cluster
from tests.support.changes import KEPT, make_topic


@pytest.fixture
def topic(cluster: Cluster, name: str) -> str:
    """A topic with one partition."""
    return make_topic(cluster, name, configs=KEPT)
