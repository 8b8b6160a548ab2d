"""Set, copy, delete and restore committed offsets."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from kafka_shell.admin.groups import resets as group_resets
from kafka_shell.admin.groups.model import GroupType, Reset, ResetTarget, ResetTo
from kafka_shell.admin.groups.steps import AlterShareOffsets, CommitOffsets
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.base.plans import Effect, Plan, apply
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import members
from tests.support.changes import done, make_topic, refusals
from tests.support.group_data import RECORDS, commit, described, filled, forget, held


@pytest.fixture(scope="module")
def topic(cluster: Cluster, sandbox: Sandbox) -> str:
    """Two partitions of RECORDS records."""
    return filled(sandbox, cluster, f"resets-{uuid4().hex[:8]}")


@pytest.fixture
def group(cluster: Cluster) -> Iterator[str]:
    name = f"g-{uuid4().hex[:8]}"
    yield name
    forget(cluster, name)


def targets(plan: Plan) -> list[tuple[object, object]]:
    return [(change.before, change.after) for change in plan.changes]


def test_many_groups_are_read_in_as_many_rounds_as_one(
    cluster: Cluster, topic: str, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [f"{group}.{number}" for number in range(5)]
    for name in (group, *others):
        commit(cluster, name, topic, 4, 5)
    rounds: list[int] = []
    drive = Cluster._drive
    monkeypatch.setattr(
        Cluster, "_drive", lambda cluster, calls: rounds.append(1) or drive(cluster, calls)
    )
    counts = []
    for names in ([group], [group, *others]):
        rounds.clear()
        plan = group_resets.plan_reset(cluster, dict.fromkeys(names), ResetTo(ResetTarget.EARLIEST))
        assert {change.resource.name for change in plan.changes} == set(names)
        wanted = {name: [TopicPartition(topic, 0)] for name in names}
        assert len(group_resets.plan_delete_offsets(cluster, wanted).changes) == len(names)
        (step,) = plan.steps
        assert step.reread(cluster).changes == plan.changes
        done(plan, cluster)
        commit(cluster, group, topic, 4, 5)
        counts.append(len(rounds))
    forget(cluster, *others)
    assert 0 < counts[0] == counts[1], counts


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        (ResetTo(ResetTarget.EARLIEST), [0, 0]),
        (ResetTo(ResetTarget.LATEST), [RECORDS, RECORDS]),
        (ResetTo(ResetTarget.OFFSET, 7), [7, 7]),
        (ResetTo(ResetTarget.SHIFT, 2), [5, 8]),
        (ResetTo(ResetTarget.SHIFT, -4), [0, 2]),
        (ResetTo(ResetTarget.SHIFT, 90), [RECORDS, RECORDS]),
        (ResetTo(ResetTarget.TIME, 1_004_000), [4, 4]),
        (ResetTo(ResetTarget.TIME, 1_003_001), [4, 4]),
        (ResetTo(ResetTarget.TIME, 0), [0, 0]),
        (ResetTo(ResetTarget.TIME, 9_000_000), [RECORDS, RECORDS]),
    ],
    ids=lambda value: str(value) if isinstance(value, list) else f"{value.to.value}",
)
def test_where_to(
    cluster: Cluster, topic: str, group: str, where: ResetTo, wanted: list[int]
) -> None:
    commit(cluster, group, topic, 3, 6)
    plan = group_resets.plan_reset(cluster, {group: None}, where)
    assert plan.effect is Effect.DESTROY
    assert targets(plan) == list(zip([3, 6], wanted, strict=True))
    done(plan, cluster)
    assert held(cluster, group) == {f"{topic}:0": wanted[0], f"{topic}:1": wanted[1]}


def test_the_plan_says_what_became_of_an_offset_outside(
    cluster: Cluster, topic: str, group: str
) -> None:
    commit(cluster, group, topic, 3, 6)
    beyond = group_resets.plan_reset(cluster, {group: None}, ResetTo(ResetTarget.OFFSET, 99))
    assert {change.note for change in beyond.changes} == {"latest offset: 99 is out of range"}
    before = group_resets.plan_reset(cluster, {group: None}, ResetTo(ResetTarget.SHIFT, -5))
    assert [change.note for change in before.changes] == [
        "earliest offset: -2 is out of range",
        "",
    ]
    late = group_resets.plan_reset(cluster, {group: None}, ResetTo(ResetTarget.TIME, 9_000_000))
    assert all("no record since 1970-01-01T" in change.note for change in late.changes)
    found = group_resets.plan_reset(cluster, {group: None}, ResetTo(ResetTarget.TIME, 1_004_000))
    assert all("record of 1970-01-01T" in change.note for change in found.changes)


def test_what_is_so_already_is_not_sent(cluster: Cluster, topic: str, group: str) -> None:
    commit(cluster, group, topic, 3, 6)
    plan = group_resets.plan_reset(cluster, {group: None}, ResetTo(ResetTarget.OFFSET, 6))
    assert targets(plan) == [(3, 6)]
    assert [change.field for change in plan.unchanged] == [f"{topic}:1"]
    same = group_resets.plan_reset(cluster, {group: None}, ResetTo(ResetTarget.CURRENT))
    assert same.steps == ()
    assert len(same.unchanged) == 2


def test_only_these_partitions(cluster: Cluster, topic: str, group: str) -> None:
    commit(cluster, group, topic, 3, 6)
    one = [TopicPartition(topic, 1)]
    done(group_resets.plan_reset(cluster, {group: one}, ResetTo(ResetTarget.EARLIEST)), cluster)
    assert held(cluster, group) == {f"{topic}:0": 3, f"{topic}:1": 0}


def test_a_shift_from_nowhere_is_refused_alone(cluster: Cluster, topic: str, group: str) -> None:
    commit(cluster, group, topic, 3)
    both = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    plan = group_resets.plan_reset(cluster, {group: both}, ResetTo(ResetTarget.SHIFT, 1))
    assert targets(plan) == [(3, 4)]
    assert list(refusals(plan)) == [f"{topic}:1"]


def test_a_group_with_members_is_refused_and_they_are_named(
    cluster: Cluster, sandbox: Sandbox, topic: str, group: str
) -> None:
    with members.classic(sandbox.bootstrap, group, topic):
        for plan in (
            group_resets.plan_reset(cluster, {group: None}, ResetTo(ResetTarget.EARLIEST)),
            group_resets.plan_offsets(cluster, {group: {TopicPartition(topic, 0): 1}}),
        ):
            assert plan.steps == ()
            why = refusals(plan)[group]
            assert why.name == "NON_EMPTY_GROUP"
            assert "Stable and has 1 member: reader at 127.0.0.1" in why.message
        # and the broker refuses one that was planned before the member came
        step = CommitOffsets(((group, (Reset(TopicPartition(topic, 0), None, 1),)),))
        (late,) = step.send(cluster, validate_only=False).failures.values()
        assert late.name == "UNKNOWN_MEMBER_ID"
        assert "is active" in late.message


def test_a_member_of_the_new_protocol_is_named_too(
    cluster: Cluster, topic: str, group: str
) -> None:
    with members.consumer(cluster, group, topic):
        plan = group_resets.plan_reset(cluster, {group: None}, ResetTo(ResetTarget.EARLIEST))
        assert "1 member" in refusals(plan)[group].message
        step = CommitOffsets(((group, (Reset(TopicPartition(topic, 0), None, 1),)),))
        assert not step.send(cluster, validate_only=False).ok


def test_a_group_that_is_not_there(cluster: Cluster, topic: str, group: str) -> None:
    plan = group_resets.plan_reset(cluster, {group: None}, ResetTo(ResetTarget.LATEST))
    assert refusals(plan)[group].name == "GROUP_ID_NOT_FOUND"
    made = group_resets.plan_reset(
        cluster, {group: [TopicPartition(topic, 0)]}, ResetTo(ResetTarget.LATEST)
    )
    assert made.advice.warnings == (f"group {group} does not exist and will be created",)
    done(made, cluster)
    assert held(cluster, group) == {f"{topic}:0": RECORDS}


def test_the_offsets_of_another_group(cluster: Cluster, topic: str, group: str) -> None:
    other = f"{group}.old"
    commit(cluster, other, topic, 4, 5)
    copied = group_resets.offsets_of(cluster, [other, f"{group}.none"])
    done(group_resets.plan_offsets(cluster, {group: copied[other]}), cluster)
    assert held(cluster, group) == {f"{topic}:0": 4, f"{topic}:1": 5}
    assert "does not exist" in copied.failures[f"{group}.none"].message
    forget(cluster, other)


def test_a_partition_that_is_not_there(cluster: Cluster, topic: str, group: str) -> None:
    wanted = {TopicPartition(topic, 7): 1, TopicPartition(topic, 0): 1}
    plan = group_resets.plan_offsets(cluster, {group: wanted})
    assert refusals(plan)[f"{topic}:7"].name == "UNKNOWN_TOPIC_OR_PARTITION"
    assert targets(plan) == [(None, 1)]


def test_offsets_that_are_deleted(cluster: Cluster, topic: str, group: str) -> None:
    commit(cluster, group, topic, 4, 5)
    both = [TopicPartition(topic, 0), TopicPartition(topic, 9)]
    plan = group_resets.plan_delete_offsets(cluster, {group: both})
    assert refusals(plan)[f"{topic}:9"].message == (
        f"group {group} has no committed offset for partition {topic}:9"
    )
    assert targets(plan) == [(4, None)]
    apply(plan, cluster)
    assert held(cluster, group) == {f"{topic}:1": 5}


def test_offsets_of_a_topic_that_members_read_are_not_deleted(
    cluster: Cluster, sandbox: Sandbox, topic: str, group: str
) -> None:
    commit(cluster, group, topic, 4, 5)
    with members.classic(sandbox.bootstrap, group, topic):
        plan = group_resets.plan_delete_offsets(cluster, {group: [TopicPartition(topic, 0)]})
        assert plan.steps == ()
        why = refusals(plan)[topic]
        assert why.name == "GROUP_SUBSCRIBED_TO_TOPIC"
        assert "reader at 127.0.0.1" in why.message


def test_the_same_plan_again_sees_what_changed(cluster: Cluster, topic: str, group: str) -> None:
    commit(cluster, group, topic, 3, 6)
    (step,) = group_resets.plan_reset(cluster, {group: None}, ResetTo(ResetTarget.LATEST)).steps
    assert step.reread(cluster).changes == step.changes
    commit(cluster, group, topic, 5)
    assert [change.before for change in step.reread(cluster).changes] == [5, 6]


def test_what_was_there_is_put_back_exactly(cluster: Cluster, topic: str, group: str) -> None:
    """Also where it lies outside of the partition, and where there was nothing."""
    commit(cluster, group, topic, 900)
    assert held(cluster, group) == {f"{topic}:0": 900}
    both = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    done(group_resets.plan_reset(cluster, {group: both}, ResetTo(ResetTarget.EARLIEST)), cluster)
    assert held(cluster, group) == {f"{topic}:0": 0, f"{topic}:1": 0}
    back = {both[0]: 900, both[1]: None}
    done(group_resets.plan_offsets(cluster, {group: back}, exact=True), cluster)
    assert held(cluster, group) == {f"{topic}:0": 900}


def test_a_topic_that_was_deleted_meanwhile_fails_alone(
    cluster: Cluster, sandbox: Sandbox, topic: str, group: str
) -> None:
    gone = filled(sandbox, cluster, f"gone-{uuid4().hex[:8]}", 1)
    wanted = {TopicPartition(gone, 0): 1, TopicPartition(topic, 0): 1}
    plan = group_resets.plan_offsets(cluster, {group: wanted})
    done(topic_changes.plan_delete(cluster, [gone]), cluster)
    with cluster.within(3):
        results = apply(plan, cluster)
    assert [why.name for why in results.failures.values()] == ["UNKNOWN_TOPIC_OR_PARTITION"]
    assert held(cluster, group) == {f"{topic}:0": 1}


@pytest.mark.parametrize(
    ("step", "kind"), [(CommitOffsets, GroupType.CLASSIC), (AlterShareOffsets, GroupType.SHARE)]
)
def test_the_coordinator_does_not_know_a_new_topic_yet(
    cluster: Cluster,
    group: str,
    monkeypatch: pytest.MonkeyPatch,
    step: type[CommitOffsets | AlterShareOffsets],
    kind: GroupType,
) -> None:
    """Before: UNKNOWN_TOPIC_OR_PARTITION for a topic that another broker listed already. Here it
    is created between the first request and the second, which is the same to the coordinator."""
    topic, attempts = f"late-{uuid4().hex[:8]}", Cluster.attempts

    def created_after_the_first(cluster: Cluster, timeout: float | None = None) -> Iterator[int]:
        for number in attempts(cluster, timeout):
            if number == 1:
                monkeypatch.undo()
                make_topic(cluster, topic)
            yield number

    monkeypatch.setattr(Cluster, "attempts", created_after_the_first)
    done(
        Plan(Effect.DESTROY, (step(((group, (Reset(TopicPartition(topic, 0), None, 5),)),)),)),
        cluster,
    )
    assert described(cluster, group).type is kind
    assert held(cluster, group) == {f"{topic}:0": 5}
