"""Groups: consumer (classic and new protocol), share and streams groups."""

from __future__ import annotations

from enum import Enum
from typing import Any

from msgspec import Struct

from kafka_shell.admin.partitions.model import OffsetRange, OfPartition, TopicPartition
from kafka_shell.base.plans import Resource

# States in which no member consumes: a topic of a streams group is missing, or a rebalance is on.
NOT_READY_STATES = ("NotReady",)
REBALANCING_STATES = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")


class GroupType(Enum):
    """The type of a group, spelled as in ListGroups (KIP-848, 932, 1071)."""

    UNKNOWN = "unknown"
    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"

    @classmethod
    def _missing_(cls, value: object) -> GroupType:
        if isinstance(value, str) and value != value.lower():
            return cls(value.lower())
        return cls.UNKNOWN


GroupKey = Any
"""The name of a group (str). Of a failure that is not of a group, a Resource: the broker whose
groups are missing, or the partitions whose lag is unknown."""


class GroupListing(Struct, frozen=True):
    """A group as listed (ListGroups, API key 16).

    `protocol` is the protocol type of its members (consumer, connect ...), empty if it never had
    any. `coordinator` is a broker ID.
    """

    name: str
    type: GroupType
    state: str
    protocol: str
    coordinator: int


class Task(Struct, frozen=True):
    """A task of a streams group: one partition of a subtopology. `role`: active, standby,
    warmup."""

    subtopology: str
    partition: int
    role: str


class Member(Struct, frozen=True):
    """One member of a group. `host` is an address, `instance_id` its group.instance.id.

    `assignment` is the current one; `target` is the next one, if it differs (new protocols).
    `subscription` lists topics, `subscribed_regex` is a subscription by regular expression. `tasks`
    are those of a streams group.
    """

    group: str
    id: str
    client_id: str
    host: str
    instance_id: str | None = None
    rack: str | None = None
    epoch: int | None = None
    subscription: tuple[str, ...] = ()
    subscribed_regex: str | None = None
    assignment: tuple[TopicPartition, ...] = ()
    target: tuple[TopicPartition, ...] | None = None
    tasks: tuple[Task, ...] = ()

    @property
    def label(self) -> str:
        """Its name in messages: its client ID and host."""
        return f"{self.client_id or self.id} at {self.host}"


class GroupOffset(Struct, OfPartition, frozen=True):
    """The offset and lag of a group in one partition.

    `offset` is the committed offset (of a share group: its start offset), None if there is none.
    `end` is the log end offset, and `lag` the difference; None if it could not be read, with the
    reason in `note` (`no such topic`). `client_id`, `host` and `member_id` are of the member that
    the partition is assigned to. `start` is the log start offset: `note` says if `offset` is below
    it, as records that no longer exist are part of `lag` then, or above `end`. `change_per_s` is
    the change of the lag per second over the last 15 s of a repeated command, and `stuck` whether
    `offset` has not moved for at least 10 s while there were unread records, and more arrived.
    `time_lag_ms` is how long ago the oldest unread record was written, 0 without one; None if it
    was not read.
    """

    group: str
    topic: str
    partition: int
    offset: int | None
    end: int | None = None
    lag: int | None = None
    leader_epoch: int | None = None
    metadata: str = ""
    note: str = ""
    client_id: str = ""
    host: str = ""
    member_id: str = ""
    start: int | None = None
    change_per_s: float | None = None
    time_lag_ms: int | None = None
    stuck: bool = False

    @property
    def out_of_range(self) -> bool:
        """Whether no record has this offset, and none will be written with it next: a consumer
        there uses its auto.offset.reset."""
        if self.offset is None or self.start is None or self.end is None:
            return False
        return not self.start <= self.offset <= self.end

    @property
    def known_lag(self) -> int | None:
        """The lag for sums. None if it is unknown, also of an offset above the log end: the topic
        was re-created, and how much of it the group has read cannot be told."""
        return None if self.lag is None or self.lag < 0 else self.lag


class Group(Struct, frozen=True):
    """One group, its members and offsets.

    `state` is as in Kafka. `assignor` is the partition assignor (range, uniform ...), or empty.
    `epoch` is the group epoch; it and the following fields are None if the protocol does not have
    them, or if they were not requested.
    """

    name: str
    type: GroupType
    state: str
    protocol: str
    assignor: str
    coordinator: int
    members: tuple[Member, ...] = ()
    epoch: int | None = None
    assignment_epoch: int | None = None
    offsets: tuple[GroupOffset, ...] | None = None

    @property
    def resource(self) -> Resource:
        """The resource of its changes and failures."""
        return Resource("group", self.name)

    @property
    def lag(self) -> int | None:
        """The sum of the known lags; None if none is known."""
        lags = [row.known_lag for row in self.offsets or ()]
        known = [lag for lag in lags if lag is not None]
        return sum(known) if known else None

    @property
    def time_lag_ms(self) -> int | None:
        """The largest time lag; None if that of a partition with a known lag is unknown."""
        known = [row.time_lag_ms for row in self.offsets or () if row.known_lag is not None]
        return None if None in known else max(known, default=None)  # type: ignore[type-var]


class GroupTotals(Struct, frozen=True):
    """A group in figures. `lag` is the sum of the known lags, None if none is known; `unknown`
    counts the partitions with an unknown lag, `out_of_range` those whose committed offset is below
    the log start or above the log end. `time_lag_ms` is the largest of the partitions."""

    name: str
    type: GroupType
    state: str
    coordinator: int
    assignor: str
    members: int
    partitions: int
    lag: int | None
    epoch: int | None = None
    assignment_epoch: int | None = None
    unknown: int = 0
    out_of_range: int = 0
    time_lag_ms: int | None = None

    @staticmethod
    def of(group: Group) -> GroupTotals:
        """The totals of a group."""
        rows = group.offsets or ()
        return GroupTotals(
            group.name, group.type, group.state, group.coordinator, group.assignor,
            len(group.members), len(rows), group.lag, group.epoch, group.assignment_epoch,
            sum(row.known_lag is None for row in rows), sum(row.out_of_range for row in rows),
            group.time_lag_ms,
        )  # fmt: skip


class TopicReader(Struct, frozen=True):
    """A group that reads a topic. `members` of it, with these client IDs, subscribe to the topic or
    have partitions of it; `offsets` counts the partitions with a committed offset."""

    topic: str
    group: str
    type: GroupType
    state: str
    members: int
    clients: tuple[str, ...]
    offsets: int


class ResetTarget(Enum):
    """The target of a reset of offsets. CURRENT is the committed offset, else the end."""

    EARLIEST = "earliest"
    LATEST = "latest"
    CURRENT = "current"
    OFFSET = "offset"
    SHIFT = "shift"
    TIME = "time"


class ResetTo(Struct, frozen=True):
    """A target with its `number`: an offset, a shift, or milliseconds since the epoch."""

    to: ResetTarget
    number: int = 0


class Reset(Struct, frozen=True):
    """One partition of a reset: the offsets before and after, None for none. `note` is shown.
    `span` is what the partition contains, as far as it was read."""

    partition: TopicPartition
    before: int | None
    after: int | None
    note: str = ""
    span: OffsetRange | None = None
