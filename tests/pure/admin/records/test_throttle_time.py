"""A throttle time that a broker commands is bounded and shown."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from kafka_shell.admin.records.batches import wait_out
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig


@pytest.mark.parametrize(
    ("left", "commanded", "waited"),
    [(None, 2**31 - 1, 60.0), (None, 250, 0.25), (5.0, 2**31 - 1, 5.0), (-1.0, 9_000, 0.1)],
)
def test_throttle_time_is_bounded_and_shown(
    monkeypatch: pytest.MonkeyPatch, left: float | None, commanded: int, waited: float
) -> None:
    slept: list[float] = []
    shown: list[str] = []
    monkeypatch.setattr(time, "monotonic", lambda: 1_000.0)
    monkeypatch.setattr(time, "sleep", slept.append)
    with Cluster(ConnectionConfig()) as cluster:
        cluster.on_wait(shown.append)
        cluster.deadline = None if left is None else 1_000.0 + left
        wait_out(cluster, SimpleNamespace(throttle_time_ms=commanded))
    assert slept == [pytest.approx(waited)]
    assert any("quota" in each for each in shown) is (waited >= 1)
    assert not shown or shown[-1] == ""
