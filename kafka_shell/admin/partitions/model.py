"""Partitions: their offsets, and where on the brokers' disks their replicas are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from kafka_shell.plan.model import Resource

if TYPE_CHECKING:
    from kafka_shell.plan.results import Failure

# Timestamps that ListOffsets (API key 2) gives a meaning of its own.
LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6


@dataclass(frozen=True, slots=True, order=True)
class TopicPartition:
    """One partition of a topic. Its text is as it is typed: `orders:0`."""

    topic: str
    partition: int

    @property
    def resource(self) -> Resource:
        """What a change of it is about."""
        return Resource("partition", str(self))

    def __str__(self) -> str:
        return f"{self.topic}:{self.partition}"


@dataclass(frozen=True, slots=True)
class Offset:
    """Where something is in a partition; None where no record is meant by it.

    `timestamp` (milliseconds since the epoch) is that of the record found, where a time or the
    largest timestamp was asked for.
    """

    offset: int | None
    timestamp: int | None = None
    leader_epoch: int | None = None


@dataclass(frozen=True, slots=True)
class PartitionOffset:
    """Where in a partition is what was asked for; `timestamp` as in Offset."""

    topic: str
    partition: int
    offset: int | None
    timestamp: int | None = None
    leader_epoch: int | None = None


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """What a partition holds: from `earliest` up to, not including, `latest`.

    `records` is the difference: compaction and transactions leave fewer.
    """

    topic: str
    partition: int
    earliest: int
    latest: int
    records: int


@dataclass(frozen=True, slots=True)
class LogReplica:
    """One replica in a log dir. `size` is in bytes.

    `offset_lag` is in offsets: behind the partition's high watermark; of a `future` replica, which
    will replace the one that is in another dir of the broker, behind that one.
    """

    topic: str
    partition: int
    size: int
    offset_lag: int
    future: bool = False

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition it is a replica of."""
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True, slots=True)
class ReplicaOnDisk:
    """One replica and the log dir it is in; the rest as in LogReplica."""

    broker: int
    path: str
    topic: str
    partition: int
    size: int
    offset_lag: int
    future: bool = False

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition it is a replica of."""
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True, slots=True)
class LogDir:
    """One log dir of a broker. `error` says why it is offline.

    `total` and `usable` are the bytes of its volume (KIP-827, Kafka 3.3), or None where the broker
    does not tell. A `cordoned` dir takes no new replicas (KIP-1066, Kafka 4.3).
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
        """The bytes of all its replicas."""
        return sum(replica.size for replica in self.replicas)

    @property
    def use(self) -> LogDirUse:
        """Its figures."""
        state = "offline" if self.error else "cordoned" if self.cordoned else "online"
        incoming = sum(replica.future for replica in self.replicas)
        return LogDirUse(
            self.broker, self.path, state, len(self.replicas) - incoming, incoming, self.size,
            self.usable, self.total, self.error,
        )  # fmt: skip

    @property
    def rows(self) -> tuple[ReplicaOnDisk, ...]:
        """Its replicas, each with where it is."""
        return tuple(
            ReplicaOnDisk(
                self.broker, self.path, each.topic, each.partition, each.size, each.offset_lag,
                each.future,
            )
            for each in self.replicas
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class LogDirUse:
    """A log dir in figures: the bytes (`size`) of its replicas, and how many are `incoming` from
    another dir of the broker; the rest as in LogDir. `state` is online, cordoned or offline."""

    broker: int
    path: str
    state: str
    replicas: int
    incoming: int
    size: int
    usable: int | None
    total: int | None
    error: Failure | None = None


@dataclass(frozen=True, slots=True)
class DiskUse:
    """What a broker, a topic or a partition takes of the disks, in bytes. None: of all of them.

    `largest` is the largest of the replicas.
    """

    broker: int | None
    topic: str | None
    partition: int | None
    replicas: int
    size: int
    largest: int


@dataclass(frozen=True, slots=True)
class LeaderStatus:
    """How the election of a preferred leader stands (KIP-4): completed, in progress or failed.

    `reason` says why it is not completed. Of a topic that is not there no `partition` is known.
    """

    topic: str
    partition: int | None
    status: str
    leader: int | None
    preferred: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ElectionStatus:
    """How the elections of many partitions stand."""

    partitions: tuple[LeaderStatus, ...]

    @property
    def ok(self) -> bool:
        """Whether each is completed."""
        return all(each.status == "completed" for each in self.partitions)


@dataclass(frozen=True, slots=True)
class Reassignment:
    """A partition that is being moved (ListPartitionReassignments, API key 46).

    `replicas` are all that it has now, those it gets and those it loses too. `copied` of `size`
    bytes are there on the brokers that are added; `lag` is by how many offsets the one that is
    furthest behind lacks the leader's log end. None where the brokers do not tell.
    """

    topic: str
    partition: int
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    copied: int | None = None
    size: int | None = None
    lag: int | None = None

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition that moves."""
        return TopicPartition(self.topic, self.partition)

    @property
    def before(self) -> tuple[int, ...]:
        """The replicas that it had before the move, and has again when it is cancelled."""
        return tuple(broker for broker in self.replicas if broker not in self.adding)

    @property
    def after(self) -> tuple[int, ...]:
        """The replicas that it will have; brokers tell them in this order."""
        return tuple(broker for broker in self.replicas if broker not in self.removing)


@dataclass(frozen=True, slots=True)
class Move:
    """One partition from the brokers it is on to those it is wanted on, the preferred leader first.

    `leader` is the broker that the copies are made from; None where the partition has none.
    """

    partition: TopicPartition
    before: tuple[int, ...]
    after: tuple[int, ...]
    leader: int | None = None

    @property
    def adding(self) -> tuple[int, ...]:
        """The brokers that get a copy."""
        return tuple(broker for broker in self.after if broker not in self.before)

    @property
    def removing(self) -> tuple[int, ...]:
        """The brokers that lose theirs."""
        return tuple(broker for broker in self.before if broker not in self.after)


@dataclass(frozen=True, slots=True)
class BrokerLoad:
    """One broker before and after a move: replicas, preferred leaders, bytes of all its replicas.

    `incoming` are the bytes that are copied to it. Bytes are None where its log dirs do not tell.
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


@dataclass(frozen=True, slots=True)
class MoveSize:
    """How much a move is: partitions, copies to be made, their bytes (None: not known).

    `throttle` is in bytes a second; None where there is none. `seconds` is the least that the move
    takes under it: each broker receives its bytes at that rate.
    """

    partitions: int
    copies: int
    bytes: int | None
    throttle: int | None = None
    seconds: int | None = None


class MoveStatus(IntEnum):
    """How a move stands, with KIP-4's numbers."""

    FAILED = -1
    IN_PROGRESS = 0
    COMPLETED = 1


@dataclass(frozen=True, slots=True)
class PartitionMove:
    """One row of `verify-reassign-partitions`. `code` is KIP-4's: -1 failed, 0 in progress, 1 done.

    `replicas` are where it is, `wanted` where it should be; None where no file says. The rest as in
    Reassignment.
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


@dataclass(frozen=True, slots=True)
class Throttle:
    """One replication throttle that no move needs: a config of a broker or topic (KIP-73), raw; of
    a topic's throttled replicas those that do not move."""

    resource: str  # broker 1, topic orders
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class MoveState:
    """How moves stand, and the throttles that no move under way needs.

    `not_read`: of what throttles could not be read, and why.
    """

    partitions: tuple[PartitionMove, ...]
    throttles: tuple[Throttle, ...] = ()
    not_read: tuple[tuple[Resource, Failure], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every partition is where it should be, and surely no throttle is left behind."""
        done = all(row.status is MoveStatus.COMPLETED for row in self.partitions)
        return done and not self.throttles and not self.not_read
