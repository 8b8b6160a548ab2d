"""Without permissions on groups, each failure states the missing operation and resource."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from kafka import KafkaConsumer

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import (
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
)
from kafka_shell.admin.groups import (
    members as group_members,
)
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups import (
    resets as group_resets,
)
from kafka_shell.admin.groups.members import DeleteGroups, RemoveMembers
from kafka_shell.admin.groups.model import Group, GroupType, Member, Reset, ResetTarget, ResetTo
from kafka_shell.admin.groups.steps import (
    AlterShareOffsets,
    CommitOffsets,
    DeleteOffsets,
    DeleteShareOffsets,
)
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics.visibility import may_be_hidden
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Plan, Secret
from kafka_shell.base.results import Failure
from kafka_shell.sandbox.security import passwords
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, Sasl, parse_addresses
from tests.support import members
from tests.support.changes import done, make_topic, refusals
from tests.support.group_data import commit, forget
from tests.support.program import Program, Run
from tests.support.waiting import wait_for

ALICE = "User:alice"


def log_in(sandbox: Sandbox, user: str) -> Cluster:
    login = Sasl("SCRAM-SHA-256", user, Secret(passwords(sandbox)[user]))
    addresses = parse_addresses(sandbox.bootstraps["SASL_PLAINTEXT"])
    return Cluster(ConnectionConfig(addresses, security_protocol="SASL_PLAINTEXT", sasl=login))


@pytest.fixture(scope="module")
def admin(secure_sandbox: Sandbox) -> Iterator[Cluster]:
    with log_in(secure_sandbox, "admin") as cluster:
        yield cluster


@pytest.fixture
def alice(secure_sandbox: Sandbox, admin: Cluster) -> Iterator[Cluster]:
    """A user without any rights, but those a test gives her."""
    with log_in(secure_sandbox, "alice") as cluster:
        yield cluster
    if acls.describe(admin, AclFilter(principal=ALICE)):
        done(acl_changes.plan_delete(admin, [AclFilter(principal=ALICE)]), admin)


@pytest.fixture
def topic(admin: Cluster) -> str:
    return make_topic(admin, f"t-{uuid4().hex[:8]}")


@pytest.fixture
def group(admin: Cluster, topic: str) -> Iterator[str]:
    name = f"g-{uuid4().hex[:8]}"
    commit(admin, name, topic, 0)
    yield name
    forget(admin, name)


def allow(admin: Cluster, kind: AclResourceType, name: str, operation: AclOperation) -> None:
    rule = AclBinding(ALICE, "*", operation, AclPermission.ALLOW, kind, name)
    done(acl_changes.plan_create(admin, [rule]), admin)


def test_a_group_that_may_not_be_seen(alice: Cluster, group: str) -> None:
    assert groups.list_groups(alice).values == {}
    why = groups.describe(alice, [group], offsets=True).failures[group]
    assert why.name == "GROUP_AUTHORIZATION_FAILED"
    assert group in why.message
    assert why.hint == f"Requires DESCRIBE on group {group}."
    for plan in (
        group_resets.plan_reset(alice, {group: None}, ResetTo(ResetTarget.LATEST)),
        group_members.plan_delete(alice, [group]),
        group_members.plan_remove(alice, [group]),
    ):
        assert plan.steps == ()
        assert refusals(plan)[group].hint == f"Requires DESCRIBE on group {group}."


def test_offsets_of_a_topic_that_may_not_be_seen(
    admin: Cluster, alice: Cluster, topic: str, group: str
) -> None:
    """The broker leaves them out of the answer; they come with Describe on the topic."""
    allow(admin, AclResourceType.GROUP, group, AclOperation.DESCRIBE)
    wait_for("alice sees the group", lambda: groups.describe(alice, [group]).ok)
    assert groups.describe(alice, [group], offsets=True)[group].offsets == ()
    allow(admin, AclResourceType.TOPIC, topic, AclOperation.DESCRIBE)
    wait_for(
        "alice sees its offsets",
        lambda: bool(groups.describe(alice, [group], offsets=True)[group].offsets),
    )


def test_members_that_read_a_topic_that_may_not_be_seen(
    admin: Cluster, alice: Cluster, topic: str, group: str
) -> None:
    """The new protocol tells of a group only whom it may tell of all its topics."""
    allow(admin, AclResourceType.GROUP, group, AclOperation.DESCRIBE)
    with members.consumer(admin, group, topic):
        wait_for("alice sees the group", lambda: group in groups.list_groups(alice).values)
        why = groups.describe(alice, [group]).failures[group]
        assert why.name == "TOPIC_AUTHORIZATION_FAILED"
        assert why.hint == "Requires DESCRIBE on every topic that its members read."


def test_the_lag_in_assigned_partitions_that_may_not_be_seen(
    secure_sandbox: Sandbox, admin: Cluster, alice: Cluster, topic: str, group: str
) -> None:
    other = make_topic(admin, f"{topic}.other")
    allow(admin, AclResourceType.GROUP, group, AclOperation.DESCRIBE)
    reader = KafkaConsumer(
        topic, other, bootstrap_servers=secure_sandbox.bootstraps["SASL_PLAINTEXT"],
        security_protocol="SASL_PLAINTEXT", sasl_mechanism="SCRAM-SHA-256",
        sasl_plain_username="admin", sasl_plain_password=passwords(secure_sandbox)["admin"],
        group_id=group, enable_auto_commit=False,
    )  # fmt: skip
    try:
        wait_for(
            "it has partitions", lambda: not reader.poll(1_000) and len(reader.assignment()) == 2
        )
        wait_for("alice sees the group", lambda: groups.describe(alice, [group]).ok)
        found = groups.describe(alice, [group], offsets=True)
        assert [row.note for row in found[group].offsets or ()] == [
            "TOPIC_AUTHORIZATION_FAILED"
        ] * 2
        ((about, why),) = found.failures.items()
        assert str(about) == f"lag in {topic}:0, {other}:0"
        assert why.name == "TOPIC_AUTHORIZATION_FAILED"
        assert why.hint == "Requires DESCRIBE on these topics."
        allow(admin, AclResourceType.TOPIC, other, AclOperation.DESCRIBE)
        wait_for(
            "alice sees one of them",
            lambda: (
                [
                    why.hint
                    for why in groups.describe(alice, [group], offsets=True).failures.values()
                ]
                == [f"Requires DESCRIBE on topic {topic}."]
            ),
        )
    finally:
        reader.close()


def test_offsets_that_may_be_hidden(
    secure_sandbox: Sandbox, admin: Cluster, alice: Cluster, topic: str, group: str, tmp_path: Path
) -> None:
    """Brokers leave out offsets in topics without DESCRIBE: what is visible must not be all."""
    other = make_topic(admin, f"{topic}.other")
    commit(admin, group, other, 0)
    hidden = "offsets in topics without DESCRIBE permission"
    program = Program(tmp_path, secure_sandbox.bootstraps["SASL_PLAINTEXT"])
    login = secure_sandbox.client_properties["alice-sasl-plaintext"]

    def run(*words: str) -> Run:
        return program.ok(*words, "--command-config", str(login))

    def plans(cluster: Cluster) -> tuple[Plan, Plan]:
        latest = ResetTo(ResetTarget.LATEST)
        reset = group_resets.plan_reset(cluster, {group: None}, latest)
        return group_members.plan_delete(cluster, [group]), reset

    allow(admin, AclResourceType.GROUP, group, AclOperation.DESCRIBE)
    wait_for("alice sees the group", lambda: groups.describe(alice, [group]).ok)
    (found,) = group_resets.offsets_of(alice, [group]).failures.values()
    plan = group_resets.plan_reset(alice, {group: None}, ResetTo(ResetTarget.LATEST))
    for why in (found, refusals(plan)[group]):
        assert why.message.endswith("has no committed offsets in visible topics")

    allow(admin, AclResourceType.TOPIC, other, AclOperation.DESCRIBE)
    wait_for("alice sees its offsets", lambda: bool(visible_offsets(alice, group)))
    delete, reset = plans(alice)
    (missing,) = delete.advice.not_checked
    assert missing.what == f"{hidden}, which are deleted as well"
    assert missing.reason == "requires DESCRIBE on all topics"
    assert f"{hidden} are not reset: {missing.reason}" in reset.advice.warnings
    named = group_resets.plan_reset(
        alice, {group: [TopicPartition(other, 0)]}, ResetTo(ResetTarget.LATEST)
    )
    assert not [each for each in named.advice.warnings if hidden in each]
    lag = f"lag excludes {hidden}: {missing.reason}"
    for words in (["lag", group], ["describe-group"], ["describe-group", group, "--state"]):
        said = run(*words)
        assert group in said.stdout and lag in " ".join(said.stderr.split()), str(said)
    copied = run("reset-offsets", group, "--to", f"group:{group}", "--dry-run")
    assert "are not reset" in " ".join((copied.stdout + copied.stderr).split())
    assert hidden not in str(run("describe-group", group, "--members"))

    allow(admin, AclResourceType.TOPIC, "*", AclOperation.DESCRIBE)
    wait_for("alice sees all topics", lambda: may_be_hidden(alice) is None)
    for cluster in (alice, admin):
        delete, reset = plans(cluster)
        assert delete.advice.not_checked == () and reset.advice.warnings == ()
    assert hidden not in str(run("lag", group))


def visible_offsets(cluster: Cluster, group: str) -> object:
    return groups.describe(cluster, [group], offsets=True)[group].offsets


def told(step: object, cluster: Cluster) -> Failure:
    """The one failure of a step, whether it is of an item or of the whole request."""
    try:
        results = step.send(cluster, validate_only=False)  # type: ignore[attr-defined]
    except ShellError as error:
        return Failure(error.code, error.message, hint=error.hint)
    assert not results.values, "it was done"
    (why,) = set(results.failures.values())
    return why


def test_each_change_names_what_it_takes(
    admin: Cluster, alice: Cluster, topic: str, group: str
) -> None:
    allow(admin, AclResourceType.GROUP, group, AclOperation.DESCRIBE)
    wait_for("alice sees the group", lambda: groups.describe(alice, [group]).ok)
    resets = (Reset(TopicPartition(topic, 0), 0, 0),)
    seen = Group(group, GroupType.CLASSIC, "Empty", "", "", 1)
    wanted = {
        CommitOffsets(((group, resets),)): "READ",
        DeleteOffsets(((group, resets),)): "DELETE",
        AlterShareOffsets(((group, resets),)): "READ",
        DeleteShareOffsets(((group, resets),)): "DELETE",
        DeleteGroups((seen,)): "DELETE",
        RemoveMembers(group, (Member(group, "m", "c", "h"),), ""): "READ",
    }
    for step, permission in wanted.items():
        why = told(step, alice)
        assert why.name == "GROUP_AUTHORIZATION_FAILED", step
        assert why.hint == f"Requires {permission} on group {group}.", step


def test_a_topic_that_may_not_be_read(
    admin: Cluster, alice: Cluster, topic: str, group: str
) -> None:
    allow(admin, AclResourceType.GROUP, group, AclOperation.READ)
    wait_for("alice sees the group", lambda: groups.describe(alice, [group]).ok)
    step = CommitOffsets(((group, (Reset(TopicPartition(topic, 0), 0, 0),)),))
    why = told(step, alice)
    assert why.name == "TOPIC_AUTHORIZATION_FAILED"
    assert why.hint == f"Requires READ on topic {topic}."
    plan = group_resets.plan_offsets(alice, {group: {TopicPartition(topic, 0): 0}})
    assert refusals(plan)[f"{topic}:0"].hint == f"Requires DESCRIBE on topic {topic}."
