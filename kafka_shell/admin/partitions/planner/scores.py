"""The goals as numbers: the squared distances of brokers from an even share, and their sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from math import ceil, floor

from kafka_shell.admin.partitions.model import GoalScore
from kafka_shell.admin.partitions.planner.placement import (
    TOLERANCE,
    Placement,
    PlanLimits,
    Replicas,
)

Band = tuple[float, float]

RACKS = "racks"
TOPIC_REPLICAS = "topic-replicas"
TOPIC_LEADERS = "topic-leaders"
LEADERS = "leaders"
WRITES = "writes"
BYTES = "bytes"
REPLICAS = "replicas"


def even_share(total: float, brokers: int) -> Band:
    """An even share of a count, rounded down and up."""
    if not brokers:
        return 0, 0
    low = total // brokers
    return low, low if low * brokers == total else low + 1


def even_share_with_tolerance(total: float, brokers: int) -> Band:
    """An even share with the tolerance; of small counts, rounded down and up."""
    low, high = even_share(total, brokers)
    mean = total / brokers if brokers else 0
    return min(low, mean * (1 - TOLERANCE)), max(high, mean * (1 + TOLERANCE))


def mean_with_tolerance(total: float, brokers: int) -> Band:
    """The mean with the tolerance, of bytes: whole numbers, so that sums are exact."""
    mean = total / brokers if brokers else 0
    return floor(mean * (1 - TOLERANCE)), ceil(mean * (1 + TOLERANCE))


def imbalance(load: float, band: Band) -> float:
    """The squared distance of one load from the share."""
    if load > band[1]:
        return (load - band[1]) ** 2
    return (band[0] - load) ** 2 if load < band[0] else 0


def topic_imbalance(loads: dict[int, int], placement: Placement) -> float:
    """The same for all target brokers of a topic."""
    counted = [number for broker, number in loads.items() if placement.is_target[broker]]
    band = even_share(sum(counted), len(placement.targets))
    absent = (len(placement.targets) - len(counted)) * imbalance(0, band)
    return absent + sum(imbalance(number, band) for number in counted)


def rack_imbalance(placement: Placement, replicas: Replicas) -> int:
    """How crowded the racks of a partition are: the sum of squares, minus that of one each."""
    if not placement.racked:
        return 0
    crowd = Counter(placement.rack[broker] for broker in replicas)
    return sum(number * number for number in crowd.values()) - len(replicas)


class Shares:
    """The shares of target brokers in what their number fixes: they stay while replicas move."""

    def __init__(self, placement: Placement) -> None:
        brokers = len(placement.targets)

        def total(loads: list[int] | list[float]) -> float:
            return sum(loads[broker] for broker in placement.targets)

        self.leaders = even_share(total(placement.leads), brokers)
        self.writes = mean_with_tolerance(total(placement.writes), brokers)
        self.bytes = mean_with_tolerance(total(placement.bytes), brokers)
        self.replicas = even_share_with_tolerance(total(placement.held), brokers)
        # Squared percent of the mean: a number that people can read.
        self.per_byte = 1e4 / max(1, (total(placement.bytes) / max(1, brokers)) ** 2)
        self.per_write = 1e4 / max(1e-9, (total(placement.writes) / max(1, brokers)) ** 2)


def value(placement: Placement, goal: str) -> float:
    """The score of one goal."""
    if goal == RACKS:
        return (
            sum(rack_imbalance(placement, replica) for replica in placement.replicas)
            if placement.racked
            else 0
        )
    if goal == TOPIC_REPLICAS:
        return sum(topic_imbalance(topic, placement) for topic in placement.count)
    if goal == TOPIC_LEADERS:
        return sum(topic_imbalance(topic, placement) for topic in placement.led)
    shares = Shares(placement)
    if goal == LEADERS:
        return _total_imbalance(placement, placement.leads, shares.leaders)
    if goal == WRITES:
        return shares.per_write * _total_imbalance(placement, placement.writes, shares.writes)
    if goal == BYTES:
        return shares.per_byte * _total_imbalance(placement, placement.bytes, shares.bytes)
    return _total_imbalance(placement, placement.held, shares.replicas)


def _total_imbalance(placement: Placement, loads: Sequence[float], band: Band) -> float:
    return sum(imbalance(loads[broker], band) for broker in placement.targets)


def goals(placement: Placement) -> list[str]:
    """The goals that can be judged, the most important first."""
    known = {RACKS: placement.racked, WRITES: any(placement.write), BYTES: any(placement.size)}
    every = (RACKS, TOPIC_REPLICAS, TOPIC_LEADERS, LEADERS, WRITES, BYTES, REPLICAS)
    return [goal for goal in every if known.get(goal, True)]


def values(placement: Placement) -> dict[str, float]:
    """The score of each goal, the most important first."""
    return {goal: value(placement, goal) for goal in goals(placement)}


def compared(before: dict[str, float], after: dict[str, float]) -> tuple[GoalScore, ...]:
    """The scores of all goals before and after."""
    return tuple(GoalScore(goal, round(before[goal], 2), round(after[goal], 2)) for goal in after)


# What single changes gain: to leave out those that are not worth their copies.

Gain = tuple[float, ...]  # of each goal, the most important first


class Gains:
    """What changes gain for each goal."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._shares = Shares(placement)

    def of(self, changes: Sequence[tuple[int, Replicas]]) -> Gain:
        """The gain of all these changes together, from the current state of the placement."""
        placement, touched = self._placement, self._touched(changes)
        topics = {placement.topic[at] for at, _ in changes}
        partitions = [at for at, _ in changes]
        before = self._scores(partitions, topics, touched)
        mark = len(placement.log)
        for at, replicas in changes:
            placement.set(at, replicas)
        after = self._scores(partitions, topics, touched)
        placement.roll_back(mark)
        return tuple(was - now for was, now in zip(before, after, strict=True))

    def _touched(self, changes: Sequence[tuple[int, Replicas]]) -> list[int]:
        """The target brokers whose loads change."""
        placement, touched = self._placement, set[int]()
        for at, replicas in changes:
            old = placement.replicas[at]
            touched.update(set(old) ^ set(replicas), old[:1], replicas[:1])
        return [broker for broker in touched if placement.is_target[broker]]

    def _scores(
        self, partitions: Iterable[int], topics: Iterable[int], brokers: Sequence[int]
    ) -> tuple[float, ...]:
        placement, shares, many = self._placement, self._shares, len(self._placement.targets)

        def of_topic(loads: dict[int, int]) -> float:
            total = sum(number for broker, number in loads.items() if placement.is_target[broker])
            band = even_share(total, many)
            return sum(imbalance(loads.get(broker, 0), band) for broker in brokers)

        return (
            sum(rack_imbalance(placement, placement.replicas[at]) for at in partitions),
            sum(of_topic(placement.count[topic]) for topic in topics),
            sum(of_topic(placement.led[topic]) for topic in topics),
            sum(imbalance(placement.leads[broker], shares.leaders) for broker in brokers),
            sum(imbalance(placement.writes[broker], shares.writes) for broker in brokers),
            sum(imbalance(placement.bytes[broker], shares.bytes) for broker in brokers),
            sum(imbalance(placement.held[broker], shares.replicas) for broker in brokers),
        )


