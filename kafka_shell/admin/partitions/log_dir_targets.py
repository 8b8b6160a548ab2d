"""The log dirs that replicas are wanted in, beside a move between brokers (KIP-113; API key 34).

A broker that has a replica copies it to the other dir, as `log_dir_moves` has it. One that will get
the replica answers REPLICA_NOT_AVAILABLE, keeps the dir in mind and makes the copy there: so the
dirs are sent before the move. A broker that restarts forgets them: what came elsewhere is told when
the move is verified, and put right by a plan like any other.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from contextlib import suppress

from msgspec import Struct, field

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.propagation import wait_until_visible
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Change, Report, Resource
from kafka_shell.plan.results import Failure, Results
from kafka_shell.structs import replace
from kafka_shell.units import approximate_bytes

from . import log_dir_moves, log_dirs
from .log_dir_moves import (
    Here,
    Move,
    Place,
    Places,
    by_place,
    current,
    headed_for,
    on_its_way,
    towards,
)
from .model import LogDir, MoveStatus, PartitionMove, TopicPartition

Dirs = Mapping[Place, str]
Found = Results[int, tuple[LogDir, ...]]
_REPLICA_NOT_AVAILABLE = 9


class Placing(Struct, frozen=True):
    """One AlterReplicaLogDirs request a broker. A broker that has no replica yet has no `before`.

    `coming` are partitions of which a replica is on its way to the dir already; `held` are the dirs
    of all replicas of these partitions now: the way back.
    """

    moves: tuple[Move, ...] = ()
    coming: frozenset[TopicPartition] = frozenset()
    held: Dirs = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def dirs(self) -> Dirs:
        """Where the replicas are to be."""
        return {move.place: move.after for move in self.moves}

    @property
    def partitions(self) -> tuple[TopicPartition, ...]:
        """The partitions of which a replica gets another dir."""
        return tuple(dict.fromkeys(move.partition for move in self.moves))

    @property
    def changes(self) -> tuple[Change, ...]:
        """One dir a replica; the partition's rollback file takes it back."""
        return tuple(map(_change, self.moves))

    def of(self, partitions: Container[TopicPartition]) -> Placing:
        """Only what is about these partitions."""
        moves = tuple(move for move in self.moves if move.partition in partitions)
        return replace(self, moves=moves, warnings=self.warnings if moves else ())

    def reread(self, cluster: Cluster) -> Placing:
        """The same wishes over where the replicas are now."""
        places = _places(cluster, self.dirs)
        moves = (
            replace(move, before=headed_for(places.get(move.place, ())) or move.before)
            for move in self.moves
        )
        return replace(self, moves=tuple(moves))

    def send(self, cluster: Cluster) -> Results[Change, Change]:
        """Tell the brokers. That one has no such replica yet is no failure of a copy to come."""
        results: Results[Change, Change] = Results()
        here = []
        codes = log_dir_moves.ask(cluster, self.moves) if self.moves else {}
        for move, change in zip(self.moves, self.changes, strict=True):
            code = codes.get(move.place)
            comes = not move.before and code == _REPLICA_NOT_AVAILABLE
            why = None if comes else log_dir_moves.refusal(move, code)
            if why is not None:
                results.failures[change] = why
                continue
            results.values[change] = change
            if not comes:
                here.append(move)
        wait_until_visible(lambda: log_dir_moves.all_begun(cluster, here))
        return results


def _change(move: Move) -> Change:
    about = Resource("partition", str(move.partition))
    note = approximate_bytes(move.size) if move.before else "for the copy that it gets"
    if move.cancels:
        note = "the copy under way is cancelled"
    field = f"log dir on broker {move.broker}"
    return Change(about, "alter", field, move.before or None, move.after, note=note)


def _places(cluster: Cluster, dirs: Dirs) -> Places:
    return by_place(_described(cluster, dirs))


def _described(cluster: Cluster, dirs: Dirs) -> Found:
    brokers = list(dict.fromkeys(broker for broker, _ in dirs))
    return log_dirs.describe(cluster, brokers, list({each: None for _, each in dirs}))


# -- plan ------------------------------------------------------------------------------------------


