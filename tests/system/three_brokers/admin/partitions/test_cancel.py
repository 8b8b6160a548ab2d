"""Cancel reassignments and report the outcome."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_shell.admin.partitions.model import Move, TopicPartition
from kafka_shell.admin.partitions.reassignment import plan_cancel, plan_move
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.partitions.throttles import ThrottleRecord
from kafka_shell.base.plans import apply
from kafka_shell.wire.cluster import Cluster
from tests.support import reassigned_topics
from tests.support.changes import failures, lose_requests
from tests.support.reassigned_topics import Filled

METADATA = 3
ALTER_PARTITION_REASSIGNMENTS = 45


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


@pytest.mark.usefixtures("restored")
def test_a_move_whose_response_is_lost_has_started(
    three: Cluster, filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: its outcome was unknown, although the cluster listed it."""
    (name,) = filled.topics(1)
    at, missing = TopicPartition(name, 0), TopicPartition(name, 99)
    plan = plan_move(three, {at: (2, 3)}, throttle=1)
    for step in plan.steps[:-1]:
        assert step.send(three, validate_only=False).ok
    step = MoveReplicas((Move(at, (1, 2), (2, 3)), Move(missing, (1, 2), (2, 3))))
    lose_requests(monkeypatch, ALTER_PARTITION_REASSIGNMENTS, received=True)
    results = step.send(three, validate_only=False)
    assert [change.resource for change in results.values] == [at.resource]
    assert failures(results) == {str(missing): "outcome-unknown"}
    assert reassigned_topics.moving(three, name) == {0: (3,)}


@pytest.mark.usefixtures("restored")
def test_a_move_that_is_left_alone_keeps_its_throttle(three: Cluster, filled: Filled) -> None:
    """Before: the plan said that its throttle would be removed, too."""
    ours, theirs = (TopicPartition(topic, 0) for topic in filled.topics(2))
    record = ThrottleRecord()
    plan = plan_move(three, {ours: (2, 3), theirs: (2, 3)}, throttle=1, record=record)
    assert apply(plan.followed(follow=None, afterwards=()), three).ok
    target = {ours: (2, 3), theirs: (1, 3)}
    cancel = plan_cancel(three, [ours, theirs], record=record, target=target)
    (alone,) = cancel.unchanged
    assert str(alone.resource) == f"partition {theirs}"
    changed = {change.resource.name for change in cancel.changes}
    assert f"topic {ours.topic}" in changed and f"topic {theirs.topic}" not in changed


@pytest.fixture
def restored(three: Cluster) -> Iterator[None]:
    yield
    reassigned_topics.restore(three)
