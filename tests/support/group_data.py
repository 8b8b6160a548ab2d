"""Records and committed offsets for the tests of groups."""

from __future__ import annotations

from kafka_shell.admin.groups import (
    members as group_members,
)
from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups import (
    resets as group_resets,
)
from kafka_shell.admin.groups.model import Group
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.base.plans import apply
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic
from tests.support.waiting import wait_for

RECORDS = 10


def filled(sandbox: Sandbox, cluster: Cluster, name: str, partitions: int = 2) -> str:
    """A topic with RECORDS records in each partition, a second apart, the first at 1,000 s."""
    from kafka import KafkaProducer

    make_topic(cluster, name, partitions, configs=(("retention.ms", "-1"),))
    producer = KafkaProducer(bootstrap_servers=sandbox.bootstrap)
    for partition in range(partitions):
        for number in range(RECORDS):
            at = 1_000_000 + number * 1000
            producer.send(name, b"x", partition=partition, timestamp_ms=at)
    producer.flush()
    producer.close()
    return name


def commit(cluster: Cluster, group: str, topic: str, *offsets: int) -> None:
    """Commit these offsets in the topic's first partitions, from outside of the group."""
    wanted = {TopicPartition(topic, number): offset for number, offset in enumerate(offsets)}
    done(group_resets.plan_offsets(cluster, {group: wanted}, exact=True), cluster)


def described(cluster: Cluster, name: str) -> Group:
    found = groups.describe(cluster, [name], offsets=True)
    assert found.ok, found.failures
    return found[name]


def held(cluster: Cluster, name: str) -> dict[str, int | None]:
    """The group's offsets: `topic:0` to its offset."""
    rows = described(cluster, name).offsets or ()
    return {str(row.topic_partition): row.offset for row in rows}


def forget(cluster: Cluster, *names: str) -> None:
    """Delete groups. A static member stays when its client ends: it is put out."""

    def gone() -> bool:
        plan = group_members.plan_delete(cluster, names).without_refused("GROUP_ID_NOT_FOUND")
        for resource in plan.refused.failures:
            apply(group_members.plan_remove(cluster, [resource.name]), cluster)
        return plan.refused.ok and (not plan.steps or apply(plan, cluster).ok)

    wait_for(f"the groups {names} can be deleted", gone, 15)
