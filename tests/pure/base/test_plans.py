"""Plans that are merged."""

from __future__ import annotations

from kafka_shell.base.plans import (
    Advice,
    Bookkeeping,
    Change,
    Effect,
    Following,
    Plan,
    Resource,
    merge_plans,
    reverse,
)

MANY = 3_000


def part(number: int, waited: list[int]) -> Plan:
    """A plan with something in each of its parts."""
    return Plan(
        Effect.CHANGE,
        (),
        unchanged=(reverse(Change(Resource("topic", str(number)), "create")),),
        following=Following(follow=lambda cluster, report: waited.append(number)),
        advice=Advice(warnings=(str(number),), notes=("of all",)),
        bookkeeping=Bookkeeping(made=lambda: (number,)),
    )


def test_parts_of_many_plans_are_in_order() -> None:
    waited: list[int] = []
    plan = merge_plans([part(number, waited) for number in range(MANY)])
    assert [change.resource.name for change in plan.unchanged] == list(map(str, range(MANY)))
    assert plan.advice.warnings == tuple(map(str, range(MANY)))
    assert plan.advice.notes == ("of all",)
    assert plan.bookkeeping.made() == tuple(range(MANY))
    assert plan.following.follow is not None
    plan.following.follow(None, lambda task, done, total: None)
    assert waited == list(range(MANY))


def test_no_plans_change_nothing() -> None:
    assert merge_plans([]) == Plan(Effect.CHANGE, ())
