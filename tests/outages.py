"""Brokers that hang or are stopped for a while, and that are back in sync afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kafka_shell.sandbox.cluster import stop_broker
from kafka_shell.sandbox.state import Sandbox
from tests.freezing import freeze, thaw
from tests.well import processes, start_all, wait_until_back


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
