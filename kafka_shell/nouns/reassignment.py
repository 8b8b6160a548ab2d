"""Moves of replicas: what is asked for, how it stands, what it does to each broker, throttles."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from .partitions import TopicPartition
from .plans import Resource
from .results import Failure


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
