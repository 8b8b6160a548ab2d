"""Read, set and delete the start offsets of share groups (KIP-932)."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from kafka_shell.admin.groups import resets as group_resets
from kafka_shell.admin.groups.model import GroupType, ResetTarget, ResetTo
from kafka_shell.admin.groups.offsets import Committed, unread_lag
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.base.plans import apply
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import (
    COORDINATOR_NOT_AVAILABLE,
    UNKNOWN_TOPIC_OR_PARTITION,
)
from tests.support import members
from tests.support.changes import done, refusals
from tests.support.group_data import RECORDS, described, filled, forget, held
from tests.support.waiting import wait_for


@pytest.fixture
def topic(cluster: Cluster, sandbox: Sandbox, name: str) -> str:
    return filled(sandbox, cluster, name)


@pytest.fixture
def group(cluster: Cluster) -> Iterator[str]:
    name = f"share-{uuid4().hex[:8]}"
    yield name
    forget(cluster, name)


def start(cluster: Cluster, group: str, topic: str, *offsets: int) -> None:
    wanted = {TopicPartition(topic, number): offset for number, offset in enumerate(offsets)}
    done(group_resets.plan_offsets(cluster, {group: wanted}, GroupType.SHARE), cluster)


def test_a_group_made_by_its_offsets(cluster: Cluster, topic: str, group: str) -> None:
    start(cluster, group, topic, 3, 4)
    found = described(cluster, group)
    assert (found.type, found.state) == (GroupType.SHARE, "Empty")
    rows = [(row.partition, row.offset, row.end) for row in found.offsets or ()]
    assert rows == [(0, 3, RECORDS), (1, 4, RECORDS)]
    assert found.lag == 2 * RECORDS - 7


def test_a_reset(cluster: Cluster, topic: str, group: str) -> None:
    start(cluster, group, topic, 3, 4)
    plan = group_resets.plan_reset(cluster, {group: None}, ResetTo(ResetTarget.LATEST))
    assert {change.resource.kind for change in plan.changes} == {"share-group-offsets"}
    done(plan, cluster)
    assert held(cluster, group) == {f"{topic}:0": RECORDS, f"{topic}:1": RECORDS}


def test_it_is_not_mistaken_for_another_type(cluster: Cluster, topic: str, group: str) -> None:
    start(cluster, group, topic, 3)
    wanted = {TopicPartition(topic, 0): 1}
    plan = group_resets.plan_offsets(cluster, {group: wanted}, GroupType.CLASSIC)
    assert refusals(plan)[group].message == f"group {group} is a share group, not a classic group"


def test_offsets_are_deleted_by_the_topic(cluster: Cluster, topic: str, group: str) -> None:
    start(cluster, group, topic, 3, 4)
    one = [TopicPartition(topic, 0)]
    plan = group_resets.plan_delete_offsets(cluster, {group: one})
    assert plan.steps == ()
    assert refusals(plan)[topic].hint == "Delete its offsets in all partitions of the topic."
    both = [*one, TopicPartition(topic, 1)]
    done(group_resets.plan_delete_offsets(cluster, {group: both}), cluster)
    assert held(cluster, group) == {}


def test_a_partition_of_which_nothing_was_read(cluster: Cluster, topic: str, group: str) -> None:
    """It has no start offset. Before: the offsets of its topic could not be deleted."""
    with members.share(cluster, group, topic):
        pass
    wait_for("it has left", lambda: described(cluster, group).state == "Empty")
    start(cluster, group, topic, 3)
    assert held(cluster, group) == {f"{topic}:0": 3, f"{topic}:1": None}
    both = [TopicPartition(topic, number) for number in range(2)]
    plan = group_resets.plan_delete_offsets(cluster, {group: both})
    assert plan.refused.ok, plan.refused.failures
    done(plan, cluster)
    assert held(cluster, group) == {}


def test_a_group_with_members_is_refused(cluster: Cluster, topic: str, group: str) -> None:
    with members.share(cluster, group, topic):
        plan = group_resets.plan_reset(
            cluster, {group: [TopicPartition(topic, 0)]}, ResetTo(ResetTarget.EARLIEST)
        )
        assert refusals(plan)[group].name == "NON_EMPTY_GROUP"
    wait_for("it has left", lambda: described(cluster, group).state == "Empty")


def test_the_broker_refuses_too(cluster: Cluster, topic: str, group: str) -> None:
    start(cluster, group, topic, 3, 4)
    plan = group_resets.plan_reset(cluster, {group: None}, ResetTo(ResetTarget.LATEST))
    with members.share(cluster, group, topic):
        try:
            failures = {why.name for why in apply(plan, cluster).failures.values()}
        except Exception as error:
            failures = {getattr(error, "code", "")}
        assert failures == {"NON_EMPTY_GROUP"}


def test_an_offset_that_the_broker_could_not_read_is_a_failure() -> None:
    here, gone = TopicPartition("orders", 0), TopicPartition("deleted", 0)
    errors = {
        here: Committed(None, error=COORDINATOR_NOT_AVAILABLE),
        gone: Committed(None, error=UNKNOWN_TOPIC_OR_PARTITION),
    }
    ((about, why),) = unread_lag({}, {"g": errors}).items()
    assert (str(about), why.name) == ("lag in orders:0", "COORDINATOR_NOT_AVAILABLE")
