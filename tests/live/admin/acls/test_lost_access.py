"""Which principals lose access when ACLs are deleted or deny access, on a real broker."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest
from kafka import KafkaConsumer

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.authorizer import Rules
from kafka_shell.admin.acls.lost_access import losses
from kafka_shell.admin.acls.model import (
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.advice import advise
from kafka_shell.base.plans import Plan, apply
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic
from tests.support.group_data import forget
from tests.support.waiting import wait_for

TOPIC, GROUP = AclResourceType.TOPIC, AclResourceType.GROUP
READ, WRITE, ALL = AclOperation.READ, AclOperation.WRITE, AclOperation.ALL
ALLOW, DENY = AclPermission.ALLOW, AclPermission.DENY
PREFIXED = PatternType.PREFIXED
KEEP = "super users among them keep access (super.users is not visible to clients)"
DERIVED = "the principals of groups are derived from ACLs: Kafka does not report them"

NOTES = (KEEP, DERIVED)


@pytest.fixture
def bob(cluster: Cluster, name: str) -> Iterator[str]:
    """A principal, whose ACLs go with it."""
    bob = f"User:bob-{uuid4().hex[:8]}"
    yield bob
    for mine in (AclFilter(bob), AclFilter(f"{bob}2"), AclFilter(name=name)):
        if acls.describe(cluster, mine):
            assert apply(acl_changes.plan_delete(cluster, [mine]), cluster).ok


def reads(principal: str, name: str, kind: AclResourceType = TOPIC) -> AclBinding:
    return AclBinding(principal, "*", READ, ALLOW, kind, name)


def removal(cluster: Cluster, *bindings: AclBinding) -> Plan:
    plan = acl_changes.plan_delete(cluster, list(map(AclFilter.exactly, bindings)))
    return advise(plan, cluster)


def said(plan: Plan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The warnings and notes."""
    return plan.advice.warnings, plan.advice.notes


def creation(cluster: Cluster, *bindings: AclBinding) -> Plan:
    return advise(acl_changes.plan_create(cluster, bindings), cluster)


def test_a_principal_without_another_acl_loses_access(
    cluster: Cluster, bob: str, name: str
) -> None:
    done(acl_changes.plan_create(cluster, [reads(bob, name)]), cluster)
    plan = removal(cluster, reads(bob, name))
    assert said(plan) == (
        (f"{bob} loses Read on topic {name}",),
        (KEEP,),
    )
    assert plan.advice.not_checked == ()


def test_another_acl_that_allows_the_same_keeps_access(
    cluster: Cluster, bob: str, name: str
) -> None:
    stem = name[:-2]
    same = replace(reads(bob, stem), pattern_type=PREFIXED)
    done(acl_changes.plan_create(cluster, [reads(bob, name), same]), cluster)
    keeps = (
        f"all principals keep access without acl {reads(bob, name)}: other ACLs or super.users"
        " allow the same operations"
    )
    plan = removal(cluster, reads(bob, name))
    assert said(plan) == ((), (keeps,))
    lost = f"{bob} loses Read on prefixed topic {stem} (0 topics now)"
    plan = removal(cluster, same)
    assert said(plan) == ((lost,), (KEEP,))
    both = removal(cluster, same, reads(bob, name))
    assert len(both.advice.warnings) == 1 and f"Read on topic {name}" in both.advice.warnings[0]
    instead = replace(reads(bob, name), operation=ALL)
    plan = advise(acl_changes.plan_alter(cluster, [AclFilter(bob)], [instead]), cluster)
    assert said(plan) == ((lost,), (KEEP,))


def test_a_pattern_counts_the_topics_that_it_matches(cluster: Cluster, bob: str, name: str) -> None:
    names = [make_topic(cluster, f"{name}.{n}") for n in range(3)]
    every = replace(reads(bob, f"{name}."), pattern_type=PREFIXED, operation=ALL)
    done(acl_changes.plan_create(cluster, [every, reads(bob, names[0])]), cluster)
    plan = removal(cluster, every)
    assert plan.advice.warnings == (
        f"{bob} loses all operations on prefixed topic {name}. (3 topics now)",
    )
    assert plan.advice.notes == (KEEP,)
    only_reads = replace(every, operation=READ)
    done(acl_changes.plan_create(cluster, [only_reads]), cluster)
    done(removal(cluster, every), cluster)
    plan = removal(cluster, only_reads)
    assert said(plan) == (
        (f"{bob} loses Read on prefixed topic {name}. (2 topics now)",),
        (KEEP,),
    )
    done(topic_changes.plan_delete(cluster, names), cluster)


