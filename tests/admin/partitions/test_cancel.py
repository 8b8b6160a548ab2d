"""Reassignments are cancelled, and what becomes of it is told."""

from __future__ import annotations

import pytest

from kafka_shell.admin.partitions.model import Move, TopicPartition
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.wire.connection import Cluster
from tests.admin.helpers import lose_requests

METADATA = 3


@pytest.mark.quick
def test_a_cancelled_move_is_not_lost(
    cluster: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order of the replicas cannot be read after it was cancelled."""
    there, missing = TopicPartition(topic, 0), TopicPartition(topic, 9)
    step = MoveReplicas(tuple(Move(each, (1,), (1,)) for each in (there, missing)), cancelled=True)
    lose_requests(monkeypatch, METADATA)
    results = step.send(cluster, validate_only=False)
    failed = {change.resource: why for change, why in results.failures.items()}
    assert failed[missing.resource].name == "UNKNOWN_TOPIC_OR_PARTITION"
    assert failed[there.resource].name == "outcome-unknown"
    assert failed[there.resource].message.startswith("cancelled, but the replicas may be in")
