"""Whether brokers can be stopped: the state that decides it, and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from msgspec import Struct, field

from kafka_shell.admin.cluster.model import Quorum
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics.model import Partition
from kafka_shell.plan.results import Failure


class Verdict(IntEnum):
    """Whether brokers can be stopped; the worst sorts last.

    RISKY: nothing fails, but something should end first, or the next failure would have more
    effect. UNKNOWN: a part of the state could not be read.
    """

    SAFE = 0
    RISKY = 1
    UNKNOWN = 2
    UNSAFE = 3


class Reason(Struct, frozen=True):
    """Why a verdict is not better, how many resources have the problem, and examples."""

    verdict: Verdict
    check: str  # offline, under-min-isr, quorum, moves, racks, ...
    summary: str
    count: int
    examples: tuple[str, ...] = ()


class RestartCheck(Struct, frozen=True):
    """What stopping these brokers together would do.

    `leaders` and `replicas` count partitions; `groups` and `transactions` the partitions of
    __consumer_offsets and __transaction_state they lead: their coordinators move. `controller`:
    one of them is the active controller.
    """

    brokers: tuple[int, ...]
    verdict: Verdict
    leaders: int
    replicas: int
    groups: int
    transactions: int
    controller: bool
    reasons: tuple[Reason, ...]


class RestartChecks(Struct, frozen=True):
    """The checks of several brokers, each one alone, or of one set of brokers."""

    checks: tuple[RestartCheck, ...]

    @property
    def ok(self) -> bool:
        """Whether all are safe."""
        return all(check.verdict is Verdict.SAFE for check in self.checks)


class NotRestarted(Struct, frozen=True):
    """A broker that the order leaves out: stopping it alone would be unsafe, or is unknown to be
    safe; without `verdict`, it is down."""

    broker: int
    reasons: tuple[str, ...]
    verdict: Verdict | None = None


class RestartOrder(Struct, frozen=True):
    """An order for a rolling restart. The brokers of a batch can be down together; the next batch
    starts when they are in sync again. `checks` says what stopping each batch would do. Brokers
    that are `left_out` are in no batch."""

    batches: tuple[tuple[int, ...], ...]
    left_out: tuple[NotRestarted, ...] = ()
    checks: tuple[RestartCheck, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all brokers are in a batch."""
        return not self.left_out


class BackInSync(Struct, frozen=True):
    """Restarted brokers that respond and whose `replicas` are all in sync, and after how long.
    `unread` maps topics that may be hidden to the reason."""

    brokers: tuple[int, ...]
    replicas: int
    seconds: float
    unread: Mapping[str, Failure] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether all replicas were checked."""
        return not self.unread


class ClusterState(Struct, frozen=True):
    """What decides whether brokers can be stopped.

    `brokers` maps those that respond to their racks; `silent` ones are registered and do not
    respond, and the metadata of those `behind` is out of date, so their replicas count as
    unavailable. Voters that are silent or `down` do, too.
    `minimum` is min.insync.replicas by topic, `capped` whether brokers cap it at the number of
    replicas. `quorum` is None if the cluster uses ZooKeeper, or if it is in `unread`. `unread` maps
    what could not be read to the failure. `topics` are those that are visible, and `stored` those
    in the log directories of a broker.
    """

    brokers: Mapping[int, str | None]
    partitions: tuple[Partition, ...]
    minimum: Mapping[str, int]
    capped: bool = True
    silent: frozenset[int] = frozenset()
    behind: frozenset[int] = frozenset()
    down: frozenset[int] = frozenset()
    moving: frozenset[TopicPartition] = frozenset()
    quorum: Quorum | None = None
    unread: Mapping[str, Failure] = field(default_factory=dict)
    topics: frozenset[str] = frozenset()
    stored: Mapping[int, frozenset[str] | Failure] = field(default_factory=dict)