def plan(cluster: Cluster, dirs: Dirs) -> tuple[Placing, dict[TopicPartition, Failure]]:
    """What is to be told to brokers, and the partitions whose dirs cannot be had."""
    if not dirs:
        return Placing(), {}
    partitions = list({each: None for _, each in dirs})
    found = log_dirs.describe(cluster, None, partitions)
    places = by_place(found)
    refused: dict[TopicPartition, Failure] = {}
    sizes: dict[TopicPartition, int] = {}
    for (_, partition), here in places.items():
        sizes[partition] = max(sizes.get(partition, 0), *(row.size for row in here))
    moves, coming = [], set[TopicPartition]()
    for (broker, partition), path in dirs.items():
        why, here = _cannot(broker, path, found), places.get((broker, partition), ())
        if why is not None:
            refused.setdefault(partition, why)
        elif headed_for(here) != path:
            moves.append(towards(broker, partition, here, path, sizes.get(partition, 0)))
        elif on_its_way(here):
            coming.add(partition)
    held = {place: headed_for(here) for place, here in places.items()}
    warnings = log_dir_moves.too_large(moves, found)
    return Placing(tuple(moves), frozenset(coming), held, warnings), refused


def _cannot(broker: int, path: str, found: Found) -> Failure | None:
    if broker in found.values:
        return log_dir_moves.unusable(broker, path, found.values[broker])
    hint = f'Wait until it is up, or write "any" for broker {broker} in the file.'
    said = f"the log dirs of broker {broker} cannot be read: it is down"
    return found.failures.get(broker, Failure("BROKER_NOT_AVAILABLE", said, 8, hint))


def plan_back(
    cluster: Cluster, dirs: Dirs
) -> tuple[tuple[Move, ...], dict[TopicPartition, Failure]]:
    """The copies to these dirs that are under way, called back; and what could not be looked at."""
    if not dirs:
        return (), {}
    found = _described(cluster, dirs)
    moves = tuple(
        towards(*place, here, now.path)
        for place, here in by_place(found).items()
        if on_its_way(here) and dirs.get(place) == headed_for(here) and (now := current(here))
    )
    unseen = {each: found.failures[broker] for broker, each in dirs if broker in found.failures}
    return moves, unseen


# -- look, and follow ------------------------------------------------------------------------------


def judged(cluster: Cluster, dirs: Dirs, rows: list[PartitionMove]) -> list[PartitionMove]:
    """The rows, those of them not completed whose replicas are in other dirs than wanted."""
    found: Found = _described(cluster, dirs) if dirs else Results()
    places = by_place(found)
    by_partition: dict[TopicPartition, list[tuple[MoveStatus, str]]] = {}
    for (broker, partition), path in dirs.items():
        stands = _stands(broker, path, places.get((broker, partition), ()), found)
        by_partition.setdefault(partition, []).append(stands)
    return [
        _judged(row, by_partition.get(TopicPartition(row.topic, row.partition))) for row in rows
    ]


def _stands(broker: int, path: str, here: Here, found: Found) -> tuple[MoveStatus, str]:
    if broker in found.failures:
        return MoveStatus.IN_PROGRESS, str(found.failures[broker])  # nobody knows
    if headed_for(here) != path:
        there = headed_for(here) or "no log dir"
        return MoveStatus.FAILED, f"broker {broker} has it in {there}, not in {path}"
    if on_its_way(here):
        return MoveStatus.IN_PROGRESS, f"broker {broker} copies it to {path}"
    return MoveStatus.COMPLETED, ""


def _judged(row: PartitionMove, stands: list[tuple[MoveStatus, str]] | None) -> PartitionMove:
    if row.status is not MoveStatus.COMPLETED or not stands:
        return row
    status = min(status for status, _ in stands)
    note = ", ".join(said for _, said in stands if said)
    return replace(row, status=status, code=int(status), note=note)


def follow(cluster: Cluster, dirs: Dirs, report: Report) -> None:
    """Watch the copies to these dirs to their end. It only looks: what is elsewhere, or came to no
    end, is told by the state afterwards."""
    places = _places(cluster, dirs) if dirs else {}
    moves = [
        towards(*place, here, headed_for(here))
        for place, here in places.items()
        if place in dirs and on_its_way(here)
    ]
    if moves:
        with suppress(ShellError):
            log_dir_moves.follow(cluster, report, moves)
