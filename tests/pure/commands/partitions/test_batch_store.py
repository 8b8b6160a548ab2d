"""The state of a reassignment in batches, written by several sessions."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kafka_shell.admin.partitions.batch_state import Started
from kafka_shell.admin.partitions.batched import ForgetBatches, SetBatchThrottle
from kafka_shell.admin.partitions.partition_files import MovePaths
from kafka_shell.base.errors import ShellError
from kafka_shell.base.structs import replace
from kafka_shell.commands.partitions.batches import BatchFile
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig

TIMES = 200


@pytest.fixture
def paths(tmp_path: Path) -> MovePaths:
    paths = MovePaths.new(tmp_path / "reassignments", 0)
    BatchFile(paths).update(lambda _: Started("cluster", 0, 0))
    return paths


def test_what_two_sessions_change_is_not_lost(paths: MovePaths) -> None:
    def batch(now: Started | None) -> Started | None:
        return now and replace(now, batches=now.batches + 1)

    def rate(now: Started | None) -> Started | None:
        return now and replace(now, throttle=(now.throttle or 0) + 1)

    def often(change: Callable[[Started | None], Started | None]) -> None:
        for _ in range(TIMES):
            BatchFile(paths).update(change)

    with ThreadPoolExecutor() as threads:
        list(threads.map(often, (batch, rate)))
    assert BatchFile(paths).read() == Started("cluster", TIMES, TIMES)


def test_a_reassignment_that_was_cancelled_stays_so(paths: MovePaths) -> None:
    """Before: a session that changed the throttle, or started a batch, wrote the file again."""
    BatchFile(paths).remove()
    with Cluster(ConnectionConfig()) as nobody, pytest.raises(ShellError, match="has ended"):
        SetBatchThrottle(BatchFile(paths), paths.id, 1, 2).send(nobody, validate_only=False)
    assert BatchFile(paths).read() is None


def test_it_is_not_ended_if_another_batch_was_started_meanwhile(paths: MovePaths) -> None:
    """The plan would leave that one moving."""
    planned = ForgetBatches(BatchFile(paths), paths.id, batches=0)
    BatchFile(paths).update(lambda now: now and replace(now, batches=1))
    with Cluster(ConnectionConfig()) as nobody:
        with pytest.raises(ShellError, match="another batch") as caught:
            planned.send(nobody, validate_only=False)
        assert caught.value.code == "changed-meanwhile"
        assert BatchFile(paths).read() is not None
        assert replace(planned, batches=1).send(nobody, validate_only=False).ok
    assert BatchFile(paths).read() is None
