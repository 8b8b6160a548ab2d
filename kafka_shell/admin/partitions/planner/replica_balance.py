"""Bytes and replicas per broker, evened out by moving replicas."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from itertools import islice

from kafka_shell.admin.partitions.planner.balance_pairs import balance_pairs
from kafka_shell.admin.partitions.planner.placement import Placement
from kafka_shell.admin.partitions.planner.scores import Shares, imbalance

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
                each
                for each in islice(placement.topics[topic], _TRIED_IN_EXCHANGE)
                if self._leads(each, new)
                and old in placement.replicas[each]
                and not placement.write[each]
                and placement.may_reorder(each)
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
