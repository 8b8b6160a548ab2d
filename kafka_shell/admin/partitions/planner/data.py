"""Bytes and replicas per broker, evened out by moving replicas."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from itertools import islice

from .board import Board
from .pairs import even_pairs
from .scores import Shares, off

# How many replicas of a broker are tried for one move, and for one exchange.
_TRIED = 200
_TRIED_IN_EXCHANGE = 40


def spread_bytes(board: Board) -> None:
    """Move replicas from brokers with more bytes to others, or exchange large ones for small."""
    shelves = _Shelves(board)
    even_pairs(board, board.bytes, shelves.shares.bytes, shelves.even_bytes)


def spread_replicas(board: Board) -> None:
    """Move replicas from brokers with more of them to others, the smallest first."""
    shelves = _Shelves(board)
    even_pairs(board, board.held, shelves.shares.replicas, shelves.pass_one, least=2)


def take_back(board: Board) -> None:
    """Leave replicas where they were, if no goal is worse for it."""
    shelves = _Shelves(board)
    for at in board.changed():
        for new, old in _copies(board, at):
            replicas = board.replicas[at]
            if new in replicas and old not in replicas and shelves.may_return(at, new, old):
                board.swap(at, new, old)


def _copies(board: Board, at: int) -> list[tuple[int, int]]:
    """Each copied replica with each broker that was left and could keep its replica."""
    start, now = board.start[at], board.replicas[at]
    left = [each for each in start if each not in now and board.is_target[each]]
    return [(new, old) for new in now if new not in start for old in left]


class _Shelves:
    """The replicas that may leave each broker, the smallest first, as (bytes, partition)."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self.shares = Shares(board)
        self._on: list[list[tuple[int, int]]] = [[] for _ in board.ids]
        for at, replicas in enumerate(board.replicas):
            for broker in replicas if board.chosen[at] else ():
                if board.may_leave(at, broker):
                    self._on[broker].append((board.size[at], at))
        for shelf in self._on:
            shelf.sort()

    # -- one step ----------------------------------------------------------------------------------

    def even_bytes(self, full: int, empty: int) -> bool:
        """Move or exchange replicas, so that two brokers have more equal bytes."""
        here, there = self._board.bytes[full], self._board.bytes[empty]
        low, high = self.shares.bytes
        gap = here - there
        # What brings both near the mean; then whatever makes them more equal.
        need = int(min(gap / 2, max(here - (low + high) / 2, (low + high) / 2 - there)))
        return (
            self._move(full, empty, need)
            or self._exchange(full, empty, gap)
            or self._move(full, empty, gap - 1)
        )

    def pass_one(self, full: int, empty: int) -> bool:
        """Move a replica, if the bytes stay as even."""
        board = self._board
        may_lead = board.leads[full] > board.leads[empty]
        for size, at in islice(self._on[full], _TRIED):
            if not may_lead and board.replicas[at][0] == full:
                continue
            if self._worth(full, empty, size) < 0:
                return False
            if self._fits(at, full, empty):
                self._put(at, full, empty)
                return True
        return False

    def may_return(self, at: int, new: int, old: int) -> bool:
        """Whether a replica may be where it was without making a goal worse."""
        held, band = self._board.held, self.shares.replicas
        before = off(held[new], band) + off(held[old], band)
        return (
            self._fits(at, new, old)
            and self._worth(new, old, self._board.size[at]) >= 0
            and off(held[new] - 1, band) + off(held[old] + 1, band) <= before
        )

    def _worth(self, full: int, empty: int, moved: int) -> float:
        """What moving so many bytes gains for the goal of bytes."""
        band, here, there = self.shares.bytes, self._board.bytes[full], self._board.bytes[empty]
        before = off(here, band) + off(there, band)
        return before - off(here - moved, band) - off(there + moved, band)

    def _move(self, full: int, empty: int, most: int) -> bool:
        """Move the largest replica of at most so many bytes that gains something."""
        shelf = self._on[full]
        end = bisect_right(shelf, (most, len(self._board.partitions)))
        for size, at in islice(reversed(shelf[max(0, end - _TRIED) : end]), _TRIED):
            if self._worth(full, empty, size) > 0 and self._fits(at, full, empty):
                self._put(at, full, empty)
                return True
        return False

    def _exchange(self, full: int, empty: int, gap: int) -> bool:
        """Exchange a replica for a smaller one, by at most half of the gap if there is such a
        pair."""
        shelf, half = self._on[full], gap // 2
        wide: tuple[int, int] | None = None
        for size, at in shelf[:: -max(1, len(shelf) // _TRIED_IN_EXCHANGE)]:
            for other in self._partners(at, full, empty, size - half):
                moved = size - self._board.size[other]
                # Copying much to gain little is not worth it.
                if moved <= (2 * size - moved) * self._board.min_gain:
                    continue
                if moved > half and (wide or moved >= gap):
                    continue
                if self._worth(full, empty, moved) > 0 and self._fit(at, other, full, empty):
                    if moved <= half:
                        return self._trade(at, other, full, empty)
                    wide = at, other
        return wide is not None and self._trade(*wide, full, empty)

    def _trade(self, at: int, other: int, full: int, empty: int) -> bool:
        leads, other_leads = self._leads(at, full), self._leads(other, empty)
        reordered: tuple[int, ...] = ()
        if leads != other_leads:
            passing = (at, full, empty) if leads else (other, empty, full)
            reordered = self._make_up_for(*passing)
        self._put(at, full, empty)
        self._put(other, empty, full)
        self._board.keep_together(at, other, *reordered)
        return True

    def _make_up_for(self, at: int, old: int, new: int) -> tuple[int, ...]:
        """If leading may not simply pass, reorder another partition the other way; return it."""
        if self._may_pass(at, old, new):
            return ()
        opposite = self._opposite(at, old, new)
        self._board.lead(opposite, old)
        return (opposite,)

    def _partners(self, at: int, full: int, empty: int, least: int) -> Iterator[int]:
        """Partitions of at least so many bytes to exchange with, those of the same topic first."""
        board, shelf = self._board, self._on[empty]
        siblings = (
            other for other in board.topics[board.topic[at]]
            if empty in board.replicas[other] and board.may_leave(other, empty)
        )  # fmt: skip
        yield from sorted(islice(siblings, _TRIED_IN_EXCHANGE), key=board.size.__getitem__)
        start = bisect_left(shelf, (least, -1))
        yield from (other for _, other in shelf[start : start + _TRIED_IN_EXCHANGE])

    def _put(self, at: int, old: int, new: int) -> None:
        sized = (self._board.size[at], at)
        shelf = self._on[old]
        del shelf[bisect_left(shelf, sized)]
        self._board.swap(at, old, new)
        insort(self._on[new], sized)

    # -- goals that matter more --------------------------------------------------------------------

    def _fits(self, at: int, old: int, new: int) -> bool:
        """Whether a replica may move: its topic, and the leaders, stay as even."""
        board = self._board
        count = board.count[board.topic[at]]
        if count[old] <= count.get(new, 0) or not board.may_move(at, old, new):
            return False
        return board.replicas[at][0] != old or self._may_pass(at, old, new)

    def _may_pass(self, at: int, old: int, new: int) -> bool:
        board = self._board
        return board.may_reorder(at) and not board.write[at] and board.may_pass(at, old, new)

    def _may_lead(self, at: int, old: int, new: int) -> bool:
        """Whether leading may pass, alone or with a partition that is reordered the other way."""
        return self._may_pass(at, old, new) or self._opposite(at, old, new) >= 0

    def _opposite(self, at: int, old: int, new: int) -> int:
        """A partition of the same topic that `new` leads and `old` may lead instead, which copies
        nothing; -1 if there is none."""
        board = self._board
        topic = board.topic[at]
        if board.write[at] or not board.may_reorder(at) or not board.led[topic].get(new, 0):
            return -1
        return next(
            (
                each
                for each in islice(board.topics[topic], _TRIED_IN_EXCHANGE)
                if self._leads(each, new)
                and old in board.replicas[each]
                and not board.write[each]
                and board.may_reorder(each)
            ),
            -1,
        )

    def _leads(self, at: int, broker: int) -> bool:
        return self._board.replicas[at][0] == broker

    def _fit(self, at: int, other: int, full: int, empty: int) -> bool:
        """The same of two replicas that change places."""
        board = self._board
        if not board.may_move(at, full, empty) or not board.may_move(other, empty, full):
            return False
        first, second = board.topic[at], board.topic[other]
        here, there = board.count[first], board.count[second]
        if first != second and (
            here[full] <= here.get(empty, 0) or there[empty] <= there.get(full, 0)
        ):
            return False
        leads, other_leads = self._leads(at, full), self._leads(other, empty)
        if not (leads and other_leads):
            return (not leads or self._may_lead(at, full, empty)) and (
                not other_leads or self._may_lead(other, empty, full)
            )
        if board.write[at] != board.write[other]:
            return False
        if not board.may_reorder(at) or not board.may_reorder(other):
            return False
        return first == second or (
            board.led[first][full] > board.led[first].get(empty, 0)
            and board.led[second][empty] > board.led[second].get(full, 0)
        )
