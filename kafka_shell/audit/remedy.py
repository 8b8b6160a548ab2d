"""Remedies of findings: lines of this shell that are checked before they are shown or applied.

A control's SQL joins names of the cluster into a line. Whatever such a name contains, the line must
stay one command, and the plan that it leads to must change the finding's resource only.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from kafka_shell.language.tokens import tokenize
from kafka_shell.plan.model import Change, Plan, Resource


def single_command(line: str) -> str:
    """The line, or an empty string where it is not exactly one command of printable words."""
    read = tokenize(line)
    plain = line.isprintable() and not (
        read.shell is not None
        or read.operators
        or read.comment
        or read.incomplete
        or read.problem
        or read.redirect
    )
    return line if plain else ""


def outside(plan: Plan, findings: Iterable[str]) -> list[Resource]:
    """The resources that the plan would change although none of the findings is about them.

    `findings` are the `resource` of the findings that share the remedy.
    """
    named = set(findings)
    return list(
        dict.fromkeys(
            change.resource
            for step in (*plan.steps, *plan.afterwards)
            for change in step.changes
            if named.isdisjoint(_names(change)) and not _of_its_topic(change, named)
        )
    )


def _names(change: Change) -> set[str]:
    """How a finding may name what this change is about."""
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
        return _of_client(change)
    return {f"{kind.replace('-', ' ')} {name}"}  # group, transactional-id


def _of_client(change: Change) -> set[str]:
    """A quota or a credential; a quota of a client id may be given to its default user as well."""
    entity, field = str(change.resource), change.field
    names = {entity, f"{entity} {field}", f"user {change.resource.name} {field}",
             f"user {change.resource.name}"}  # fmt: skip
    if change.resource.kind == "user-default":
        rest = entity.removeprefix("user-default").strip()
        names |= {f"{rest} {field}"} if rest else {field}
    return names


def _of_its_topic(change: Change, named: set[str]) -> bool:
    """Whether a change of partitions or replicas belongs to a topic, or to the topic of a partition
    that a finding names: replicas of a topic are placed together."""
    if change.resource.kind not in ("partition", "topic", "rollback-file"):
        return False
    if change.resource.kind == "rollback-file":  # a file of this machine
        return True
    topic = change.resource.name.rpartition(":")[0] or change.resource.name
    return topic in named or any(each.rpartition(":")[0] == topic for each in named)
