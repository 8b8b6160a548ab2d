"""How changes are planned into steps: one entry for each kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.base.inverse import inverse
from kafka_shell.base.plans import Advice, Change, Plan, merge_plans
from kafka_shell.commands import function
from kafka_shell.output.change_lines import SHARE_OFFSETS, key_of, line_of

if TYPE_CHECKING:
    from kafka_shell.context import Context

_NAMED = 5  # of which several are shown before the rest is counted


class ChangeKind(Struct, frozen=True):
    """How changes of a kind are made.

    `plan` names the function that returns the plan for many, with the options of its steps:
    `timeout_ms`. `gone` is the error of what is gone already.
    """

    plan: str
    gone: str = ""


def plan_undo(changes: Iterable[Change], context: Context, timeout_ms: int | None = None) -> Plan:
    """One plan that undoes the changes, without what is gone already."""
    undoing = [change for change in inverse(changes) if line_of([change])]
    return merge_plans(
        [
            _without_gone(plan, kind.gone) if kind.gone else plan
            for kind, plan in _plans(undoing, context, timeout_ms)
        ]
    )


def plan_changes(changes: Iterable[Change], context: Context) -> Plan:
    """One plan that makes these changes. Those of a kind are few requests, however many resources
    they are of; deleted credentials and topics are last."""
    return merge_plans([plan for _, plan in _plans(changes, context)])


def _plans(
    changes: Iterable[Change], context: Context, timeout_ms: int | None = None
) -> Iterator[tuple[ChangeKind, Plan]]:
    by_kind: dict[ChangeKind, list[Change]] = {}
    for change in changes:
        by_kind.setdefault(_KINDS[key_of(change)], []).append(change)
    options = {} if timeout_ms is None else {"timeout_ms": timeout_ms}
    for kind in dict.fromkeys(_KINDS.values()):
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


def few(lines: Sequence[str], what: str) -> list[str]:
    """The first lines, and the number of the others."""
    if len(lines) <= _NAMED + 1:
        return list(lines)
    return [*lines[:_NAMED], f"... and {len(lines) - _NAMED:,} more {what}"]


# By what `key_of` returns, in the order in which they are sent. Others have no inverse.
_QUOTA = ChangeKind("quotas.run:plan_changes")
_KINDS: dict[str, ChangeKind] = {
    "feature": ChangeKind("cluster.quorum:plan_levels"),
    "voter": ChangeKind("cluster.quorum:plan_voter_changes", "VOTER_NOT_FOUND"),
    "config": ChangeKind("configs.run:plan_changes"),
    **dict.fromkeys(("user", "user-default", "client-id", "client-id-default"), _QUOTA),
    **dict.fromkeys(("ip", "ip-default"), _QUOTA),
    "acl": ChangeKind("acls.changes:plan_changes", "RESOURCE_NOT_FOUND"),
    "client-config": ChangeKind("client_configs.run:plan_changes"),
    "token": ChangeKind("tokens.run:plan_changes"),
    **dict.fromkeys(("group-offsets", SHARE_OFFSETS), ChangeKind("groups.changes:plan_changes")),
    "replica": ChangeKind("partitions.log_dirs:plan_changes"),
    "rollback-file": ChangeKind("partitions.reassignments:plan_rollbacks"),
    "credential": ChangeKind("users.run:plan_deletions", "RESOURCE_NOT_FOUND"),
    "topic": ChangeKind("topics.changes:plan_deletions", "UNKNOWN_TOPIC_OR_PARTITION"),
}
