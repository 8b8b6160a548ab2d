"""Plans have a time budget to read facts; what is not read in time is reported as not checked."""

from __future__ import annotations

import pytest

from kafka_shell.admin import facts
from kafka_shell.admin.partitions import reassignment
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.base.plans import Plan
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic


def missing(plan: Plan) -> list[str]:
    """What was not checked; each has a reason."""
    assert all("timed out" in each.reason for each in plan.advice.not_checked), (
        plan.advice.not_checked
    )
    return [each.what for each in plan.advice.not_checked]


def test_fewer_replicas(three: Cluster, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make_topic(three, name, factor=3)
    with monkeypatch.context() as patch:
        patch.setattr(facts, "BUDGET_S", 0.0)
        plan = reassignment.plan_move(three, {TopicPartition(name, 0): (1, 2)})
    assert missing(plan) == ["min.insync.replicas of 1 topic"]
    done(topic_changes.plan_delete(three, [name]), three)
