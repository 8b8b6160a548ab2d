"""Hard goals: replicas leave brokers, factors change, partitions are spread over racks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from .board import Board


def leave(board: Board) -> list[int]:
    """Replace each chosen replica on a leaving broker. Returns the partitions that do not fit
    anywhere, which are not changed."""
    stuck = []
    for at, replicas in enumerate(board.replicas):
        if not board.chosen[at]:
            continue
        mark = len(board.log)
        for broker in replicas:
            if board.leaving[broker] and not _replace(board, at, broker):
                board.roll_back(mark)
                board.chosen[at] = False
                stuck.append(at)
                break
    return stuck


def _replace(board: Board, at: int, old: int) -> bool:
    beside = tuple(each for each in board.replicas[at] if each != old)
    new = best(board, at, beside, leads=board.replicas[at][0] == old)
    if new is not None:
        board.swap(at, old, new)
    return new is not None


def best(board: Board, at: int, beside: Collection[int], *, leads: bool) -> int | None:
    """The target for a replica beside others: in the emptiest rack, then by the soft goals."""
    replicas, topic = board.replicas[at], board.topic[at]
    count, led = board.count[topic], board.led[topic]
    crowd = Counter(board.rack[each] for each in beside)
    by_crowd: dict[int, list[int]] = {}
    for rack, brokers in board.by_rack.items():
        by_crowd.setdefault(crowd[rack], []).extend(brokers)

    def load(new: int) -> tuple[object, ...]:
        here = board.bytes[new], board.held[new], new
        return (led.get(new, 0), board.leads[new], *here) if leads else here

    for _, brokers in sorted(by_crowd.items()):
        free = [each for each in brokers if each not in replicas]
        while free:
            fewest = min(count.get(each, 0) for each in free)
            new = min((each for each in free if count.get(each, 0) == fewest), key=load)
            if board.fits(at, new):
                return new
            free.remove(new)
    return None


def raise_factor(board: Board, factor: int) -> list[int]:
    """Add replicas to chosen partitions, as the last ones. Returns those that lack a broker."""
    stuck = []
    for at, chosen in enumerate(board.chosen):
        mark = len(board.log)
        while chosen and len(board.replicas[at]) < factor:
            new = best(board, at, board.replicas[at], leads=False)
            if new is None:
                board.roll_back(mark)
                board.chosen[at] = False
                stuck.append(at)
                break
            board.set(at, (*board.replicas[at], new))
    return stuck


def lower_factor(board: Board, factor: int, lagging: dict[int, Collection[int]]) -> None:
    """Remove replicas of chosen partitions, but never the preferred leader: first one that is not a
    target or not in sync, then one in a crowded rack, then by the soft goals."""
    for at, chosen in enumerate(board.chosen):
        while chosen and len(board.replicas[at]) > factor:
            replicas = board.replicas[at]
            crowd = Counter(board.rack[each] for each in replicas)
            count, behind = board.count[board.topic[at]], lagging.get(at, ())
            gone = max(
                replicas[1:],
                key=lambda broker: (
                    not board.is_target[broker], broker in behind, crowd[board.rack[broker]],
                    count[broker], board.bytes[broker], board.held[broker], broker,
                ),
            )  # fmt: skip
            board.set(at, tuple(each for each in replicas if each != gone))


def widen(board: Board) -> None:
    """Move replicas from crowded racks to emptier ones."""
    if not board.racked:
        return
    racks = {board.rack[each] for each in board.targets}
    for at, chosen in enumerate(board.chosen):
        if chosen:
            while _widen(board, at, racks):
                pass


def _widen(board: Board, at: int, racks: set[int]) -> bool:
    """Move one replica to a rack with at least two fewer. Returns whether there was one."""
    replicas, rack = board.replicas[at], board.rack
    crowd = Counter(rack[each] for each in replicas)
    most = max(crowd.values())
    if most < 2 or all(crowd[each] + 2 > most for each in racks):
        return False
    # The one with the most of its topic, then of bytes, leaves.
    count = board.count[board.topic[at]]
    leaving = sorted(
        (each for each in replicas if crowd[rack[each]] >= 2 and board.may_leave(at, each)),
        key=lambda each: (-crowd[rack[each]], -count[each], -board.bytes[each], each),
    )
    for old in leaving:
        beside = tuple(each for each in replicas if each != old)
        new = best(board, at, beside, leads=replicas[0] == old)
        if new is not None and crowd[rack[new]] + 2 <= crowd[rack[old]]:
            board.swap(at, old, new)
            return True
    return False