def limit(placement: Placement, limits: PlanLimits) -> None:
    """Keep only the changes with the best gain for their bytes (without a limit of bytes: for their
    number of partitions). Changes that depend on one another are kept together or not at all."""
    units = [[(at, placement.replicas[at]) for at in unit] for unit in _units(placement)]
    placement.roll_back(0)
    gains = Gains(placement)
    by_bytes = limits.bytes is not None
    costs = [sum(_bytes(placement, *change) for change in unit) for unit in units]

    def rank(number: int) -> tuple[float, ...]:
        cost = (costs[number] if by_bytes else len(units[number])) or 1e-9
        return tuple(-gain / cost for gain in gains.of(units[number]))

    heap = [(rank(number), number) for number in range(len(units))]
    heapify(heap)
    bytes_left = float("inf") if limits.bytes is None else limits.bytes
    left = float("inf") if limits.partitions is None else limits.partitions
    while heap:
        _, number = heappop(heap)
        if costs[number] > bytes_left or len(units[number]) > left:
            continue
        now = rank(number)  # other changes may have made it worth less
        if heap and now > heap[0][0]:
            heappush(heap, (now, number))
            continue
        if now >= (0.0,) * len(now):
            break
        for at, replicas in units[number]:
            placement.set(at, replicas)
        bytes_left -= costs[number]
        left -= len(units[number])


def _bytes(placement: Placement, at: int, replicas: Replicas) -> int:
    """The bytes that a change copies."""
    return placement.size[at] * sum(broker not in placement.start[at] for broker in replicas)


def _units(placement: Placement) -> list[list[int]]:
    """The changed partitions, those that were changed together in one list."""
    parent = {at: at for at in placement.changed()}

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    for group in placement.together:
        linked = [at for at in group if at in parent]
        for at in linked[1:]:
            parent[root(at)] = root(linked[0])
    units: dict[int, list[int]] = {}
    for at in parent:
        units.setdefault(root(at), []).append(at)
    return list(units.values())
