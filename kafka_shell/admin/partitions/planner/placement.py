"""What the planner is given and returns, and an assignment while it is changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from msgspec import Struct, field

from kafka_shell.admin.partitions.model import Assignment, GoalScore, Racks, TopicPartition

Replicas = tuple[int, ...]

MIN_GAIN = 0.01
TOLERANCE = 0.05  # a broker this close to the mean has its share of bytes, writes and replicas


class Problem(Struct, frozen=True):
    """A cluster, and what may change in it.

    `assignment` is that of all partitions, to spread the load; only the `chosen` ones change (None:
    all). New replicas go to `targets`. Chosen replicas on `leaving` brokers must move to targets;
    those on brokers that are neither stay. `sizes` are bytes per replica: a partition without one
    has an unknown size, and is copied only if it must be, or with `copy_unknown`. `room` are the
    bytes that may be copied to a broker; without an entry it is unknown and not limited. `writes`
    are bytes per second.
    """

    assignment: Assignment
    racks: Racks
    targets: frozenset[int]
    chosen: Collection[TopicPartition] | None = None
    leaving: frozenset[int] = frozenset()
    sizes: Mapping[TopicPartition, int] = field(default_factory=dict)
    room: Mapping[int, int] = field(default_factory=dict)
    writes: Mapping[TopicPartition, float] = field(default_factory=dict)
    copy_unknown: bool = False
    min_gain: float = MIN_GAIN


class PlanLimits(Struct, frozen=True):
    """How much of a plan is wanted: at most so many bytes and partitions (None: no limit)."""

    bytes: int | None = None
    partitions: int | None = None


class Proposal(Struct, frozen=True):
    """The new replicas of partitions that change, and the score of each goal before and after.

    `stuck` are the partitions with a replica that must move or be added but fits nowhere: of these
    `no_broker` are on all target brokers already, others lack space. They are not changed.
    """

    changes: dict[TopicPartition, Replicas]
    scores: tuple[GoalScore, ...] = ()
    stuck: tuple[TopicPartition, ...] = ()
    no_broker: frozenset[TopicPartition] = frozenset()


# -- An assignment while it is changed, with the loads of brokers (as indices) ---------------------


class Placement:
    """The replicas of each partition, as lists of brokers, the preferred leader first.

    `move_only_copied`: only replicas that must be copied anyway may move; `keep_leaders`: preferred
    leaders change only for partitions in `leader_leaves`.
    """

    def __init__(
        self, problem: Problem, *, move_only_copied: bool = False, keep_leaders: bool = False
    ) -> None:
        assignment = problem.assignment
        ids = {*problem.racks, *problem.targets}
        for replicas in assignment.values():
            ids.update(replicas)
        self.ids = sorted(ids)
        self.partitions: list[TopicPartition] = sorted(assignment)
        self.min_gain = problem.min_gain
        self._move_only_copied, self._keep_leaders = move_only_copied, keep_leaders
        index = {id: at for at, id in enumerate(self.ids)}
        self.index = index
        self.targets = sorted(index[id] for id in problem.targets)
        self.is_target = [id in problem.targets for id in self.ids]
        self.leaving = [id in problem.leaving for id in self.ids]
        names = {rack for rack in problem.racks.values() if rack is not None}
        rack_index = {name: at for at, name in enumerate(sorted(names))}
        racks = [problem.racks.get(id) for id in self.ids]
        # A broker without a rack is a rack of its own.
        self.rack = [
            len(rack_index) + at if rack is None else rack_index[rack]
            for at, rack in enumerate(racks)
        ]
        self.racked = bool(names)
        self.by_rack: dict[int, list[int]] = {}  # the targets
        for broker in self.targets:
            self.by_rack.setdefault(self.rack[broker], []).append(broker)
        self.room = [problem.room.get(id) for id in self.ids]
        self._read(problem)

    def _read(self, problem: Problem) -> None:
        assignment, index = problem.assignment, self.index
        chosen = None if problem.chosen is None else set(problem.chosen)
        brokers = range(len(self.ids))
        self.start: list[Replicas] = [
            tuple(index[id] for id in assignment[partition]) for partition in self.partitions
        ]
        self.replicas: list[Replicas] = list(self.start)
        self.chosen = [chosen is None or partition in chosen for partition in self.partitions]
        sizes = [problem.sizes.get(partition) for partition in self.partitions]
        self.size: list[int] = [size or 0 for size in sizes]
        self.copyable = [problem.copy_unknown or size is not None for size in sizes]
        self.write = [problem.writes.get(partition, 0.0) for partition in self.partitions]
        self.topics: list[list[int]] = []  # the partitions of each topic
        self.topic: list[int] = []  # of each partition
        last = None
        for at, each in enumerate(self.partitions):
            if each.topic != last:
                last = each.topic
                self.topics.append([])
            self.topics[-1].append(at)
            self.topic.append(len(self.topics) - 1)
        self.count: list[dict[int, int]] = [{} for _ in self.topics]  # replicas by broker
        self.led: list[dict[int, int]] = [{} for _ in self.topics]  # preferred leaders by broker
        self.held = [0 for _ in brokers]
        self.leads = [0 for _ in brokers]
        self.bytes = [0 for _ in brokers]
        self.writes = [0.0 for _ in brokers]
        self.incoming = [0 for _ in brokers]
        self.copies = 0  # replicas on brokers that had none
        self.log: list[tuple[int, Replicas]] = []  # what was replaced, to roll back
        self.together: list[tuple[int, ...]] = []  # partitions that only make sense together
        self.leader_leaves = [bool(each) and self.leaving[each[0]] for each in self.start]
        for at, replicas in enumerate(self.start):
            self._load(at, replicas, (), 1)

    # -- changes -----------------------------------------------------------------------------------

    def set(self, at: int, replicas: Replicas) -> None:
        """Give a partition other replicas."""
        old = self.replicas[at]
        self.log.append((at, old))
        self._put(at, replicas)

    def _put(self, at: int, replicas: Replicas) -> None:
        old = self.replicas[at]
        self._load(at, old, replicas, -1)
        self.replicas[at] = replicas
        self._load(at, replicas, old, 1)

    def _load(self, at: int, replicas: Replicas, other: Replicas, sign: int) -> None:
        """Add (or subtract) what differs from the `other` replicas to the loads of brokers."""
        topic = self.topic[at]
        start = self.start[at]
        count, size = self.count[topic], sign * self.size[at]
        for broker in replicas:
            if broker not in other:
                count[broker] = count.get(broker, 0) + sign
                self.held[broker] += sign
                self.bytes[broker] += size
                if broker not in start:
                    self.incoming[broker] += size
                    self.copies += sign
        if replicas and replicas[:1] != other[:1]:
            leader = replicas[0]
            led = self.led[topic]
            led[leader] = led.get(leader, 0) + sign
            self.leads[leader] += sign
            self.writes[leader] += sign * self.write[at]

    def roll_back(self, mark: int) -> None:
        """Undo all changes since the log was this long."""
        while len(self.log) > mark:
            self._put(*self.log.pop())

    def swap(self, at: int, old: int, new: int) -> None:
        """Replace one broker by another, at its place."""
        self.set(at, tuple(new if broker == old else broker for broker in self.replicas[at]))

    def set_leader(self, at: int, broker: int) -> None:
        """Make one of the replicas the preferred leader; the former one takes its place."""
        replicas = self.replicas[at]
        first = replicas[0]
        self.set(at, tuple(
            broker if each == first else first if each == broker else each for each in replicas
        ))  # fmt: skip

    def keep_together(self, *partitions: int) -> None:
        """Only all of these changes are worth making."""
        self.together.append(partitions)

    # -- what may change ---------------------------------------------------------------------------

    def may_leave(self, at: int, broker: int) -> bool:
        """Whether the replica on this broker may be placed elsewhere."""
        if not self.chosen[at] or not self.is_target[broker]:
            return False
        return broker not in self.start[at] if self._move_only_copied else self.copyable[at]

    def may_reorder(self, at: int) -> bool:
        """Whether another replica may be the preferred leader."""
        return self.chosen[at] and (not self._keep_leaders or self.leader_leaves[at])

    def fits(self, at: int, broker: int) -> bool:
        """Whether there is space for a replica on this broker."""
        room = self.room[broker]
        return room is None or broker in self.start[at] or (
            self.incoming[broker] + self.size[at] <= room
        )  # fmt: skip

    def may_move(self, at: int, old: int, new: int) -> bool:
        """Whether the replica on `old` may be placed on `new`: no rack becomes more crowded than
        the old one was, and there is space."""
        if new in self.replicas[at] or not self.is_target[new] or not self.may_leave(at, old):
            return False
        return self.keeps_racks(at, old, new) and self.fits(at, new)

    def keeps_racks(self, at: int, old: int, new: int) -> bool:
        """Whether the racks of the partition are at least as good with `new` instead of `old`."""
        rack, there, here = self.rack, self.rack[new], self.rack[old]
        if not self.racked or there == here:
            return True
        crowd = 0
        for broker in self.replicas[at]:
            crowd += (rack[broker] == here) - (rack[broker] == there)
        return crowd > 0

    def may_pass_leadership(self, at: int, old: int, new: int) -> bool:
        """Whether leading the partition may pass from `old` to `new`: neither the leaders of its
        topic nor those of all get less even."""
        led = self.led[self.topic[at]]
        return led[old] > led.get(new, 0) and self.leads[old] > self.leads[new]

    # -- results -----------------------------------------------------------------------------------

    def changed(self) -> list[int]:
        """The partitions with other replicas than at the start."""
        return [at for at, each in enumerate(self.replicas) if each != self.start[at]]

    def changes(self) -> dict[TopicPartition, Replicas]:
        """The new replicas of these partitions, as broker IDs."""
        return {
            self.partitions[at]: tuple(self.ids[broker] for broker in self.replicas[at])
            for at in self.changed()
        }


# -- Even out counts of brokers by shifting one at a time, also along paths of several brokers -----

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
