"""What these tests do over and over."""

from __future__ import annotations

import time
from collections.abc import Callable

from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics import read as topics
from kafka_shell.admin.topics.model import NewTopic, Topic
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.plan.apply import apply
from kafka_shell.plan.model import Change, Plan
from kafka_shell.plan.results import Failure, Results
from kafka_shell.sandbox.state import Sandbox


def connect(sandbox: Sandbox) -> Cluster:
    """A connection to a sandbox that wants no login."""
    return Cluster(ConnectionConfig(parse_addresses(sandbox.bootstrap)))


def done(plan: Plan, cluster: Cluster) -> Results[Change, Change]:
    """Carry out a plan of which nothing may fail."""
    assert plan.refused.ok, f"refused while planning: {plan.refused.failures}"
    results = apply(plan, cluster)
    assert results.ok, f"failed: {results.failures}"
    assert set(results.values) == set(plan.changes), "a change has no outcome"
    return results


def failures(results: Results[Change, Change]) -> dict[str, str]:
    """The error's name by the resource's."""
    return {change.resource.name: why.name for change, why in results.failures.items()}


def refusals(plan: Plan) -> dict[str, Failure]:
    """What failed while planning, by the resource's name."""
    return {resource.name: why for resource, why in plan.refused.failures.items()}


KEPT = (("retention.ms", "-1"),)
"""For topics whose records have old timestamps: the broker would delete them at any time."""


def make_topic(
    cluster: Cluster,
    name: str,
    partitions: int | None = 1,
    factor: int | None = 1,
    *,
    assignment: tuple[tuple[int, ...], ...] = (),
    configs: tuple[tuple[str, str], ...] = (),
) -> str:
    """Create a topic and return its name."""
    if assignment:
        partitions = factor = None
    new = NewTopic(name, partitions, factor, assignment, configs)
    done(topic_changes.plan_create([new]), cluster)
    return name


def described(cluster: Cluster, name: str) -> Topic:
    found = topics.describe(cluster, [name])
    assert found.ok, found.failures
    return found[name]


def wait_for(what: str, condition: Callable[[], bool], seconds: float = 30) -> None:
    """Until the condition holds; an error that says what never came."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"in {seconds:.0f} s it never came that {what}"
        time.sleep(0.05)
