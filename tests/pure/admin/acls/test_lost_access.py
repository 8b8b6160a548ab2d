"""Which principals lose access when ACLs are deleted or deny access, on a real broker."""

from __future__ import annotations

import pytest

from kafka_shell.admin.acls import lost_access
from kafka_shell.admin.acls.authorizer import Rules
from kafka_shell.admin.acls.lost_access import losses
from kafka_shell.admin.acls.model import (
    AclBinding,
    AclOperation,
    AclPermission,
    AclResourceType,
)
from kafka_shell.base.structs import replace

TOPIC, GROUP = AclResourceType.TOPIC, AclResourceType.GROUP
READ, WRITE, ALL = AclOperation.READ, AclOperation.WRITE, AclOperation.ALL
ALLOW, DENY = AclPermission.ALLOW, AclPermission.DENY


def reads(principal: str, name: str, kind: AclResourceType = TOPIC) -> AclBinding:
    return AclBinding(principal, "*", READ, ALLOW, kind, name)


@pytest.mark.parametrize(
    ("principal", "host"), [("user:eve", "*"), ("User:svc-*", "*"), ("User:eve", "10.0.0.0/8")]
)
def test_denying_nobody_takes_nothing(principal: str, host: str) -> None:
    """Before: `user:eve loses Read`, next to a warning that this principal never matches."""
    everyone = reads("User:*", "orders")
    denied = replace(everyone, principal=principal, host=host, permission=DENY)
    assert losses(Rules((everyone,)), [], [denied], {}) == ([], 0)
    unused = replace(everyone, principal="User:bob", host="10.0.0.0/8")
    assert losses(Rules((unused,)), [unused], [], {}) == ([], 0)


def test_describe_is_lost_with_an_acl_whose_own_operation_is_denied() -> None:
    mine = reads("User:bob", "orders")
    denied = replace(mine, permission=DENY)
    (loss,), _ = losses(Rules((mine, denied)), [mine], [], {})
    assert loss.operations == (AclOperation.DESCRIBE,)
    writes = replace(mine, operation=WRITE)
    assert losses(Rules((mine, denied, writes)), [mine], [], {}) == ([], 0), (
        "WRITE implies DESCRIBE"
    )


def test_everyone_may_use_a_resource_without_acls_if_the_brokers_say_so() -> None:
    mine, others = reads("User:bob", "orders"), reads("User:eve", "orders")
    rules = Rules((mine, others), no_acl_allows=True)
    (loss,), _ = losses(rules, [mine], [], {})
    assert loss.text == "Read on topic orders"
    assert losses(rules, [mine, others], [], {}) == ([], 0), "no ACL is left: everyone is allowed"


def test_a_super_user_loses_nothing() -> None:
    mine = reads("User:root", "orders")
    rules = Rules((mine,), super_users=frozenset({"User:root"}))
    assert losses(rules, [mine], [], {}) == ([], 0)


def test_not_every_topic_is_decided_for_every_principal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lost_access, "_MOST_NAMES", 2_000)
    names = [f"t-{n}" for n in range(1_000)]
    others = [
        replace(reads(f"User:p-{n}", "*"), operation=operation)
        for n in range(40)
        for operation in (READ, WRITE)
    ]
    single = [reads(f"User:p-{n % 40}", name) for n, name in enumerate(names)]
    everyone = replace(reads("User:*", "*"), operation=ALL, permission=DENY)
    decided: list[str] = []

    def over() -> bool:
        decided.append("once more")
        return False

    rules = Rules((*others, *single))
    found, left_out = losses(rules, [], [everyone], {TOPIC: names}, over)
    assert len(decided) < 4_000, "of 1,000 topics and 40 principals"
    assert (len(found), left_out) == (40, 0)
    assert found[0].text == "Read,Write,Describe on topic * (1,000 topics now)"


def test_losses_that_take_too_long_are_left_out_and_counted() -> None:
    mine = [reads(f"User:p-{n}", f"t-{n}") for n in range(5)]
    calls = iter([False] * 4 + [True] * 9)
    found, left_out = losses(Rules(tuple(mine)), mine, [], {}, lambda: next(calls))
    assert ([loss.binding for loss in found], left_out) == (mine[:4], 1)
