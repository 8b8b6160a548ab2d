"""What a plan would do: which records are deleted, which producers fail, who loses access.

The core plans what was asked; the questions here look at the plan alone. Each is a module with two
functions: `read` reads facts about the plan, and returns None if the question does not apply to it;
`say` turns them into warnings, without a cluster.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from kafka_shell.base.plans import Advice, Plan
from kafka_shell.wire.cluster import Cluster

# Each question, the gravest first, with the kinds of resources whose changes it may apply to.
QUESTIONS: dict[str, set[str]] = {
    "deleted_records": {"topic", "broker", "broker-default"},
    "use": {"topic", "partition"},
    "decoding": {"subject"},
    "access": {"acl", "user"},
    "elections": {"topic", "broker", "broker-default"},
    "acks_all": {"topic", "broker-default"},
    "key_order": {"topic"},
    "without_effect": {"acl", "user", "quota", "client-config"},
    "defaults": {"topic", "broker", "broker-default"},
}


def advise(plan: Plan, cluster: Cluster) -> Plan:
    """Return the plan with warnings, figures and what is at stake. What cannot be read within a few
    seconds is reported as not checked."""
    kinds = {change.resource.kind for change in plan.changes}
    questions = [name for name, of in QUESTIONS.items() if of & kinds]
    if not questions:
        return plan
    from kafka_shell.advice.reads import Reads

    reads, advice = Reads(cluster, plan), Advice()
    for name in questions:
        question: Any = import_module(f".{name}", __package__)
        facts = question.read(reads)
        if facts is not None:
            advice += question.say(facts)
    return plan.advised(advice + Advice(not_checked=tuple(reads.not_checked)))
