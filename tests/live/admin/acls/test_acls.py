"""Describe ACLs by every filter, create and delete them, on a real broker."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from kafka_shell.admin import steps
from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.model import (
    CLUSTER_NAME,
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.base.plans import Effect, Order, apply
from kafka_shell.base.structs import replace
from kafka_shell.wire.cluster import Cluster, wait_until_visible
from tests.support.changes import done

TOPIC, GROUP = AclResourceType.TOPIC, AclResourceType.GROUP
READ, WRITE = AclOperation.READ, AclOperation.WRITE
ALLOW, DENY = AclPermission.ALLOW, AclPermission.DENY
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED


@pytest.fixture
def bob(cluster: Cluster) -> Iterator[str]:
    """A principal of this test's own, whose ACLs go with it."""
    name = f"User:bob-{uuid4().hex[:8]}"
    yield name
    if acls.describe(cluster, AclFilter(principal=name)):
        assert apply(acl_changes.plan_delete(cluster, [AclFilter(principal=name)]), cluster).ok


def reads(principal: str, name: str = "orders", pattern: PatternType = LITERAL) -> AclBinding:
    return AclBinding(principal, "*", READ, ALLOW, TOPIC, name, pattern)


def make(cluster: Cluster, *bindings: AclBinding) -> None:
    plan = acl_changes.plan_create(cluster, bindings)
    assert plan.refused.ok, plan.refused
    results = apply(plan, cluster)
    assert results.ok, results


def test_created_acls_are_described_and_deleted(cluster: Cluster, bob: str) -> None:
    mine = (
        reads(bob),
        AclBinding(bob, "10.0.0.1", WRITE, DENY, TOPIC, "orders", LITERAL),
        AclBinding(bob, "*", AclOperation.ALL, ALLOW, TOPIC, "orders.", PREFIXED),
        AclBinding(bob, "*", READ, ALLOW, GROUP, "*", LITERAL),
        AclBinding(
            bob, "*", AclOperation.IDEMPOTENT_WRITE, ALLOW, AclResourceType.CLUSTER, CLUSTER_NAME
        ),
        AclBinding(bob, "*", AclOperation.TWO_PHASE_COMMIT, ALLOW,
                   AclResourceType.TRANSACTIONAL_ID, "billing", LITERAL),
        AclBinding(bob, "*", AclOperation.DESCRIBE, ALLOW, AclResourceType.DELEGATION_TOKEN, "t"),
        AclBinding(bob, "*", AclOperation.CREATE_TOKENS, ALLOW, AclResourceType.USER, "User:eve"),
    )  # fmt: skip
    make(cluster, *mine)
    found = acls.describe(cluster, AclFilter(principal=bob))
    assert set(found) == set(mine)
    assert list(found) == sorted(mine, key=lambda binding: binding.order)
    plan = acl_changes.plan_delete(cluster, [AclFilter(principal=bob, resource_type=TOPIC)])
    assert plan.effect is Effect.DESTROY
    assert {change.resource for change in plan.changes} == {each.resource for each in mine[:3]}
    assert apply(plan, cluster).ok
    assert set(acls.describe(cluster, AclFilter(principal=bob))) == set(mine[3:])


def test_every_part_of_a_filter_filters(cluster: Cluster, bob: str) -> None:
    topic = f"t-{uuid4().hex[:8]}"
    literal, prefixed = reads(bob, topic), reads(bob, topic[:5], PREFIXED)
    denied = AclBinding(bob, "10.0.0.1", WRITE, DENY, TOPIC, topic)
    wildcard = reads(bob, "*")
    group = AclBinding(bob, "*", READ, ALLOW, GROUP, topic)
    make(cluster, literal, prefixed, denied, wildcard, group)
    expected = {
        AclFilter(bob): {literal, prefixed, denied, wildcard, group},
        AclFilter(bob, host="10.0.0.1"): {denied},
        AclFilter(bob, operation=WRITE): {denied},
        AclFilter(bob, permission=ALLOW): {literal, prefixed, wildcard, group},
        AclFilter(bob, resource_type=GROUP): {group},
        AclFilter(bob, name=topic): {literal, denied, group},
        AclFilter(bob, pattern_type=PREFIXED): {prefixed},
        AclFilter(bob, resource_type=TOPIC, name=topic, pattern_type=PatternType.MATCH): {
            literal, prefixed, denied, wildcard,
        },
        AclFilter.exactly(literal): {literal},
        AclFilter("User:nobody"): set(),
    }  # fmt: skip
    found = acls.describe_each(cluster, list(expected))
    assert list(map(set, found)) == list(expected.values())


def test_what_exists_is_said_and_creating_it_again_is_no_error(cluster: Cluster, bob: str) -> None:
    make(cluster, reads(bob))
    plan = acl_changes.plan_create(cluster, [reads(bob), reads(bob, "payments")])
    ((added,), (again,)) = plan.changes, plan.unchanged
    assert (again.resource, again.note) == (reads(bob).resource, "no change: already exists")
    assert (added.resource, added.note) == (reads(bob, "payments").resource, "")
    assert plan.steps[0].reread(cluster) == plan.steps[0]
    assert apply(plan, cluster).ok


