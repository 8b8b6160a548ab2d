"""Brokers, topics and partitions as Metadata (API key 3) returns them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from kafka_shell.base.structs import replace


class Broker(Struct, frozen=True):
    """One broker of the cluster. `version` is the Kafka release, derived from its APIs, or
    empty.

    `state` is empty (not checked), `up`, `not responding`, `fenced` (registered, not serving) or
    `absent` (replicas are assigned to it, but it is not registered or not running; `host` is
    empty). A `cordoned` broker gets no new replicas (KIP-1066, Kafka 4.3); None is not checked.
    """

    id: int
    host: str
    port: int
    rack: str | None = None
    controller: bool = False
    version: str = ""
    state: str = ""
    cordoned: bool | None = None


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
