"""What single changes gain: to leave out those that are not worth their copies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

from kafka_shell.admin.partitions.planner.placement import Placement
from kafka_shell.admin.partitions.planner.problem import PlanLimits, Replicas
from kafka_shell.admin.partitions.planner.scores import (
    Shares,
    even_share,
    imbalance,
    rack_imbalance,
)

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
