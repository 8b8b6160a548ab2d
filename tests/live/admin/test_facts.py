"""Plans have a time budget to read facts; what is not read in time is reported as not checked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_shell.admin import facts
from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls.model import (
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
)
from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.advice import advise
from kafka_shell.base.plans import Plan
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done
from tests.support.config_alterations import DEFAULT, set_, topic_of


@pytest.fixture
def no_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(facts, "BUDGET_S", 0.0)
        yield


def missing(plan: Plan) -> list[str]:
    """What was not checked; each has a reason."""
    not_checked = plan.advice.not_checked
    assert all("timed out" in each.reason for each in not_checked), not_checked
    return [each.what for each in not_checked]


@pytest.mark.usefixtures("no_time")
def test_a_deletion(cluster: Cluster, topic: str) -> None:
    plan = advise(topic_changes.plan_delete(cluster, [topic]), cluster)
    assert missing(plan) == [
        "the records of 1 partition", "the size of replicas on 1 broker", "groups", "ACLs",
        "the producers of 1 partition",
    ]  # fmt: skip
    assert plan.advice.stakes == "1 partition not checked"
    done(plan, cluster)


@pytest.mark.usefixtures("no_time")
def test_altered_configs(cluster: Cluster, topic: str) -> None:
    lower = [set_("retention.ms", "1h"), set_("min.insync.replicas", "3")]
    plan = advise(config_changes.plan_alter(cluster, {topic_of(topic): lower}), cluster)
    assert missing(plan) == ["the records of 1 topic", "replication factors"]
    assert plan.advice.warnings == (
        f"lowering retention.ms of topic {topic} deletes records older than 1h",
    )
    lower = [set_("log.retention.ms", "1h"), set_("min.insync.replicas", "3")]
    plan = advise(config_changes.plan_alter(cluster, {DEFAULT: lower}), cluster)
    assert missing(plan)[0] == "the topics that inherit log.retention.ms, min.insync.replicas"
    assert any(
        warning.startswith("lowering log.retention.ms deletes records older than 1h")
        for warning in plan.advice.warnings
    ), plan.advice.warnings


@pytest.mark.usefixtures("no_time")
def test_a_deleted_acl(cluster: Cluster, name: str) -> None:
    binding = AclBinding(
        f"User:{name}", "*", AclOperation.READ, AclPermission.ALLOW, AclResourceType.TOPIC, name
    )
    done(acl_changes.plan_create(cluster, [binding]), cluster)
    plan = advise(acl_changes.plan_delete(cluster, [AclFilter.exactly(binding)]), cluster)
    assert missing(plan) == ["who loses access"] and plan.advice.warnings == ()
    done(plan, cluster)


@pytest.mark.usefixtures("no_time")
def test_a_new_topic(cluster: Cluster, name: str) -> None:
    plan = advise(topic_changes.plan_create([NewTopic(name)]), cluster)
    assert missing(plan) == ["min.insync.replicas against the replication factor"]
