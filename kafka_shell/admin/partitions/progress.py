"""The progress and the status of partition reassignments (KIP-455; API key 46)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from kafka_shell.admin.partitions import sizes as move_sizes
from kafka_shell.admin.partitions import stalls
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.log_dir_moves import with_dir_status
from kafka_shell.admin.partitions.model import (
    Assignment,
    Dirs,
    Move,
    MoveStatus,
    PartitionMove,
    Reassignment,
    TopicPartition,
)
from kafka_shell.admin.partitions.sizes import Sizes
from kafka_shell.admin.records.offsets import log_ends
from kafka_shell.base.structs import replace
from kafka_shell.base.waits import POLL_S, SETTLE_S, VISIBLE_S
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import MetadataScan, scan
from kafka_shell.wire.model import Broker

_FIRST_RETRY_S = 0.05
NOT_MOVING = "not being reassigned"

Lags = Mapping[tuple[int, TopicPartition], int]


# -- in progress -----------------------------------------------------------------------------------


def with_sizes(cluster: Cluster, moving: Sequence[Reassignment]) -> list[Reassignment]:
    """The same reassignments with the copied bytes (from log directories), the offset lag of the
    new replicas behind their leaders, and the broker that each waits for."""
    if not moving:
        return []
    metadata = scan(cluster, sorted({move.topic for move in moving}))
    leaders, running = _leaders(metadata), {broker.id for broker in metadata.brokers}
    brokers = {broker for move in moving for broker in move.replicas}
    sizes = move_sizes.read(cluster, [move.topic_partition for move in moving], brokers)
    lags = _lags(cluster, moving, leaders)
    rows = []
    for move in moving:
        leader = leaders.get(move.topic_partition)
        measured = _measured(move, sizes, lags, leader)
        rows.append(replace(measured, waiting_for=stalls.waits_for(measured, leader, running)))
    return rows


def _lags(
    cluster: Cluster, moving: Sequence[Reassignment], leaders: Mapping[TopicPartition, int | None]
) -> Lags:
    """The offset lag of each new replica behind its leader, by broker and partition."""
    by_broker: dict[int, list[TopicPartition]] = {}
    for move in moving:
        leader = leaders.get(move.topic_partition)
        for broker in () if leader is None else {leader, *move.adding}:
            by_broker.setdefault(broker, []).append(move.topic_partition)
    ends = log_ends(cluster, by_broker)
    lags = {}
    for (broker, partition), end in ends.items():
        leader = leaders[partition]
        if broker != leader and leader is not None and (leader, partition) in ends:
            lags[broker, partition] = max(0, ends[leader, partition] - end)
    return lags


def _measured(move: Reassignment, sizes: Sizes, lags: Lags, leader: int | None) -> Reassignment:
    if not move.adding:
        return move
    new_lags = [
        lags.get((broker, move.topic_partition)) for broker in move.adding if broker != leader
    ]
    known = [lag for lag in new_lags if lag is not None]
    lag = max(known, default=0) if len(known) == len(new_lags) else None
    size = sizes.of(move.topic_partition, leader)
    copies = [_copied(move.topic_partition, broker, sizes, lags, size) for broker in move.adding]
    known_copies = [copy for copy in copies if copy is not None]
    if size is None or len(known_copies) < len(copies):
        return replace(move, lag=lag)
    return replace(move, copied=sum(known_copies), size=size * len(copies), lag=lag)


def _copied(
    partition: TopicPartition, broker: int, sizes: Sizes, lags: Lags, size: int | None
) -> int | None:
    """The bytes copied to a broker, of `size`; None if unknown. A replica without lag is complete:
    after compaction and retention it can be smaller than its leader."""
    copy = sizes.copy(partition, broker)
    if size is None or copy is None:
        return None
    return size if lags.get((broker, partition)) == 0 else min(size, copy)


def _leaders(metadata: MetadataScan) -> dict[TopicPartition, int | None]:
    """The leader of each partition; None without one."""
    return {
        TopicPartition(name, partition.partition): partition.leader
        for name in metadata.names
        for partition in metadata.topic(name).partitions
    }


def spell(replicas: Sequence[int]) -> str:
    """Broker IDs in their order: `1,2,3`."""
    return ",".join(map(str, replicas))


def assignment_of(moves: Sequence[Move]) -> dict[TopicPartition, tuple[int, ...]]:
    """The target replicas of these moves."""
    return {move.partition: move.after for move in moves}


# -- status ----------------------------------------------------------------------------------------


def progress(
    cluster: Cluster, wanted: Assignment | None = None, dirs: Dirs | None = None
) -> tuple[PartitionMove, ...]:
    """The status of these moves, or of all reassignments in progress. A partition whose replicas
    are not in their target log directories is not completed."""
    if wanted is None:
        moving = under_way(cluster).values
        return tuple(
            _in_progress(moved, None) for moved in with_sizes(cluster, list(moving.values()))
        )
    return tuple(with_dir_status(cluster, dirs or {}, settled_rows(cluster, wanted)))


def settled_rows(cluster: Cluster, wanted: Assignment) -> list[PartitionMove]:
    """The rows; brokers show the end of a reassignment a moment later than the controller."""
    began, pause = time.monotonic(), _FIRST_RETRY_S
    while True:
        rows = rows_of(cluster, wanted, under_way(cluster).values)
        failed = [row for row in rows if row.status is MoveStatus.FAILED and row.replicas]
        # A broker that shows the replicas of a move that has ended is busy, or has just started.
        limit = VISIBLE_S if any(map(_shown_moving, failed)) else SETTLE_S
        if not failed or time.monotonic() > began + limit:
            return rows
        time.sleep(pause)
        pause = min(2 * pause, POLL_S)


def _shown_moving(row: PartitionMove) -> bool:
    """Whether it has its target replicas and others, as while it is being reassigned."""
    return set(row.replicas) > set(row.wanted or ())


def rows_of(
    cluster: Cluster, wanted: Assignment, moving: Mapping[TopicPartition, Reassignment]
) -> list[PartitionMove]:
    """The rows, as a broker has the replicas now."""
    metadata = scan(cluster, sorted({partition.topic for partition in wanted}))
    now = {
        TopicPartition(name, partition.partition): partition.replicas
        for name in metadata.names
        for partition in metadata.topic(name).partitions
    }
    sized = with_sizes(cluster, [moving[partition] for partition in wanted if partition in moving])
    measured = {row.topic_partition: row for row in sized}
    rows = []
    for each, after in wanted.items():
        if each in measured:
            rows.append(_in_progress(measured[each], after))
            continue
        replicas = now.get(each, ())
        done = replicas == after
        status = MoveStatus.COMPLETED if done else MoveStatus.FAILED
        note = "" if done else NOT_MOVING if replicas else "the partition does not exist"
        rows.append(
            PartitionMove(
                each.topic, each.partition, status, int(status), replicas, after, note=note
            )
        )
    return rows


def _in_progress(move: Reassignment, wanted: tuple[int, ...] | None) -> PartitionMove:
    note = f"waiting for broker {move.waiting_for}, which is down"
    if wanted is not None and set(wanted) != set(move.after):
        note = f"being reassigned to {spell(move.after)} instead"
    elif move.waiting_for is None:
        note = ""
    return PartitionMove(
        move.topic, move.partition, MoveStatus.IN_PROGRESS, int(MoveStatus.IN_PROGRESS),
        move.replicas, move.after if wanted is None else wanted, move.copied, move.size, move.lag,
        note=note,
    )  # fmt: skip


# -- Where all replicas are now, with the reassignments in progress: what plans start from ---------

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
    metadata = scan(cluster, topics)
    # The metadata shows the old and the new replicas of a reassignment that began meanwhile.
    moving |= under_way(cluster, topics).values
    now = current(metadata, moving)  # decoded once: it takes a second for 100,000 partitions
    now |= _read_again(cluster, metadata, moving)
    racks = {broker.id: broker.rack for broker in metadata.brokers}
    replicas = {
        each: moving[each].after if each in moving else before for each, (_, before) in now.items()
    }
    return CurrentAssignment(metadata.brokers, metadata, moving, racks, replicas, now)


def _read_again(
    cluster: Cluster, metadata: MetadataScan, moving: Mapping[TopicPartition, Reassignment]
) -> dict[TopicPartition, tuple[int | None, tuple[int, ...]]]:
    """Topics with a replica that is out of sync, although no reassignment adds it: one that has
    just ended may still be shown, with its old and new replicas, by a broker that lags."""
    listed = Counter(partition.topic for partition in moving)
    names = [
        topic.name for topic in metadata.summaries() if topic.under_replicated > listed[topic.name]
    ]
    if not 0 < len(names) <= _MOST_READ_AGAIN:
        return {}
    time.sleep(_LAG_S)
    return current(scan(cluster, names), moving)


def current(
    metadata: MetadataScan, moving: Mapping[TopicPartition, Reassignment]
) -> dict[TopicPartition, tuple[int | None, tuple[int, ...]]]:
    """Leader and replicas of each partition; of one being reassigned, the replicas before."""
    now = {
        TopicPartition(name, partition.partition): (partition.leader, partition.replicas)
        for name in metadata.names
        for partition in metadata.topic(name).partitions
    }
    for key, each in moving.items():
        if key in now:
            now[key] = (now[key][0], each.before)
    return now
