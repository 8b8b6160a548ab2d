"""Deleting records while leaders change."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import pytest

from kafka_shell.admin.partitions.model import LATEST, TopicPartition
from kafka_shell.admin.records import delete
from kafka_shell.admin.records import read as log
from kafka_shell.admin.records.model import NewRecord
from kafka_shell.admin.records.offsets import ranges
from kafka_shell.admin.records.write import Writer
from kafka_shell.admin.topics.partitions import leaders, without_leader
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import apply
from kafka_shell.base.results import Results
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic


def test_deleted_records_are_not_lost_from_the_outcome(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two partitions has no leader at first, and then no broker answers."""
    make_topic(cluster, name, 2)
    led, leaderless = TopicPartition(name, 0), TopicPartition(name, 1)
    Writer(cluster, name).write({number: [NewRecord(None, b"x")] for number in (0, 1)})
    plan = delete.plan_delete(cluster, {led: LATEST, leaderless: LATEST})
    rounds = 0

    def changing(
        cluster: Cluster, wanted: Iterable[TopicPartition]
    ) -> Results[TopicPartition, int]:
        nonlocal rounds
        rounds += 1
        if rounds > 1:
            raise ShellError("the connection was lost", code="outcome-unknown")
        found = leaders(cluster, wanted)
        del found.values[leaderless]
        return Results(found.values, {leaderless: without_leader(leaderless)})

    monkeypatch.setattr(delete, "leaders", changing)
    results = apply(plan, cluster)
    assert [change.resource for change in results.values] == [led.resource]
    assert {change.resource: why.name for change, why in results.failures.items()} == {
        leaderless.resource: "outcome-unknown"
    }


def test_what_is_written_while_the_time_is_looked_up_is_kept(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No record is that new when it is looked up, so all are deleted: those before the look-up."""
    make_topic(cluster, name, 1)
    where = TopicPartition(name, 0)
    log.append(cluster, name, [(None, b"old")])
    tomorrow = int(time.time() * 1000) + 86_400_000
    own = delete.list_offsets

    def meanwhile(*given: Any, **more: Any) -> Any:
        found = own(*given, **more)
        if next(iter(given[1].values())) == tomorrow:
            log.append(cluster, name, [(None, b"new")])
        return found

    monkeypatch.setattr(delete, "list_offsets", meanwhile)
    plan = delete.plan_delete_before(cluster, [where], tomorrow)
    assert [change.after for change in plan.changes] == [1]


def test_records_of_a_topic_without_a_cleanup_policy_are_deleted(
    cluster: Cluster, name: str
) -> None:
    make_topic(cluster, name, 1, configs=(("cleanup.policy", ""),))
    where = TopicPartition(name, 0)
    log.append(cluster, name, [(None, b"a"), (None, b"b")])
    done(delete.plan_delete(cluster, {where: 1}), cluster)
    assert ranges(cluster, [where])[where].earliest == 1
