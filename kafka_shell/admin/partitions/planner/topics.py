"""The goals of each topic: its replicas and its preferred leaders, spread over brokers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from heapq import nsmallest

from kafka_shell.admin.partitions.planner.placement import Placement, balance_counts


def spread_replicas(placement: Placement) -> None:
    """Move replicas of each topic to brokers with fewer of them."""
    for topic in _uneven(placement, placement.count):
        _spread(placement, topic)


def order_leaders(placement: Placement) -> None:
    """Choose preferred leaders among the replicas, so that brokers lead evenly in each topic."""
    for topic in _uneven(placement, placement.led):
        _order(placement, topic)


def move_leaders(placement: Placement) -> None:
    """The same by moving replicas, where the order of replicas is not enough."""
    for topic in _uneven(placement, placement.led):
        while _move_one(placement, topic):
            pass


def _uneven(placement: Placement, loads: list[dict[int, int]]) -> Iterator[int]:
    """The topics in which brokers differ by two or more, and some partition may change."""
    for topic, by_broker in enumerate(loads):
        chosen = (placement.chosen[at] for at in placement.topics[topic])
        if _is_uneven(placement, by_broker) and any(chosen):
            yield topic


def _is_uneven(placement: Placement, by_broker: dict[int, int]) -> bool:
    counted = [number for broker, number in by_broker.items() if placement.is_target[broker]]
    least = min(counted, default=0) if len(counted) == len(placement.targets) else 0
    return max(counted, default=0) >= least + 2


def _spread(placement: Placement, topic: int) -> None:
    """Among the brokers that have replicas and the emptiest others; then, if racks or space make
    these not enough, among all."""
    count = placement.count[topic]
    others = [broker for broker in placement.targets if not count.get(broker)]
    having = [broker for broker in placement.targets if count.get(broker)]
    emptiest = nsmallest(2 * sum(count.values()), others, key=_load(placement))
    if len(emptiest) < len(others):
        _spread_over(placement, topic, [*having, *emptiest])
        if not _is_uneven(placement, count):
            return
    _spread_over(placement, topic, placement.targets)


def _spread_over(placement: Placement, topic: int, brokers: Sequence[int]) -> None:
    count = placement.count[topic]
    on: dict[int, dict[int, None]] = {}
    for at in placement.topics[topic]:
        for broker in placement.replicas[at]:
            on.setdefault(broker, {})[at] = None

    def pick(here: int, there: int, shifted: Collection[int]) -> int | None:
        fit = [
            at
            for at in on.get(here, ())
            if at not in shifted and placement.may_move(at, here, there)
        ]
        return min(fit, key=lambda at: (_cost(placement, at, here, there), at), default=None)

    def shift(at: int, here: int, there: int) -> None:
        placement.swap(at, here, there)
        del on[here][at]
        on.setdefault(there, {})[at] = None

    balance_counts(
        brokers, lambda broker: count.get(broker, 0), pick, shift,
        tie=_load(placement), together=placement.keep_together,
    )  # fmt: skip


def _load(placement: Placement) -> Callable[[int], tuple[int, int, int]]:
    return lambda broker: (placement.bytes[broker], placement.held[broker], broker)


def _cost(placement: Placement, at: int, old: int, new: int) -> tuple[int, int]:
    """What the move adds to the bytes and replicas to copy."""
    start = placement.start[at]
    copies = (new not in start) - (old not in start)
    return copies * placement.size[at], copies


def _order(placement: Placement, topic: int) -> None:
    led = placement.led[topic]

    def pick(here: int, there: int, shifted: Collection[int]) -> int | None:
        for at in placement.topics[topic]:
            replicas = placement.replicas[at]
            fit = replicas[0] == here and there in replicas and at not in shifted
            if fit and placement.may_reorder(at):
                return at
        return None

    brokers = [broker for broker in placement.targets if placement.count[topic].get(broker)]
    balance_counts(
        brokers, lambda broker: led.get(broker, 0), pick,
        lambda at, here, there: placement.set_leader(at, there),
        tie=lambda broker: (placement.leads[broker], broker), together=placement.keep_together,
    )  # fmt: skip


def _move_one(placement: Placement, topic: int) -> bool:
    """Give one broker with too many leaders one fewer. Returns whether that was possible."""
    led = placement.led[topic]
    order = sorted(
        placement.targets, key=lambda broker: (led.get(broker, 0), placement.leads[broker])
    )
    for full in reversed(order):
        for empty in order:
            if led.get(full, 0) < led.get(empty, 0) + 2:
                break
            if any(
                move_leading_replica(placement, at, full, empty) for at in placement.topics[topic]
            ):
                return True
    return False


def move_leading_replica(placement: Placement, at: int, old: int, new: int) -> bool:
    """Move the replica of a partition that `old` leads to `new`; if `new` has as many of the topic,
    in exchange for one that it does not lead. Returns whether that was possible."""
    if placement.replicas[at][0] != old or not placement.may_reorder(at):
        return False
    if not placement.may_move(at, old, new):
        return False
    count = placement.count[placement.topic[at]]
    if count[old] > count.get(new, 0):
        placement.swap(at, old, new)
        return True
    for other in placement.topics[placement.topic[at]]:
        if new in placement.replicas[other][1:] and placement.may_move(other, new, old):
            placement.swap(at, old, new)
            placement.swap(other, new, old)
            placement.keep_together(at, other)
            return True
    return False
