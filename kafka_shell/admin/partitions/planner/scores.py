"""The goals as numbers: the squared distances of brokers from an even share, and their sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil, floor

from kafka_shell.admin.partitions.model import GoalScore

from .board import Board
from .problem import TOLERANCE, Replicas

Band = tuple[float, float]

RACKS = "racks"
TOPIC_REPLICAS = "topic-replicas"
TOPIC_LEADERS = "topic-leaders"
LEADERS = "leaders"
WRITES = "writes"
BYTES = "bytes"
REPLICAS = "replicas"


def share(total: float, brokers: int) -> Band:
    """An even share of a count, rounded down and up."""
    if not brokers:
        return 0, 0
    low = total // brokers
    return low, low if low * brokers == total else low + 1


def wide_share(total: float, brokers: int) -> Band:
    """An even share with the tolerance; of small counts, rounded down and up."""
    low, high = share(total, brokers)
    mean = total / brokers if brokers else 0
    return min(low, mean * (1 - TOLERANCE)), max(high, mean * (1 + TOLERANCE))


def near(total: float, brokers: int) -> Band:
    """The mean with the tolerance, of bytes: whole numbers, so that sums are exact."""
    mean = total / brokers if brokers else 0
    return floor(mean * (1 - TOLERANCE)), ceil(mean * (1 + TOLERANCE))


def off(load: float, band: Band) -> float:
    """The squared distance of one load from the share."""
    if load > band[1]:
        return (load - band[1]) ** 2
    return (band[0] - load) ** 2 if load < band[0] else 0


def topic_off(loads: dict[int, int], board: Board) -> float:
    """The same for all target brokers of a topic."""
    counted = [number for broker, number in loads.items() if board.is_target[broker]]
    band = share(sum(counted), len(board.targets))
    absent = (len(board.targets) - len(counted)) * off(0, band)
    return absent + sum(off(number, band) for number in counted)


def rack_off(board: Board, replicas: Replicas) -> int:
    """How crowded the racks of a partition are: the sum of squares, minus that of one each."""
    if not board.racked:
        return 0
    crowd = Counter(board.rack[broker] for broker in replicas)
    return sum(number * number for number in crowd.values()) - len(replicas)


class Shares:
    """The shares of target brokers in what their number fixes: they stay while replicas move."""

    def __init__(self, board: Board) -> None:
        brokers = len(board.targets)

        def total(loads: list[int] | list[float]) -> float:
            return sum(loads[broker] for broker in board.targets)

        self.leaders = share(total(board.leads), brokers)
        self.writes = near(total(board.writes), brokers)
        self.bytes = near(total(board.bytes), brokers)
        self.replicas = wide_share(total(board.held), brokers)
        # Squared percent of the mean: a number that people can read.
        self.per_byte = 1e4 / max(1, (total(board.bytes) / max(1, brokers)) ** 2)
        self.per_write = 1e4 / max(1e-9, (total(board.writes) / max(1, brokers)) ** 2)


def value(board: Board, goal: str) -> float:
    """The score of one goal."""
    if goal == RACKS:
        return sum(rack_off(board, each) for each in board.replicas) if board.racked else 0
    if goal == TOPIC_REPLICAS:
        return sum(topic_off(each, board) for each in board.count)
    if goal == TOPIC_LEADERS:
        return sum(topic_off(each, board) for each in board.led)
    shares = Shares(board)
    if goal == LEADERS:
        return _summed(board, board.leads, shares.leaders)
    if goal == WRITES:
        return shares.per_write * _summed(board, board.writes, shares.writes)
    if goal == BYTES:
        return shares.per_byte * _summed(board, board.bytes, shares.bytes)
    return _summed(board, board.held, shares.replicas)


def _summed(board: Board, loads: Sequence[float], band: Band) -> float:
    return sum(off(loads[broker], band) for broker in board.targets)


def goals(board: Board) -> list[str]:
    """The goals that can be judged, the most important first."""
    known = {RACKS: board.racked, WRITES: any(board.write), BYTES: any(board.size)}
    every = (RACKS, TOPIC_REPLICAS, TOPIC_LEADERS, LEADERS, WRITES, BYTES, REPLICAS)
    return [goal for goal in every if known.get(goal, True)]


def values(board: Board) -> dict[str, float]:
    """The score of each goal, the most important first."""
    return {goal: value(board, goal) for goal in goals(board)}


def compared(before: dict[str, float], after: dict[str, float]) -> tuple[GoalScore, ...]:
    """The scores of all goals before and after."""
    return tuple(GoalScore(goal, round(before[goal], 2), round(after[goal], 2)) for goal in after)
