"""Preferred leaders, and the bytes written to them, spread over brokers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection

from kafka_shell.admin.partitions.planner.balance_counts import balance_counts
from kafka_shell.admin.partitions.planner.balance_pairs import balance_pairs
from kafka_shell.admin.partitions.planner.placement import Placement
from kafka_shell.admin.partitions.planner.scores import Shares, imbalance
from kafka_shell.admin.partitions.planner.topics import move_leading_replica


class _Choices:
    """The partitions that each broker leads, by the other replicas that could lead them."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._by_pair: dict[tuple[int, int], dict[int, None]] = {}
        for at, replicas in enumerate(placement.replicas):
            if placement.may_reorder(at) and placement.is_target[replicas[0]]:
                self._add(at)

    def __getitem__(self, pair: tuple[int, int]) -> Collection[int]:
        return self._by_pair.get(pair, ())

    def set_leader(self, at: int, broker: int) -> None:
        """Make a replica the preferred leader."""
        first, *others = self._placement.replicas[at]
        for other in others:
            del self._by_pair[first, other][at]
        self._placement.set_leader(at, broker)
        self._add(at)

    def _add(self, at: int) -> None:
        first, *others = self._placement.replicas[at]
        for other in others:
            self._by_pair.setdefault((first, other), {})[at] = None


def order(placement: Placement) -> None:
    """Choose preferred leaders among the replicas, so that brokers lead evenly."""
    _order_in_one_pass(placement)
    choices = _Choices(placement)

    def pick(here: int, there: int, shifted: Collection[int]) -> int | None:
        for at in choices[here, there]:
            topic = placement.topic[at]
            led = placement.led[topic]
            # A second shift on the path could be one too many for a topic.
            if led[here] > led.get(there, 0) and topic not in map(
                placement.topic.__getitem__, shifted
            ):
                return at
        return None

    balance_counts(
        placement.targets, placement.leads.__getitem__, pick,
        lambda at, here, there: choices.set_leader(at, there),
        tie=lambda broker: (placement.bytes[broker], broker), together=placement.keep_together,
    )  # fmt: skip


def _order_in_one_pass(placement: Placement) -> None:
    """The same in one pass over the partitions, which is fast and does most of it."""
    leads = placement.leads
    for at, (first, *others) in enumerate(placement.replicas):
        if not others or not placement.is_target[first] or not placement.may_reorder(at):
            continue
        fit = [
            each
            for each in others
            if placement.is_target[each] and placement.may_pass_leadership(at, first, each)
        ]
        least = min(fit, key=leads.__getitem__, default=first)
        if leads[first] >= leads[least] + 2:
            placement.set_leader(at, least)


def move(placement: Placement) -> None:
    """The same by moving replicas, where brokers are still more than `min_gain` apart."""
    led: dict[int, dict[int, None]] = {}
    for at, replicas in enumerate(placement.replicas):
        if placement.may_reorder(at) and placement.may_leave(at, replicas[0]):
            led.setdefault(replicas[0], {})[at] = None
    low, high = Shares(placement).leaders
    band = (low * (1 - placement.min_gain), high * (1 + placement.min_gain))

    def shift(full: int, empty: int) -> bool:
        for at in led.get(full, ()):
            topic = placement.led[placement.topic[at]]
            if topic.get(full, 0) > topic.get(empty, 0) and move_leading_replica(
                placement, at, full, empty
            ):
                del led[full][at]
                led.setdefault(empty, {})[at] = None
                return True
        return False

    balance_pairs(placement, placement.leads, band, shift, least=2)


def order_by_writes(placement: Placement) -> None:
    """Exchange the leaders of pairs of partitions, so that as many bytes are written to the leaders
    of each broker. Copies nothing."""
    choices, band = _Choices(placement), Shares(placement).writes
    rate = placement.write.__getitem__

    def exchange(full: int, empty: int) -> bool:
        here = sorted(choices[full, empty], key=rate, reverse=True)
        there = sorted(choices[empty, full], key=rate)
        rates = list(map(rate, there))
        gap = (placement.writes[full] - placement.writes[empty]) / 2
        before = imbalance(placement.writes[full], band) + imbalance(placement.writes[empty], band)
        for at in here:
            for other in there[bisect_left(rates, rate(at) - gap) :]:
                moved = rate(at) - rate(other)
                if moved <= 0:
                    break
                after = imbalance(placement.writes[full] - moved, band)
                after += imbalance(placement.writes[empty] + moved, band)
                if after < before and _exchangeable(placement, at, other, full, empty):
                    choices.set_leader(at, empty)
                    choices.set_leader(other, full)
                    placement.keep_together(at, other)
                    return True
        return False

    balance_pairs(placement, placement.writes, band, exchange)


def _exchangeable(placement: Placement, at: int, other: int, full: int, empty: int) -> bool:
    topic, second = placement.topic[at], placement.topic[other]
    if topic == second:
        return True
    first, led = placement.led[topic], placement.led[second]
    return first[full] > first.get(empty, 0) and led[empty] > led.get(full, 0)
