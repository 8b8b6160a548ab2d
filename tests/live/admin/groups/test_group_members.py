"""Delete groups and remove members from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from kafka_shell.admin.groups import members as group_members
from kafka_shell.admin.groups import read as groups
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Effect
from kafka_shell.output.change_kinds import undo_lines
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.codec import Message
from tests.support import members
from tests.support.changes import done, lose_requests, make_topic, refusals
from tests.support.group_data import commit, described, forget


@pytest.fixture
def group(cluster: Cluster) -> Iterator[str]:
    name = f"g-{uuid4().hex[:8]}"
    yield name
    forget(cluster, name)


# -- delete ----------------------------------------------------------------------------------------


def test_a_deleted_group_and_what_goes_with_it(cluster: Cluster, topic: str, group: str) -> None:
    commit(cluster, group, topic, 0)
    plan = group_members.plan_delete(cluster, [group])
    assert plan.effect is Effect.DESTROY
    assert [(str(c.resource), c.field, c.before, c.after) for c in plan.changes] == [
        (f"group {group}", "", None, None),
        (f"group-offsets {group}", f"{topic}:0", 0, None),
    ]
    assert undo_lines(plan.changes) == (f"reset-offsets {group} --offset {topic}:0=0",)
    done(plan, cluster)
    assert group not in groups.list_groups(cluster).values


def test_each_group_on_its_own(cluster: Cluster, sandbox: Sandbox, topic: str, group: str) -> None:
    other = f"{group}.busy"
    commit(cluster, group, topic, 0)
    with members.classic(sandbox.bootstrap, other, topic):
        plan = group_members.plan_delete(cluster, [group, other, f"{group}.none"])
        assert {name: why.name for name, why in refusals(plan).items()} == {
            other: "NON_EMPTY_GROUP",
            f"{group}.none": "GROUP_ID_NOT_FOUND",
        }
        assert "1 member: reader at 127.0.0.1" in refusals(plan)[other].message
        assert {change.resource.name for change in plan.changes} == {group}
    forget(cluster, other)


def test_a_group_that_fills_before_it_is_deleted(
    cluster: Cluster, sandbox: Sandbox, topic: str, group: str
) -> None:
    commit(cluster, group, topic, 0)
    (step,) = group_members.plan_delete(cluster, [group]).steps
    assert step.reread(cluster).changes == step.changes
    with members.classic(sandbox.bootstrap, group, topic):
        with pytest.raises(ShellError, match="changed while"):
            step.reread(cluster)
        failures = step.send(cluster, validate_only=False).failures
        assert {why.name for why in failures.values()} == {"NON_EMPTY_GROUP"}


def test_a_group_that_gets_another_offset_before_it_is_deleted(
    cluster: Cluster, name: str, group: str
) -> None:
    """Before: an internal error, because the plan has one change more."""
    make_topic(cluster, name, 2)
    commit(cluster, group, name, 0)
    (step,) = group_members.plan_delete(cluster, [group]).steps
    commit(cluster, group, name, 0, 0)
    with pytest.raises(ShellError, match=f"offsets of group {group} changed while") as caught:
        step.reread(cluster)
    assert caught.value.code == "changed-meanwhile"


def test_the_ends_of_partitions_are_not_read_to_delete_a_group(
    cluster: Cluster, topic: str, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan does not wait for leaders that are down: it has offsets, but no lag."""
    commit(cluster, group, topic, 0)
    lose_requests(monkeypatch, 2)
    (step,) = group_members.plan_delete(cluster, [group]).steps
    assert [change.field for change in step.changes] == ["", f"{topic}:0"]
    assert step.reread(cluster).changes == step.changes


def test_a_share_group_is_deleted(cluster: Cluster, topic: str, group: str) -> None:
    with members.share(cluster, group, topic):
        assert "1 member" in refusals(group_members.plan_delete(cluster, [group]))[group].message
    done(group_members.plan_delete(cluster, [group]), cluster)
    assert group not in groups.list_groups(cluster).values


# -- remove ----------------------------------------------------------------------------------------


def test_a_static_member_that_is_gone(
    cluster: Cluster, sandbox: Sandbox, topic: str, group: str
) -> None:
    """It holds its partitions until its session ends: for that the command is there."""
    with members.classic(sandbox.bootstrap, group, topic, instance="desk-1"):
        pass
    (member,) = described(cluster, group).members
    plan = group_members.plan_remove(cluster, [group], instances=["desk-1"])
    (change,) = plan.changes
    assert (str(change.resource), change.verb) == (f"group-member {member.id}", "delete")
    assert change.note.startswith(f"of group {group}: reader at 127.0.0.1")
    done(plan, cluster)
    assert described(cluster, group).members == ()


def test_a_member_of_the_new_protocol(cluster: Cluster, topic: str, group: str) -> None:
    with members.consumer(cluster, group, topic) as id:
        done(group_members.plan_remove(cluster, [group], members=[id]), cluster)
        assert described(cluster, group).members == ()


def test_all_members(cluster: Cluster, sandbox: Sandbox, topic: str, group: str) -> None:
    with members.classic(sandbox.bootstrap, group, topic):
        plan = group_members.plan_remove(cluster, [group])
        assert len(plan.changes) == 1
        done(plan, cluster)


def test_a_member_that_is_not_there(
    cluster: Cluster, sandbox: Sandbox, topic: str, group: str
) -> None:
    with members.classic(sandbox.bootstrap, group, topic, instance="desk-1"):
        plan = group_members.plan_remove(cluster, [group], members=["nobody"], instances=["desk-2"])
        assert plan.steps == ()
        found = refusals(plan)
        assert found["nobody"].name == "UNKNOWN_MEMBER_ID"
        assert found["desk-2"].hint == "Did you mean desk-1?"


def test_a_member_that_the_broker_does_not_mention(
    cluster: Cluster, sandbox: Sandbox, topic: str, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = Cluster.send

    def without_members(self: Cluster, request: Any, *rest: Any, **more: Any) -> Any:
        response = send(self, request, *rest, **more)
        response.members = []
        return response

    with members.classic(sandbox.bootstrap, group, topic):
        (step,) = group_members.plan_remove(cluster, [group]).steps
        monkeypatch.setattr(Cluster, "send", without_members)
        (why,) = step.send(cluster, validate_only=False).failures.values()
        assert "does not contain member" in why.message


def test_members_that_cannot_be_read_have_not_left(
    cluster: Cluster, sandbox: Sandbox, topic: str, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    decode = Message.decode

    def denied(self: Message, version: int, body: memoryview) -> Any:
        response = decode(self, version, body)
        if self.name == "FindCoordinator":
            for row in response.coordinators:
                row.error_code = 30
        return response

    with members.classic(sandbox.bootstrap, group, topic):
        (step,) = group_members.plan_remove(cluster, [group]).steps
        with monkeypatch.context() as patch:
            patch.setattr(Message, "decode", denied)
            with pytest.raises(ShellError) as caught:
                step.reread(cluster)
    assert caught.value.code == "GROUP_AUTHORIZATION_FAILED"


def test_members_of_share_groups_leave_by_themselves(
    cluster: Cluster, topic: str, group: str
) -> None:
    with members.share(cluster, group, topic):
        why = refusals(group_members.plan_remove(cluster, [group]))[group]
        assert "is a share group: only members of consumer groups can be removed" in why.message
