"""Partitions: offsets, replicas in log directories, elections and reassignments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.base.plans import Resource

if TYPE_CHECKING:
    from kafka_shell.base.results import Failure

# Special timestamps of ListOffsets (API key 2).
LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6


class TopicPartition(Struct, frozen=True, order=True):
    """One partition of a topic. Its text is as it is typed: `orders:0`."""

    topic: str
    partition: int

    @staticmethod
    def of(text: str) -> TopicPartition:
        """The partition of a text such as `orders:0`."""
        topic, _, partition = text.rpartition(":")
        return TopicPartition(topic, int(partition))

    @property
    def resource(self) -> Resource:
        """The resource of its changes."""
        return Resource("partition", str(self))

    def __str__(self) -> str:
        return f"{self.topic}:{self.partition}"


Assignment = Mapping[TopicPartition, tuple[int, ...]]
Place = tuple[int, TopicPartition]  # a broker and one of its replicas
Dirs = Mapping[Place, str]  # log directories
"""The replicas of partitions, the preferred leader first."""
Racks = Mapping[int, str | None]
"""The racks of brokers."""


class Offset(Struct, frozen=True):
    """An offset in a partition; None if there is no such record.

    `timestamp` (milliseconds since the epoch) is that of the record, if a time or the largest
    timestamp was requested.
    """

    offset: int | None
    timestamp: int | None = None
    leader_epoch: int | None = None


class PartitionOffset(Struct, frozen=True):
    """A requested offset of a partition; `timestamp` as in Offset."""

    topic: str
    partition: int
    offset: int | None
    timestamp: int | None = None
    leader_epoch: int | None = None


class OffsetRange(Struct, frozen=True):
    """The offsets of a partition: from `earliest` up to, not including, `latest`.

    `max_records` is the difference; compaction and transactions leave fewer records.
    """

    topic: str
    partition: int
    earliest: int
    latest: int
    max_records: int

    def nearest(self, offset: int) -> int:
        """The offset, or the first or end offset if it is below or above them."""
        return min(max(offset, self.earliest), self.latest)


class OfPartition:
    """A model with the `topic` and the number of a partition."""

    __slots__ = ()
    topic: str
    partition: int

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition."""
        return TopicPartition(self.topic, self.partition)


class LogReplica(Struct, OfPartition, frozen=True):
    """One replica in a log directory. `size` is in bytes.

    `offset_lag` is against the high watermark; of a `future` replica, which will replace the one in
    another directory of the broker, against that replica.
    """

    topic: str
    partition: int
    size: int
    offset_lag: int
    future: bool = False


class ReplicaOnDisk(Struct, OfPartition, frozen=True):
    """One replica and its log directory; the other fields are as in LogReplica."""

    broker: int
    path: str
    topic: str
    partition: int
    size: int
    offset_lag: int
    future: bool = False


class LogDir(Struct, frozen=True):
    """One log directory of a broker. `error` is why it is offline.

    `total` and `usable` are the bytes of its volume (KIP-827, Kafka 3.3), or None if unknown. A
    `cordoned` directory accepts no new replicas (KIP-1066, Kafka 4.3).
    """

    broker: int
    path: str
    error: Failure | None
    total: int | None
    usable: int | None
    replicas: tuple[LogReplica, ...] = ()
    cordoned: bool = False

    @property
    def size(self) -> int:
        """The total size of its replicas in bytes."""
        return sum(replica.size for replica in self.replicas)

    @property
    def use(self) -> LogDirUse:
        """The directory in figures."""
        replicas, incoming, size = None, None, None
        if not self.error:
            incoming = sum(replica.future for replica in self.replicas)
            replicas, size = len(self.replicas) - incoming, self.size
        state = "offline" if self.error else "cordoned" if self.cordoned else "online"
        return LogDirUse(
            self.broker, self.path, state, replicas, incoming, size, self.usable, self.total,
            self.error,
        )  # fmt: skip

    @property
    def rows(self) -> tuple[ReplicaOnDisk, ...]:
        """Its replicas, each with the directory."""
        return tuple(
            ReplicaOnDisk(
                self.broker,
                self.path,
                replica.topic,
                replica.partition,
                replica.size,
                replica.offset_lag,
                replica.future,
            )
            for replica in self.replicas
        )


class LogDirUse(Struct, frozen=True):
    """A log directory in figures: the `size` of its replicas in bytes, and the number `incoming`
    from other directories of the broker. `state` is online, cordoned or offline: what is in an
    offline directory is not known (None)."""

    broker: int
    path: str
    state: str
    replicas: int | None
    incoming: int | None
    size: int | None
    usable: int | None
    total: int | None
    error: Failure | None = None


class DiskUse(Struct, frozen=True):
    """The disk usage of a broker, topic or partition in bytes. None: of all of them.

    `largest` is the size of the largest replica. `unread_replicas` are not in the figures: their
    broker is down or did not respond, or their log directory is offline.
    """

    broker: int | None
    topic: str | None
    partition: int | None
    replicas: int
    size: int
    largest: int
    unread_replicas: int = 0


