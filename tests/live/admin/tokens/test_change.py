"""Plans for delegation tokens, as programs use them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kafka_shell.admin.tokens import change
from kafka_shell.admin.tokens import read as delegation_tokens
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Plan, Secret, apply
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.logins import log_in

GOOD = Secret("YWJj")


@pytest.fixture
def alice(secure_sandbox: Sandbox) -> Iterator[Cluster]:
    with log_in(secure_sandbox, "alice") as cluster:
        yield cluster


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        (lambda alice: change.plan_renew(alice, [], [Secret("abc")], 0, None), "must be base64"),
        (lambda alice: change.plan_expire(alice, [], [Secret("!!!!")], 0, None), "must be base64"),
        (lambda alice: change.plan_expire(alice, [], [Secret("")], 0, None), "must be base64"),
        (lambda alice: change.plan_expire(alice, [], [GOOD], 0, -5), "must not be negative"),
        (lambda alice: change.plan_create(alice, max_life=-1), "must not be negative"),
        (lambda alice: change.plan_create(alice, owner="bob"), "bob is not a valid principal"),
        (lambda alice: change.plan_create(alice, renewers=["bob"]), "bob is not a valid principal"),
    ],
)
def test_invalid_values_are_refused_by_the_plan(
    alice: Cluster, plan: Callable[[Cluster], Plan], problem: str
) -> None:
    with pytest.raises(ShellError, match=problem):
        plan(alice)


def test_a_plan_that_is_applied_twice_creates_and_shows_two_tokens(alice: Cluster) -> None:
    plan = change.plan_create(alice)
    shown: list[Any] = []
    for _ in range(2):
        assert apply(plan, alice).ok
        shown.append(plan.bookkeeping.shown)
    first, second = (each.token.id for each in shown)
    assert first != second
    assert {first, second} <= {each.id for each in delegation_tokens.describe(alice)}
    apply(change.plan_expire(alice, [first, second], [], 0, None), alice)