def test_a_binding_named_twice_or_open_is_refused_alone(cluster: Cluster, bob: str) -> None:
    twice, fine = reads(bob, "twice"), reads(bob, "fine")
    open_ = [
        replace(fine, operation=AclOperation.ANY),
        replace(fine, permission=AclPermission.UNKNOWN),
        replace(fine, pattern_type=PatternType.MATCH),
        replace(fine, resource_type=AclResourceType.ANY),
    ]
    plan = acl_changes.plan_create(cluster, [twice, fine, twice, *open_])
    assert [change.resource for change in plan.changes] == [fine.resource]
    assert set(plan.refused.failures) == {binding.resource for binding in (twice, *open_)}
    assert {why.name for why in plan.refused.failures.values()} == {"INVALID_REQUEST"}


def test_one_creation_fails_and_the_other_is_done(cluster: Cluster, bob: str) -> None:
    no_name = AclBinding(bob, "*", READ, ALLOW, TOPIC, "")
    no_principal = replace(reads(bob), principal="bob")
    bad_cluster = AclBinding(bob, "*", AclOperation.ALTER, ALLOW, AclResourceType.CLUSTER, "mine")
    plan = acl_changes.plan_create(cluster, [no_name, reads(bob), no_principal, bad_cluster])
    results = apply(plan, cluster)
    assert [change.resource for change in results.values] == [reads(bob).resource]
    assert {why.name for why in results.failures.values()} == {"INVALID_REQUEST"}
    assert len(results.failures) == 3


def test_only_what_was_shown_is_deleted_and_what_is_gone_counts_as_deleted(
    cluster: Cluster, bob: str
) -> None:
    make(cluster, reads(bob), reads(bob, "payments"))
    plan = acl_changes.plan_delete(cluster, [AclFilter(bob), AclFilter(bob, operation=READ)])
    assert len(plan.changes) == 2
    make(cluster, reads(bob, "late"))
    gone = acl_changes.plan_delete(cluster, [AclFilter.exactly(reads(bob))])
    assert apply(gone, cluster).ok
    assert list(apply(plan, cluster).values) == list(plan.changes)
    assert acls.describe(cluster, AclFilter(bob)) == (reads(bob, "late"),)


def test_a_deletion_that_a_broker_sends_again_is_done(
    cluster: Cluster, bob: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a broker does whose controller responds late."""
    make(cluster, reads(bob), reads(bob, "payments"))
    send = Cluster.send

    def twice(self: Cluster, request: Any, **how: Any) -> Any:
        send(self, request, **how)
        return send(self, request, **how)

    plan = acl_changes.plan_delete(cluster, [AclFilter(bob)])
    monkeypatch.setattr(Cluster, "send", twice)
    done(plan, cluster)


def test_an_acl_that_was_not_found_but_is_still_listed_was_not_deleted(
    cluster: Cluster, bob: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(cluster, reads(bob), reads(bob, "payments"))
    send = Cluster.send

    def of_another(self: Cluster, request: Any, **how: Any) -> Any:
        request.filters[0].principal_filter = "User:another"
        return send(self, request, **how)

    plan = acl_changes.plan_delete(cluster, [AclFilter(bob)])
    monkeypatch.setattr(Cluster, "send", of_another)
    monkeypatch.setattr(steps, "wait_until_visible", partial(wait_until_visible, seconds=0.1))
    results = apply(plan, cluster)
    ((change, why),) = results.failures.items()
    assert change.resource == reads(bob).resource
    assert why.message == f"acl {reads(bob)}: the controller did not find this ACL"
    assert [change.resource for change in results] == [reads(bob, "payments").resource]


def test_a_filter_that_takes_nothing_is_refused(cluster: Cluster, bob: str) -> None:
    make(cluster, reads(bob))
    plan = acl_changes.plan_delete(
        cluster, [AclFilter(bob), AclFilter(f"{bob}-not", operation=WRITE)]
    )
    assert len(plan.changes) == 1
    ((about, why),) = plan.refused.failures.items()
    assert str(about) == f"acl any {bob}-not Write on any resource"
    assert why.name == "RESOURCE_NOT_FOUND"


def test_access_is_granted_before_other_access_is_taken(cluster: Cluster, bob: str) -> None:
    old, kept, new = reads(bob), reads(bob, "kept"), reads(bob, "new")
    make(cluster, old, kept)
    plan = acl_changes.plan_alter(cluster, [AclFilter(bob)], [kept, new])
    assert plan.effect is Effect.DESTROY and Order.CHAINED in plan.order
    assert [(c.verb, c.resource) for c in plan.changes] == [
        ("create", new.resource), ("delete", old.resource),
    ]  # fmt: skip
    assert [change.resource for change in plan.unchanged] == [kept.resource]
    done(plan, cluster)
    assert set(acls.describe(cluster, AclFilter(bob))) == {kept, new}
    same = acl_changes.plan_alter(cluster, [AclFilter.exactly(new)], [new])
    assert (same.effect, same.changes) == (Effect.CHANGE, ())


def test_a_filter_that_is_given_twice_is_refused(cluster: Cluster, bob: str) -> None:
    twice = AclFilter(bob, operation=WRITE)
    plan = acl_changes.plan_alter(cluster, [twice, twice], [reads(bob)])
    ((about, why),) = plan.refused.failures.items()
    assert (str(about), why.name) == (f"acl {twice}", "INVALID_REQUEST")