class LeaderStatus(Struct, frozen=True):
    """The status of a preferred leader election (KIP-4): completed, in progress or failed.

    `reason` is why it is not completed. `partition` is None for an unknown topic.
    """

    topic: str
    partition: int | None
    status: str
    leader: int | None
    preferred: int | None
    reason: str = ""


class ElectionStatus(Struct, frozen=True):
    """The status of the elections of several partitions."""

    partitions: tuple[LeaderStatus, ...]

    @property
    def ok(self) -> bool:
        """Whether all are completed."""
        return all(partition.status == "completed" for partition in self.partitions)


class Reassignment(Struct, OfPartition, frozen=True):
    """A reassignment in progress (ListPartitionReassignments, API key 46).

    `replicas` are all current replicas, with the adding and removing ones. `copied` of `size` bytes
    are on the added brokers; `lag` is how many offsets the slowest of them is behind the leader.
    None if unknown. `waiting_for` is a broker that is down, without which it cannot end, or None.
    """

    topic: str
    partition: int
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    copied: int | None = None
    size: int | None = None
    lag: int | None = None
    waiting_for: int | None = None

    @property
    def before(self) -> tuple[int, ...]:
        """The replicas before the reassignment, and after cancelling it."""
        return tuple(broker for broker in self.replicas if broker not in self.adding)

    @property
    def after(self) -> tuple[int, ...]:
        """The target replicas, in the order that brokers return."""
        return tuple(broker for broker in self.replicas if broker not in self.removing)


def replicas_moving(
    reassignments: Iterable[Reassignment],
) -> dict[tuple[str, int], tuple[tuple[int, ...], tuple[int, ...]]]:
    """The replicas that are being added and removed, by topic and partition."""
    return {(move.topic, move.partition): (move.adding, move.removing) for move in reassignments}


class Move(Struct, frozen=True):
    """The move of one partition from its replicas to others, the preferred leader first.

    `leader` is the broker to copy from; None if the partition is offline.
    """

    partition: TopicPartition
    before: tuple[int, ...]
    after: tuple[int, ...]
    leader: int | None = None

    @property
    def adding(self) -> tuple[int, ...]:
        """The added brokers."""
        return tuple(broker for broker in self.after if broker not in self.before)

    @property
    def removing(self) -> tuple[int, ...]:
        """The removed brokers."""
        return tuple(broker for broker in self.before if broker not in self.after)


class BrokerLoad(Struct, frozen=True):
    """One broker before and after a move: replicas, preferred leaders, bytes of its replicas.

    `incoming` are the bytes copied to it. Bytes are None if unknown.
    """

    broker: int
    rack: str | None
    replicas_before: int
    replicas_after: int
    leaders_before: int
    leaders_after: int
    bytes_before: int | None = None
    bytes_after: int | None = None
    incoming: int | None = None


class MoveSize(Struct, frozen=True):
    """The size of a move: partitions, copies, and their bytes (None: unknown).

    `throttle` is in bytes per second, or None. `seconds` is the minimum duration with it, if each
    broker receives its bytes at that rate. `batches` are moved one after the other.
    """

    partitions: int
    copies: int
    bytes: int | None
    throttle: int | None = None
    seconds: int | None = None
    batches: int = 1


class TopicLoad(Struct, frozen=True):
    """The replicas and preferred leaders of a topic by broker before and after a plan."""

    topic: str
    replicas_before: dict[int, int]
    replicas_after: dict[int, int]
    leaders_before: dict[int, int]
    leaders_after: dict[int, int]


class TopicLoads(Struct, frozen=True):
    """The topics that a plan changes."""

    topics: tuple[TopicLoad, ...]


class GoalScore(Struct, frozen=True):
    """The score of a goal of the planner before and after a plan; 0 is best."""

    goal: str
    before: float
    after: float


class MoveStatus(IntEnum):
    """The state of a move, with KIP-4's codes."""

    FAILED = -1
    IN_PROGRESS = 0
    COMPLETED = 1


class PartitionMove(Struct, frozen=True):
    """The state of one partition of a move. `code` is KIP-4's: -1 failed, 0 in progress, 1 done.

    `replicas` are the current ones, `wanted` the target; None if no file gives it. Other fields are
    as in Reassignment.
    """

    topic: str
    partition: int
    status: MoveStatus
    code: int
    replicas: tuple[int, ...]
    wanted: tuple[int, ...] | None = None
    copied: int | None = None
    size: int | None = None
    lag: int | None = None
    note: str = ""


class Throttle(Struct, frozen=True):
    """A replication throttle that no move needs: a raw config of a broker or topic (KIP-73); of a
    topic's throttled replicas, those that do not move. The rate of a broker that is `down` is the
    recorded one; it can only be removed when the broker is back."""

    resource: str  # broker 1, topic orders
    key: str
    value: str
    down: bool = False


class MoveState(Struct, frozen=True):
    """The state of moves, and throttles that no current move needs.

    `not_read`: resources whose throttles could not be read, with failures.
    """

    partitions: tuple[PartitionMove, ...]
    throttles: tuple[Throttle, ...] = ()
    not_read: tuple[tuple[Resource, Failure], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all partitions are at their targets, and certainly no throttle is left."""
        done = all(row.status is MoveStatus.COMPLETED for row in self.partitions)
        return done and not self.throttles and not self.not_read
