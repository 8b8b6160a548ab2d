"""Where all replicas are now, with the reassignments in progress: what plans start from."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from kafka_shell.admin.partitions.model import Assignment, Reassignment, TopicPartition
from kafka_shell.admin.partitions.progress import under_way
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.metadata_scan import MetadataScan, scan
from kafka_shell.wire.model import Broker

# A broker applies what the controller has done within milliseconds. Of more topics than these, a
# broker with replicas is down.
_LAG_S, _MOST_READ_AGAIN = 0.2, 500


class CurrentAssignment(Struct, frozen=True):
    """The running brokers, the metadata of all topics, and the reassignments in progress.

    `racks` are those of the running brokers. `replicas` are the target replicas of a partition that
    is being reassigned; `current`, its leader and its replicas before. `added` are partitions that
    do not exist yet, with the replicas that they are created with before anything is moved; they
    are in `replicas` and `current`, too.
    """

    brokers: tuple[Broker, ...]
    found: MetadataScan
    moving: dict[TopicPartition, Reassignment]
    racks: dict[int, str | None]
    replicas: dict[TopicPartition, tuple[int, ...]]
    current: dict[TopicPartition, tuple[int | None, tuple[int, ...]]]
    added: Assignment = field(default_factory=dict)


def current_assignment(cluster: Cluster, topics: Sequence[str] | None = None) -> CurrentAssignment:
    """Read the brokers, the replicas and the reassignments: all, or those of these topics."""
    moving = under_way(cluster, topics).values
    found = scan(cluster, topics)
    # The metadata shows the old and the new replicas of a reassignment that began meanwhile.
    moving |= under_way(cluster, topics).values
    now = current(found, moving)  # decoded once: it takes a second for 100,000 partitions
    now |= _read_again(cluster, found, moving)
    racks = {broker.id: broker.rack for broker in found.brokers}
    replicas = {
        each: moving[each].after if each in moving else before for each, (_, before) in now.items()
    }
    return CurrentAssignment(found.brokers, found, moving, racks, replicas, now)


def _read_again(
    cluster: Cluster, found: MetadataScan, moving: Mapping[TopicPartition, Reassignment]
) -> dict[TopicPartition, tuple[int | None, tuple[int, ...]]]:
    """Topics with a replica that is out of sync, although no reassignment adds it: one that has
    just ended may still be shown, with its old and new replicas, by a broker that lags."""
    listed = Counter(each.topic for each in moving)
    names = [each.name for each in found.summaries() if each.under_replicated > listed[each.name]]
    if not 0 < len(names) <= _MOST_READ_AGAIN:
        return {}
    time.sleep(_LAG_S)
    return current(scan(cluster, names), moving)


def current(
    found: MetadataScan, moving: Mapping[TopicPartition, Reassignment]
) -> dict[TopicPartition, tuple[int | None, tuple[int, ...]]]:
    """Leader and replicas of each partition; of one being reassigned, the replicas before."""
    now = {
        TopicPartition(name, partition.partition): (partition.leader, partition.replicas)
        for name in found.names
        for partition in found.topic(name).partitions
    }
    for key, each in moving.items():
        if key in now:
            now[key] = (now[key][0], each.before)
    return now
