"""Remedies that remove ACLs are checked together."""

from __future__ import annotations

import pytest

from kafka_shell.admin.acls.model import (
    CLUSTER_NAME,
    AclBinding,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.audit.remedy import AclRemovals
from kafka_shell.base.structs import replace

Op = AclOperation


def acl(
    principal: str,
    operation: AclOperation,
    name: str = "orders",
    *,
    kind: AclResourceType = AclResourceType.TOPIC,
    pattern: PatternType = PatternType.LITERAL,
    permission: AclPermission = AclPermission.ALLOW,
    host: str = "*",
) -> AclBinding:
    """One on a topic, unless said otherwise."""
    return AclBinding(principal, host, operation, permission, kind, name, pattern)


READ, DESCRIBE = acl("User:bob", Op.READ), acl("User:bob", Op.DESCRIBE)
ALL = acl("User:bob", Op.ALL, "*")


@pytest.mark.parametrize(
    ("broad", "narrow", "does"),
    [
        (READ, DESCRIBE, True),
        (DESCRIBE, READ, False),
        (ALL, READ, True),
        (acl("User:*", Op.READ), READ, True),
        (READ, acl("User:*", Op.READ), False),
        (READ, acl("User:bob", Op.READ, host="10.0.0.1"), True),
        (acl("User:bob", Op.READ, host="10.0.0.1"), READ, False),
        (acl("User:bob", Op.READ, "ord", pattern=PatternType.PREFIXED), READ, True),
        (READ, acl("User:bob", Op.READ, "orders", pattern=PatternType.PREFIXED), False),
        (ALL, acl("User:bob", Op.READ, "ord", pattern=PatternType.PREFIXED), True),
        (acl("User:bob", Op.ALL, "*", kind=AclResourceType.GROUP), READ, False),
    ],
)
def test_an_acl_may_go_if_another_one_allows_the_same(
    broad: AclBinding, narrow: AclBinding, does: bool
) -> None:
    found = refusals(AclRemovals([broad, narrow], None), (narrow, True))
    assert found == ["" if does else "needed"]


Removal = tuple[AclBinding, bool]  # whether it is safe


def refusals(access: AclRemovals, *removals: Removal) -> list[str]:
    """The codes of what is refused; "" for what is not."""
    found = (access.refusal([each.resource.name], safe=safe) for each, safe in removals)
    return [why.name if why else "" for why in found]


def test_a_redundant_acl_stays_if_what_makes_it_redundant_goes() -> None:
    redundant, broad = (READ, True), (ALL, False)
    assert refusals(AclRemovals([READ, ALL], None), redundant, broad) == ["", "no-access-left"]
    more = acl("User:bob", Op.WRITE, "other")
    assert refusals(AclRemovals([READ, ALL, more], None), broad, redundant) == ["", "needed"]
    assert refusals(AclRemovals([READ, ALL, more], None), redundant, broad) == ["", "needed"]
    assert refusals(AclRemovals([READ, ALL], None), redundant) == [""]


def test_no_principal_loses_all_access() -> None:
    others = acl("User:eve", Op.READ)
    assert refusals(AclRemovals([READ, others], None), (READ, False)) == ["no-access-left"]
    assert refusals(AclRemovals([READ, acl("User:*", Op.READ)], None), (READ, False)) == [""]


def test_an_acl_that_another_one_overrides_allows_nothing_and_may_go() -> None:
    denied = acl("User:*", Op.ALL, permission=AclPermission.DENY)
    void = (READ, True)
    assert refusals(AclRemovals([READ, denied], "User:bob"), void) == [""]
    elsewhere = replace(denied, name="other")
    assert refusals(AclRemovals([READ, elsewhere], "User:bob"), void) == ["own-login"]


def test_the_login_keeps_its_access() -> None:
    cluster = acl("User:*", Op.ALTER, CLUSTER_NAME, kind=AclResourceType.CLUSTER)
    bindings = [READ, ALL, DESCRIBE, cluster]
    assert refusals(AclRemovals(bindings, "User:bob"), (ALL, False)) == ["own-login"]
    assert refusals(AclRemovals(bindings, "User:bob"), (DESCRIBE, False)) == [""]
    assert refusals(AclRemovals(bindings, "User:eve"), (cluster, False)) == ["own-login"]
    assert refusals(AclRemovals(bindings, "User:eve"), (ALL, False)) == [""]


def test_what_is_refused_is_as_if_it_had_not_been_asked() -> None:
    access = AclRemovals([READ, ALL], "User:bob")
    assert refusals(access, (ALL, False), (READ, True)) == ["own-login", ""]
