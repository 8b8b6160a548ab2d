"""Even out loads between pairs of brokers, the most different ones first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from kafka_shell.admin.partitions.planner.placement import Placement
from kafka_shell.admin.partitions.planner.scores import Band, imbalance

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
