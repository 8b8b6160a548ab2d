"""Plans of several steps, one of which fails as a whole, on a real broker."""

from __future__ import annotations

from uuid import uuid4

import pytest

from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Effect, Following, Order, Plan, apply
from kafka_shell.base.structs import replace
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import lose_requests

CREATE_TOPICS = 19


@pytest.fixture
def name() -> str:
    return f"apply-{uuid4().hex[:8]}"


def steps(name: str, count: int) -> Plan:
    """Topics that are created one after the other."""
    plans = [topic_changes.plan_create([NewTopic(f"{name}-{n}", 1, 1)]) for n in range(count)]
    return Plan(Effect.CHANGE, tuple(step for plan in plans for step in plan.steps))


def test_a_step_that_fails_as_a_whole_does_not_lose_those_before(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = steps(name, 3)
    first, second, _ = plan.changes
    lose_requests(monkeypatch, CREATE_TOPICS, after=1)
    results = apply(plan, cluster)
    assert [change.resource for change in results.values] == [first.resource]
    assert {change: why.name for change, why in results.failures.items()} == {
        second: "outcome-unknown"
    }, "nothing is sent after it"


def test_the_last_steps_do_not_lose_the_others(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = steps(name, 2).steps
    lose_requests(monkeypatch, CREATE_TOPICS, after=1)
    results = apply(Plan(Effect.CHANGE, (first,), following=Following(afterwards=(last,))), cluster)
    assert set(results.values) == set(first.changes)
    assert set(results.failures) == set(last.changes)


def test_the_first_request_fails_for_all(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_requests(monkeypatch, CREATE_TOPICS)
    with pytest.raises(ShellError, match="the connection was lost"):
        apply(replace(steps(name, 2), order=Order.CHAINED), cluster)
