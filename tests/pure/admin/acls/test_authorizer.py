"""The authorizer's verdicts: by their rules, and compared with what a real broker allows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls import read as acls
from kafka_shell.admin.acls.authorizer import Rules, verdict
from kafka_shell.admin.acls.model import (
    OPERATIONS_OF,
    Access,
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
    Verdict,
)
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.authorizer_cases import names
from tests.support.changes import done
from tests.support.logins import log_in

TOPIC, GROUP, CLUSTER = AclResourceType.TOPIC, AclResourceType.GROUP, AclResourceType.CLUSTER
ALLOW, DENY = AclPermission.ALLOW, AclPermission.DENY
READ, WRITE, DESCRIBE = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
ALICE, HERE = "User:alice", "127.0.0.1"

bindings = st.builds(
    AclBinding,
    principal=st.sampled_from([ALICE, "User:*", "User:eve"]),
    host=st.sampled_from(["*", HERE, "10.0.0.1"]),
    operation=st.sampled_from(sorted(OPERATIONS_OF[TOPIC] | {AclOperation.ALL})),
    permission=st.sampled_from([ALLOW, DENY]),
    resource_type=st.just(TOPIC),
    name=st.sampled_from(["a", "ab", "abc", "b", "*"]),
    pattern_type=st.sampled_from([LITERAL, PREFIXED]),
)
questions = st.builds(
    Access,
    principal=st.just(ALICE),
    operation=st.sampled_from(sorted(OPERATIONS_OF[TOPIC])),
    resource_type=st.just(TOPIC),
    name=names,
    host=st.sampled_from([HERE, "10.0.0.1", None]),
)


@given(st.lists(bindings, max_size=8), questions, bindings)
def test_a_denial_never_allows_and_an_allowance_never_denies(
    there: list[AclBinding], asked: Access, more: AclBinding
) -> None:
    before = verdict(Rules(tuple(there)), asked)
    after = verdict(Rules((*there, more)), asked)
    if more.permission is DENY:
        assert not (after.allowed and not before.allowed)
    else:
        assert after.allowed or not before.allowed


@given(st.lists(bindings, max_size=8), questions)
def test_what_decides_decides_alone(there: list[AclBinding], asked: Access) -> None:
    said = verdict(Rules(tuple(there)), asked)
    if said.by:
        assert verdict(Rules(said.by), asked) == said
    else:
        assert said.because in ("nothing-allows", "no-acl")
    rest = tuple(each for each in there if each not in said.by)
    if said.because == "allow":
        assert not verdict(Rules(rest), asked).allowed


@given(st.lists(bindings, max_size=8), questions)
def test_super_users_and_the_rule_without_acls(there: list[AclBinding], asked: Access) -> None:
    rules = Rules(tuple(there), super_users=frozenset({ALICE}))
    assert verdict(rules, asked) == Verdict(asked, True, "super-user")
    untold = verdict(Rules(tuple(there), None, None), asked)
    usual = verdict(Rules(tuple(there)), asked)
    if usual.because == "no-acl":
        assert untold.allowed is None
        assert verdict(Rules(tuple(there), no_acl_allows=True), asked).allowed
    else:
        assert untold.allowed == usual.allowed
    assert bool(untold.unless) == (not usual.allowed)


def test_what_implies_what() -> None:
    def may(operation: AclOperation, by: AclOperation, permission: AclPermission = ALLOW) -> bool:
        rule = AclBinding(ALICE, "*", by, permission, TOPIC, "t")
        every = AclBinding(ALICE, "*", AclOperation.ALL, ALLOW, TOPIC, "t")
        rules = Rules((rule,) if permission is ALLOW else (every, rule))
        return bool(verdict(rules, Access(ALICE, operation, TOPIC, "t")).allowed)

    for operation in (READ, WRITE, AclOperation.DELETE, AclOperation.ALTER):
        assert may(DESCRIBE, operation), f"{operation.label} allows Describe"
        assert may(DESCRIBE, operation, DENY), f"denying {operation.label} does not deny Describe"
        assert not may(operation, DESCRIBE)
    assert may(AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS)
    assert not may(DESCRIBE, AclOperation.CREATE)
    assert not may(DESCRIBE, AclOperation.ALL, DENY)


@pytest.fixture(scope="module")
def admin(secure_sandbox: Sandbox) -> Iterator[Cluster]:
    with log_in(secure_sandbox, "admin") as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def leave_no_acl(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "admin" in request.fixturenames:
        remove_all(request.getfixturevalue("admin"))


def remove_all(admin: Cluster) -> None:
    mine = [AclFilter(who) for who in (ALICE, "User:*", "User:eve")]
    there = [
        each for each, found in zip(mine, acls.describe_each(admin, mine), strict=True) if found
    ]
    if there:
        done(acl_changes.plan_delete(admin, there), admin)
