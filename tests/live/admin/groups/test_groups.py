"""List and describe groups of every protocol from a real coordinator."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import Group, GroupType, Task
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.base.structs import Resource
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import members
from tests.support.changes import done, make_topic
from tests.support.group_data import RECORDS, commit, described, filled, forget, held
from tests.support.waiting import wait_for


def offsets(group: Group) -> list[tuple[int, int | None, int | None, int | None]]:
    return [(row.partition, row.offset, row.end, row.lag) for row in group.offsets or ()]


@pytest.fixture
def group(cluster: Cluster) -> Iterator[str]:
    name = f"g-{uuid4().hex[:8]}"
    yield name
    forget(cluster, name)


def both(topic: str) -> tuple[TopicPartition, ...]:
    return TopicPartition(topic, 0), TopicPartition(topic, 1)


def test_a_share_group(cluster: Cluster, sandbox: Sandbox, name: str) -> None:
    filled(sandbox, cluster, name)
    group = f"share-{name}"
    with members.share(cluster, group, name) as id:
        found = described(cluster, group)
        assert (found.type, found.state) == (GroupType.SHARE, "Stable")
        (member,) = found.members
        assert (member.id, member.assignment) == (id, both(name))
        assert [row.partition for row in found.offsets or ()] == [0, 1]
        assert {row.member_id for row in found.offsets or ()} == {""}, "members share a partition"
        assert group in groups.list_groups(cluster, types=[GroupType.SHARE]).values
    forget(cluster, group)


def test_a_streams_group(cluster: Cluster, sandbox: Sandbox, name: str) -> None:
    filled(sandbox, cluster, name)
    group = f"streams-{name}"
    with members.streams(cluster, group, name) as id:
        wait_for("its tasks are acknowledged", lambda: bool(described(cluster, group).members))
        found = described(cluster, group)
        assert found.type is GroupType.STREAMS
        (member,) = found.members
        assert member.id == id
        assert set(member.tasks) <= {Task("0", 0, "active"), Task("0", 1, "active")}
        assert group in groups.list_groups(cluster, types=[GroupType.STREAMS]).values
    forget(cluster, group)


def test_the_names_of_many_groups_that_are_not_there_are_not_compared(
    cluster: Cluster, name: str
) -> None:
    """With 10,000 groups each takes 18 ms: 5,000 names of an old list took 90 s."""
    group = f"g-{name}"
    commit(cluster, group, make_topic(cluster, name), 0)
    try:
        few, many = ([f"{group}{number}" for number in range(size)] for size in (10, 11))
        hints = {why.hint for why in groups.describe(cluster, few).failures.values()}
        assert hints == {f"Did you mean {group}?"}
        found = groups.describe(cluster, many)
        assert {why.hint for why in found.failures.values()} == {""}
        assert found.failures[many[0]].see == Resource("group")
    finally:
        forget(cluster, group)


def test_a_topic_that_has_gone_is_a_row(cluster: Cluster, sandbox: Sandbox, name: str) -> None:
    """A member still wants it: that must not fail the group, nor the others asked with it."""
    filled(sandbox, cluster, name)
    kept = make_topic(cluster, f"{name}.kept")
    group, other = f"g-{name}", f"h-{name}"
    commit(cluster, other, kept, 0)
    with members.classic(sandbox.bootstrap, group, name, kept):
        done(topic_changes.plan_delete(cluster, [name]), cluster)
        found = groups.describe(cluster, [group, other], offsets=True)
        assert found.ok, found.failures
        rows = {str(row.topic_partition): row for row in found[group].offsets or ()}
        gone = rows.get(f"{name}:0")
        if gone is not None:  # unless its members know already, and the group is rebalanced
            assert (gone.end, gone.lag, gone.note) == (None, None, "no such topic")
    forget(cluster, group, other)


def test_a_group_that_only_holds_offsets(
    cluster: Cluster, sandbox: Sandbox, name: str, group: str
) -> None:
    filled(sandbox, cluster, name)
    commit(cluster, group, name, 3, 10)
    found = described(cluster, group)
    assert (found.type, found.state, found.members) == (GroupType.CLASSIC, "Empty", ())
    assert offsets(found) == [(0, 3, RECORDS, 7), (1, 10, RECORDS, 0)]
    assert found.lag == 7
    assert found.coordinator == 1


def test_a_classic_group(cluster: Cluster, sandbox: Sandbox, name: str, group: str) -> None:
    filled(sandbox, cluster, name)
    with members.classic(sandbox.bootstrap, group, name, instance="desk-1"):
        found = described(cluster, group)
        assert (found.type, found.state, found.protocol) == (
            GroupType.CLASSIC, "Stable", "consumer",
        )  # fmt: skip
        (member,) = found.members
        assert (member.client_id, member.host, member.instance_id) == (
            "reader", "127.0.0.1", "desk-1",
        )  # fmt: skip
        assert (member.subscription, member.assignment) == ((name,), both(name))
        assert offsets(found) == [(0, None, RECORDS, None), (1, None, RECORDS, None)]
        assert {row.client_id for row in found.offsets or ()} == {"reader"}
        assert group in groups.list_groups(cluster, ["Stable"], [GroupType.CLASSIC]).values
        assert group not in groups.list_groups(cluster, ["Empty"]).values
        assert group not in groups.list_groups(cluster, types=[GroupType.CONSUMER]).values


def test_a_group_of_the_new_protocol(cluster: Cluster, name: str, group: str) -> None:
    make_topic(cluster, name, 2)
    with members.consumer(cluster, group, name, instance="desk-2") as id:
        found = described(cluster, group)
        assert (found.type, found.state, found.assignor) == (
            GroupType.CONSUMER, "Stable", "uniform",
        )  # fmt: skip
        assert found.epoch is not None
        (member,) = found.members
        assert (member.id, member.instance_id, member.epoch) == (id, "desk-2", found.epoch)
        assert (member.subscription, member.assignment) == ((name,), both(name))
        assert member.target is None
        listed = groups.list_groups(cluster, types=[GroupType.CONSUMER])
        assert listed[group].protocol == "consumer"


def test_groups_that_are_not_there_name_what_was_meant(cluster: Cluster, group: str) -> None:
    name = f"t-{uuid4().hex[:8]}"
    make_topic(cluster, name)
    commit(cluster, group, name, 0)
    found = groups.describe(cluster, [f"{group[:-1]}x", "zzz", group])
    assert list(found.values) == [group]
    assert {key: why.name for key, why in found.failures.items()} == {
        f"{group[:-1]}x": "GROUP_ID_NOT_FOUND",
        "zzz": "GROUP_ID_NOT_FOUND",
    }
    assert found.failures[f"{group[:-1]}x"].hint == f"Did you mean {group}?"
    assert (found.failures["zzz"].hint, found.failures["zzz"].see) == (
        "",
        Resource("group"),
    )


def test_lag_grows_as_records_come(
    cluster: Cluster, sandbox: Sandbox, name: str, group: str
) -> None:
    filled(sandbox, cluster, name, 1)
    commit(cluster, group, name, RECORDS)
    assert described(cluster, group).lag == 0
    assert held(cluster, group) == {f"{name}:0": RECORDS}