def test_the_active_group_that_may_be_of_the_principal_is_named(
    sandbox: Sandbox, cluster: Cluster, bob: str, name: str
) -> None:
    make_topic(cluster, name)
    group = f"{name}-g"
    mine = (reads(bob, name), reads(bob, group, GROUP), reads(f"{bob}2", name))
    done(acl_changes.plan_create(cluster, mine), cluster)
    consumer = KafkaConsumer(name, bootstrap_servers=sandbox.bootstrap, group_id=group)
    try:
        wait_for("the consumer has a partition",
                 lambda: bool(consumer.poll(1_000) or consumer.assignment()))  # fmt: skip
        member = f"it may be the principal of active group {group}"
        plan = removal(cluster, reads(bob, name))
        assert said(plan) == (
            (f"{bob} loses Read on topic {name}; {member} (1 member)",),
            NOTES,
        )
        plan = removal(cluster, reads(bob, group, GROUP))
        assert said(plan) == (
            (f"{bob} loses Read on group {group}; {member}",),
            NOTES,
        )
        # The other one may not read the group, so that it is not its principal.
        plan = removal(cluster, reads(f"{bob}2", name))
        assert said(plan) == (
            (f"{bob}2 loses Read on topic {name}",),
            (KEEP,),
        )
        # From one host it may.
        from_host = replace(reads(f"{bob}2", group, GROUP), host="10.0.0.1")
        done(acl_changes.plan_create(cluster, [from_host]), cluster)
        plan = removal(cluster, reads(f"{bob}2", name))
        assert plan.advice.warnings == (f"{bob}2 loses Read on topic {name}; {member} (1 member)",)
        denied = replace(reads(bob, name), permission=DENY)
        plan = creation(cluster, denied)
        assert plan.advice.confirm, "access is lost"
        assert said(plan) == (
            (f"{bob} loses Read on topic {name}; {member} (1 member)",),
            NOTES,
        )
    finally:
        consumer.close()
        forget(cluster, group)
        done(topic_changes.plan_delete(cluster, [name]), cluster)


def test_denying_what_was_not_allowed_takes_nothing(cluster: Cluster, bob: str, name: str) -> None:
    denied = replace(reads(bob, name), permission=DENY)
    keeps = f"all principals keep access with acl {denied}: the operations were not allowed before"
    done(acl_changes.plan_create(cluster, [reads(f"{bob}2", name)]), cluster)
    plan = creation(cluster, denied)
    assert said(plan) == ((), (keeps,))
    assert not plan.advice.confirm, "nothing is lost"
    assert creation(cluster, reads(bob, name)).advice.warnings == ()


def test_denying_all_hosts_takes_what_is_allowed_to_one(
    cluster: Cluster, bob: str, name: str
) -> None:
    """Before: the plan said that no principal loses access, and was applied without a question."""
    done(acl_changes.plan_create(cluster, [replace(reads(bob, name), host="10.0.0.1")]), cluster)
    for principal in (bob, "User:*"):
        denied = replace(reads(principal, name), permission=DENY)
        plan = creation(cluster, denied)
        assert plan.advice.confirm, "access is lost"
        assert said(plan) == (
            (f"{bob} loses Read on topic {name}",),
            (KEEP,),
        )
    never = replace(reads("User:eve", name), host="10.0.0.0/8")
    denied = replace(never, host="*", permission=DENY)
    assert losses(Rules((never,)), [], [denied], {}) == ([], 0), "a range matches no client"


def test_denying_everyone_takes_what_each_has(cluster: Cluster, bob: str, name: str) -> None:
    other = replace(reads(f"{bob}2", name), operation=WRITE)
    done(acl_changes.plan_create(cluster, [reads(bob, name), other]), cluster)
    everyone = replace(reads("User:*", name), operation=ALL, permission=DENY)
    plan = creation(cluster, everyone)
    assert plan.advice.warnings == (
        f"{bob} loses Read,Describe on topic {name}",
        f"{bob}2 loses Write,Describe on topic {name}",
    )
    assert plan.advice.notes == (KEEP,)
