"""Move leadership away from the preferred replica without stopping a broker."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics.partitions import find
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.requests import CONTROLLER
from tests.support.waiting import applied, wait_for


def lead_elsewhere(cluster: Cluster, partition: TopicPartition, replicas: Sequence[int]) -> None:
    """Give the same replicas another order: the leader stays, and is the preferred no more."""
    from kafka.protocol.admin import AlterPartitionReassignmentsRequest

    topic = AlterPartitionReassignmentsRequest.ReassignableTopic
    row = topic.ReassignablePartition(partition_index=partition.partition, replicas=list(replicas))
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=30_000, topics=[topic(name=partition.topic, partitions=[row])]
    )
    response = cluster.send(request, to=CONTROLLER)
    codes = [row.error_code for topic in response.responses for row in topic.partitions]
    assert codes == [0], f"the reassignment was answered with {codes}"
    wait_for(
        f"the replicas of {partition} are in another order",
        lambda: find(cluster, [partition])[partition].replicas == tuple(replicas),
    )
    applied(cluster)  # the program may ask another broker
