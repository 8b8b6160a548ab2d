"""Topics: list and describe them (Metadata, API key 3). Replicas that a reassignment adds are not
counted, as in Kafka's own tool.

Brokers list the adding replicas among the replicas of a partition. Until they are in sync, every
partition that is being reassigned looks under-replicated, with a higher replication factor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.model import replicas_moving
from kafka_shell.admin.topics.similar import with_near_misses
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Results, as_failure
from kafka_shell.base.waits import CONTROLLER_S
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import failure
from kafka_shell.wire.metadata_scan import MetadataScan, scan
from kafka_shell.wire.model import Topic, TopicSummary
from kafka_shell.wire.requests import ANY, Target

_READ_AGAIN = 100  # topics: of more, a broker with replicas is down


def scan_reassigned(
    cluster: Cluster,
    names: Sequence[str] | None = None,
    to: Target = ANY,
    *,
    seen: MetadataScan | None = None,
) -> MetadataScan:
    """The metadata of these topics, or of all (None), with the reassignments in progress
    (ListPartitionReassignments, API key 46): replicas that are being added count neither as out of
    sync nor for the replication factor. `seen` is metadata of these topics that was just read.

    Reassignments are only read if a partition has fewer in-sync replicas than replicas. If the
    controller does not return them in time, nothing is changed but `reassignments_unread`. One that
    ends between the two reads is in neither of them: if few topics still look under-replicated, and
    one of these has changed, both are read again.
    """
    if seen is not None and (seen.reassignments_read or seen.reassignments_unread is not None):
        return seen
    before = scan(cluster, names, to) if seen is None else seen
    metadata = _with_reassignments(cluster, before)
    if not metadata.under_replicated or not metadata.reassignments_read:
        return metadata
    under_replicated = [topic.name for topic in metadata.summaries() if topic.under_replicated]
    if len(under_replicated) > _READ_AGAIN:
        return metadata
    now = scan(cluster, under_replicated, to)
    if all(name in now and now.topic(name) == before.topic(name) for name in under_replicated):
        return metadata
    return _with_reassignments(cluster, scan(cluster, names, to))


def _with_reassignments(cluster: Cluster, metadata: MetadataScan) -> MetadataScan:
    if not metadata.under_replicated:
        return metadata
    try:
        with cluster.within(CONTROLLER_S):
            return metadata.with_reassignments(replicas_moving(under_way(cluster).values.values()))
    except ShellError as error:
        return metadata.with_reassignments({}, as_failure(error))


# -- describe --------------------------------------------------------------------------------------


def describe(
    cluster: Cluster,
    names: Sequence[str],
    *,
    seen: MetadataScan | None = None,
    only: Callable[[TopicSummary], bool] | None = None,
) -> Results[str, Topic]:
    """The topics with their partitions, or why one cannot be described.

    `seen` is metadata that was just read; without it, it is requested. Topics that `only` rejects
    are left out, and never decoded. Replicas that a reassignment adds are marked as such.
    """
    requested = list(dict.fromkeys(names))
    results: Results[str, Topic] = Results()
    if not requested:
        return results
    metadata = scan_reassigned(cluster, requested, seen=seen)
    for name in requested:
        if name in metadata:
            if only is None or only(metadata.summary(name)):
                results.values[name] = metadata.topic(name)
        else:
            code = metadata.errors.get(name, 3)
            requires = f"DESCRIBE on topic {name}"
            results.failures[name] = failure(code, about=f"topic {name}", requires=requires)
    return Results(results.values, with_near_misses(cluster, results.failures, str))
