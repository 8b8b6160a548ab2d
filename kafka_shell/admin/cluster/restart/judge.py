"""What stopping brokers would do to partitions and to the metadata quorum. Pure.

Replicas that are not in sync count as unavailable, and so do those of brokers that do not respond,
or do not follow the metadata: they would not become leaders.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct, field

from kafka_shell.admin.cluster.restart.model import (
    ClusterState,
    Reason,
    RestartCheck,
    RestartChecks,
    Verdict,
)
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics import min_isr
from kafka_shell.admin.topics.model import Partition
from kafka_shell.admin.wire.failures import in_one_line
from kafka_shell.common.units import counted, some

EXAMPLES = 3
_GROUPS, _TRANSACTIONS = "__consumer_offsets", "__transaction_state"
_BEHIND_MS = 10_000  # a voter that has not caught up for longer does not count
_MANY = 10  # brokers in one message


class Impact(Struct):
    """What would happen to the partitions of the stopped brokers.

    `offline` would have no leader; `under_min_isr` would refuse acks=all producers; `unknown` have
    an unknown min.insync.replicas; `single` would have one in-sync replica left, `one_rack` several
    in one rack, which are in several now; `recovering` have a replica that is not in sync.
    """

    offline: list[TopicPartition] = field(default_factory=list)
    under_min_isr: list[TopicPartition] = field(default_factory=list)
    unknown: list[TopicPartition] = field(default_factory=list)
    single: list[TopicPartition] = field(default_factory=list)
    one_rack: list[TopicPartition] = field(default_factory=list)
    recovering: list[TopicPartition] = field(default_factory=list)
    moving: list[TopicPartition] = field(default_factory=list)


class Index:
    """The partitions by broker, so that each check reads only those of its brokers."""

    def __init__(self, state: ClusterState) -> None:
        self.state = state
        self._partitions: dict[int, list[Partition]] = {}
        for partition in state.partitions:
            for broker in partition.replicas:
                self._partitions.setdefault(broker, []).append(partition)

    def of(self, brokers: Collection[int]) -> list[Partition]:
        """The partitions with a replica on one of these brokers."""
        if len(brokers) == 1:
            return self._partitions.get(next(iter(brokers)), [])
        found = {
            (partition.topic, partition.partition): partition
            for broker in brokers
            for partition in self._partitions.get(broker, ())
        }
        return [found[key] for key in sorted(found)]


def check(index: Index, brokers: Sequence[int]) -> RestartCheck:
    """What stopping these brokers together would do."""
    state, stopped = index.state, frozenset(brokers)
    partitions = index.of(stopped)
    led = [partition for partition in partitions if partition.leader in stopped]
    reasons = sorted(
        _reasons(state, stopped, partitions), key=lambda reason: reason.verdict, reverse=True
    )
    return RestartCheck(
        brokers=tuple(sorted(stopped)),
        verdict=max((reason.verdict for reason in reasons), default=Verdict.SAFE),
        leaders=len(led),
        replicas=sum(broker in stopped for each in partitions for broker in each.replicas),
        groups=sum(partition.topic == _GROUPS for partition in led),
        transactions=sum(partition.topic == _TRANSACTIONS for partition in led),
        controller=state.quorum is not None and state.quorum.leader in stopped,
        reasons=tuple(reasons),
    )


def check_each(state: ClusterState, brokers: Sequence[int]) -> RestartChecks:
    """What stopping each of these brokers alone would do."""
    index = Index(state)
    return RestartChecks(tuple(check(index, [broker]) for broker in brokers))


def check_together(state: ClusterState, brokers: Sequence[int]) -> RestartChecks:
    """What stopping these brokers at the same time would do."""
    return RestartChecks((check(Index(state), brokers),))


def impact(state: ClusterState, stopped: frozenset[int], partitions: Sequence[Partition]) -> Impact:
    """What stopping these brokers would do to these partitions, which all have a replica there."""
    found = Impact()
    for partition in partitions:
        key = TopicPartition(partition.topic, partition.partition)
        if key in state.moving:
            found.moving.append(key)
        in_sync = in_sync_replicas(state, partition, stopped)
        if not {*in_sync, *partition.adding}.issuperset(partition.replicas):
            found.recovering.append(key)
        left = [broker for broker in in_sync if broker not in stopped]
        if len(left) == len(in_sync):
            continue  # its replica there is not in sync: stopping the broker changes nothing
        kind = _outcome(state, partition, in_sync, left)
        if kind is not None:
            getattr(found, kind).append(key)
    return found


def _outcome(
    state: ClusterState, partition: Partition, in_sync: Sequence[int], left: Sequence[int]
) -> str | None:
    """The attribute of Impact for a partition that loses in-sync replicas, or None."""
    if not left:
        return "offline"
    needed = needed_replicas(state, partition)
    if needed is None:
        return "unknown"
    if len(left) < needed:
        return "under_min_isr"
    if len(left) == 1:
        return "single"
    if len(_racks(state, left)) == 1 < len(_racks(state, in_sync)):
        return "one_rack"
    return None


def in_sync_replicas(
    state: ClusterState, partition: Partition, stopped: frozenset[int] = frozenset()
) -> list[int]:
    """The in-sync replicas on brokers that respond and whose metadata is current, and those on the
    brokers to stop: one that does not respond to this client may serve others."""
    if partition.leader is None:
        return []
    away = (state.silent | state.behind) - stopped
    return [broker for broker in partition.isr if broker not in away]


def needed_replicas(state: ClusterState, partition: Partition) -> int | None:
    """The in-sync replicas that acks=all producers require; None if it could not be read."""
    minimum = state.minimum.get(partition.topic)
    if minimum is None:
        return None
    return min_isr.needed(partition, minimum, capped=state.capped)


def _racks(state: ClusterState, brokers: Sequence[int]) -> set[str | int]:
    """The racks of brokers; one without a rack is a rack of its own."""
    return {state.brokers.get(broker) or broker for broker in brokers}


# -- reasons ---------------------------------------------------------------------------------------


_PARTITIONS: tuple[tuple[str, Verdict, str, str], ...] = (
    ("offline", Verdict.UNSAFE, "offline", "would have no leader: reads and writes fail"),
    (
        "under_min_isr", Verdict.UNSAFE, "under-min-isr",
        "would be under min ISR (min.insync.replicas): producers with acks=all fail",
    ),
    ("unknown", Verdict.UNKNOWN, "under-min-isr", "not checked: min.insync.replicas is unknown"),
    ("moving", Verdict.RISKY, "moves", "being reassigned: wait until the reassignment is complete"),
    ("recovering", Verdict.RISKY, "under-replicated", "with a replica that is not in sync"),
    ("single", Verdict.RISKY, "single-replica", "would have one in-sync replica left"),
    ("one_rack", Verdict.RISKY, "racks", "would have in-sync replicas in one rack only"),
)  # fmt: skip


def _reasons(
    state: ClusterState, stopped: frozenset[int], partitions: Sequence[Partition]
) -> Iterator[Reason]:
    found = impact(state, stopped, partitions)
    for attribute, verdict, name, summary in _PARTITIONS:
        yield from _partition_reason(verdict, name, summary, getattr(found, attribute))
    yield from _quorum(state, stopped)
    yield from _unread(state, stopped)
    placed = {broker for partition in partitions for broker in partition.replicas}
    down = state.down & placed - state.silent
    yield from _away(down, "is down" if len(down) == 1 else "are down")
    yield from _away(state.silent, "did not respond")
    yield from _away(state.behind, "lagged behind the active controller")


def _partition_reason(
    verdict: Verdict, name: str, summary: str, partitions: Sequence[TopicPartition]
) -> Iterator[Reason]:
    if partitions:
        examples = tuple(map(str, partitions[:EXAMPLES]))
        count = len(partitions)
        yield Reason(verdict, name, f"{counted(count, 'partition')} {summary}", count, examples)


def voters(state: ClusterState) -> tuple[list[int], int]:
    """The voters of the metadata quorum that have caught up, and how many are a majority."""
    if state.quorum is None:
        return [], 0
    every = state.quorum.voters
    running = [
        voter.id
        for voter in every
        if voter.id not in state.silent | state.down and voter.keeps_up(_BEHIND_MS)
    ]
    return running, len(every) // 2 + 1


def _quorum(state: ClusterState, stopped: frozenset[int]) -> Iterator[Reason]:
    running, majority = voters(state)
    lost = [voter for voter in running if voter in stopped]
    left = len(running) - len(lost)
    if lost and left < majority:
        those = "voter" if len(lost) == 1 else "voters"
        ids = ", ".join(map(str, sorted(lost)))
        yield Reason(
            Verdict.UNSAFE, "quorum",
            f"the metadata quorum would lose its majority without {those} {ids}:"
            f" {counted(left, 'voter')} left, {majority} required",
            len(lost),
        )  # fmt: skip


def _unread(state: ClusterState, stopped: frozenset[int]) -> Iterator[Reason]:
    """What could not be read: the cluster may or may not survive the stop."""
    for what, failure in state.unread.items():
        why = in_one_line(failure)
        about = "" if why.removeprefix("the ").startswith(f"{what}: ") else f"{what}: "
        yield Reason(Verdict.UNKNOWN, "not-read", f"not checked: {about}{why}", 1)
    hidden: set[str] = set()
    for broker in sorted(stopped & state.brokers.keys()):
        stored = state.stored.get(broker, frozenset())
        if isinstance(stored, frozenset):
            hidden |= stored - state.topics
        else:
            yield Reason(
                Verdict.UNKNOWN, "hidden",
                "not checked: topics that you may not DESCRIBE, as the log directories of broker"
                f" {broker} could not be read: {in_one_line(stored)}",
                1,
            )  # fmt: skip
    if hidden:
        count = len(hidden)
        yield Reason(
            Verdict.UNKNOWN, "hidden",
            f"not checked: {counted(count, 'topic')} in log directories but not visible to you (no"
            " DESCRIBE on the topic, or being deleted)",
            count, tuple(sorted(hidden)[:EXAMPLES]),
        )  # fmt: skip


def _away(brokers: Collection[int], what: str) -> Iterator[Reason]:
    if brokers:
        ids = some([str(broker) for broker in sorted(brokers)], _MANY)
        named, their = ("broker", "its") if len(brokers) == 1 else ("brokers", "their")
        yield Reason(
            Verdict.RISKY, "brokers",
            f"{named} {ids} {what}: {their} replicas count as unavailable", len(brokers),
        )  # fmt: skip
