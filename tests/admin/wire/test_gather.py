"""Verbs side by side: none waits for another, one thread sends, errors stay their own."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from kafka_shell.admin.quotas import read as quotas
from kafka_shell.admin.wire import metadata_scan
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.dial import Loop
from kafka_shell.admin.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.admin.wire.gather import together
from kafka_shell.admin.wire.requests import METADATA, Call, Node
from kafka_shell.admin.wire.runner import Runner
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Failure

pytestmark = pytest.mark.quick


def twice(cluster: Cluster) -> int:
    metadata_scan.scan(cluster)
    return len(quotas.describe(cluster))


def test_what_one_verb_waits_for_holds_up_no_other(cluster: Cluster) -> None:
    """A verb of many round trips ends while another one still waits for its first answer."""
    ended: list[str] = []

    def waits(guest: Cluster) -> None:
        with guest.within(2.0):
            (answer,) = guest.send_all([Call(METADATA, Node(99))])
        ended.append(answer.name)

    def asks_on(guest: Cluster) -> None:
        for _ in range(5):
            quotas.describe(guest)
        ended.append("asked five times")

    metadata_scan.scan(cluster)
    with socket.create_server(("127.0.0.1", 0)) as mute:  # takes connections, and says nothing
        head = cluster._pool.head
        there = (99, "127.0.0.1", mute.getsockname()[1], None)
        cluster._pool.head = replace(head, brokers=(*head.brokers, there))
        together(cluster, [waits, asks_on])
    cluster._pool.head = head
    assert ended == ["asked five times", "deadline"]


def test_one_thread_drives_whatever_the_verbs_do(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sending to each in turn, side by side with other ways to ask: the connections, their loop and
    the broker's answers are in the hands of one thread."""
    drivers: set[str] = set()
    turn = Loop.turn

    def recorded(self: Loop, until: float) -> None:
        drivers.add(threading.current_thread().name)
        turn(self, until)

    def streams(guest: Cluster) -> int:
        calls = (Call(METADATA) for _ in range(40))
        return sum(not isinstance(answer, Failure) for answer in guest.send_each(calls, 4))

    monkeypatch.setattr(Loop, "turn", recorded)
    answers = together(cluster, [streams, streams, twice, lambda guest: len(guest.brokers())])
    assert answers == [40, 40, twice(cluster), 1]
    assert drivers == {threading.current_thread().name}


def test_a_stream_may_be_left_in_the_middle(cluster: Cluster) -> None:
    def leaves(guest: Cluster) -> int:
        for _ in guest.send_each((Call(METADATA) for _ in range(40)), 8):
            return 1
        return 0

    assert together(cluster, [leaves, twice]) == [1, twice(cluster)]


def test_answers_are_in_order_though_some_take_longer(cluster: Cluster) -> None:
    def verb(times: int) -> Callable[[Cluster], int]:
        return lambda guest: sum(len(metadata_scan.scan(guest)) >= 0 for _ in range(times))

    assert together(cluster, [verb(3), verb(0), verb(1), verb(2)]) == [3, 0, 1, 2]
    assert together(cluster, []) == []


def test_an_error_ends_only_its_own_verb(cluster: Cluster) -> None:
    def wrong(guest: Cluster) -> int:
        guest.negotiate(55, 99, 99)
        return 0

    error, fine = together(cluster, [wrong, twice])
    assert isinstance(error, ShellError) and error.code == "unsupported-version"
    assert fine == twice(cluster)


def test_a_mistake_of_ours_is_raised_where_it_was_called(cluster: Cluster) -> None:
    def broken(guest: Cluster) -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        together(cluster, [broken, twice])
    assert twice(cluster) >= 0, "the cluster is still of use"


def test_where_nobody_can_be_reached_each_is_told() -> None:
    config = ConnectionConfig(parse_addresses("127.0.0.1:1"))
    with Cluster(config) as nowhere:
        for error in together(nowhere, [twice, twice]):
            assert isinstance(error, ShellError)


def test_ctrl_c_ends_all_of_them(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    before = threading.active_count()

    def struck(self, jobs):  # type: ignore[no-untyped-def]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Runner, "round", struck)
        with pytest.raises(KeyboardInterrupt):
            together(cluster, [twice, twice])
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and thread.daemon:
            thread.join(5)
    assert threading.active_count() <= before
    assert twice(cluster) >= 0, "a fresh connection is made"


def test_other_ways_to_ask(cluster: Cluster) -> None:
    def asks(guest: Cluster) -> tuple[object, ...]:
        (answer,) = guest.send_all([Call(acls_request())])
        return (
            guest.cluster_id, guest.brokers(refresh=True), guest.api_versions(),
            guest.versions_of_brokers().values, type(answer).__name__,
        )  # fmt: skip

    def acls_request() -> object:
        from kafka.protocol.admin import DescribeAclsRequest

        return DescribeAclsRequest(
            resource_type_filter=1, resource_name_filter=None, pattern_type_filter=1,
            principal_filter=None, host_filter=None, operation=1, permission_type=1,
        )  # fmt: skip

    (told,) = together(cluster, [asks])
    assert told == asks(cluster)
    assert together(cluster, [lambda guest: guest.close()]) == [None]


def test_it_is_said_whom_a_call_waits_for(cluster: Cluster) -> None:
    """After a second, once, and that it is over."""
    told: list[str] = []
    metadata_scan.scan(cluster)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        head, port = cluster._pool.head, mute.getsockname()[1]
        cluster._pool.head = replace(head, brokers=(*head.brokers, (99, "127.0.0.1", port, None)))
        cluster.on_wait(told.append)
        try:
            with cluster.within(3.0):
                cluster.send_all([Call(METADATA, Node(99))])
        finally:
            cluster.on_wait(None)
            cluster._pool.head = head
    assert set(told) == {"", f"broker 99 (127.0.0.1:{port})"} and told[-1] == ""
