"""Who loses access, and what never applies."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_shell.admin.acls.authorizer import Rules
from kafka_shell.admin.acls.lost_access import Loss
from kafka_shell.admin.acls.model import (
    AclBinding,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.advice import access, without_effect
from kafka_shell.base.structs import replace

TOPIC, READ = AclResourceType.TOPIC, AclOperation.READ
BOB = AclBinding("User:bob", "*", READ, AclPermission.ALLOW, TOPIC, "orders")
DENIED = replace(BOB, permission=AclPermission.DENY)
PREFIXED = replace(BOB, pattern_type=PatternType.PREFIXED)
KNOWN = Rules((), super_users=frozenset())
KEEP = "super users among them keep access (super.users is not visible to clients)"


def lost(*bindings: AclBinding) -> list[Loss]:
    return [Loss(binding, (binding.operation,)) for binding in bindings]


def of(count: int) -> list[AclBinding]:
    return [replace(BOB, principal=f"User:p{number}") for number in range(count)]


@pytest.mark.parametrize(
    ("facts", "warnings", "notes"),
    [
        (access.Facts([BOB], rules=KNOWN, compared=True, lost=lost(BOB)),
         ["User:bob loses Read on topic orders"], []),
        (access.Facts([BOB], rules=replace(KNOWN, super_users=None), compared=True, lost=lost(BOB)),
         ["User:bob loses Read on topic orders"], [KEEP]),
        (access.Facts([BOB], rules=KNOWN, compared=True, lost=lost(BOB),
                      readers={"User:bob": ["g (1 member)"]}),
         ["User:bob loses Read on topic orders; it may be the principal of active group g"
          " (1 member)"],
         ["the principals of groups are derived from ACLs: Kafka does not report them"]),
        (access.Facts(of(1), rules=KNOWN, compared=True, lost=lost(*of(1)),
                      readers={"User:p0": list("abcd")}),
         ["User:p0 loses Read on topic orders; it may be the principal of active groups a, b, c"
          " and 1 more"],
         ["the principals of groups are derived from ACLs: Kafka does not report them"]),
        (access.Facts(of(12), rules=KNOWN, compared=True, lost=lost(*of(12))),
         [*(f"User:p{n} loses Read on topic orders" for n in (0, 1, 10, 11, 2)),
          "7 more principals lose access"], []),
        (access.Facts([BOB], rules=KNOWN, compared=True,
                      lost=lost(*(replace(BOB, name=f"t{n}") for n in range(12)))),
         ["User:bob loses Read on topic t0, Read on topic t1, Read on topic t2 and 9 more"], []),
        (access.Facts([], [DENIED], rules=KNOWN, compared=True,
                      lost=lost(replace(BOB, principal="User:*"))),
         ["everyone without an ACL of their own loses Read on topic orders"], []),
    ],
)  # fmt: skip
def test_lost_access(facts: access.Facts, warnings: Sequence[str], notes: Sequence[str]) -> None:
    said = access.say(facts)
    assert (list(said.warnings), list(said.notes), said.confirm) == (warnings, notes, True)


@pytest.mark.parametrize(
    ("facts", "note"),
    [
        (access.Facts([BOB], rules=KNOWN, compared=True),
         f"all principals keep access without acl {BOB}: other ACLs or super.users allow the same"
         " operations"),
        (access.Facts(of(2), rules=KNOWN, compared=True),
         "all principals keep access without 2 ACLs: other ACLs or super.users allow the same"
         " operations"),
        (access.Facts([], [DENIED], rules=KNOWN, compared=True),
         f"all principals keep access with acl {DENIED}: the operations were not allowed before"),
        (access.Facts([], [BOB], rules=KNOWN), ""),
    ],
)  # fmt: skip
def test_no_lost_access(facts: access.Facts, note: str) -> None:
    said = access.say(facts)
    assert (said.warnings, said.confirm) == ((), False)
    assert said.notes == ((note,) if note else ())


def test_what_could_not_be_read_is_confirmed() -> None:
    said = access.say(access.Facts([BOB], complete=False))
    assert (said.warnings, said.notes, said.confirm) == ((), (), True)


def test_replaced_passwords_are_at_stake() -> None:
    said = access.say(access.Facts(passwords=2))
    assert (said.warnings, said.stakes, said.confirm) == ((), "replaces 2 passwords", True)


@pytest.mark.parametrize(
    ("everyone", "first", "warnings"),
    [
        (None, [(TOPIC, "a", PatternType.LITERAL), (TOPIC, "b", PatternType.LITERAL)],
         ["this adds the first ACL on topic a, topic b: all others except super users may lose"
          " access (allow.everyone.if.no.acl.found cannot be read)"]),
        (True, [(TOPIC, "a", PatternType.LITERAL), (TOPIC, "*", PatternType.LITERAL)],
         ["this adds the first ACL on topic a: all others except super users lose access"
          " (allow.everyone.if.no.acl.found=true)",
          "this adds the first ACL on resources matched only by topic *: all others except"
          " super users lose access (allow.everyone.if.no.acl.found=true)"]),
        (None, [(TOPIC, "a", PatternType.PREFIXED)],
         ["this adds the first ACL on resources matched only by prefixed topic a: all others"
          " except super users may lose access (allow.everyone.if.no.acl.found cannot be read)"]),
    ],
)  # fmt: skip
def test_the_first_acl_of_a_resource(
    everyone: bool | None, first: Sequence[access.Target], warnings: Sequence[str]
) -> None:
    said = access.say(access.Facts([], [BOB], first=first, rules=Rules((), no_acl_allows=everyone)))
    assert (list(said.warnings), said.confirm) == (warnings, True)


@pytest.mark.parametrize(
    ("left", "everyone", "warning"),
    [
        ([], True, "this removes the last ACL on topic orders: everyone gains access"
                   " (allow.everyone.if.no.acl.found=true)"),
        ([], None, "this removes the last ACL on topic orders: access depends on"
                   " allow.everyone.if.no.acl.found, which cannot be read"),
        ([], False, ""),
        ([replace(BOB, principal="User:eve")], True, ""),
        ([PREFIXED], True, ""),
    ],
)  # fmt: skip
def test_the_last_acl_of_a_resource(
    left: list[AclBinding], everyone: bool | None, warning: str
) -> None:
    rules = Rules((BOB, *left), super_users=frozenset(), no_acl_allows=everyone)
    said = access.say(access.Facts([BOB], rules=rules, compared=True))
    assert list(said.warnings) == ([warning] if warning else [])


@pytest.mark.parametrize(
    ("facts", "warnings", "confirm"),
    [
        (without_effect.Facts([BOB], ["bob"], ["bob", None]), [], False),
        (without_effect.Facts([replace(BOB, principal="user:bob")] * 2, [], []),
         ["principal user:bob never matches: types are case-sensitive, use User:bob"], True),
        (without_effect.Facts([], ["User:bob"], []),
         ["User:bob is not the user bob: user names do not include 'User:'"], True),
        (without_effect.Facts([], [], ["User:bob", "User:bob"]),
         ["User:bob is not the user bob: user names do not include 'User:'"], False),
        (without_effect.Facts([], ["zoë"], []),
         ["user zoë will not be able to authenticate: SCRAM in Kafka supports ASCII names only"],
         False),
    ],
)  # fmt: skip
def test_without_effect(
    facts: without_effect.Facts, warnings: Sequence[str], confirm: bool
) -> None:
    said = without_effect.say(facts)
    assert (list(said.warnings), said.confirm) == (warnings, confirm)
