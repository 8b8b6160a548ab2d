"""A broker that hangs, stops and restarts while requests are in flight."""

from __future__ import annotations

import math
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from uuid import uuid4

import pytest
from kafka.protocol.admin import (
    DescribeClusterRequest,
    IncrementalAlterConfigsRequest,
    ListGroupsRequest,
)

from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.results import Failure
from kafka_shell.sandbox.cluster import start, status, stop
from kafka_shell.sandbox.process import is_running
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import Address, ConnectionConfig, parse_addresses
from kafka_shell.wire.requests import (
    ANY,
    CONTROLLER,
    Call,
    Coordinator,
    CoordinatorKind,
    Node,
)
from tests.support.faults import hinted, refused
from tests.support.frozen_process import freeze
from tests.support.outages import frozen
from tests.support.program import Program
from tests.support.raw_requests import create, describe, error_of
from tests.support.waiting import wait_for


@pytest.fixture
def mortal(own_broker: Sandbox) -> Sandbox:
    """A broker to be killed. It runs, also after a test that failed before it was back."""
    return start(own_broker.options)


@pytest.fixture
def cluster(mortal: Sandbox) -> Iterator[Cluster]:
    with Cluster(ConnectionConfig(parse_addresses(mortal.bootstrap))) as cluster:
        yield cluster


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


def test_a_deadline_error_says_what_was_awaited(cluster: Cluster, mortal: Sandbox) -> None:
    cluster.brokers()
    with frozen(mortal):
        with cluster.within(0.5):
            error = error_of(cluster, DescribeClusterRequest())
        change = IncrementalAlterConfigsRequest(resources=[], validate_only=False)
        with cluster.within(0.5):
            unsure = error_of(cluster, change)
    assert (error.code, unsure.code) == ("deadline", "not-sent")  # no broker was found for it
    assert "broker 1" in error.message
    assert "DescribeCluster" in error.message
    assert "may still happen" not in error.message
    assert cluster.send(DescribeClusterRequest()).error_code == 0


def test_a_change_under_a_deadline_may_still_happen(cluster: Cluster, mortal: Sandbox) -> None:
    cluster.brokers()
    with frozen(mortal), cluster.within(0.3):
        (found,) = cluster.send_all(
            [Call(IncrementalAlterConfigsRequest(resources=[], validate_only=False))]
        )
    assert (found.name, "may still be" in found.message) == ("deadline", True)
    assert "Check" in found.hint


def test_ctrl_c_leaves_the_cluster_usable(cluster: Cluster, mortal: Sandbox) -> None:
    cluster.brokers()
    main = threading.main_thread().ident
    assert main is not None
    ring = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT))
    with frozen(mortal):
        with pytest.raises(KeyboardInterrupt):
            ring.start()
            cluster.send_all([Call(describe("x")) for _ in range(20)])
        ring.join()
    answers = cluster.send_all([Call(describe(f"y-{number}")) for number in range(20)])
    assert [answer.results[0].resource_name for answer in answers] == [
        f"y-{number}" for number in range(20)
    ]


@pytest.mark.parametrize("command", ["list-topics", "connect"])
def test_the_program_names_a_broker_that_hangs(
    mortal: Sandbox, tmp_path: Path, command: str
) -> None:
    with frozen(mortal):
        run = Program(tmp_path, mortal.bootstrap)(command, "--deadline", "1s")
    hinted(refused(run, run.status, "deadline", mortal.bootstrap))
    assert run.status in (1, 3)
