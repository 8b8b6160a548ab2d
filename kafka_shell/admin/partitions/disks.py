"""The disks of brokers, for the planner: sizes of replicas, free space, cordoned directories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.model import LogDir, Reassignment, TopicPartition
from kafka_shell.admin.partitions.sizes import Sizes, of_log_dirs
from kafka_shell.base.results import Failure
from kafka_shell.wire.connection import Cluster

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


def read(cluster: Cluster, brokers: Iterable[int]) -> Disks:
    """The log directories of these brokers (API key 35), read at once."""
    found = log_dirs.describe(cluster, list(brokers))
    rooms = {broker: _room(dirs) for broker, dirs in found.values.items()}
    return Disks(
        of_log_dirs(found),
        {broker: room for broker, room in rooms.items() if room is not None},
        log_dirs.cordoned(found),
        log_dirs.without_offline(found).failures,
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
