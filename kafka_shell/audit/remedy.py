"""Validation of remedies: the kafka.sh commands that controls suggest.

The SQL of a control inserts names of resources into a command. Whatever a name contains, the result
must be a single command, and its plan may only change the resource of the finding.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from kafka_shell.common.escaping import is_printable
from kafka_shell.language.tokens import tokenize
from kafka_shell.plan.model import Change, Plan, Resource


def single_command(line: str) -> str:
    """Return the line, or an empty string if it is not exactly one printable command."""
    tokens = tokenize(line)
    single = is_printable(line) and not (
        tokens.shell is not None
        or tokens.operators
        or tokens.comment
        or tokens.incomplete
        or tokens.problem
        or tokens.redirect
    )
    return line if single else ""


def resources_outside(plan: Plan, findings: Iterable[str]) -> list[Resource]:
    """Return the resources the plan would change that are not in `findings`.

    `findings` are the resource names of the findings that share the remedy.
    """
    named = set(findings)
    return list(
        dict.fromkeys(
            change.resource
            for step in (*plan.steps, *plan.afterwards)
            for change in step.changes
            if named.isdisjoint(_names(change)) and not _belongs_to_topic(change, named)
        )
    )


def _names(change: Change) -> set[str]:
    """Return the names a finding may use for the resource of this change."""
    kind, name, field = change.resource.kind, change.resource.name, change.field
    if kind in ("topic", "acl", "feature", "partition", "transaction"):
        return {name}
    if kind == "group-offsets":
        return {f"group {name} {field}"}
    if kind == "broker-default":
        return {"brokers", field}
    if kind == "broker":
        listener = field.split(".")[2].upper() if field.startswith("listener.name.") else field
        return {f"broker {name}", f"broker {name} {field}", f"broker {name} {listener}"}
    if kind == "logger":
        return {f"broker {name} {field}"}
    if kind == "replica":  # `orders:0 on broker 1`
        partition, _, broker = name.partition(" on ")
        return {f"{broker} {partition}"}
    if kind == "client-config":
        return {" ".join(shlex.split(name))}
    if kind in ("user", "user-default", "client-id", "client-id-default", "ip", "ip-default"):
        return _client_names(change)
    if kind == "transactional-id":
        return {f"transactional ID {name}"}
    return {f"{kind.replace('-', ' ')} {name}"}  # group


def _client_names(change: Change) -> set[str]:
    """Return the names of a quota or credential; a client ID quota may be set for the default
    user."""
    entity, field = str(change.resource), change.field
    names = {entity, f"{entity} {field}", f"user {change.resource.name} {field}",
             f"user {change.resource.name}"}  # fmt: skip
    if change.resource.kind in ("user-default", "client-id-default"):
        rest = entity.removeprefix(change.resource.kind).strip()
        names |= {f"{rest} {field}"} if rest else {field}
    return names


def _belongs_to_topic(change: Change, named: set[str]) -> bool:
    """Return whether a change of partitions or replicas is about the topic of a finding."""
    if change.resource.kind not in ("partition", "topic", "rollback-file"):
        return False
    if change.resource.kind == "rollback-file":  # a local file
        return True
    topic = change.resource.name.rpartition(":")[0] or change.resource.name
    return topic in named or any(name.rpartition(":")[0] == topic for name in named)
