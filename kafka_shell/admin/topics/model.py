"""Topics and partitions (Metadata, API key 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from kafka_shell.base.structs import replace
from kafka_shell.base.units import some

if TYPE_CHECKING:
    from kafka_shell.admin.configs.model import ConfigEntry
    from kafka_shell.admin.groups.model import TopicReader

_NAMED = 3  # topics that a message names


class Partition(Struct, frozen=True):
    """One partition. `leader` is None if it is offline; the first replica is the preferred
    leader.

    `adding` and `removing` are those of its replicas that a reassignment in progress adds and
    removes, as far as reassignments were read.
    """

    topic: str
    partition: int
    leader: int | None
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()

    @property
    def replication_factor(self) -> int:
        """The number of replicas, without those that are being added."""
        return len(self.replicas) - len(self.adding)

    @property
    def out_of_sync(self) -> tuple[int, ...]:
        """The replicas that are not in sync, without those that are being added."""
        synced = {*self.isr, *self.adding}
        return tuple(broker for broker in self.replicas if broker not in synced)

    @property
    def under_replicated(self) -> bool:
        """Whether some replica is not in sync, other than those that are being added."""
        return len(self.isr) < len(self.replicas) and bool(self.out_of_sync)

    def reassigned(self, adding: Iterable[int], removing: Iterable[int]) -> Partition:
        """The same while a reassignment adds and removes replicas on these brokers."""
        return replace(
            self,
            adding=tuple(broker for broker in adding if broker in self.replicas),
            removing=tuple(broker for broker in removing if broker in self.replicas),
        )

    @property
    def on_preferred_leader(self) -> bool:
        """Whether the leader is the preferred replica."""
        return bool(self.replicas) and self.leader == self.replicas[0]


# Kafka and kafka.sh keep their own state in these. Metadata (API key 3) marks only those of
# coordinators.
INTERNAL_TOPICS = frozenset((
    "__consumer_offsets", "__transaction_state", "__share_group_state", "__remote_log_metadata",
    "__client_configs", "__client_config_registrations",
))  # fmt: skip


class TopicSummary(Struct, frozen=True):
    """A topic in figures. `under_replicated` and `offline` (without a leader) count partitions; the
    replication factors are the smallest and the largest of its partitions."""

    name: str
    id: str
    internal: bool
    partitions: int
    replication_factor: int
    under_replicated: int = 0
    offline: int = 0
    max_replication_factor: int = 0


class Topic(Struct, frozen=True):
    """One topic, its partitions in order. `id` is empty before Kafka 2.8."""

    name: str
    id: str
    internal: bool
    partitions: tuple[Partition, ...]

    @property
    def replication_factor(self) -> int:
        """The number of replicas of the first partition, as Kafka's tool reports it."""
        return self.partitions[0].replication_factor if self.partitions else 0

    @property
    def replication_factors(self) -> tuple[int, int]:
        """The smallest and the largest number of replicas of a partition."""
        counts = [partition.replication_factor for partition in self.partitions]
        return min(counts, default=0), max(counts, default=0)


class NewTopic(Struct, frozen=True):
    """A topic to create. None for partitions or factor means the broker's default.

    `assignment` lists the replicas of each partition, the preferred leader first.
    """

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignment: tuple[tuple[int, ...], ...] = ()
    configs: tuple[tuple[str, str], ...] = ()


def format_assignment(assignment: Iterable[Sequence[int]]) -> str:
    """An assignment as it is typed: `1:2,2:3`."""
    return ",".join(":".join(map(str, replicas)) for replicas in assignment)


def named_topics(topics: Sequence[str]) -> str:
    """`topic a`, `5 topics (a, b, c and 2 more)`."""
    if len(topics) == 1:
        return f"topic {topics[0]}"
    return f"{len(topics):,} topics ({some(topics, _NAMED)})"


class TopicDescription(Struct, frozen=True):
    """A topic and the configs set on it."""

    topic: Topic
    overrides: tuple[ConfigEntry, ...] = ()
    shown: tuple[Partition, ...] | None = None  # the partitions that match a filter; None is all


class TopicUse(Struct, frozen=True):
    """What a topic contains, and who uses it. None is unknown.

    `max_records` are offsets, `bytes` those of all replicas, without `unread_partitions` and
    `unread_replicas`: of brokers that are down or do not respond. `readers` are groups with members
    or committed offsets there. `producers` are those whose state the brokers remember (idempotent
    and transactional ones, for a day), and `last_written` is when the last of them wrote (epoch
    ms). `acls` are those on exactly this name.
    """

    topic: str
    max_records: int | None = None
    bytes: int | None = None
    readers: tuple[TopicReader, ...] | None = None
    producers: int | None = None
    last_written: int | None = None
    acls: tuple[str, ...] | None = None
    unread_partitions: int = 0
    unread_replicas: int = 0


class TopicsUse(Struct, frozen=True):
    """The use of the topics that a plan deletes."""

    topics: tuple[TopicUse, ...]
