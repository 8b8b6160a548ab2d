"""What the planner is given, and what it returns."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct, field

from kafka_shell.admin.partitions.model import Assignment, GoalScore, Racks, TopicPartition

Replicas = tuple[int, ...]

MIN_GAIN = 0.01
TOLERANCE = 0.05  # a broker this close to the mean has its share of bytes, writes and replicas


class Problem(Struct, frozen=True):
    """A cluster, and what may change in it.

    `assignment` is that of all partitions, to spread the load; only the `chosen` ones change (None:
    all). New replicas go to `targets`. Chosen replicas on `leaving` brokers must move to targets;
    those on brokers that are neither stay. `sizes` are bytes per replica: a partition without one
    has an unknown size, and is copied only if it must be, or with `copy_unknown`. `room` are the
    bytes that may be copied to a broker; without an entry it is unknown and not limited. `writes`
    are bytes per second.
    """

    assignment: Assignment
    racks: Racks
    targets: frozenset[int]
    chosen: Collection[TopicPartition] | None = None
    leaving: frozenset[int] = frozenset()
    sizes: Mapping[TopicPartition, int] = field(default_factory=dict)
    room: Mapping[int, int] = field(default_factory=dict)
    writes: Mapping[TopicPartition, float] = field(default_factory=dict)
    copy_unknown: bool = False
    min_gain: float = MIN_GAIN


class PlanLimits(Struct, frozen=True):
    """How much of a plan is wanted: at most so many bytes and partitions (None: no limit)."""

    bytes: int | None = None
    partitions: int | None = None


class Proposal(Struct, frozen=True):
    """The new replicas of partitions that change, and the score of each goal before and after.

    `stuck` are the partitions with a replica that must move or be added but fits nowhere: of these
    `no_broker` are on all target brokers already, others lack space. They are not changed.
    """

    changes: dict[TopicPartition, Replicas]
    scores: tuple[GoalScore, ...] = ()
    stuck: tuple[TopicPartition, ...] = ()
    no_broker: frozenset[TopicPartition] = frozenset()
