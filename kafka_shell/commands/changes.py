"""Plan changes into steps, by the kinds of changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kafka_shell.base.plans import Advice, Change, Plan, inverse, merge_plans
from kafka_shell.commands import function
from kafka_shell.output.change_kinds import KINDS, ChangeKind, key_of, line_of

if TYPE_CHECKING:
    from kafka_shell.context import Context

_NAMED = 5  # of which several are shown before the rest is counted


def plan_undo(changes: Iterable[Change], context: Context, timeout_ms: int | None = None) -> Plan:
    """One plan that undoes the changes, without what is gone already."""
    undoing = [change for change in inverse(changes) if line_of([change])]
    return merge_plans(
        [
            _without_gone(plan, kind.gone) if kind.gone else plan
            for kind, plan in _plans(undoing, context, timeout_ms)
        ]
    )


def can_plan(change: Change) -> bool:
    """Whether changes of this kind can be planned."""
    kind = KINDS.get(key_of(change))
    return kind is not None and bool(kind.plan)


def plan_changes(changes: Iterable[Change], context: Context) -> Plan:
    """One plan that makes these changes. Those of a kind are few requests, however many resources
    they are of; deleted credentials and topics are last."""
    return merge_plans([plan for _, plan in _plans(changes, context)])


def _plans(
    changes: Iterable[Change], context: Context, timeout_ms: int | None = None
) -> Iterator[tuple[ChangeKind, Plan]]:
    by_kind: dict[ChangeKind, list[Change]] = {}
    for change in changes:
        by_kind.setdefault(KINDS[key_of(change)], []).append(change)
    options = {} if timeout_ms is None else {"timeout_ms": timeout_ms}
    for kind in dict.fromkeys(KINDS.values()):
        if kind in by_kind:
            yield kind, function(kind.plan)(context, by_kind[kind], options)


def _without_gone(plan: Plan, error: str) -> Plan:
    already = [
        f"already undone: {resource} does not exist"
        for resource, failure in plan.refused.failures.items()
        if failure.name == error
    ]
    warnings = tuple(few(already, "resources"))
    return plan.without_refused(error).advised(Advice(warnings=warnings))


def few(lines: Sequence[str], what: str, shown: int = _NAMED) -> list[str]:
    """The first lines, and the number of the others."""
    if len(lines) <= shown + 1:
        return list(lines)
    return [*lines[:shown], f"... and {len(lines) - shown:,} more {what}"]
