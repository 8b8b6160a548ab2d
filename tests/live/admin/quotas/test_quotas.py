"""Describe, alter, validate and delete quotas on a real broker."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas import read as quotas
from kafka_shell.admin.quotas.model import (
    ANY_NAME,
    DEFAULT,
    Quota,
    QuotaAlteration,
    QuotaEntity,
    QuotaFilter,
)
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Effect, Plan, Resource, apply
from kafka_shell.base.results import Results
from kafka_shell.wire.cluster import Cluster


@pytest.fixture
def user(cluster: Cluster) -> Iterator[str]:
    """A user of this test's own, whose quotas go with it."""
    name = f"user-{uuid4().hex[:8]}"
    yield name
    left = quotas.describe(cluster, QuotaFilter(user=name))
    gone = [QuotaAlteration(quota.entity, quota.key, None) for quota in left]
    assert apply(quota_changes.plan_alter(cluster, gone), cluster).ok


def change(cluster: Cluster, *alterations: QuotaAlteration) -> Results[Change, Change]:
    plan = quota_changes.plan_alter(cluster, alterations)
    assert plan.refused.ok, plan.refused
    return apply(plan, cluster)


def set_(entity: QuotaEntity, key: str, value: float | None) -> QuotaAlteration:
    return QuotaAlteration(entity, key, value)


def test_a_quota_is_set_raised_and_removed_and_the_others_stay(cluster: Cluster, user: str) -> None:
    alice = QuotaEntity(user=user)
    assert change(
        cluster, set_(alice, "producer_byte_rate", 1048576), set_(alice, "request_percentage", 12.5)
    ).ok
    assert change(cluster, set_(alice, "producer_byte_rate", 2097152)).ok
    assert quotas.describe(cluster, QuotaFilter.exactly(alice)) == (
        Quota(alice, "producer_byte_rate", 2097152.0),
        Quota(alice, "request_percentage", 12.5),
    )
    assert change(cluster, set_(alice, "producer_byte_rate", None)).ok
    assert quotas.describe(cluster, QuotaFilter.exactly(alice)) == (
        Quota(alice, "request_percentage", 12.5),
    )


def test_a_double_is_exact(cluster: Cluster, user: str) -> None:
    value = 0.1 + 0.2
    assert change(cluster, set_(QuotaEntity(user=user), "request_percentage", value)).ok
    (quota,) = quotas.describe(cluster, QuotaFilter(user=user))
    assert quota.value == value


def test_a_plan_shows_what_was_there_and_changes_nothing(cluster: Cluster, user: str) -> None:
    alice = QuotaEntity(user=user)
    assert change(cluster, set_(alice, "consumer_byte_rate", 5000)).ok
    plan = quota_changes.plan_alter(
        cluster, [set_(alice, "consumer_byte_rate", None), set_(alice, "producer_byte_rate", 7)]
    )
    assert plan.effect is Effect.CHANGE
    assert plan.changes == (
        Change(Resource("user", user), "alter", "consumer_byte_rate", 5000.0, None),
        Change(Resource("user", user), "alter", "producer_byte_rate", None, 7),
    )
    assert plan.steps[0].reread(cluster) == plan.steps[0]
    assert quotas.describe(cluster, QuotaFilter(user=user)) == (
        Quota(alice, "consumer_byte_rate", 5000.0),
    )


def test_again_sees_what_somebody_else_did(cluster: Cluster, user: str) -> None:
    alice = QuotaEntity(user=user)
    plan = quota_changes.plan_alter(cluster, [set_(alice, "producer_byte_rate", 7)])
    assert change(cluster, set_(alice, "producer_byte_rate", 6)).ok
    (now,) = plan.steps[0].reread(cluster).changes
    assert (now.before, now.after) == (6.0, 7)


def test_validating_does_nothing_and_finds_what_is_wrong(cluster: Cluster, user: str) -> None:
    alice, app = QuotaEntity(user=user), QuotaEntity(user=user, client_id="app")
    plan = quota_changes.plan_alter(
        cluster,
        [
            set_(alice, "producer_byte_rte", 7),
            set_(alice, "consumer_byte_rate", 7),
            set_(app, "producer_byte_rate", 7),
        ],
    )
    verdict = plan.steps[0].send(cluster, validate_only=True)
    wrong, with_it, good = plan.changes
    assert set(verdict.values) == {good}
    assert verdict.failures[wrong].name == verdict.failures[with_it].name == "INVALID_REQUEST"
    assert "producer_byte_rte" in str(verdict.failures[wrong])
    assert quotas.describe(cluster, QuotaFilter(user=user)) == ()


def test_one_entity_fails_and_the_other_is_done(cluster: Cluster, user: str) -> None:
    alice, app = QuotaEntity(user=user), QuotaEntity(user=user, client_id="app")
    results = change(
        cluster, set_(alice, "producer_byte_rate", 0.5), set_(app, "producer_byte_rate", 8)
    )
    (bad,) = results.failures.values()
    assert bad.name == "INVALID_REQUEST"
    assert "fractional" in bad.message
    assert quotas.describe(cluster, QuotaFilter(user=user)) == (
        Quota(app, "producer_byte_rate", 8),
    )


