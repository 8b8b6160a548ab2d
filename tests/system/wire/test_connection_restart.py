"""Brokers that stop and restart while requests are in flight."""

from __future__ import annotations

import math
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from uuid import uuid4

import pytest
from kafka.protocol.admin import (
    CreateTopicsRequest,
    DescribeClusterRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
)

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.results import Failure
from kafka_shell.sandbox.cluster import start, status, stop, wipe
from kafka_shell.sandbox.process import is_running
from kafka_shell.sandbox.state import Sandbox, SandboxOptions
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.endpoint import Address, ConnectionConfig, parse_addresses
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.requests import (
    ANY,
    CONTROLLER,
    Call,
    Coordinator,
    CoordinatorKind,
    Node,
)
from tests.support.frozen_process import freeze
from tests.support.outages import stopped
from tests.support.waiting import wait_for


@pytest.fixture(scope="module")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A broker of these tests' own."""
    folder = tmp_path_factory.mktemp("mortal")
    try:
        yield start(SandboxOptions(folder, port=0))
    finally:
        wipe(folder)


@pytest.fixture
def mortal(own_broker: Sandbox) -> Sandbox:
    """A broker to be killed. It runs, also after a test that failed before it was back."""
    return start(own_broker.options)


@pytest.fixture
def cluster(mortal: Sandbox) -> Iterator[Cluster]:
    with Cluster(ConnectionConfig(parse_addresses(mortal.bootstrap))) as cluster:
        yield cluster


