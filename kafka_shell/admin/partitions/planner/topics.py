"""The goals of each topic: its replicas and its preferred leaders, spread over brokers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from heapq import nsmallest

from .board import Board
from .evening import even


def spread_replicas(board: Board) -> None:
    """Move replicas of each topic to brokers with fewer of them."""
    for topic in _uneven(board, board.count):
        _spread(board, topic)


def order_leaders(board: Board) -> None:
    """Choose preferred leaders among the replicas, so that brokers lead evenly in each topic."""
    for topic in _uneven(board, board.led):
        _order(board, topic)


def move_leaders(board: Board) -> None:
    """The same by moving replicas, where the order of replicas is not enough."""
    for topic in _uneven(board, board.led):
        while _move_one(board, topic):
            pass


def _uneven(board: Board, loads: list[dict[int, int]]) -> Iterator[int]:
    """The topics in which brokers differ by two or more, and some partition may change."""
    for topic, by_broker in enumerate(loads):
        chosen = (board.chosen[at] for at in board.topics[topic])
        if _is_uneven(board, by_broker) and any(chosen):
            yield topic


def _is_uneven(board: Board, by_broker: dict[int, int]) -> bool:
    counted = [number for broker, number in by_broker.items() if board.is_target[broker]]
    least = min(counted, default=0) if len(counted) == len(board.targets) else 0
    return max(counted, default=0) >= least + 2


def _spread(board: Board, topic: int) -> None:
    """Among the brokers that have replicas and the emptiest others; then, if racks or space make
    these not enough, among all."""
    count = board.count[topic]
    others = [broker for broker in board.targets if not count.get(broker)]
    having = [broker for broker in board.targets if count.get(broker)]
    emptiest = nsmallest(2 * sum(count.values()), others, key=_load(board))
    if len(emptiest) < len(others):
        _spread_over(board, topic, [*having, *emptiest])
        if not _is_uneven(board, count):
            return
    _spread_over(board, topic, board.targets)


def _spread_over(board: Board, topic: int, brokers: Sequence[int]) -> None:
    count = board.count[topic]
    on: dict[int, dict[int, None]] = {}
    for at in board.topics[topic]:
        for broker in board.replicas[at]:
            on.setdefault(broker, {})[at] = None

    def pick(here: int, there: int, shifted: Collection[int]) -> int | None:
        fit = [
            at for at in on.get(here, ()) if at not in shifted and board.may_move(at, here, there)
        ]
        return min(fit, key=lambda at: (_cost(board, at, here, there), at), default=None)

    def shift(at: int, here: int, there: int) -> None:
        board.swap(at, here, there)
        del on[here][at]
        on.setdefault(there, {})[at] = None

    even(
        brokers, lambda broker: count.get(broker, 0), pick, shift,
        tie=_load(board), together=board.keep_together,
    )  # fmt: skip


def _load(board: Board) -> Callable[[int], tuple[int, int, int]]:
    return lambda broker: (board.bytes[broker], board.held[broker], broker)


def _cost(board: Board, at: int, old: int, new: int) -> tuple[int, int]:
    """What the move adds to the bytes and replicas to copy."""
    start = board.start[at]
    copies = (new not in start) - (old not in start)
    return copies * board.size[at], copies


def _order(board: Board, topic: int) -> None:
    led = board.led[topic]

    def pick(here: int, there: int, shifted: Collection[int]) -> int | None:
        for at in board.topics[topic]:
            replicas = board.replicas[at]
            fit = replicas[0] == here and there in replicas and at not in shifted
            if fit and board.may_reorder(at):
                return at
        return None

    brokers = [broker for broker in board.targets if board.count[topic].get(broker)]
    even(
        brokers, lambda broker: led.get(broker, 0), pick,
        lambda at, here, there: board.lead(at, there),
        tie=lambda broker: (board.leads[broker], broker), together=board.keep_together,
    )  # fmt: skip


def _move_one(board: Board, topic: int) -> bool:
    """Give one broker with too many leaders one fewer. Returns whether that was possible."""
    led = board.led[topic]
    order = sorted(board.targets, key=lambda broker: (led.get(broker, 0), board.leads[broker]))
    for full in reversed(order):
        for empty in order:
            if led.get(full, 0) < led.get(empty, 0) + 2:
                break
            if any(pass_lead(board, at, full, empty) for at in board.topics[topic]):
                return True
    return False


def pass_lead(board: Board, at: int, old: int, new: int) -> bool:
    """Move the replica of a partition that `old` leads to `new`; if `new` has as many of the topic,
    in exchange for one that it does not lead. Returns whether that was possible."""
    if board.replicas[at][0] != old or not board.may_reorder(at):
        return False
    if not board.may_move(at, old, new):
        return False
    count = board.count[board.topic[at]]
    if count[old] > count.get(new, 0):
        board.swap(at, old, new)
        return True
    for other in board.topics[board.topic[at]]:
        if new in board.replicas[other][1:] and board.may_move(other, new, old):
            board.swap(at, old, new)
            board.swap(other, new, old)
            board.keep_together(at, other)
            return True
    return False
