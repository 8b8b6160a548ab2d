"""Bytes and replicas per broker, evened out by moving replicas."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice

from kafka_shell.admin.partitions.planner.placement import Placement, balance_counts
from kafka_shell.admin.partitions.planner.scores import Band, Shares, imbalance
from kafka_shell.admin.partitions.planner.topics import move_leading_replica

# Even out loads between pairs of brokers, the most different ones first.

Exchange = Callable[[int, int], bool]
"""Make a full and an empty broker more even by one step; returns whether that was possible."""

_RECEIVERS = 12  # tried for each full broker: the emptiest of its rack, and of all racks


def balance_pairs(
    placement: Placement,
    loads: Sequence[float],
    band: Band,
    exchange: Exchange,
    *,
    least: float = 0,
) -> None:
    """Let a full and an empty broker exchange something, while one of them is outside the band and
    they differ by `least`: until no pair can, or a round gains less than the minimum."""

    def score() -> float:
        return sum(imbalance(loads[broker], band) for broker in placement.targets)

    before = score()
    while before:
        if not _round(placement, loads, band, exchange, least):
            return
        after = score()
        if before - after < placement.min_gain * before:
            return
        before = after


def _round(
    placement: Placement, loads: Sequence[float], band: Band, exchange: Exchange, least: float
) -> bool:
    """The exchanges of all pairs until each has failed once. Returns whether anything changed."""
    mean = (band[0] + band[1]) / 2
    failed: dict[int, set[int]] = {broker: set() for broker in placement.targets}
    changed = False

    def apart(full: int, empty: int) -> bool:
        outside = loads[full] > band[1] or loads[empty] < band[0]
        return outside and loads[full] > loads[empty] and loads[full] - loads[empty] >= least

    def next_pair() -> tuple[int, int] | None:
        order = sorted(placement.targets, key=loads.__getitem__)
        for full in reversed(order):
            tried = failed[full]
            if len(tried) >= 2 * _RECEIVERS:
                continue
            if not apart(full, order[0]):
                return None
            for empty in _receivers(placement, order, full):
                if empty not in tried and apart(full, empty):
                    return full, empty
        return None

    while pair := next_pair():
        full, empty = pair
        while apart(full, empty):
            if not exchange(full, empty):
                failed[full].add(empty)
                break
            changed = True
            if loads[full] < mean or loads[empty] > mean:
                break
    return changed


def _receivers(placement: Placement, order: Sequence[int], full: int) -> Iterator[int]:
    yield from islice(order, _RECEIVERS)
    if placement.racked:
        rack = placement.rack[full]
        yield from islice((each for each in order if placement.rack[each] == rack), _RECEIVERS)


# Preferred leaders, and the bytes written to them, spread over brokers.


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
            replica
            for replica in others
            if placement.is_target[replica] and placement.may_pass_leadership(at, first, replica)
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


# How many replicas of a broker are tried for one move, and for one exchange.
_TRIED = 200
_TRIED_IN_EXCHANGE = 40


def spread_bytes(placement: Placement) -> None:
    """Move replicas from brokers with more bytes to others, or exchange large ones for small."""
    by_size = _ReplicasBySize(placement)
    balance_pairs(placement, placement.bytes, by_size.shares.bytes, by_size.even_bytes)


def spread_replicas(placement: Placement) -> None:
    """Move replicas from brokers with more of them to others, the smallest first."""
    by_size = _ReplicasBySize(placement)
    balance_pairs(
        placement, placement.held, by_size.shares.replicas, by_size.even_replicas, least=2
    )


def revert_needless_copies(placement: Placement) -> None:
    """Leave replicas where they were, if no goal is worse for it."""
    by_size = _ReplicasBySize(placement)
    for at in placement.changed():
        for new, old in _copies(placement, at):
            replicas = placement.replicas[at]
            if new in replicas and old not in replicas and by_size.may_return(at, new, old):
                placement.swap(at, new, old)


def _copies(placement: Placement, at: int) -> list[tuple[int, int]]:
    """Each copied replica with each broker that was left and could keep its replica."""
    start, now = placement.start[at], placement.replicas[at]
    left = [each for each in start if each not in now and placement.is_target[each]]
    return [(new, old) for new in now if new not in start for old in left]


class _ReplicasBySize:
    """The replicas that may leave each broker, the smallest first, as (bytes, partition)."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self.shares = Shares(placement)
        self._on: list[list[tuple[int, int]]] = [[] for _ in placement.ids]
        for at, replicas in enumerate(placement.replicas):
            for broker in replicas if placement.chosen[at] else ():
                if placement.may_leave(at, broker):
                    self._on[broker].append((placement.size[at], at))
        for by_size in self._on:
            by_size.sort()

    # -- one step ----------------------------------------------------------------------------------

    def even_bytes(self, full: int, empty: int) -> bool:
        """Move or exchange replicas, so that two brokers have more equal bytes."""
        here, there = self._placement.bytes[full], self._placement.bytes[empty]
        low, high = self.shares.bytes
        gap = here - there
        # What brings both near the mean; then whatever makes them more equal.
        need = int(min(gap / 2, max(here - (low + high) / 2, (low + high) / 2 - there)))
        return (
            self._move(full, empty, need)
            or self._exchange(full, empty, gap)
            or self._move(full, empty, gap - 1)
        )

    def even_replicas(self, full: int, empty: int) -> bool:
        """Move a replica, if the bytes stay as even."""
        placement = self._placement
        may_lead = placement.leads[full] > placement.leads[empty]
        for size, at in islice(self._on[full], _TRIED):
            if not may_lead and placement.replicas[at][0] == full:
                continue
            if self._gain_in_bytes(full, empty, size) < 0:
                return False
            if self._fits(at, full, empty):
                self._put(at, full, empty)
                return True
        return False

    def may_return(self, at: int, new: int, old: int) -> bool:
        """Whether a replica may be where it was without making a goal worse."""
        held, band = self._placement.held, self.shares.replicas
        before = imbalance(held[new], band) + imbalance(held[old], band)
        return (
            self._fits(at, new, old)
            and self._gain_in_bytes(new, old, self._placement.size[at]) >= 0
            and imbalance(held[new] - 1, band) + imbalance(held[old] + 1, band) <= before
        )

    def _gain_in_bytes(self, full: int, empty: int, moved: int) -> float:
        """What moving so many bytes gains for the goal of bytes."""
        band, here, there = (
            self.shares.bytes,
            self._placement.bytes[full],
            self._placement.bytes[empty],
        )
        before = imbalance(here, band) + imbalance(there, band)
        return before - imbalance(here - moved, band) - imbalance(there + moved, band)

    def _move(self, full: int, empty: int, most: int) -> bool:
        """Move the largest replica of at most so many bytes that gains something."""
        by_size = self._on[full]
        end = bisect_right(by_size, (most, len(self._placement.partitions)))
        for size, at in islice(reversed(by_size[max(0, end - _TRIED) : end]), _TRIED):
            if self._gain_in_bytes(full, empty, size) > 0 and self._fits(at, full, empty):
                self._put(at, full, empty)
                return True
        return False

    def _exchange(self, full: int, empty: int, gap: int) -> bool:
        """Exchange a replica for a smaller one, by at most half of the gap if there is such a
        pair."""
        by_size, half = self._on[full], gap // 2
        wide: tuple[int, int] | None = None
        for size, at in by_size[:: -max(1, len(by_size) // _TRIED_IN_EXCHANGE)]:
            for other in self._partners(at, full, empty, size - half):
                moved = size - self._placement.size[other]
                # Copying much to gain little is not worth it.
                if moved <= (2 * size - moved) * self._placement.min_gain:
                    continue
                if moved > half and (wide or moved >= gap):
                    continue
                if self._gain_in_bytes(full, empty, moved) > 0 and self._may_exchange(
                    at, other, full, empty
                ):
                    if moved <= half:
                        return self._apply_exchange(at, other, full, empty)
                    wide = at, other
        return wide is not None and self._apply_exchange(*wide, full, empty)

    def _apply_exchange(self, at: int, other: int, full: int, empty: int) -> bool:
        leads, other_leads = self._leads(at, full), self._leads(other, empty)
        reordered: tuple[int, ...] = ()
        if leads != other_leads:
            passing = (at, full, empty) if leads else (other, empty, full)
            reordered = self._reorder_in_return(*passing)
        self._put(at, full, empty)
        self._put(other, empty, full)
        self._placement.keep_together(at, other, *reordered)
        return True

    def _reorder_in_return(self, at: int, old: int, new: int) -> tuple[int, ...]:
        """If leading may not simply pass, reorder another partition the other way; return it."""
        if self._may_pass_leadership(at, old, new):
            return ()
        reordered_partition = self._partition_to_reorder(at, old, new)
        self._placement.set_leader(reordered_partition, old)
        return (reordered_partition,)

    def _partners(self, at: int, full: int, empty: int, least: int) -> Iterator[int]:
        """Partitions of at least so many bytes to exchange with, those of the same topic first."""
        placement, by_size = self._placement, self._on[empty]
        siblings = (
            other for other in placement.topics[placement.topic[at]]
            if empty in placement.replicas[other] and placement.may_leave(other, empty)
        )  # fmt: skip
        yield from sorted(islice(siblings, _TRIED_IN_EXCHANGE), key=placement.size.__getitem__)
        start = bisect_left(by_size, (least, -1))
        yield from (other for _, other in by_size[start : start + _TRIED_IN_EXCHANGE])

    def _put(self, at: int, old: int, new: int) -> None:
        sized = (self._placement.size[at], at)
        by_size = self._on[old]
        del by_size[bisect_left(by_size, sized)]
        self._placement.swap(at, old, new)
        insort(self._on[new], sized)

    # -- goals that matter more --------------------------------------------------------------------

    def _fits(self, at: int, old: int, new: int) -> bool:
        """Whether a replica may move: its topic, and the leaders, stay as even."""
        placement = self._placement
        count = placement.count[placement.topic[at]]
        if count[old] <= count.get(new, 0) or not placement.may_move(at, old, new):
            return False
        return placement.replicas[at][0] != old or self._may_pass_leadership(at, old, new)

    def _may_pass_leadership(self, at: int, old: int, new: int) -> bool:
        placement = self._placement
        return (
            placement.may_reorder(at)
            and not placement.write[at]
            and placement.may_pass_leadership(at, old, new)
        )

    def _may_pass_or_reorder(self, at: int, old: int, new: int) -> bool:
        """Whether leading may pass, alone or with a partition that is reordered the other way."""
        return (
            self._may_pass_leadership(at, old, new) or self._partition_to_reorder(at, old, new) >= 0
        )

    def _partition_to_reorder(self, at: int, old: int, new: int) -> int:
        """A partition of the same topic that `new` leads and `old` may lead instead, which copies
        nothing; -1 if there is none."""
        placement = self._placement
        topic = placement.topic[at]
        if (
            placement.write[at]
            or not placement.may_reorder(at)
            or not placement.led[topic].get(new, 0)
        ):
            return -1
        return next(
            (
                partition
                for partition in islice(placement.topics[topic], _TRIED_IN_EXCHANGE)
                if self._leads(partition, new)
                and old in placement.replicas[partition]
                and not placement.write[partition]
                and placement.may_reorder(partition)
            ),
            -1,
        )

    def _leads(self, at: int, broker: int) -> bool:
        return self._placement.replicas[at][0] == broker

    def _may_exchange(self, at: int, other: int, full: int, empty: int) -> bool:
        """The same of two replicas that change places."""
        placement = self._placement
        if not placement.may_move(at, full, empty) or not placement.may_move(other, empty, full):
            return False
        first, second = placement.topic[at], placement.topic[other]
        here, there = placement.count[first], placement.count[second]
        if first != second and (
            here[full] <= here.get(empty, 0) or there[empty] <= there.get(full, 0)
        ):
            return False
        leads, other_leads = self._leads(at, full), self._leads(other, empty)
        if not (leads and other_leads):
            return (not leads or self._may_pass_or_reorder(at, full, empty)) and (
                not other_leads or self._may_pass_or_reorder(other, empty, full)
            )
        if placement.write[at] != placement.write[other]:
            return False
        if not placement.may_reorder(at) or not placement.may_reorder(other):
            return False
        return first == second or (
            placement.led[first][full] > placement.led[first].get(empty, 0)
            and placement.led[second][empty] > placement.led[second].get(full, 0)
        )