def create(name: str, **more: object) -> CreateTopicsRequest:
    topic = CreateTopicsRequest.CreatableTopic(
        name=name, num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    return CreateTopicsRequest(topics=[topic], timeout_ms=5000, **more)


def process_of(sandbox: Sandbox) -> int:
    """The broker's process id as it is now."""
    found = status(sandbox.folder)
    assert found is not None
    pid = found.brokers[0].pid
    assert pid is not None
    return pid


def kill(sandbox: Sandbox, pid: int) -> None:
    """End the broker without a word."""
    os.kill(pid, signal.SIGKILL)
    wait_for("the broker is gone", lambda: not is_running(pid, sandbox.brokers[0].java_arguments))


def again(sandbox: Sandbox) -> None:
    start(sandbox.options)


def test_a_restarted_broker_is_reconnected(mortal: Sandbox, cluster: Cluster) -> None:
    before = cluster.send(DescribeClusterRequest()).cluster_id
    stop(mortal.folder)
    for target in (ANY, CONTROLLER, Node(1), Coordinator(CoordinatorKind.GROUP, "g")):
        with pytest.raises(ShellError) as caught, cluster.within(3600):  # it does not wait so long
            cluster.send(DescribeClusterRequest(), target)
        assert (caught.value.code, caught.value.status) == ("refused", Status.UNREACHABLE)
    again(mortal)
    assert cluster.send(DescribeClusterRequest()).cluster_id == before
    assert cluster.send(ListGroupsRequest(), Node(1)).error_code == 0


def test_reads_in_flight_are_retried_when_a_broker_is_killed(
    mortal: Sandbox, cluster: Cluster
) -> None:
    cluster.brokers()
    pid = process_of(mortal)
    freeze(pid)  # so that the requests are in flight for certain
    killer = threading.Timer(0.3, lambda: (kill(mortal, pid), again(mortal)))
    killer.start()
    answers = cluster.send_all([Call(ListGroupsRequest(), Node(1)) for _ in range(50)])
    killer.join()
    assert not any(isinstance(answer, Failure) for answer in answers)


def test_a_change_in_flight_has_an_unknown_outcome(mortal: Sandbox, cluster: Cluster) -> None:
    cluster.brokers()
    pid = process_of(mortal)
    freeze(pid)
    killer = threading.Timer(0.3, lambda: kill(mortal, pid))
    killer.start()
    name = f"t-{uuid4().hex[:8]}"
    sent, validated = cluster.send_all(
        [
            Call(create(name), CONTROLLER, timeout=20),
            Call(create(name, validate_only=True), CONTROLLER, timeout=1),
        ]
    )
    killer.join()
    again(mortal)
    assert isinstance(sent, Failure)
    assert sent.name == "outcome-unknown"
    assert "outcome unknown" in sent.message
    assert isinstance(validated, Failure)  # sent again, and nobody was there
    assert validated.name == "deadline"


def test_a_connection_that_the_broker_closed_while_idle(cluster: Cluster) -> None:
    """Brokers drop connections that are idle for ten minutes: a change must not trip over it."""
    cluster.brokers()
    (link,) = cluster._pool.ready()
    assert link._sock is not None
    link._sock.shutdown(socket.SHUT_RDWR)
    answer = cluster.send(create(f"t-{uuid4().hex[:8]}"), CONTROLLER)
    assert answer.topics[0].error_code == 0


@contextmanager
def relay(target: Address, most: int) -> Iterator[tuple[Address, list[socket.socket]]]:
    """A TCP relay that cuts each connection after so many bytes of responses, and all connections
    to it so far."""
    made: list[socket.socket] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def pump(source: socket.socket, sink: socket.socket, left: float) -> None:
            try:
                while left > 0 and (data := source.recv(1 << 10)):
                    sink.sendall(data)
                    left -= len(data)
            except OSError:
                pass
            finally:
                for end in (source, sink):
                    try:
                        end.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        continue

        def accept() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                broker = socket.create_connection(target)
                made.extend((client, broker))
                for ends in ((client, broker, math.inf), (broker, client, most)):
                    threading.Thread(target=pump, args=ends, daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield Address("127.0.0.1", server.getsockname()[1]), made
        server.shutdown(socket.SHUT_RDWR)
        for end in made:
            end.close()


def test_a_read_is_retried_after_repeated_connection_losses(mortal: Sandbox) -> None:
    with (
        relay(parse_addresses(mortal.bootstrap)[0], 4_000) as (address, made),
        Cluster(ConnectionConfig((address,))) as cluster,
    ):
        for _ in range(10):
            answers = cluster.send_all([Call(DescribeClusterRequest()) for _ in range(100)])
            assert not any(isinstance(answer, Failure) for answer in answers)
        assert len(made) > 2 * 10, "the connection was not cut in every round"


def test_a_coordinator_moves(three_brokers: Sandbox) -> None:
    """The broker that coordinates a group is stopped between two requests."""
    group = "moving"
    target = Coordinator(CoordinatorKind.GROUP, group)
    with Cluster(ConnectionConfig(parse_addresses(three_brokers.bootstrap))) as cluster:
        request = DescribeGroupsRequest(groups=[group])
        assert cluster.send(request, target).groups[0].group_id == group
        first = cluster._pool.coordinators[target]
        with stopped(three_brokers, first):
            answer = cluster.send(DescribeGroupsRequest(groups=[group]), target, timeout=30)
            assert answer.groups[0].group_id == group
            assert cluster._pool.coordinators[target] != first
            cluster.brokers(refresh=True)
            results = cluster.each_broker(ListGroupsRequest())
            assert sorted(results.values) == sorted({1, 2, 3} - {first})
            with pytest.raises(ShellError) as caught:
                cluster.send(ListGroupsRequest(), Node(first))
            assert caught.value.code in ("unknown-broker", "refused")
        cluster.brokers(refresh=True)
        assert sorted(cluster.each_broker(ListGroupsRequest()).values) == [1, 2, 3]


def test_a_controller_that_is_killed(three_brokers: Sandbox) -> None:
    """Changes go on while the quorum elects another leader."""
    with Cluster(ConnectionConfig(parse_addresses(three_brokers.bootstrap))) as cluster:
        controller = scan(cluster).controller_id
        with stopped(three_brokers, controller):
            name = f"t-{uuid4().hex[:8]}"
            answer = cluster.send(create(name), CONTROLLER, timeout=30)
            assert answer.topics[0].error_code == 0
