"""The size of moves: bytes of replicas from log directories, load of brokers, produce rate."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.model import (
    Assignment,
    BrokerLoad,
    LogDir,
    Move,
    MoveSize,
    Racks,
    Reassignment,
    TopicPartition,
)
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.units import format_rate
from kafka_shell.wire.cluster import Cluster

SAMPLE_S = 1.0  # between two measurements of log sizes


class Sizes(Struct, frozen=True):
    """Bytes of replicas by partition and broker, and the brokers that returned all of theirs."""

    replicas: Mapping[TopicPartition, Mapping[int, int]] = field(default_factory=dict)
    known_brokers: frozenset[int] = frozenset()
    totals: Mapping[int, int] = field(default_factory=dict)  # of all replicas of a broker

    def of(self, partition: TopicPartition, leader: int | None) -> int | None:
        """The size of the leader's replica in bytes, else of the largest one."""
        sizes = self.replicas.get(partition, {})
        return sizes.get(-1 if leader is None else leader, max(sizes.values(), default=None))

    def copy(self, partition: TopicPartition, broker: int) -> int | None:
        """The size of one replica; None if unknown, 0 if the broker has none."""
        return (
            self.replicas.get(partition, {}).get(broker, 0)
            if broker in self.known_brokers
            else None
        )

    def with_empty(self, added: Assignment) -> Sizes:
        """The same with the replicas of partitions that have no records yet."""
        empty = {each: dict.fromkeys(replicas, 0) for each, replicas in added.items()}
        return Sizes({**self.replicas, **empty}, self.known_brokers, self.totals)

    def on(self, broker: int) -> int | None:
        """The size of all replicas of a broker; None if unknown."""
        if broker not in self.known_brokers:
            return None
        return self.totals.get(broker, 0)


def read(
    cluster: Cluster,
    partitions: Sequence[TopicPartition] | None = None,
    brokers: Collection[int] | None = None,
) -> Sizes:
    """Sizes from the log directories of these brokers (or all), for these replicas (or all)."""
    if partitions is not None and not partitions:
        return Sizes()
    up = [
        each.id for each in cluster.brokers(refresh=True) if brokers is None or each.id in brokers
    ]
    return of_log_dirs(log_dirs.describe(cluster, up, partitions))


def of_log_dirs(directories: Results[int, tuple[LogDir, ...]]) -> Sizes:
    """The sizes in these log directories."""
    totals: Counter[int] = Counter()
    sizes: dict[TopicPartition, dict[int, int]] = {}
    for broker, dirs in directories.values.items():
        for each in (replica for dir in dirs for replica in dir.replicas if not replica.future):
            sizes.setdefault(each.topic_partition, {})[broker] = each.size
            totals[broker] += each.size
    return Sizes(sizes, frozenset(log_dirs.without_offline(directories).values), totals)


# -- before and after ------------------------------------------------------------------------------


