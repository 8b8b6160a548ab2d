"""Plans new replica assignments with few copies, spread over racks, and with spread leaders. Pure.

Brokers map to racks; one without a rack is a rack of its own. Functions return only the partitions
that change. The same input gives the same result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType

from .model import Assignment, Racks, TopicPartition

Replicas = tuple[int, ...]


class ImpossiblePlacement(ValueError):
    """There are fewer brokers than replicas."""


def drain(
    assignment: Assignment,
    broker: int,
    racks: Racks,
    chosen: Collection[TopicPartition] | None = None,
) -> dict[TopicPartition, Replicas]:
    """Move all replicas of `broker` (or those of `chosen`) to other brokers, one copy each.

    `assignment` is that of the whole cluster, to spread the load. Raises ImpossiblePlacement if a
    partition is on all other brokers already.
    """
    board = _Board(assignment, {id: rack for id, rack in racks.items() if id != broker})
    partitions = sorted(assignment if chosen is None else chosen)
    changed = [each for each in partitions if broker in assignment[each]]
    for each in changed:
        board.replace(each, broker)
    board.spread_leaders([each for each in changed if assignment[each][0] == broker])
    return board.changes(changed)


def with_factor(
    assignment: Assignment,
    chosen: Collection[TopicPartition],
    factor: int,
    racks: Racks,
    lagging: Mapping[TopicPartition, Collection[int]] = MappingProxyType({}),
) -> dict[TopicPartition, Replicas]:
    """Give the `chosen` partitions `factor` replicas; kept ones are not moved.

    An additional replica goes to a rack without one. A removed one is `lagging`, else on a rack
    with several, else on the fullest broker; never the preferred leader.
    """
    if not 0 < factor <= len(racks):
        raise ImpossiblePlacement(f"{factor} replicas on {len(racks)} brokers")
    board = _Board(assignment, racks)
    for each in sorted(chosen):
        while len(board.replicas[each]) > factor:
            board.remove(each, lagging.get(each, ()))
        while len(board.replicas[each]) < factor:
            board.add(each)
    return board.changes(sorted(chosen))


def spread(
    assignment: Assignment, chosen: Collection[TopicPartition], racks: Racks
) -> dict[TopicPartition, Replicas]:
    """Spread the `chosen` partitions evenly over the brokers of `racks`, keeping their factors.

    A replica is only copied if it is on another broker, if its partition gets one more rack, or
    from a broker with too many. Leaders are spread, too, which copies nothing.
    """
    board = _Board({each: assignment[each] for each in chosen}, racks)
    order = sorted(chosen)
    for each in order:
        if len(assignment[each]) > len(racks):
            raise ImpossiblePlacement(f"{len(assignment[each])} replicas on {len(racks)} brokers")
        for broker in assignment[each]:
            if broker not in racks:
                board.replace(each, broker)
        board.widen(each)
    board.even_replicas()
    board.spread_leaders(order)
    return board.changes(order)


class _Board:
    """A assignment while it is changed, with the replicas of each broker."""

    def __init__(self, assignment: Assignment, racks: Racks) -> None:
        self.racks = racks
        self.replicas: dict[TopicPartition, Replicas] = dict(assignment)
        self._start = dict(assignment)
        # In insertion order: what was moved last is moved on first.
        self._held: dict[int, dict[TopicPartition, None]] = {broker: {} for broker in racks}
        self._by_topic: Counter[tuple[str, int]] = Counter()
        self._leads: Counter[int] = Counter()
        for each, replicas in assignment.items():
            self._leads[replicas[0]] += 1
            for broker in replicas:
                self._held.setdefault(broker, {})[each] = None
                self._by_topic[each.topic, broker] += 1

    def changes(self, order: Iterable[TopicPartition]) -> dict[TopicPartition, Replicas]:
        """The partitions with other replicas than before."""
        return {
            each: self.replicas[each] for each in order if self.replicas[each] != self._start[each]
        }

    # -- one partition -----------------------------------------------------------------------------

    def add(self, each: TopicPartition) -> None:
        """Add one replica, as the last one."""
        new = self._best(each, self.replicas[each])
        self._set(each, (*self.replicas[each], new))

    def replace(self, each: TopicPartition, old: int) -> None:
        """Replace broker `old` by another one."""
        replicas = self.replicas[each]
        new = self._best(each, tuple(broker for broker in replicas if broker != old))
        self._swap(each, old, new)

    def remove(self, each: TopicPartition, lagging: Collection[int]) -> None:
        """Remove one replica: not the preferred leader, and first one that is offline or not in
        sync."""
        first, *others = self.replicas[each]
        crowd = Counter(map(self._rack, (first, *others)))
        gone = max(
            others,
            key=lambda broker: (
                broker not in self.racks, broker in lagging, crowd[self._rack(broker)],
                self._by_topic[each.topic, broker], len(self._held[broker]), broker,
            ),
        )  # fmt: skip
        self._set(each, tuple(broker for broker in (first, *others) if broker != gone))

    def widen(self, each: TopicPartition) -> None:
        """Move replicas from racks with several to racks with none, while there are such racks."""
        most = len(set(map(self._rack, self.racks)))
        while True:
            replicas = self.replicas[each]
            crowd = Counter(map(self._rack, replicas))
            if len(crowd) >= min(most, len(replicas)):
                return
            crowded = [broker for broker in replicas if crowd[self._rack(broker)] > 1]
            old = max(crowded, key=lambda broker: (len(self._held[broker]), broker))
            self.replace(each, old)

    def _best(self, each: TopicPartition, beside: Replicas) -> int:
        """The broker for a replica: on another rack, with few replicas of the topic, and few in
        all."""
        taken = Counter(map(self._rack, beside))
        free = [broker for broker in self.racks if broker not in self.replicas[each]]
        if not free:
            raise ImpossiblePlacement(f"{each} is on all remaining brokers")
        return min(
            free,
            key=lambda broker: (
                taken[self._rack(broker)], self._by_topic[each.topic, broker],
                len(self._held[broker]), broker,
            ),
        )  # fmt: skip

    def _rack(self, broker: int) -> object:
        rack = self.racks.get(broker)
        return broker if rack is None else rack

    def _swap(self, each: TopicPartition, old: int, new: int) -> None:
        replicas = self.replicas[each]
        self._set(each, tuple(new if broker == old else broker for broker in replicas))

    def _set(self, each: TopicPartition, replicas: Replicas) -> None:
        before = self.replicas[each]
        for broker in set(before) - set(replicas):
            del self._held[broker][each]
            self._by_topic[each.topic, broker] -= 1
        for broker in set(replicas) - set(before):
            self._held[broker][each] = None
            self._by_topic[each.topic, broker] += 1
        self._leads[before[0]] -= 1
        self._leads[replicas[0]] += 1
        self.replicas[each] = replicas

    # -- all of them -------------------------------------------------------------------------------

    def even_replicas(self) -> None:
        """Move replicas from full brokers to empty ones until they differ by at most one.

        No partition loses a rack; if that prevents a move, brokers differ by more.
        """
        closed: set[tuple[int, object]] = set()  # (broker, rack) without any possible move

        def pick(
            here: int, there: int, shifted: Collection[TopicPartition]
        ) -> TopicPartition | None:
            rack = self._rack(there)
            if (here, rack) in closed:
                return None
            barred = True
            for each in reversed(self._held[here]):
                if self._keeps_racks(each, here, there):
                    barred = False
                    if each not in self._held[there] and each not in shifted:
                        return each
            if barred:
                closed.add((here, rack))
            return None

        def shift(each: TopicPartition, here: int, there: int) -> None:
            closed.clear()
            self._swap(each, here, there)

        _even(self.racks, lambda broker: len(self._held[broker]), pick, shift)

    def _keeps_racks(self, each: TopicPartition, old: int, new: int) -> bool:
        """Whether the partition keeps its number of racks."""
        others = {self._rack(broker) for broker in self.replicas[each] if broker != old}
        return self._rack(new) not in others or self._rack(old) in others

    def spread_leaders(self, chosen: Collection[TopicPartition]) -> None:
        """Choose the first replica of these partitions so that brokers lead evenly."""
        led: dict[int, dict[TopicPartition, None]] = {broker: {} for broker in self.racks}
        for each in chosen:
            led.setdefault(self.replicas[each][0], {})[each] = None

        def pick(
            here: int, there: int, shifted: Collection[TopicPartition]
        ) -> TopicPartition | None:
            fit = (each for each in led[here] if there in self.replicas[each])
            return next((each for each in fit if each not in shifted), None)

        def lead(each: TopicPartition, here: int, there: int) -> None:
            rest = tuple(broker for broker in self.replicas[each] if broker != there)
            self._set(each, (there, *rest))
            del led[here][each]
            led[there][each] = None

        _even(self.racks, self._leads.__getitem__, pick, lead)


Pick = Callable[[int, int, Collection[TopicPartition]], TopicPartition | None]
"""What can be shifted from one broker to another, excluding what is shifted on the path already."""


def _even(
    brokers: Collection[int],
    load: Callable[[int], int],
    pick: Pick,
    shift: Callable[[TopicPartition, int, int], None],
) -> None:
    """Shift one at a time, on the shortest path from a full broker to one with at least two fewer.

    Without such a path, no distribution that the shifts allow is more even.
    """
    if not brokers:
        return
    stuck: set[int] = set()  # no path from these; a later shift may open one
    moved = False
    while True:
        least = min(map(load, brokers))
        full = [each for each in brokers if each not in stuck and load(each) >= least + 2]
        if not full and moved and stuck:
            stuck, moved = set(), False
            continue
        if not full:
            return
        first = max(full, key=lambda broker: (load(broker), -broker))
        path = _path(first, brokers, load, pick)
        if not path:
            stuck.add(first)
            continue
        for here, there, each in path:
            shift(each, here, there)
        moved = True


def _path(
    full: int, brokers: Collection[int], load: Callable[[int], int], pick: Pick
) -> list[tuple[int, int, TopicPartition]]:
    """The shortest path to the emptiest reachable broker with at least two fewer, or none.

    No partition is shifted twice on it, as shifts were only checked before the first one.
    """
    ways: dict[int, list[tuple[int, int, TopicPartition]]] = {full: []}
    level, enough = [full], load(full) - 2
    order = sorted(brokers, key=lambda broker: (load(broker), broker))
    while level:
        following: list[int] = []
        for here in level:
            shifted = {each for _, _, each in ways[here]}
            for there in order:
                each = None if there in ways else pick(here, there, shifted)
                if each is not None:
                    ways[there] = [*ways[here], (here, there, each)]
                    following.append(there)
                    if load(there) == load(order[0]) or (here == full and load(there) <= enough):
                        return ways[there]
        fewer = [broker for broker in following if load(broker) <= enough]
        if fewer:
            return ways[min(fewer, key=lambda broker: (load(broker), broker))]
        level = following
    return []
