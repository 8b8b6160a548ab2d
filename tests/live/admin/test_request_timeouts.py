"""Requests with a longer timeout (`--timeout`) are awaited longer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_shell.admin.cluster import features
from kafka_shell.admin.cluster.features import UpdateFeatures
from kafka_shell.admin.cluster.model import Endpoint, Voter
from kafka_shell.admin.cluster.quorum import AddVoter
from kafka_shell.admin.partitions.model import Move, TopicPartition
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.base.plans import Step
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from tests.support.tcp_proxy import Proxy

REQUEST_TIMEOUT_S, HELD_S = 1.0, 1.6
ABSENT = Voter(99, "A" * 21 + "Q", (Endpoint("CONTROLLER", "127.0.0.1", 1),))


@pytest.fixture
def slow(sandbox: Sandbox) -> Iterator[Cluster]:
    """A broker that takes longer for a response than request.timeout.ms."""
    (broker,) = sandbox.brokers
    with Proxy() as proxy:
        proxy.target = next(iter(broker.ports.values()))
        config = ConnectionConfig(parse_addresses(proxy.address), request_timeout=REQUEST_TIMEOUT_S)
        with Cluster(config) as cluster:
            cluster.brokers()
            proxy.delay = HELD_S
            yield cluster


@pytest.mark.parametrize("which", ["features", "voters", "moves"])
def test_the_response_is_waited_for(cluster: Cluster, slow: Cluster, which: str) -> None:
    """Before: the connection was closed after request.timeout.ms, and the outcome was unknown."""
    partition = TopicPartition("no-such-topic", 0)
    steps: dict[str, Step] = {
        "features": UpdateFeatures((("no.such", 1),), features.levels(features.describe(cluster))),
        "voters": AddVoter(ABSENT, 2_000),
        "moves": MoveReplicas((Move(partition, (1,), (1,)),), cancelled=True),
    }
    results = steps[which].send(slow, validate_only=False)
    (why,) = results.failures.values()
    assert why.code is not None, f"not of the broker: {why}"
