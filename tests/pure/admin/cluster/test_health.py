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
