"""Which changes the cluster shows after Ctrl-C: none before they are made, then all."""

from __future__ import annotations

from kafka_shell.admin.acls import change as acl_changes
from kafka_shell.admin.acls.model import (
    AclBinding,
    AclFilter,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.groups import members, resets
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.base.plans import Plan
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done
from tests.support.group_data import commit
from tests.support.waiting import wait_for


def check(plan: Plan, cluster: Cluster) -> None:
    assert plan.steps and plan.refused.ok
    for step in plan.steps:
        assert not step.shown(cluster), step
    done(plan, cluster)
    for step in plan.steps:
        wait_for(f"{step} is shown", lambda step=step: step.shown(cluster) >= {*step.changes})


def test_changes_are_shown_once_they_are_made(cluster: Cluster, name: str) -> None:
    check(topic_changes.plan_create([NewTopic(name, 2, 1)]), cluster)
    topic = ConfigResource(ResourceType.TOPIC, name)
    for alteration in (
        ConfigAlteration("retention.ms", ConfigOp.SET, "86400000"),
        ConfigAlteration("retention.ms", ConfigOp.DELETE),
    ):
        check(config_changes.plan_alter(cluster, {topic: [alteration]}), cluster)
    acl = AclBinding(
        f"User:{name}", "*", AclOperation.READ, AclPermission.ALLOW, AclResourceType.TOPIC, name,
        PatternType.LITERAL,
    )  # fmt: skip
    check(acl_changes.plan_create(cluster, [acl]), cluster)
    check(acl_changes.plan_delete(cluster, [AclFilter.exactly(acl)]), cluster)
    groups = [f"{name}-{number}" for number in range(3)]
    for group in groups:
        commit(cluster, group, name, 0, 0)
    first = TopicPartition(name, 0)
    check(resets.plan_delete_offsets(cluster, {groups[0]: [first]}), cluster)
    check(members.plan_delete(cluster, groups), cluster)
    check(topic_changes.plan_delete(cluster, [name]), cluster)
