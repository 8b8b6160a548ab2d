"""Groups: consumer (of the classic and of the new protocol), share and streams groups."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.plan.model import Resource

# States in which no member consumes: a topic of a streams group is missing, or a rebalance is on.
NOT_READY_STATES = ("NotReady",)
REBALANCING_STATES = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling")


class GroupType(Enum):
    """Which protocol a group speaks, by the words of ListGroups (KIP-848, 932, 1071)."""

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


@dataclass(frozen=True, slots=True)
class GroupListing:
    """One line of `list-groups` (ListGroups, API key 16).

    `protocol` is what its members agree on (consumer, connect ...), empty where nobody ever joined.
    `coordinator` is a broker's id.
    """

    name: str
    type: GroupType
    state: str
    protocol: str
    coordinator: int


@dataclass(frozen=True, slots=True)
class Task:
    """A task of a streams group: a partition number of a subtopology; active, standby, warmup."""

    subtopology: str
    partition: int
    role: str


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a group. `host` is an address, `instance_id` its group.instance.id.

    `assignment` is what it has now; `target` is what it will have, where that differs (the new
    protocols). `subscription` lists topics, `subscribed_regex` is the expression of a member that
    subscribed by one. `tasks` are those of a streams group.
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
        """How a message names it: its client and where that runs."""
        return f"{self.client_id or self.id} at {self.host}"


@dataclass(frozen=True, slots=True)
class GroupOffset:
    """How far a group is in one partition.

    `offset` is the committed one (of a share group: where its share of the partition starts), None
    where there is none. `end` is the partition's end, and `lag` how many offsets lie between; None
    where that could not be read, which `note` says (`no such topic`). The last three are of the
    member that reads the partition.
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

    @property
    def topic_partition(self) -> TopicPartition:
        """The partition it is in."""
        return TopicPartition(self.topic, self.partition)


@dataclass(frozen=True, slots=True)
class Group:
    """One group, its members and offsets.

    `state` is Kafka's word. `assignor` is who shares the partitions out (range, uniform ...), or
    empty. `epoch` counts changes of the group; it and what follows are None where the protocol has
    no such thing, or was not asked.
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
        """What a message about it is about."""
        return Resource("group", self.name)

    @property
    def lag(self) -> int | None:
        """The sum of what is known of its lag; None where nothing is."""
        known = [row.lag for row in self.offsets or () if row.lag is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class GroupTotals:
    """A group as one line. `lag` is the sum over its partitions, None where it is not known."""

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

    @staticmethod
    def of(group: Group) -> GroupTotals:
        """The totals of a group."""
        return GroupTotals(
            group.name, group.type, group.state, group.coordinator, group.assignor,
            len(group.members), len(group.offsets or ()), group.lag, group.epoch,
            group.assignment_epoch,
        )  # fmt: skip


class To(Enum):
    """What a reset of offsets is counted from. CURRENT is where the group is, else the end."""

    EARLIEST = "earliest"
    LATEST = "latest"
    CURRENT = "current"
    OFFSET = "offset"
    SHIFT = "shift"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class ResetTo:
    """Where offsets are reset to: `number` is the offset, the shift, or milliseconds since the
    epoch; else it means nothing."""

    to: To
    number: int = 0


@dataclass(frozen=True, slots=True)
class Reset:
    """One partition of a reset: the offset before and after, each None for none. `note` is for
    people."""

    partition: TopicPartition
    before: int | None
    after: int | None
    note: str = ""
