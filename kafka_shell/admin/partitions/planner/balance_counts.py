"""Even out counts of brokers by shifting one at a time, also along paths of several brokers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

Pick = Callable[[int, int, Collection[int]], int | None]
"""What can be shifted from one broker to another, excluding what is shifted on the path already."""
Shift = tuple[int, int, int]  # from, to, what


def balance_counts(
    brokers: Sequence[int],
    load: Callable[[int], int],
    pick: Pick,
    shift: Callable[[int, int, int], None],
    tie: Callable[[int], object] = lambda broker: broker,
    together: Callable[..., None] = lambda *shifted: None,
) -> None:
    """Shift on the shortest path from a full broker to one with at least two fewer, while there is
    one. Without such a path, no distribution that the shifts allow is more even.

    Of brokers with equal loads, the one with the smallest `tie` receives. `together` is
    called with what is shifted on a path of several brokers.
    """
    if not brokers:
        return
    stuck: set[int] = set()  # no path from these; a later shift may open one
    moved = False
    while True:
        least = min(map(load, brokers))
        full = [each for each in brokers if load(each) >= least + 2 and each not in stuck]
        if not full and moved and stuck:
            stuck, moved = set(), False
            continue
        if not full:
            return
        first = max(full, key=lambda broker: (load(broker), -broker))
        order = sorted(brokers, key=lambda broker: (load(broker), tie(broker)))
        path, reached = _shortest_path(first, order, load, pick)
        if not path:
            stuck |= reached  # they reach no others, and have no more than the first
            continue
        for here, there, each in path:
            shift(each, here, there)
        if len(path) > 1:
            together(*(each for _, _, each in path))
        moved = True


def _shortest_path(
    full: int, order: Sequence[int], load: Callable[[int], int], pick: Pick
) -> tuple[list[Shift], set[int]]:
    """The shortest path to the emptiest reachable broker with at least two fewer, or none; and the
    brokers that were reached. `order` are all, the emptiest first.

    Nothing is shifted twice on it, as shifts were only checked before the first one.
    """
    ways: dict[int, list[Shift]] = {full: []}
    level, enough, least = [full], load(full) - 2, load(order[0])
    while level:
        following: list[int] = []
        for here in level:
            shifted = {each for _, _, each in ways[here]}
            for there in order:
                each = None if there in ways else pick(here, there, shifted)
                if each is not None:
                    ways[there] = [*ways[here], (here, there, each)]
                    following.append(there)
                    if load(there) == least or (here == full and load(there) <= enough):
                        return ways[there], set(ways)
        fewer = [broker for broker in following if load(broker) <= enough]
        if fewer:
            return ways[min(fewer, key=load)], set(ways)
        level = following
    return [], set(ways)
