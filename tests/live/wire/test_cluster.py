"""The connection to a real broker: parallel requests, targets, API versions, deadlines."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from uuid import uuid4

import pytest
from kafka.protocol.admin import (
    AlterConfigsRequest,
    DeleteTopicsRequest,
    DescribeClusterRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
)

from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import metadata_scan as scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.wire.failures import failure
from kafka_shell.wire.frames import Reader
from kafka_shell.wire.requests import (
    CONTROLLER,
    METADATA,
    Call,
    Coordinator,
    CoordinatorKind,
    Node,
    RawRequest,
)
from tests.support.raw_requests import create, describe, error_of


@pytest.fixture
def cluster(sandbox: Sandbox) -> Iterator[Cluster]:
    with Cluster(ConnectionConfig(parse_addresses(sandbox.bootstrap))) as cluster:
        yield cluster


def test_one_request(cluster: Cluster) -> None:
    assert cluster.send(DescribeClusterRequest()).cluster_id == cluster.cluster_id


def test_an_encoded_body(cluster: Cluster) -> None:
    # ListPartitionReassignments v0: timeout, a null array of topics, no tags.
    body = cluster.send(RawRequest(46, (0, 0), lambda _: b"\0\0\x10\0\0\0", 0))
    assert Reader(body).int32() == 0


def test_two_hundred_in_flight_come_back_in_order(cluster: Cluster) -> None:
    names = [f"no-topic-{number}" for number in range(200)]
    answers = cluster.send_all([Call(describe(name)) for name in names])
    assert [answer.results[0].resource_name for answer in answers] == names
    assert len(cluster._pool.ready()) == 1


def test_send_each_with_other_requests_in_between(
    cluster: Cluster,
) -> None:
    names = [f"g-{number}" for number in range(50)]
    taken: list[str] = []

    def calls() -> Iterator[Call]:
        for name in names:
            taken.append(name)
            yield Call(describe(name))

    for number, answer in enumerate(cluster.send_each(calls(), 4)):
        assert answer.results[0].resource_name == names[number]
        assert len(taken) <= number + 4, "calls were taken before their turn"
        if number % 10 == 0:
            assert cluster.send(describe("between")).results[0].resource_name == "between"
    assert taken == names


def test_an_abandoned_stream_leaves_the_cluster_usable(cluster: Cluster) -> None:
    answers = cluster.send_each((Call(describe(f"g-{number}")) for number in range(9)), 4)
    next(answers)
    answers.close()
    assert cluster.send(describe("after")).results[0].resource_name == "after"


def test_results_keep_the_order_of_the_calls_and_failures_are_data(cluster: Cluster) -> None:
    answers = cluster.send_all(
        [
            Call(describe("a"), Node(1)),
            Call(describe("b"), Node(77)),
            Call(DescribeClusterRequest(), lowest=99),
            Call(ListGroupsRequest(), Node(1)),
        ]
    )
    assert [type(answer).__name__ for answer in answers] == [
        "DescribeConfigsResponse",
        "Failure",
        "Failure",
        "ListGroupsResponse",
    ]
    assert [answer.name for answer in answers if isinstance(answer, Failure)] == [
        "unknown-broker",
        "unsupported-version",
    ]


def test_a_closed_cluster_can_be_used_again(cluster: Cluster) -> None:
    before = cluster.cluster_id
    cluster.close()
    cluster.close()
    assert cluster.send(DescribeClusterRequest()).cluster_id == before


def test_one_shot_takes_one_connection_and_two_round_trips(
    sandbox: Sandbox, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafka_shell.wire.transport import Link

    sent = []
    send = Link.send
    monkeypatch.setattr(Link, "send", lambda *a, **k: (sent.append(a[1]), send(*a, **k))[1])
    scan.scan(cluster)
    assert cluster.brokers()
    assert sent == [18, 3]  # ApiVersions, Metadata: its head told the brokers


def test_kafka_python_is_not_imported_for_bytes(sandbox: Sandbox) -> None:
    code = (
        "import sys\n"
        "from kafka_shell.wire import metadata_scan as scan\n"
        "from kafka_shell.wire.cluster import Cluster\n"
        "from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses\n"
        f"c = Cluster(ConnectionConfig(parse_addresses({sandbox.bootstrap!r})))\n"
        "scan.scan(c); c.brokers()\n"
        "print([m for m in ('kafka', 'ssl', 'asyncio', 'logging') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_brokers_of_a_cluster(cluster: Cluster, sandbox: Sandbox) -> None:
    (broker,) = cluster.brokers()
    assert (broker.id, broker.controller, broker.version) == (1, False, "4.3")
    assert f"{broker.host}:{broker.port}" == sandbox.bootstrap
    assert cluster._pool.head.controller_id == 1
    assert cluster.is_kraft()


def test_coordinators_of_many_groups_are_one_request(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafka_shell.wire.transport import Link

    sent: list[int] = []
    send = Link.send
    monkeypatch.setattr(Link, "send", lambda *a, **k: (sent.append(a[1]), send(*a, **k))[1])
    groups = [f"g-{number}" for number in range(50)]
    answers = cluster.send_all(
        [
            Call(DescribeGroupsRequest(groups=[g]), Coordinator(CoordinatorKind.GROUP, g))
            for g in groups
        ]
    )
    assert [answer.groups[0].group_id for answer in answers] == groups
    # The first use of a cluster creates __consumer_offsets: then it is asked a few times.
    assert 1 <= sent.count(10) <= 30
    sent.clear()
    cluster.send_all(
        [Call(ListGroupsRequest(), Coordinator(CoordinatorKind.GROUP, g)) for g in groups]
    )
    assert sent.count(10) == 0


def test_a_bootstrap_server_that_is_down_is_skipped(sandbox: Sandbox) -> None:
    servers = parse_addresses(f"localhost:1,nowhere.invalid:2,{sandbox.bootstrap}")
    with Cluster(ConnectionConfig(servers, connect_timeout=3600)) as cluster:
        assert cluster.brokers()


def test_api_versions_of_a_broker(cluster: Cluster) -> None:
    assert cluster.api_versions()[3][1] == 13
    assert cluster.supports(DescribeClusterRequest, 2)
    assert not cluster.supports(DescribeClusterRequest, 99)
    assert not cluster.supports(4)


def test_a_version_that_the_broker_has_dropped(cluster: Cluster) -> None:
    error = error_of(cluster, AlterConfigsRequest(resources=[], validate_only=True), lowest=99)
    assert error.code == "unsupported-version"


def test_an_unsupported_field_is_an_error(cluster: Cluster) -> None:
    request = ListGroupsRequest(states_filter=["Empty"])
    error = error_of(cluster, request, highest=3)
    assert (error.code, "2.6" in error.message) == ("unsupported-version", True)


def test_a_request_that_cannot_be_encoded_fails_at_once(cluster: Cluster) -> None:
    request = DeleteTopicsRequest(topics=[], topic_names=[], timeout_ms="s3cret")
    error = error_of(cluster, request)
    assert error.code == "encode"
    assert "s3cret" not in str(error)
    assert cluster.send(DescribeClusterRequest()).error_code == 0


def test_per_item_errors_are_left_to_the_caller(cluster: Cluster) -> None:
    name = f"t-{uuid4().hex[:8]}"
    assert cluster.send(create(name), CONTROLLER).topics[0].error_code == 0  # type: ignore[attr-defined]
    row = cluster.send(create(name), CONTROLLER).topics[0]  # type: ignore[attr-defined]
    found = failure(row.error_code, row.error_message, about=f"topic {name}")
    assert (found.name, found.code) == ("TOPIC_ALREADY_EXISTS", 36)
    assert found.message.count(name) == 1


def test_an_outer_deadline_limits_an_inner_one(cluster: Cluster) -> None:
    with cluster.within(5):
        outer = cluster.deadline
        with cluster.within(50):
            assert cluster.deadline == outer
        with cluster.within(None):
            assert cluster.deadline == outer
    assert cluster.deadline is None


def test_a_deadline_in_the_past(cluster: Cluster) -> None:
    with cluster.within(-1):
        assert error_of(cluster, DescribeClusterRequest()).code == "deadline"
    assert cluster.brokers()


def test_attempts_end_with_the_deadline(cluster: Cluster) -> None:
    with cluster.within(0.5):
        assert list(cluster.attempts())[:2] == [0, 1]


def test_on_wait_reports_which_broker_a_call_waits_for(cluster: Cluster) -> None:
    """Once, after a second, and an empty string when the wait is over."""
    reported: list[str] = []
    scan.scan(cluster)
    with socket.create_server(("127.0.0.1", 0)) as silent_server:
        head, port = cluster._pool.head, silent_server.getsockname()[1]
        cluster._pool.head = replace(head, brokers=(*head.brokers, (99, "127.0.0.1", port, None)))
        cluster.on_wait(reported.append)
        try:
            with cluster.within(3.0):
                cluster.send_all([Call(METADATA, Node(99))])
        finally:
            cluster.on_wait(None)
            cluster._pool.head = head
    assert set(reported) == {"", f"broker 99 (127.0.0.1:{port})"} and reported[-1] == ""
