"""Log directories: described, replicas moved between them, moves canceled, an offline disk."""

from __future__ import annotations

import pytest

from kafka_shell.admin.partitions import log_dir_moves
from kafka_shell.admin.partitions.model import ReplicaOnDisk, TopicPartition
from kafka_shell.admin.wire.connection import Cluster
from tests.support.changes import make_topic


@pytest.fixture
def partition(either: Cluster, name: str) -> TopicPartition:
    make_topic(either, name)
    return TopicPartition(name, 0)


@pytest.mark.parametrize(
    ("shown", "started"),
    [
        ({"/a": False}, False),
        ({"/a": False, "/b": True}, True),
        ({"/a": False, "/b": False}, True),  # shown while the new replica replaces the old one
        ({"/b": False}, True),
        ({"/b": False, "/c": True}, False),
        ({}, False),
    ],
)
def test_whether_a_move_has_started(shown: dict[str, bool], started: bool) -> None:
    partition = TopicPartition("orders", 0)
    move = log_dir_moves.LogDirMove(1, partition, "/a", "/b", 0)
    rows = [ReplicaOnDisk(1, path, "orders", 0, 0, 0, future) for path, future in shown.items()]
    assert log_dir_moves.is_started(move, {move.place: rows}) is started
