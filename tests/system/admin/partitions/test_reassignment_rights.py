"""Reassignments on an old broker, and without permissions."""

from __future__ import annotations

import pytest

from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.model import Move, TopicPartition
from kafka_shell.admin.partitions.reassignment import plan_cancel, plan_move, state
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.partitions.throttles import FOLLOWER_REPLICAS, SetThrottle, Throttled
from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import connect, make_topic
from tests.support.logins import log_in
from tests.support.reassigned_topics import to


def test_an_old_broker_moves_too(old_sandbox: Sandbox) -> None:
    with connect(old_sandbox) as old:
        topic = make_topic(old, "move.old")
        plan = plan_move(old, to(topic, (1,)))
        assert [change.note for change in plan.unchanged] == ["no change: already there"]
        assert plan_cancel(old, [TopicPartition(topic, 0)]).steps == ()
        assert state(old, to(topic, (1,))).ok
    again = Move(TopicPartition(topic, 0), (1,), (1,), 1)
    assert MoveReplicas((again,)).send(old, validate_only=False).ok, "its API has version 0 only"


def test_who_may_not_is_told_which_permission_is_missing(secure_sandbox: Sandbox) -> None:
    move = Move(TopicPartition("move.denied", 0), (1,), (1,))
    with log_in(secure_sandbox, "alice") as alice, log_in(secure_sandbox, "admin") as admin:
        with pytest.raises(ShellError) as denied:
            under_way(alice)
        assert denied.value.code == "CLUSTER_AUTHORIZATION_FAILED"
        assert denied.value.hint == "Requires DESCRIBE on the cluster."
        with pytest.raises(ShellError) as denied:
            MoveReplicas((move,)).send(alice, validate_only=False)
        assert denied.value.hint == "Requires ALTER on the cluster."
        topic = make_topic(admin, "move.denied")
        of_topic = ConfigResource(ResourceType.TOPIC, topic)
        throttle = SetThrottle((Throttled(of_topic, FOLLOWER_REPLICAS, "0:1"),))
        with pytest.raises(ShellError, match=f"throttle topic {topic} could not be set"):
            throttle.send(alice, validate_only=False)
