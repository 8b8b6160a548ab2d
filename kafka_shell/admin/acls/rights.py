"""The operations that the user of the connection may perform on the cluster, topics and groups.

Brokers report them (KIP-430) in responses of DescribeCluster (API key 60), Metadata (3) and
DescribeGroups (15).
"""

from __future__ import annotations

from collections.abc import Collection

from kafka_shell.admin.acls.model import AclOperation
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.coordinators import OFFSETS_TOPIC, partition_of
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.requests import Node

_OMITTED = 31  # instead of the operations: the broker is too old or has no authorizer

Operations = frozenset[AclOperation] | None
"""The allowed operations, or None if the broker does not report them."""


def on_cluster(cluster: Cluster) -> Operations:
    """The operations that are allowed on the cluster (Kafka 2.8)."""
    if not cluster.supports(messages.DescribeClusterRequest):
        return None
    response = cluster.send(
        messages.DescribeClusterRequest(include_cluster_authorized_operations=True)
    )
    return _operations(response.authorized_operations)


def on_topic(cluster: Cluster, topic: str) -> Operations:
    """The operations that are allowed on a topic (Kafka 2.3). None if it does not exist."""
    if not cluster.supports(messages.MetadataRequest, 8):
        return None
    request = messages.MetadataRequest(
        topics=[messages.MetadataRequest.MetadataRequestTopic(name=topic)],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
    )
    (row,) = cluster.send(request, lowest=8, highest=12, check=False).topics
    return None if row.error_code else _operations(row.authorized_operations)


def on_group(cluster: Cluster, group: str) -> Operations:
    """The operations that are allowed on a group (Kafka 2.3), whether it exists or not. None if the
    user may not describe it or __consumer_offsets, or if its coordinator does not respond.

    FindCoordinator is not sent, because it would create that topic.
    """
    metadata = scan(cluster, [OFFSETS_TOPIC])
    if OFFSETS_TOPIC not in metadata or not cluster.supports(messages.DescribeGroupsRequest, 3):
        return None
    partitions = metadata.topic(OFFSETS_TOPIC).partitions
    leader = partitions[partition_of(group, len(partitions))].leader
    if leader is None:
        return None
    request = messages.DescribeGroupsRequest(groups=[group], include_authorized_operations=True)
    # From version 6, groups that do not exist, and groups of other protocols, are an error.
    (row,) = cluster.send(request, Node(leader), lowest=3, highest=5, check=False).groups
    return None if row.error_code else _operations(row.authorized_operations)


def _operations(codes: Collection[int] | None) -> Operations:
    if codes is None or _OMITTED in codes:
        return None
    return frozenset(operation for operation in AclOperation if operation in codes)
