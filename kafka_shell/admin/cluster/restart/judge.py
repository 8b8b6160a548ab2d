"""What stopping brokers would do to partitions and to the metadata quorum. Pure.

Replicas that are not in sync count as unavailable, and so do those of brokers that do not respond,
or do not follow the metadata: they would not become leaders.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum

from msgspec import Struct, field

from kafka_shell.admin.cluster.model import Quorum
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics import min_isr
from kafka_shell.base.results import Failure
from kafka_shell.base.units import counted, some
from kafka_shell.wire.failures import in_one_line
from kafka_shell.wire.model import Partition

# Whether brokers can be stopped: the state that decides it, and the verdict.


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


EXAMPLES = 3
_GROUPS, _TRANSACTIONS = "__consumer_offsets", "__transaction_state"
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
        partitions = {
            (partition.topic, partition.partition): partition
            for broker in brokers
            for partition in self._partitions.get(broker, ())
        }
        return [partitions[key] for key in sorted(partitions)]


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
        replicas=sum(broker in stopped for row in partitions for broker in row.replicas),
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
    total = Impact()
    for partition in partitions:
        key = TopicPartition(partition.topic, partition.partition)
        if key in state.moving:
            total.moving.append(key)
        in_sync = in_sync_replicas(state, partition, stopped)
        if not {*in_sync, *partition.adding}.issuperset(partition.replicas):
            total.recovering.append(key)
        left = [broker for broker in in_sync if broker not in stopped]
        if len(left) == len(in_sync):
            continue  # its replica there is not in sync: stopping the broker changes nothing
        kind = _outcome(state, partition, in_sync, left)
        if kind is not None:
            getattr(total, kind).append(key)
    return total


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
    effect = impact(state, stopped, partitions)
    for attribute, verdict, name, summary in _PARTITIONS:
        yield from _partition_reason(verdict, name, summary, getattr(effect, attribute))
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
        voter.id for voter in every if voter.id not in state.silent | state.down and voter.keeps_up
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
                "not checked: topics that you are not authorized to DESCRIBE (cannot read the"
                f" log directories of broker {broker}: {in_one_line(stored)})",
                1,
            )  # fmt: skip
    if hidden:
        count = len(hidden)
        yield Reason(
            Verdict.UNKNOWN, "hidden",
            f"not checked: {counted(count, 'hidden topic')} in log directories (no DESCRIBE"
            " permission, or being deleted)",
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


# The order of a rolling restart: batches of brokers that can be down together. Pure.
#
# Each partition limits how many of its in-sync replicas may be stopped at once, and the metadata
# quorum how many of its voters. The batches are the best of several greedy orders; for a small
# cluster an exhaustive search finds the fewest.

_SEARCHED = 12  # brokers up to which all distributions are searched
_STEPS = 200_000  # of the search
_SHUFFLES = 8
_MOST_WORK = 20_000_000  # tests of a limit in all greedy orders together: some seconds

Batches = list[list[int]]
Limit = tuple[tuple[int, ...], int]
"""Brokers, and how many of them may be down at once."""


def restart_order(state: ClusterState) -> RestartOrder:
    """An order for all brokers. The one with the active controller is the last."""
    index = Index(state)
    checks = {broker: check(index, [broker]) for broker in sorted(state.brokers)}
    unsafe = [
        NotRestarted(broker, tuple(_summaries(check.reasons)), check.verdict)
        for broker, check in checks.items()
        if check.verdict >= Verdict.UNKNOWN
    ]
    away = sorted((state.silent | state.down) - state.brokers.keys())
    not_running = [
        NotRestarted(id, ("did not respond" if id in state.silent else "is down",)) for id in away
    ]
    left = [broker for broker, check in checks.items() if check.verdict < Verdict.UNKNOWN]
    batches = fewest_batches(left, state.brokers, limits(state))
    leader = None if state.quorum is None else state.quorum.leader
    batches.sort(key=lambda batch: leader in batch)
    return RestartOrder(
        tuple(map(tuple, batches)),
        (*not_running, *unsafe),
        tuple(checks[batch[0]] if len(batch) == 1 else check(index, batch) for batch in batches),
    )


def _summaries(reasons: Sequence[Reason]) -> Iterator[str]:
    for reason in reasons:
        if reason.verdict >= Verdict.UNKNOWN:
            more = reason.count - len(reason.examples)
            and_more = f" and {more:,} more" if more > 0 else ""
            examples = f" ({', '.join(reason.examples)}{and_more})" if reason.examples else ""
            yield reason.summary + examples


def limits(state: ClusterState) -> list[Limit]:
    """The limits of the partitions and of the metadata quorum, the strictest of each set."""
    strictest: dict[tuple[int, ...], int] = {}
    for partition in state.partitions:
        in_sync = tuple(sorted(in_sync_replicas(state, partition)))
        needed = needed_replicas(state, partition)
        if in_sync and needed is not None:
            spare = len(in_sync) - max(1, needed)
            strictest[in_sync] = min(spare, strictest.get(in_sync, spare))
    running, majority = voters(state)
    if running:
        spare = len(running) - majority
        brokers = tuple(sorted(running))
        strictest[brokers] = min(spare, strictest.get(brokers, spare))
    return [(brokers, spare) for brokers, spare in strictest.items() if spare < len(brokers)]


def fewest_batches(
    brokers: Sequence[int], racks: Mapping[int, str | None], limits: Sequence[Limit]
) -> Batches:
    """The brokers in as few batches as found, whole racks where that needs no more batches.

    Each broker alone must be within the limits.
    """
    board = _Board(limits)
    by_rack: dict[str | int, list[int]] = {}
    for broker in brokers:
        by_rack.setdefault(racks.get(broker) or broker, []).append(broker)
    one_by_one = ([[broker] for broker in order] for order in _orders(by_rack, board))
    best = min(map(board.fill, one_by_one), key=len, default=[])
    if len(brokers) <= _SEARCHED:
        best = board.search(brokers, best)
    if all(map(board.has_room, by_rack.values())):
        best = min(board.fill(by_rack.values()), best, key=len)
    return sorted((sorted(batch) for batch in best), key=lambda batch: batch[0])


def _orders(by_rack: Mapping[str | int, Sequence[int]], board: _Board) -> Iterator[list[int]]:
    """Orders in which to place the brokers: by rack, the most limited first, and shuffled."""
    by_size = sorted(by_rack.values(), key=len, reverse=True)
    brokers = [broker for rack in by_size for broker in rack]
    yield brokers
    yield sorted(brokers, key=board.strictness, reverse=True)
    shuffled = random.Random(0)
    for _ in range(_SHUFFLES):
        if board.work > _MOST_WORK:
            return
        shuffled.shuffle(brokers)
        yield list(brokers)


class _Board:
    """Places brokers into batches within the limits."""

    def __init__(self, limits: Sequence[Limit]) -> None:
        self._spare = [spare for _, spare in limits]
        self._limits: dict[int, list[int]] = {}  # of each broker
        for number, (brokers, _) in enumerate(limits):
            for broker in brokers:
                self._limits.setdefault(broker, []).append(number)
        self.work = 0

    def strictness(self, broker: int) -> int:
        """How many limits allow no other broker beside this one."""
        return sum(self._spare[number] <= 1 for number in self._limits.get(broker, ()))

    def fill(self, groups: Iterable[Sequence[int]]) -> Batches:
        """Each group as a whole in the first batch that has room for it, or in a new one."""
        batches: Batches = []
        down: list[list[int]] = []
        for group in groups:
            at = next((at for at, each in enumerate(down) if self._fits(group, each)), None)
            if at is None:
                at = len(batches)
                batches.append([])
                down.append([0] * len(self._spare))
            batches[at].extend(group)
            self._count(group, down[at], 1)
        return batches

    def has_room(self, group: Sequence[int]) -> bool:
        """Whether a group fits in a batch of its own."""
        return self._fits(group, [0] * len(self._spare))

    def search(self, brokers: Sequence[int], best: Batches) -> Batches:
        """The fewest batches of all, or `best` if there are not fewer or the search is too long."""
        ordered = sorted(brokers, key=self.strictness, reverse=True)
        for most in range(1, len(best)):
            order = _Search(self, ordered, most).run()
            if order is not None:
                return order
        return best

    def _fits(self, brokers: Sequence[int], down: list[int]) -> bool:
        spare = self._spare
        if len(brokers) == 1:
            numbers = self._limits.get(brokers[0], ())
            self.work += len(numbers)
            return all(down[number] < spare[number] for number in numbers)
        more: dict[int, int] = {}
        for broker in brokers:
            for number in self._limits.get(broker, ()):
                more[number] = more.get(number, 0) + 1
        return all(down[number] + count <= spare[number] for number, count in more.items())

    def _count(self, brokers: Sequence[int], down: list[int], by: int) -> None:
        for broker in brokers:
            for number in self._limits.get(broker, ()):
                down[number] += by


class _Search:
    """A search for a distribution over a number of batches, broker by broker."""

    def __init__(self, board: _Board, brokers: Sequence[int], most: int) -> None:
        self._board = board
        self._brokers = brokers
        self._batches: Batches = [[] for _ in range(most)]
        self._down = [[0] * len(board._spare) for _ in range(most)]
        self._steps = 0

    def run(self) -> Batches | None:
        return [list(batch) for batch in self._batches if batch] if self._place(0) else None

    def _place(self, at: int) -> bool:
        if at == len(self._brokers):
            return True
        broker = [self._brokers[at]]
        for batch, down in zip(self._batches, self._down, strict=True):
            self._steps += 1
            if self._steps > _STEPS:
                return False
            if self._board._fits(broker, down):
                batch += broker
                self._board._count(broker, down, 1)
                if self._place(at + 1):
                    return True
                batch.pop()
                self._board._count(broker, down, -1)
            if not batch:  # all empty batches are alike
                break
        return False
