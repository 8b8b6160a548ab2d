"""Brokers that hang, are stopped or killed, and the wait until they are in sync again."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from uuid import uuid4

import pytest

from kafka_shell.admin.cluster import health, quorum
from kafka_shell.admin.cluster.model import Severity
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import apply
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.cluster import start, status
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import Address
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.pool import Pool
from tests.support.changes import connect
from tests.support.frozen_process import freeze, thaw
from tests.support.reassigned_topics import up
from tests.support.sandbox_brokers import stop_broker
from tests.support.waiting import each_broker, wait_for


def processes(sandbox: Sandbox) -> dict[int, int | None]:
    """The process id of each broker; none where it does not run."""
    now = status(sandbox.folder)
    return {broker.id: broker.pid for broker in now.brokers} if now else {}


@contextmanager
def frozen(sandbox: Sandbox, *brokers: int) -> Iterator[None]:
    """These brokers (without any named, broker 1) hang: nothing is answered."""
    now = processes(sandbox)  # other tests restart brokers
    pids = [now[broker] for broker in brokers or (1,)]
    assert all(pids), f"of {brokers} not all run: {now}"
    try:
        for pid in pids:
            freeze(pid or 0)
        yield
    finally:
        for pid in pids:
            thaw(pid or 0)
        wait_until_back(sandbox)


@contextmanager
def silent(sandbox: Sandbox) -> Iterator[Sandbox]:
    """Make broker 3 accept connections of this process and never respond. Yields the sandbox
    without it."""
    known = Pool.address_of
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        there = Address("127.0.0.1", server.getsockname()[1])

        def address_of(pool: Pool, node: int) -> Address | None:
            return there if node == 3 else known(pool, node)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Pool, "address_of", address_of)
            others = tuple(each for each in sandbox.brokers if each.id != 3)
            yield replace(sandbox, brokers=others)


@contextmanager
def stopped(sandbox: Sandbox, broker: int) -> Iterator[Sandbox]:
    """The sandbox without this broker, which is stopped cleanly."""
    try:
        yield stop_broker(sandbox.folder, broker)
    finally:
        start_all(sandbox)
        wait_until_back(sandbox)


def kill(sandbox: Sandbox, cluster: Cluster, *brokers: int, noticed: bool = True) -> None:
    """kill -9, and wait until the cluster knows, if it is to be `noticed`."""
    now = processes(sandbox)
    for broker in brokers:
        os.kill(now[broker] or 0, signal.SIGKILL)
    if noticed:
        wait_until_noticed(cluster, brokers)


@contextmanager
def hanging(sandbox: Sandbox, cluster: Cluster, *brokers: int) -> Iterator[None]:
    """These brokers hang, and the cluster knows. They need not be in sync afterwards: what a
    throttle holds is not."""
    try:
        hang(sandbox, *brokers)
        wait_until_noticed(cluster, brokers)
        yield
    finally:
        wake(sandbox, *brokers)


def hang(sandbox: Sandbox, *brokers: int) -> None:
    """Let these brokers hang; the cluster does not know yet."""
    now = processes(sandbox)
    for broker in brokers:
        freeze(now[broker] or 0)


def wake(sandbox: Sandbox, *brokers: int) -> None:
    """Let brokers that hang go on."""
    now = processes(sandbox)
    for broker in brokers:
        if pid := now[broker]:
            thaw(pid)


def wait_until_noticed(cluster: Cluster, brokers: Sequence[int]) -> None:
    """Wait until the cluster knows that these brokers are down: any broker may be asked next."""
    wait_for(f"{brokers} are down", lambda: not set(brokers) & set(up(cluster)), 60)
    for one in each_broker(cluster):
        wait_for(f"{one!r} knows", lambda one=one: not set(brokers) & set(up(one)), 60)
    wait_for("there is a controller", lambda: controller(cluster) not in (*brokers, -1), 60)


def controller(cluster: Cluster) -> int:
    """The active controller; -1 if nobody tells."""
    try:
        return quorum.describe(cluster).leader
    except ShellError:
        return -1


# -- until all is well again ----------------------------------------------------------------------


def start_all(sandbox: Sandbox) -> None:
    """Start the brokers that do not run, all at once: one alone may wait for a quorum in vain."""
    start(replace(sandbox.options, port=0))


def wait_until_back(sandbox: Sandbox) -> None:
    """Until all brokers take replicas and are in sync, and all voters follow the leader.

    A broker that hung is fenced only when the controller looks at its clock again. So metadata in
    which all is fine proves nothing: first the controller creates a topic on all brokers.
    """
    count, name = len(sandbox.brokers), f"back.{uuid4().hex[:8]}"
    with connect(sandbox) as cluster:
        create = topic_changes.plan_create([NewTopic(name, 1, count)])
        eventually(f"a topic is created on {count} brokers", lambda: apply(create, cluster).ok)
        eventually("the topic is deleted again", lambda: _is_deleted(cluster, name))
        eventually("all brokers are up and in sync", lambda: _in_sync(cluster, count))
        eventually("all voters follow the leader", lambda: voters_follow(cluster))


def _is_deleted(cluster: Cluster, name: str) -> bool:
    """A broker repeats what it forwarded to a controller that stepped down: the second deletion
    finds nothing."""
    if name not in scan(cluster).names:
        return True
    apply(topic_changes.plan_delete(cluster, [name]), cluster)
    return False


def eventually(what: str, condition: Callable[[], bool]) -> None:
    """Wait for it while brokers come back, so that any request may fail."""

    def holds() -> bool:
        try:
            return condition()
        except ShellError:
            return False

    wait_for(what, holds, 60)


def _in_sync(cluster: Cluster, count: int) -> bool:
    found = scan(cluster)
    return len(cluster.brokers(refresh=True)) == count and all(
        set(each.isr) == set(each.replicas)
        for name in found.names
        for each in found.topic(name).partitions
    )


def voters_follow(cluster: Cluster) -> bool:
    now = quorum.describe(cluster)
    return now.leader > 0 and all(0 <= each.behind_ms < 2_000 for each in now.voters)


def is_caught_up(cluster: Cluster, id: int) -> bool:
    """Whether the leader would take this observer as a voter: it has fetched from this leader, and
    this leader has committed something."""
    now = quorum.describe(cluster)
    observers = [each for each in now.replicas if not each.votes]
    follows = any(each.id == id and 0 <= each.behind_ms < 2_000 for each in observers)
    return follows and now.leader > 0 and now.high_watermark >= 0


# What a stopped broker leaves for a while, by the checks of health.
BROKERS = ("brokers", "controllers", "quorum", "offline", "under-replicated", "under-min-isr")


def wait_until_healthy(
    cluster: Cluster, seconds: float = 60, checks: Collection[str] | None = None
) -> None:
    """Until health finds nothing wrong (by these checks); an error that says what it finds."""
    wait_for(
        lambda: "\n  ".join(("the cluster is well:", *_wrong(cluster, checks))),
        lambda: not _wrong(cluster, checks),
        seconds,
    )


def _wrong(cluster: Cluster, checks: Collection[str] | None) -> list[str]:
    try:
        findings = health.health(cluster).findings
    except ShellError as error:
        return [f"health cannot tell: {error}"]
    return [
        f"{each.severity.name} {each.check}: {each.summary} {', '.join(each.examples)}"
        for each in findings
        if each.severity is not Severity.NOTE and (checks is None or each.check in checks)
    ]
