"""The order of a rolling restart: batches of brokers that can be down together. Pure.

Each partition limits how many of its in-sync replicas may be stopped at once, and the metadata
quorum how many of its voters. The batches are the best of several greedy orders; for a small
cluster an exhaustive search finds the fewest.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kafka_shell.admin.cluster.restart import judge
from kafka_shell.admin.cluster.restart.model import (
    ClusterState,
    NotRestarted,
    Reason,
    RestartOrder,
    Verdict,
)

_SEARCHED = 12  # brokers up to which all distributions are searched
_STEPS = 200_000  # of the search
_SHUFFLES = 8
_MOST_WORK = 20_000_000  # tests of a limit in all greedy orders together: some seconds

Batches = list[list[int]]
Limit = tuple[tuple[int, ...], int]
"""Brokers, and how many of them may be down at once."""


def restart_order(state: ClusterState) -> RestartOrder:
    """An order for all brokers. The one with the active controller is the last."""
    index = judge.Index(state)
    checks = {broker: judge.check(index, [broker]) for broker in sorted(state.brokers)}
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
        tuple(
            checks[batch[0]] if len(batch) == 1 else judge.check(index, batch) for batch in batches
        ),
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
        in_sync = tuple(sorted(judge.in_sync_replicas(state, partition)))
        needed = judge.needed_replicas(state, partition)
        if in_sync and needed is not None:
            spare = len(in_sync) - max(1, needed)
            strictest[in_sync] = min(spare, strictest.get(in_sync, spare))
    running, majority = judge.voters(state)
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
            found = _Search(self, ordered, most).run()
            if found is not None:
                return found
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
