"""The partition reassignments in progress (KIP-455; API key 46)."""

from __future__ import annotations

import time
from collections.abc import Sequence

from kafka_shell.admin.partitions.model import Reassignment, TopicPartition
from kafka_shell.base.results import Results
from kafka_shell.base.waits import CHANGE_MS, POLL_S
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.requests import CONTROLLER

# Until a controller that does not list a reassignment is believed. One that has just lost or won an
# election may answer from before it.
CONFIRM_S = 3.0


def under_way(
    cluster: Cluster, topics: Sequence[str] | None = None
) -> Results[TopicPartition, Reassignment]:
    """The reassignments in progress: all, or of these topics, sorted by partition (API key 46)."""
    request = messages.ListPartitionReassignmentsRequest(timeout_ms=CHANGE_MS, topics=None)
    names = None if topics is None else set(topics)
    response = cluster.send(request, to=CONTROLLER, requires="DESCRIBE on the cluster")
    moves = sorted(
        (
            Reassignment(
                topic.name, row.partition_index, tuple(row.replicas),
                tuple(row.adding_replicas), tuple(row.removing_replicas),
            )
            for topic in response.topics
            for row in topic.partitions
            if names is None or topic.name in names
        ),
        key=lambda move: move.topic_partition,
    )  # fmt: skip
    return Results({move.topic_partition: move for move in moves})


def confirmed_under_way(
    cluster: Cluster, topics: Sequence[str] | None = None
) -> Results[TopicPartition, Reassignment]:
    """The same, for a change that depends on it: an empty list is read again for CONFIRM_S."""
    until = time.monotonic() + CONFIRM_S
    if cluster.deadline is not None:
        until = min(until, cluster.deadline)
    while not (moves := under_way(cluster, topics)).values and time.monotonic() + POLL_S < until:
        time.sleep(POLL_S)
    return moves
