"""Brokers that hang or are stopped for a while; afterwards they are in sync again."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kafka_shell.admin.cluster import quorum
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.errors import ShellError
from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import wait_for
from tests.support.frozen_process import freeze, thaw
from tests.support.reassigned_topics import up
from tests.support.sandbox_brokers import stop_broker
from tests.support.shared_cluster import each_broker, processes, start_all, wait_until_back


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
