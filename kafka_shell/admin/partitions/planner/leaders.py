"""Preferred leaders, and the bytes written to them, spread over brokers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection

from .board import Board
from .evening import even
from .pairs import even_pairs
from .scores import Shares, off
from .topics import pass_lead


class _Choices:
    """The partitions that each broker leads, by the other replicas that could lead them."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._by_pair: dict[tuple[int, int], dict[int, None]] = {}
        for at, replicas in enumerate(board.replicas):
            if board.may_reorder(at) and board.is_target[replicas[0]]:
                self._add(at)

    def __getitem__(self, pair: tuple[int, int]) -> Collection[int]:
        return self._by_pair.get(pair, ())

    def lead(self, at: int, broker: int) -> None:
        """Make a replica the preferred leader."""
        first, *others = self._board.replicas[at]
        for other in others:
            del self._by_pair[first, other][at]
        self._board.lead(at, broker)
        self._add(at)

    def _add(self, at: int) -> None:
        first, *others = self._board.replicas[at]
        for other in others:
            self._by_pair.setdefault((first, other), {})[at] = None


def order(board: Board) -> None:
    """Choose preferred leaders among the replicas, so that brokers lead evenly."""
    _order_nearly(board)
    choices = _Choices(board)

    def pick(here: int, there: int, shifted: Collection[int]) -> int | None:
        for at in choices[here, there]:
            topic = board.topic[at]
            led = board.led[topic]
            # A second shift on the path could be one too many for a topic.
            if led[here] > led.get(there, 0) and topic not in map(board.topic.__getitem__, shifted):
                return at
        return None

    even(
        board.targets, board.leads.__getitem__, pick,
        lambda at, here, there: choices.lead(at, there),
        tie=lambda broker: (board.bytes[broker], broker), together=board.keep_together,
    )  # fmt: skip


def _order_nearly(board: Board) -> None:
    """The same in one pass over the partitions, which is fast and does most of it."""
    leads = board.leads
    for at, (first, *others) in enumerate(board.replicas):
        if not others or not board.is_target[first] or not board.may_reorder(at):
            continue
        fit = [each for each in others if board.is_target[each] and board.may_pass(at, first, each)]
        least = min(fit, key=leads.__getitem__, default=first)
        if leads[first] >= leads[least] + 2:
            board.lead(at, least)


def move(board: Board) -> None:
    """The same by moving replicas, where brokers are still more than `min_gain` apart."""
    led: dict[int, dict[int, None]] = {}
    for at, replicas in enumerate(board.replicas):
        if board.may_reorder(at) and board.may_leave(at, replicas[0]):
            led.setdefault(replicas[0], {})[at] = None
    low, high = Shares(board).leaders
    band = (low * (1 - board.min_gain), high * (1 + board.min_gain))

    def shift(full: int, empty: int) -> bool:
        for at in led.get(full, ()):
            topic = board.led[board.topic[at]]
            if topic.get(full, 0) > topic.get(empty, 0) and pass_lead(board, at, full, empty):
                del led[full][at]
                led.setdefault(empty, {})[at] = None
                return True
        return False

    even_pairs(board, board.leads, band, shift, least=2)


def order_by_writes(board: Board) -> None:
    """Exchange the leaders of pairs of partitions, so that as many bytes are written to the leaders
    of each broker. Copies nothing."""
    choices, band = _Choices(board), Shares(board).writes
    rate = board.write.__getitem__

    def exchange(full: int, empty: int) -> bool:
        here = sorted(choices[full, empty], key=rate, reverse=True)
        there = sorted(choices[empty, full], key=rate)
        rates = list(map(rate, there))
        gap = (board.writes[full] - board.writes[empty]) / 2
        before = off(board.writes[full], band) + off(board.writes[empty], band)
        for at in here:
            for other in there[bisect_left(rates, rate(at) - gap) :]:
                moved = rate(at) - rate(other)
                if moved <= 0:
                    break
                after = off(board.writes[full] - moved, band)
                after += off(board.writes[empty] + moved, band)
                if after < before and _exchangeable(board, at, other, full, empty):
                    choices.lead(at, empty)
                    choices.lead(other, full)
                    board.keep_together(at, other)
                    return True
        return False

    even_pairs(board, board.writes, band, exchange)


def _exchangeable(board: Board, at: int, other: int, full: int, empty: int) -> bool:
    topic, second = board.topic[at], board.topic[other]
    if topic == second:
        return True
    first, led = board.led[topic], board.led[second]
    return first[full] > first.get(empty, 0) and led[empty] > led.get(full, 0)
