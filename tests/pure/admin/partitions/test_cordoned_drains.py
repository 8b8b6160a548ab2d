"""A drain without a broker that can receive replicas says why."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.partitions.progress import CurrentAssignment
from kafka_shell.admin.partitions.sizes import Disks
from kafka_shell.admin.partitions.targets import drained
from kafka_shell.base.plans import Resource

WHERE = TopicPartition("t", 0)
FOUND: Any = SimpleNamespace(
    names=["t"], replica_ids=lambda: {1}, summaries=list, __contains__=lambda name: True
)
NOW = CurrentAssignment((), FOUND, {}, dict.fromkeys((1, 2, 3)), {WHERE: (1,)}, {WHERE: (1, (1,))})


def test_all_other_brokers_are_cordoned() -> None:
    found = drained(NOW, Disks(cordoned=frozenset((2, 3))), 1)
    why = found.refused[Resource("topic", "t")]
    assert why.message == (
        "no broker can receive the replicas of topic t: brokers 2, 3 excluded (cordoned)"
    )
    assert "cordoned.log.dirs" in why.hint and "factor" not in why.hint


def test_a_broker_without_replicas_is_drained_anyway() -> None:
    assert not drained(NOW, Disks(cordoned=frozenset((1, 3))), 2).refused
