"""The connection to a real broker: parallel requests, targets, API versions, deadlines."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest
from kafka.protocol.admin import (
    DescribeClusterRequest,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
)

from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.wire.requests import Call
from tests.support.outages import frozen

TOPIC = 2


@pytest.fixture(scope="module")
def sandbox(own_broker: Sandbox) -> Sandbox:
    """A broker that these tests may freeze."""
    return own_broker


@pytest.fixture
def cluster(sandbox: Sandbox) -> Iterator[Cluster]:
    with Cluster(ConnectionConfig(parse_addresses(sandbox.bootstrap))) as cluster:
        yield cluster


def describe(name: str) -> DescribeConfigsRequest:
    kind = DescribeConfigsRequest.DescribeConfigsResource
    return DescribeConfigsRequest(
        resources=[kind(resource_type=TOPIC, resource_name=name, configuration_keys=None)]
    )


def refused(cluster: Cluster, *args: object, **more: object) -> ShellError:
    with pytest.raises(ShellError) as caught:
        cluster.send(*args, **more)  # type: ignore[arg-type]
    return caught.value


def test_a_deadline_error_says_what_was_awaited(cluster: Cluster, sandbox: Sandbox) -> None:
    cluster.brokers()
    with frozen(sandbox):
        with cluster.within(0.5):
            error = refused(cluster, DescribeClusterRequest())
        change = IncrementalAlterConfigsRequest(resources=[], validate_only=False)
        with cluster.within(0.5):
            unsure = refused(cluster, change)
    assert (error.code, unsure.code) == ("deadline", "not-sent")  # no broker was found for it
    assert "broker 1" in error.message
    assert "DescribeCluster" in error.message
    assert "may still happen" not in error.message
    assert cluster.send(DescribeClusterRequest()).error_code == 0


def test_a_change_under_a_deadline_may_still_happen(cluster: Cluster, sandbox: Sandbox) -> None:
    cluster.brokers()
    with frozen(sandbox), cluster.within(0.3):
        (found,) = cluster.send_all(
            [Call(IncrementalAlterConfigsRequest(resources=[], validate_only=False))]
        )
    assert (found.name, "may still be" in found.message) == ("deadline", True)
    assert "Check" in found.hint


def test_ctrl_c_leaves_the_cluster_usable(cluster: Cluster, sandbox: Sandbox) -> None:
    cluster.brokers()
    main = threading.main_thread().ident
    assert main is not None
    ring = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT))
    with frozen(sandbox):
        with pytest.raises(KeyboardInterrupt):
            ring.start()
            cluster.send_all([Call(describe("x")) for _ in range(20)])
        ring.join()
    answers = cluster.send_all([Call(describe(f"y-{number}")) for number in range(20)])
    assert [answer.results[0].resource_name for answer in answers] == [
        f"y-{number}" for number in range(20)
    ]
