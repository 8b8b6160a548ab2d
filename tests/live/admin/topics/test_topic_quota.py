"""Changes of topics that are throttled by a controller mutation quota (KIP-599)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_shell.admin.quotas import change as quota_changes
from kafka_shell.admin.quotas.model import DEFAULT, QuotaAlteration, QuotaEntity
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.plans import Outcomes, Plan, StepInterrupted, apply
from kafka_shell.base.structs import replace
from kafka_shell.wire import rounds as chunks
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan
from tests.support.changes import described, done, failures, lose_requests
from tests.support.in_process_shell import Shell
from tests.support.waiting import wait_for

CREATE_TOPICS = 19
EVERYBODY = QuotaEntity(client_id=DEFAULT)
RATE = 5  # partitions a second, after a burst of eleven seconds' worth


@pytest.fixture
def limited(cluster: Cluster, name: str) -> Iterator[Cluster]:
    """A broker on which few partitions can be created, and a client that has not created any."""
    for value in (float(RATE), None):
        wanted = [QuotaAlteration(EVERYBODY, "controller_mutation_rate", value)]
        done(quota_changes.plan_alter(cluster, wanted), cluster)
        if value is not None:
            with Cluster(replace(cluster.config, client_id=name)) as client:
                yield client


def test_topics_that_were_created_are_not_lost(
    limited: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first topic exceeds the quota, so the second one is sent again; that request fails."""
    first, second = NewTopic(f"{name}-a", 12 * RATE, 1), NewTopic(f"{name}-b", 1, 1)
    plan = topic_changes.plan_create([first, second])
    with monkeypatch.context() as patch:
        lose_requests(patch, CREATE_TOPICS, after=1)
        results = apply(plan, limited)
    assert [change.resource.name for change in results.values] == [first.name]
    assert failures(results) == {second.name: "outcome-unknown"}
    assert len(described(limited, first.name).partitions) == 12 * RATE


def interrupted(plan: Plan, cluster: Cluster) -> Outcomes:
    """The outcomes of a plan of one step that ends with Ctrl-C."""
    (step,) = plan.steps
    with pytest.raises(StepInterrupted) as ended:
        step.send(cluster, validate_only=False)
    return ended.value.outcomes


def ctrl_c(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_while_topics_wait_for_the_quota(
    limited: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = NewTopic(f"{name}-a", 12 * RATE, 1), NewTopic(f"{name}-b", 1, 1)
    with monkeypatch.context() as patch:
        patch.setattr(chunks, "time", SimpleNamespace(monotonic=time.monotonic, sleep=ctrl_c))
        results = interrupted(topic_changes.plan_create([first, second]), limited)
    (created,) = results.values.values()
    assert created.resource.name == first.name
    assert created.note == f"topic ID {described(limited, first.name).id}"
    assert failures(results) == {second.name: "THROTTLING_QUOTA_EXCEEDED"}
    assert second.name not in scan(limited)


def test_ctrl_c_while_topics_are_sent_again(
    limited: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = NewTopic(f"{name}-a", 12 * RATE, 1), NewTopic(f"{name}-b", 1, 1)
    send = Cluster.send

    def sent(cluster: Cluster, request: Any, *args: Any, **options: Any) -> Any:
        if [each.name for each in getattr(request, "topics", None) or ()] == [second.name]:
            raise KeyboardInterrupt
        return send(cluster, request, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Cluster, "send", sent)
        results = interrupted(topic_changes.plan_create([first, second]), limited)
    assert [change.resource.name for change in results.values] == [first.name]
    assert failures(results) == {second.name: "outcome-unknown"}


def test_ctrl_c_while_waiting_until_brokers_show_a_change(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("kafka_shell.admin.topics.steps.scan", ctrl_c)
        results = interrupted(topic_changes.plan_create([NewTopic(name, 1, 1)]), cluster)
    assert [change.resource.name for change in results.values] == [name]
    wait_for("it exists", lambda: name in scan(cluster))


def test_an_interrupted_deletion_reports_what_is_gone(
    limited: Cluster, shell: Shell, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the error and in the journal: what the quota refused is not deleted."""
    everybody = [QuotaAlteration(EVERYBODY, "controller_mutation_rate", None)]
    done(quota_changes.plan_alter(limited, everybody), limited)
    names = [f"{name}.{number:02}" for number in range(40)]
    done(topic_changes.plan_create([NewTopic(each, 1, 1) for each in names]), limited)
    slow = [QuotaAlteration(EVERYBODY, "controller_mutation_rate", 1.0)]
    done(quota_changes.plan_alter(limited, slow), limited)
    shell.profile("slow", shell.bootstrap, **{"client.id": f"{name}-deletes"})
    waits: list[float] = []

    def ctrl_c_at_the_second(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            raise KeyboardInterrupt
        time.sleep(seconds)

    with monkeypatch.context() as patch:
        clock = SimpleNamespace(monotonic=time.monotonic, sleep=ctrl_c_at_the_second)
        patch.setattr(chunks, "time", clock)
        run = shell(f"delete-topic {name}.* --yes --profile slow")
    assert run.status == 130, str(run)
    (entry,) = shell.ok("journal --output json").json
    by_status: dict[str, set[str]] = {}
    for row in entry["changes"]:
        by_status.setdefault(row["status"], set()).add(row["resource"].removeprefix("topic "))
    assert set(by_status) == {"done", "failed"}, str(run)
    gone = set(names) - set(scan(limited, names).names)
    assert by_status["done"] == gone, str(run)
    said = f"interrupted: {len(gone)} changes applied, {len(by_status['failed'])} not applied"
    assert said in run.err, str(run)
    assert f"To continue: delete-topic '{name}.*' --profile slow --yes" in run.err, str(run)
