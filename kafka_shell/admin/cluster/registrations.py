"""The registered brokers, running or not."""

from __future__ import annotations

from typing import Any

from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan
from kafka_shell.wire.model import Broker


def registered(cluster: Cluster) -> frozenset[int] | None:
    """The registered brokers, running or not (DescribeCluster v2, KIP-1073; Kafka 4.0).

    None if brokers are too old.
    """
    brokers = registered_brokers(cluster)
    return None if brokers is None else frozenset(brokers)


def not_running(cluster: Cluster) -> frozenset[int]:
    """The brokers that are registered but not running; with brokers before Kafka 4.0, those that
    have replicas."""
    known = registered(cluster)
    others = scan(cluster).replica_ids() if known is None else known
    return frozenset(others) - {broker.id for broker in cluster.brokers(refresh=True)}


def registered_brokers(cluster: Cluster) -> dict[int, Broker] | None:
    """The registered brokers by ID, running or not; None if brokers are too old."""
    if not cluster.supports(messages.DescribeClusterRequest, 2):
        return None
    response: Any = cluster.send(
        messages.DescribeClusterRequest(include_fenced_brokers=True), lowest=2
    )
    return {
        row.broker_id: Broker(
            row.broker_id, row.host, row.port, row.rack, state="fenced" if row.is_fenced else ""
        )
        for row in response.brokers
    }
