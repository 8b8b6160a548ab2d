"""Helpers for tests of the admin client."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics import read as topics
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Plan, apply
from kafka_shell.base.results import Failure, Results
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.sandbox.twin.build import connect as connect_to_twin
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig, parse_addresses
from kafka_shell.wire.model import Topic
from kafka_shell.wire.requests import Call, Coordinator, as_request
from kafka_shell.wire.runner import Job


def connect(sandbox: Sandbox) -> Cluster:
    """A connection to a twin, or to a sandbox that wants no login."""
    if sandbox.password:
        return connect_to_twin(sandbox)
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


def lose_requests(
    monkeypatch: pytest.MonkeyPatch,
    api_key: int,
    after: int = 0,
    *,
    received: bool = False,
    code: str = "outcome-unknown",
) -> None:
    """All requests of this API but the first ones fail as a whole, with unknown outcome; if
    `received`, brokers receive them, and only the responses are lost."""
    drive, sent = Cluster._drive, 0

    def losing(self: Cluster, calls: Sequence[Call]) -> list[Job]:
        nonlocal sent
        if any(as_request(call.request).api_key == api_key for call in calls):
            sent += 1
            if sent > after:
                if received:
                    drive(self, calls)
                raise ShellError("the connection was lost", code=code)
        return drive(self, calls)

    monkeypatch.setattr(Cluster, "_drive", losing)


def misroute(cluster: Cluster, to: Coordinator) -> int:
    """Make this client take another broker for the coordinator. Returns the true one."""
    cluster.api_versions(to)
    known = cluster._pool.coordinators
    true = known[to]
    known[to] = true % 3 + 1
    return true


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
