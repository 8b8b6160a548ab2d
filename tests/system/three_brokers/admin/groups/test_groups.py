"""List and describe groups of every protocol from a real coordinator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from uuid import uuid4

import pytest

from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups import resets as group_resets
from kafka_shell.admin.groups.model import GroupType, ResetTarget, ResetTo
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import apply
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.requests import Call
from tests.support.changes import connect, done, make_topic
from tests.support.group_data import commit, filled, forget, held


@pytest.fixture
def group(cluster: Cluster) -> Iterator[str]:
    name = f"g-{uuid4().hex[:8]}"
    yield name
    forget(cluster, name)


def test_many_groups_are_few_requests(
    three_brokers: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One FindCoordinator, then each coordinator once a question, however many groups there are."""
    prefix = uuid4().hex[:8]
    names = [f"{prefix}-{number}" for number in range(24)]
    with connect(three_brokers) as cluster, ExitStack() as after:
        after.callback(forget, cluster, *names)
        topic = make_topic(cluster, f"t-{prefix}")
        for name in names:
            commit(cluster, name, topic, 0)
        sent: list[str] = []
        send_all = Cluster.send_all

        def counting(self: Cluster, calls: list[Call]) -> list[object]:
            sent.extend(type(call.request).__name__ for call in calls)
            return send_all(self, calls)

        monkeypatch.setattr(Cluster, "send_all", counting)
        found = groups.describe(cluster, names, offsets=True)
        assert list(found.values) == names
        coordinators = {group.coordinator for group in found}
        assert len(coordinators) > 1, "24 groups on 8 partitions of three brokers are spread"
        expected = len(coordinators)
        assert sent.count("DescribeGroupsRequest") == expected
        assert sent.count("OffsetFetchRequest") == expected
        assert sent.count("RawRequest") == 2, "the first and the end offsets"
        listed = groups.list_groups(cluster)
        assert set(names) <= set(listed.values)
        assert {listed[name].coordinator for name in names} == coordinators
        types = dict.fromkeys(names, GroupType.CLASSIC)
        sent.clear()
        assert groups.describe(cluster, names, types=types).ok
        assert set(sent) == {"DescribeGroupsRequest"}, "a type that is known spares questions"


def test_share_groups_on_kafka_3_9(old_cluster: Cluster) -> None:
    """A clear word, and no attempt at anything else."""
    name = f"share-{uuid4().hex[:8]}"
    topic = make_topic(old_cluster, f"t-{name}")
    wanted = {TopicPartition(topic, 0): 0}
    plan = group_resets.plan_offsets(old_cluster, {name: wanted}, GroupType.SHARE)
    with pytest.raises(
        ShellError, match=r"does not support AlterShareGroupOffsets, which requires Kafka 4\.1"
    ):
        apply(plan, old_cluster)
    assert groups.list_groups(old_cluster, types=[GroupType.SHARE]).values == {}


def test_resets_on_kafka_3_9(old_cluster: Cluster, old_sandbox: Sandbox) -> None:
    name = f"old-{uuid4().hex[:8]}"
    filled(old_sandbox, old_cluster, name)
    commit(old_cluster, name, name, 3, 6)
    done(
        group_resets.plan_reset(old_cluster, {name: None}, ResetTo(ResetTarget.SHIFT, 1)),
        old_cluster,
    )
    assert held(old_cluster, name) == {f"{name}:0": 4, f"{name}:1": 7}
    one = [TopicPartition(name, 0)]
    done(group_resets.plan_delete_offsets(old_cluster, {name: one}), old_cluster)
    assert held(old_cluster, name) == {f"{name}:1": 7}
    forget(old_cluster, name)
