"""A broker with an open connection hangs: requests that any broker can answer go to another one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kafka_shell.admin.quotas import read as quotas
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.results import Failure
from kafka_shell.base.waits import PROBE_S
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.wire.requests import ANY, CONTROLLER, METADATA, Call, Node
from kafka_shell.wire.runner import can_use_any_broker
from kafka_shell.wire.transport import Link
from tests.support.changes import connect, described, done, make_topic
from tests.support.outages import frozen, wait_until_healthy
from tests.support.waiting import wait_for


@pytest.fixture(scope="module")
def well(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        wait_until_healthy(cluster)
        yield cluster
        wait_until_healthy(cluster, 90)


@contextmanager
def at_the_frozen_one(sandbox: Sandbox, well: Cluster) -> Iterator[Cluster]:
    """All brokers are known, and the one connection there is leads to the one that hangs."""
    broker = sandbox.brokers[2]
    address = f"127.0.0.1:{next(iter(broker.ports.values()))}"
    config = ConnectionConfig(
        parse_addresses(address), request_timeout=3600, call_timeout=3600
    )  # a test that waited for it to respond would be ended
    with Cluster(config) as cluster:
        wait_for("it knows all three", lambda: len(cluster.brokers(refresh=True)) == 3)
        with frozen(sandbox, broker.id):
            (link,) = cluster._pool.ready()
            assert str(link.address) == address
            wait_for("it is idle, as at a prompt", lambda: idle(link) > PROBE_S)
            yield cluster


def idle(link: Link) -> float:
    return time.monotonic() - link.last_received


def test_a_read_is_sent_to_another_broker(
    three_brokers: Sandbox, well: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_topic(well, name)
    asked: list[str] = []
    send = Link.send

    def told(self: Link, *request: object, **more: object) -> object:
        asked.append(str(self.address))
        return send(self, *request, **more)  # type: ignore[arg-type]

    with at_the_frozen_one(three_brokers, well) as cluster:
        with cluster.within(None):
            assert name in metadata_scan.scan(cluster).names
        silent = str(cluster.config.bootstrap[0])
        monkeypatch.setattr(Link, "send", told)
        with cluster.within(None):
            quotas.describe(cluster)
        assert asked and silent not in asked, "the next command does not ask it again"


def test_parallel_and_sequential_reads(three_brokers: Sandbox, well: Cluster) -> None:
    with at_the_frozen_one(three_brokers, well) as cluster:
        answers = cluster.send_all([Call(METADATA) for _ in range(20)])
        assert not any(isinstance(answer, Failure) for answer in answers)
    with at_the_frozen_one(three_brokers, well) as cluster:
        told = cluster.send_each((Call(METADATA) for _ in range(40)), 4)
        assert not any(isinstance(answer, Failure) for answer in told)


def test_a_change_is_sent_once_to_a_broker_that_responds(
    three_brokers: Sandbox, well: Cluster, name: str
) -> None:
    """Whether it answers is asked first: nobody could tell what became of a change it took."""
    with at_the_frozen_one(three_brokers, well) as cluster:
        make_topic(cluster, name, assignment=((1,),))
        assert described(well, name).name == name
        done(topic_changes.plan_delete(cluster, [name]), cluster)


def test_a_change_that_was_not_sent_waits_for_no_silent_broker(
    three_brokers: Sandbox, well: Cluster, name: str
) -> None:
    """The controller that the metadata names (in KRaft any broker) is the one that hangs."""
    make_topic(well, name)
    with at_the_frozen_one(three_brokers, well) as cluster:
        with pytest.raises(ShellError):
            cluster.send(METADATA, Node(3), timeout=2.5)
        done(topic_changes.plan_delete(cluster, [name]), cluster)


def test_the_next_command_reads_the_brokers_again(three_brokers: Sandbox, well: Cluster) -> None:
    """A broker that let one command wait may be out of the cluster by the next."""
    with at_the_frozen_one(three_brokers, well) as cluster:
        calls = [Call(METADATA, Node(id), timeout=2.0 if id == 3 else 20.0) for id in (1, 2, 3)]
        with cluster.within(None):
            told = cluster.send_all(calls)
            assert [isinstance(each, Failure) for each in told] == [False, False, True]
        wait_for("the cluster has noticed", lambda: len(well.brokers(refresh=True)) == 2)
        with cluster.within(None):
            found = cluster.each_broker(METADATA)
            assert found.ok and set(found.values) == {1, 2}


def test_a_part_of_a_command_does_not_report_that_no_broker_can_be_reached_after_one_has_responded(
    three_brokers: Sandbox, well: Cluster
) -> None:
    hanging = next(iter(three_brokers.brokers[2].ports.values()))
    config = ConnectionConfig(parse_addresses(f"127.0.0.1:{hanging}"))
    statuses = []
    with (
        frozen(three_brokers, three_brokers.brokers[2].id),
        well.within(8.0, given=True),
        Cluster(config) as part,
    ):
        part.join(well)
        for _ in range(2):
            with part.within(1.0), pytest.raises(ShellError) as caught:
                part.brokers(refresh=True)
            statuses.append(caught.value.status)
            metadata_scan.scan(well)
    assert statuses == [Status.UNREACHABLE, Status.FAILED], caught.value


def test_which_calls_may_be_sent_twice(well: Cluster) -> None:
    from kafka.protocol.admin import DeleteTopicsRequest

    change = DeleteTopicsRequest(topic_names=[], timeout_ms=1)
    runner = well._runner
    for call, unsent, sent in (
        (Call(METADATA, ANY), True, True),
        (Call(METADATA, CONTROLLER), True, True),
        (Call(METADATA, Node(1)), False, False),
        (Call(change, CONTROLLER), True, False),
        (Call(change, ANY), True, False),
    ):
        job = runner.job(call, None)
        assert can_use_any_broker(job) is unsent
        job.sent = True
        assert can_use_any_broker(job) is sent