def test_clients_of_a_user_and_defaults_are_entities_of_their_own(
    cluster: Cluster, user: str
) -> None:
    entities = [
        QuotaEntity(user=user),
        QuotaEntity(user=user, client_id=DEFAULT),
        QuotaEntity(user=user, client_id="<default>"),
        QuotaEntity(user=user, client_id="app"),
    ]
    alterations = [
        set_(entity, "producer_byte_rate", number + 1.0) for number, entity in enumerate(entities)
    ]
    assert change(cluster, *alterations).ok
    found = quotas.describe(cluster, QuotaFilter(user=user))
    assert [quota.entity for quota in found] == [entities[n] for n in (0, 1, 2, 3)]
    assert {quota.entity: quota.value for quota in found} == dict(
        zip(entities, (1.0, 2.0, 3.0, 4.0), strict=True)
    )
    for entity in entities:
        (quota,) = quotas.describe(cluster, QuotaFilter.exactly(entity))
        assert quota.entity == entity
    children = quotas.describe(cluster, QuotaFilter(user=user, client_id=ANY_NAME))
    assert [quota.entity for quota in children] == entities[1:]
    alone = quotas.describe(cluster, QuotaFilter(user=user, strict=True))
    assert [quota.entity for quota in alone] == entities[:1]
    assert change(cluster, set_(entities[1], "producer_byte_rate", None)).ok
    left = quotas.describe(cluster, QuotaFilter(user=user))
    assert [quota.entity for quota in left] == [entities[0], *entities[2:]]


def test_an_address_has_its_own_quota(cluster: Cluster) -> None:
    address = QuotaEntity(ip="192.0.2.77")
    assert change(cluster, set_(address, "connection_creation_rate", 20)).ok
    try:
        found = quotas.describe(cluster, QuotaFilter(ip=ANY_NAME))
        assert Quota(address, "connection_creation_rate", 20.0) in found
    finally:
        assert change(cluster, set_(address, "connection_creation_rate", None)).ok


def test_each_entity_asked_for_is_answered(cluster: Cluster, user: str) -> None:
    alice, nobody = QuotaEntity(user=user), QuotaEntity(user=f"{user}-not")
    assert change(cluster, set_(alice, "producer_byte_rate", 9)).ok
    found = quotas.describe_each(cluster, [nobody, alice, alice])
    assert found.values == {nobody: (), alice: (Quota(alice, "producer_byte_rate", 9.0),)}


def refused(plan: Plan) -> dict[str, str]:
    return {str(resource): why.message for resource, why in plan.refused.failures.items()}


def test_what_no_broker_should_get_is_refused_and_the_rest_is_not(
    cluster: Cluster, user: str
) -> None:
    fine, twice = QuotaEntity(user=user), QuotaEntity(user=user, client_id="twice")
    nan = QuotaEntity(user=user, client_id="nan")
    plan = quota_changes.plan_alter(
        cluster,
        [
            set_(twice, "producer_byte_rate", 1),
            set_(fine, "producer_byte_rate", 2),
            set_(twice, "producer_byte_rate", 2),
            set_(nan, "request_percentage", float("nan")),
            set_(QuotaEntity(), "producer_byte_rate", 2),
        ],
    )
    assert [change.resource for change in plan.changes] == [fine.resource]
    said = refused(plan)
    assert "is set twice" in said[str(twice)]
    assert "got nan" in said[str(nan)]
    assert "requires a user" in said[""]


def test_a_filter_the_broker_refuses_is_an_error(cluster: Cluster) -> None:
    with pytest.raises(ShellError, match="IP filter") as caught:
        quotas.describe(cluster, QuotaFilter(user=ANY_NAME, ip=ANY_NAME))
    assert caught.value.code == "INVALID_REQUEST"


# -- nouns -----------------------------------------------------------------------------------------


def test_an_entity_is_said_in_words() -> None:
    said = {
        QuotaEntity(user="alice"): "user alice",
        QuotaEntity(user=DEFAULT): "user-default",
        QuotaEntity(user="<default>"): "user '<default>'",
        QuotaEntity(user="default"): "user default",
        QuotaEntity(user="alice", client_id="app"): "user alice client-id app",
        QuotaEntity(user=DEFAULT, client_id=DEFAULT): "user-default client-id-default",
        QuotaEntity(client_id="my app"): "client-id 'my app'",
        QuotaEntity(ip="10.0.0.1"): "ip 10.0.0.1",
    }
    assert {entity: str(entity) for entity in said} == said


NAMES = st.one_of(st.none(), st.just(DEFAULT), st.sampled_from(["default", "<default>"]), st.text())
ENTITIES = st.builds(QuotaEntity, NAMES, NAMES, NAMES)


@given(ENTITIES, ENTITIES)
def test_two_entities_are_never_said_alike(one: QuotaEntity, other: QuotaEntity) -> None:
    assert (str(one) == str(other)) == (one == other)
    assert (one.order == other.order) == (one == other)
    assert str(one.resource) == str(one)
