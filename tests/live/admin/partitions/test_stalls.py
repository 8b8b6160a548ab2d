"""Which broker a reassignment waits for."""

from __future__ import annotations

import pytest

from kafka_shell.admin.partitions.model import Reassignment
from kafka_shell.admin.partitions.stalls import waits_for


@pytest.mark.parametrize(
    ("adding", "removing", "lag", "leader", "running", "broker"),
    [
        ((4,), (1,), 10, 2, {2, 3, 4}, None),
        ((4,), (1,), 10, 2, {1, 2, 3}, 4),
        ((4,), (1,), 10, 2, {2, 4}, None),  # something is still being copied
        ((4,), (1,), 0, 2, {2, 4}, 3),  # which stays: its target replicas are not all in sync
        ((4,), (1, 4), 10, 2, {1, 2, 3}, None),  # given up when the target was changed
        ((), (4,), None, 2, {2, 3, 4}, 1),
        ((4,), (1,), 10, None, {1, 2, 4}, 3),
        ((4,), (1,), 10, None, {1, 2, 3}, 4),
    ],
)
def test_the_broker_without_which_it_cannot_end(
    adding: tuple[int, ...],
    removing: tuple[int, ...],
    lag: int | None,
    leader: int | None,
    running: set[int],
    broker: int | None,
) -> None:
    each = Reassignment("t", 0, (4, 2, 3, 1), adding, removing, lag=lag)
    assert waits_for(each, leader, running) == broker
