"""The operations that the user of the connection may perform on the cluster and on topics.

Brokers report them (KIP-430) in responses of DescribeCluster (API key 60) and Metadata (3).
"""

from __future__ import annotations

from collections.abc import Collection

from kafka_shell.admin.wire.connection import Cluster

from .model import AclOperation

_OMITTED = 31  # instead of the operations: the broker is too old or has no authorizer

Operations = frozenset[AclOperation] | None
"""The allowed operations, or None if the broker does not report them."""


def on_cluster(cluster: Cluster) -> Operations:
    """The operations that are allowed on the cluster (Kafka 2.8)."""
    from kafka.protocol.admin import DescribeClusterRequest as Request

    if not cluster.supports(Request):
        return None
    response = cluster.send(Request(include_cluster_authorized_operations=True))
    return _operations(response.authorized_operations)


def on_topic(cluster: Cluster, topic: str) -> Operations:
    """The operations that are allowed on a topic (Kafka 2.3). None if it does not exist."""
    from kafka.protocol.metadata import MetadataRequest as Request

    if not cluster.supports(Request, 8):
        return None
    request = Request(
        topics=[Request.MetadataRequestTopic(name=topic)],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
    )
    (row,) = cluster.send(request, lowest=8, highest=12, check=False).topics
    return None if row.error_code else _operations(row.authorized_operations)


def _operations(codes: Collection[int] | None) -> Operations:
    if codes is None or _OMITTED in codes:
        return None
    return frozenset(each for each in AclOperation if each in codes)
