"""The connection to a real broker: parallel requests, targets, API versions, deadlines."""

from __future__ import annotations

from uuid import uuid4

from kafka.protocol.admin import (
    ListGroupsRequest,
)

from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.wire.requests import CONTROLLER, RawRequest
from tests.support.raw_requests import create, error_of


def test_the_controller_of_3_9(old_sandbox: Sandbox) -> None:
    name = f"t-{uuid4().hex[:8]}"
    with Cluster(ConnectionConfig(parse_addresses(old_sandbox.bootstrap))) as cluster:
        assert cluster.send(create(name), CONTROLLER).topics[0].error_code == 0  # type: ignore[attr-defined]
        assert cluster.release() == "3.9"


def test_each_broker_answers(three_brokers: Sandbox) -> None:
    with Cluster(ConnectionConfig(parse_addresses(three_brokers.bootstrap))) as cluster:
        results = cluster.each_broker(ListGroupsRequest())
        assert (sorted(results.values), results.failures) == ([1, 2, 3], {})
        assert set(cluster.versions_of_brokers()) == {"4.3"}
        assert {broker.rack for broker in cluster.brokers()} == {"rack-a", "rack-b", "rack-c"}
        assert len(cluster._pool.ready()) == 3


def test_an_api_that_an_old_broker_does_not_support(old_sandbox: Sandbox) -> None:
    with Cluster(ConnectionConfig(parse_addresses(old_sandbox.bootstrap))) as cluster:
        error = error_of(cluster, RawRequest(90, (0, 0), lambda _: b"", 0))
        assert "(Kafka 3.9) does not support DescribeShareGroupOffsets" in error.message
        assert error.code == "unsupported-api"
