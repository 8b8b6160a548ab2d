from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import pytest

from kafka_shell.admin.activity.sample import of_groups
from kafka_shell.admin.cluster import health
from kafka_shell.admin.cluster.model import Severity
from kafka_shell.admin.groups.model import GroupListing, GroupType
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import Resource


def test_groups_are_listed_once_and_unread_brokers_are_findings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed = {
        name: GroupListing(name, GroupType.CLASSIC, state, "consumer", 1)
        for name, state in (("a", "Stable"), ("b", "PreparingRebalance"), ("c", "Empty"))
    }
    unread = {Resource("broker", "2"): Failure("TIMEOUT", "no answer")}
    calls: list[Sequence[str]] = []
    sampled: list[Sequence[str]] = []

    def list_groups(cluster: Any, states: Sequence[str] = ()) -> Results[Any, Any]:
        calls.append(states)
        return Results(listed, unread)

    def sample_groups(cluster: Any, names: Sequence[str]) -> Any:
        sampled.append(names)
        return of_groups(Results(), 1.0)

    monkeypatch.setattr(health.groups, "list_groups", list_groups)
    monkeypatch.setattr(health, "sample_groups", sample_groups)
    given = health.CheckInput(None, 1.0, kept=deque())  # type: ignore[arg-type]
    findings = list(health._groups(None, given))  # type: ignore[arg-type]
    assert calls == [()] and sampled == [["a", "b"]]
    assert [each.severity for each in findings] == [Severity.NOTE, Severity.NOT_CHECKED]


DESCRIBE = "DESCRIBE on the cluster"
OF_TOPICS = [f"DESCRIBE_CONFIGS on topic t{number}" for number in range(5)]


def denied(requires: str) -> Failure:
    return Failure("AUTHORIZATION_FAILED", "not authorized", 29, requires=requires)


def test_a_missing_permission_is_named_once_with_its_count() -> None:
    of_configs: dict[str, Failure] = {each: denied(each) for each in OF_TOPICS}
    of_configs["late"] = Failure("TIMEOUT", "timed out")
    findings = [
        *health._partly(health._MIN_ISR, of_configs),
        health.not_checked(health._THROTTLES, denied("DESCRIBE_CONFIGS on the cluster")),
        health.not_checked(health._QUORUM, denied(DESCRIBE)),
        health.not_checked(health._MOVES, denied(DESCRIBE)),
    ]
    assert [(each.summary, each.count) for each in health.combined(findings)] == [
        ("not checked: min.insync.replicas: timed out", 1),
        (f"not checked: the metadata quorum, partition reassignments: requires {DESCRIBE}", 1),
        (
            "not checked: min.insync.replicas, replication throttles: requires DESCRIBE_CONFIGS on"
            " the cluster and 5 topics",
            6,
        ),
    ]
    required = ["all topics", "topic a", "group g", "transactional ID x", "transactional ID y"]
    told = health.permissions(f"DESCRIBE on {each}" for each in required)
    assert told == "DESCRIBE on all topics and group g and 2 transactional IDs"
    (alone,) = health.combined([health.not_checked(health._MIN_ISR, denied(OF_TOPICS[0]))])
    assert alone.summary.endswith(f"requires {OF_TOPICS[0]}") and alone.check == "under-min-isr"


@pytest.mark.parametrize(
    ("silent", "down", "summary", "cause"),
    [
        ([2, 3], {2, 3}, "controllers 2, 3 are not responding", "brokers"),
        ([2, 3], {2}, "controllers 2, 3 are not responding", ""),
        (["h:1"], {2}, "controller h:1 is not responding", ""),
        ([1, 2, 3, 4], {1, 2, 3, 4, 5}, "4 controllers are not responding", "brokers"),
    ],
)
def test_a_quorum_without_majority_is_named(
    silent: list[object], down: set[int], summary: str, cause: str
) -> None:
    found = health._no_majority(silent, down)
    assert found.severity is Severity.CRITICAL and found.cause == cause
    assert found.summary.startswith(f"the metadata quorum has no majority ({summary}), so ")


@pytest.mark.parametrize(
    ("failure", "state"),
    [
        (None, "fenced, but responding"),
        (Failure("refused", ""), "down"),
        (Failure("no-answer", ""), "fenced and not responding"),
        (Failure("SASL_AUTHENTICATION_FAILED", ""), "fenced, but responding"),
    ],
)
def test_what_is_known_of_a_fenced_broker(failure: Failure | None, state: str) -> None:
    assert health._fenced(failure) == state