def figures(
    moves: Sequence[Move],
    racks: Racks,
    assignment: Assignment,
    sizes: Sizes,
    throttle: int | None,
    batches: int,
) -> tuple[Any, ...]:
    """The size of the moves in this number of batches, and all brokers before and after."""
    loads = broker_loads(moves, racks, assignment, sizes)
    incoming = [load.incoming for load in loads]
    total = None if None in incoming else sum(amount or 0 for amount in incoming)
    seconds = None
    if throttle and total is not None:
        seconds = -(-max(amount or 0 for amount in incoming) // throttle)
    copies = sum(len(move.adding) for move in moves)
    return (MoveSize(len(moves), copies, total, throttle, seconds, batches), *loads)


def broker_loads(
    moves: Sequence[Move], racks: Racks, assignment: Assignment, sizes: Sizes
) -> list[BrokerLoad]:
    """The running and affected brokers before and after the moves."""
    before, after = dict(assignment), dict(assignment)
    for move in moves:
        before[move.partition], after[move.partition] = move.before, move.after
    incoming: Counter[int] = Counter()
    outgoing: Counter[int] = Counter()
    unknown = False
    for move in moves:
        size = sizes.of(move.partition, move.leader)
        unknown = unknown or (size is None and bool(move.adding))
        for broker in move.adding:
            incoming[broker] += size or 0
        for broker in move.removing:
            outgoing[broker] += sizes.copy(move.partition, broker) or 0
    replicas = [_held(assignment) for assignment in (before, after)]
    led = [
        Counter(replicas[0] for replicas in assignment.values()) for assignment in (before, after)
    ]
    moved = (broker for move in moves for broker in (*move.before, *move.after))
    brokers = sorted({*racks, *moved})
    loads = []
    for broker in brokers:
        now = sizes.on(broker)
        then = None if now is None else now + incoming[broker] - outgoing[broker]
        loads.append(
            BrokerLoad(
                broker, racks.get(broker), replicas[0][broker], replicas[1][broker],
                led[0][broker], led[1][broker], now, None if unknown else then,
                None if unknown else incoming[broker],
            )
        )  # fmt: skip
    return loads


def _held(assignment: Assignment) -> Counter[int]:
    return Counter(broker for replicas in assignment.values() for broker in replicas)


# -- a throttle that is too low --------------------------------------------------------------------


def too_slow(
    cluster: Cluster, moves: Sequence[Move], throttle: int, batches: Sequence[Sequence[Move]]
) -> tuple[str, ...]:
    """A warning if producers write faster than the throttle: the copies never catch up. The moves
    of one of the `batches` are made at once.

    Measures how much the logs of the leaders grow in a second.
    """
    copied = [move for move in moves if move.adding and move.leader is not None]
    if not copied:
        return ()
    partitions = [move.partition for move in copied]
    leaders = {move.leader for move in copied if move.leader is not None}
    began, first = time.monotonic(), read(cluster, partitions, leaders)
    time.sleep(SAMPLE_S)
    took, second = time.monotonic() - began, read(cluster, partitions, leaders)
    grown: dict[TopicPartition, int] = {}
    for move in copied:
        was, now = (sizes.of(move.partition, move.leader) for sizes in (first, second))
        # A segment may be deleted.
        grown[move.partition] = 0 if was is None or now is None else max(0, now - was)
    for batch in batches:
        into: Counter[int] = Counter()
        for move in batch:
            for broker in move.adding:
                into[broker] += round(grown.get(move.partition, 0) / took)
        broker, rate = max(into.items(), key=lambda each: each[1], default=(0, 0))
        if rate >= throttle:
            return (
                f"the move would never complete: throttle {format_rate(throttle)} is too low, as"
                f" broker {broker} would receive {_rate(rate)} of new records (measured over"
                f" {took:.1f} s)",
            )
    return ()


def _rate(rate: int) -> str:
    """The rate rounded to two digits."""
    digits = max(0, len(str(rate)) - 2)
    return format_rate(round(rate, -digits))


# -- The disks of brokers, for the planner: sizes of replicas, free space, cordoned directories ----

RESERVE = 0.05  # of each volume is left free


class Disks(Struct, frozen=True):
    """What brokers return of their log directories.

    `room` are the bytes that may be copied to a broker, without those whose space is unknown. A
    broker is `cordoned` if all its directories are (KIP-1066). `not_read` are the brokers that did
    not return their directories, or have an offline one: their sizes and space are unknown, not
    zero.
    """

    sizes: Sizes = field(default_factory=Sizes)
    room: Mapping[int, int] = field(default_factory=dict)
    cordoned: frozenset[int] = frozenset()
    not_read: Mapping[int, Failure] = field(default_factory=dict)

    def room_beside(
        self, moving: Mapping[TopicPartition, Reassignment], sizes: Mapping[TopicPartition, int]
    ) -> dict[int, int]:
        """The room without what reassignments in progress still have to copy, given the sizes of
        the partitions."""
        room = dict(self.room)
        for each, move in moving.items():
            for broker in room.keys() & set(move.adding):
                left = sizes.get(each, 0) - (self.sizes.copy(each, broker) or 0)
                room[broker] = max(0, room[broker] - max(0, left))
        return room


def read_disks(cluster: Cluster, brokers: Iterable[int]) -> Disks:
    """The log directories of these brokers (API key 35), read at once."""
    directories = log_dirs.describe(cluster, list(brokers))
    rooms = {broker: _room(dirs) for broker, dirs in directories.values.items()}
    return Disks(
        of_log_dirs(directories),
        {broker: room for broker, room in rooms.items() if room is not None},
        log_dirs.cordoned(directories),
        log_dirs.without_offline(directories).failures,
    )


def _room(dirs: Iterable[LogDir]) -> int | None:
    """The bytes that fit into the directories that accept new replicas; None if unknown.

    Directories with the same figures are on the same volume, which counts once.
    """
    accepting = [dir for dir in dirs if dir.error is None and not dir.cordoned]
    volumes = {(dir.total, dir.usable) for dir in accepting}
    room = 0
    for total, usable in volumes:
        if total is None or usable is None:
            return None
        room += max(0, int(usable - total * RESERVE))
    return room
