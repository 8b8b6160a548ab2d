"""Verbs side by side: their requests go out in the same rounds, their errors stay their own."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from kafka_shell.admin import quotas, topics
from kafka_shell.admin.connection import Call, Cluster, ConnectionConfig, parse_addresses
from kafka_shell.admin.runner import Runner
from kafka_shell.admin.together import together
from kafka_shell.errors import ShellError

pytestmark = pytest.mark.quick


def twice(cluster: Cluster) -> int:
    topics.scan(cluster)
    return len(quotas.describe(cluster))


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many requests went out at once, each time."""
    sent: list[int] = []
    run = Runner.run

    def recorded(self, calls, deadline):  # type: ignore[no-untyped-def]
        calls = list(calls)
        if calls:
            sent.append(len(calls))
        return run(self, calls, deadline)

    monkeypatch.setattr(Runner, "run", recorded)
    return sent


def test_verbs_of_two_requests_take_two_rounds(cluster: Cluster, rounds: list[int]) -> None:
    topics.scan(cluster)
    rounds.clear()
    assert together(cluster, [twice] * 5) == [twice(cluster)] * 5
    assert rounds[:2] == [5, 5]


def test_answers_are_in_order_though_some_take_longer(cluster: Cluster) -> None:
    def verb(times: int) -> Callable[[Cluster], int]:
        return lambda guest: sum(len(topics.scan(guest)) >= 0 for _ in range(times))

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

    def struck(self, calls, deadline):  # type: ignore[no-untyped-def]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Runner, "run", struck)
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
