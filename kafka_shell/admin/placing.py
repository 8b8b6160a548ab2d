"""The log dirs that replicas are wanted in, beside a move between brokers (KIP-113; API key 34).

A broker that has a replica copies it to the other dir, as `log_dir_moves` has it. One that will get
the replica answers REPLICA_NOT_AVAILABLE, keeps the dir in mind and makes the copy there: so the
dirs are sent before the move. A broker forgets them when it restarts: at the move's end they are
looked at, and sent again for what came elsewhere.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace

from kafka_shell.nouns import Change, Failure, Report, Resource, Results
from kafka_shell.nouns.partitions import LogDir, TopicPartition
from kafka_shell.nouns.reassignment import MoveStatus, PartitionMove
from kafka_shell.values import about_bytes

from . import log_dir_moves, log_dirs
from .connection import Cluster
from .failures import as_error
from .log_dir_moves import Here, Move, Place, Places, by_place, current, headed_for, towards
from .settle import settle

Dirs = Mapping[Place, str]
_REPLICA_NOT_AVAILABLE = 9


@dataclass(frozen=True)
class Placing:
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
        return replace(self, moves=moves)

    def again(self, cluster: Cluster) -> Placing:
        """The same wishes over where the replicas are now."""
        places = _places(cluster, self.dirs)
        moves = (replace(m, before=headed_for(places.get(m.place, ()))) for m in self.moves)
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
        settle(lambda: log_dir_moves.all_begun(cluster, here))
        return results


def _change(move: Move) -> Change:
    about = Resource("partition", str(move.partition))
    note = about_bytes(move.size) if move.before else "for the copy that it gets"
    if move.cancels:
        note = "the copy under way is cancelled"
    field = f"log dir on broker {move.broker}"
    return Change(about, "alter", field, move.before or None, move.after, note=note)


def _places(cluster: Cluster, dirs: Dirs) -> Places:
    return by_place(_described(cluster, dirs))


def _described(cluster: Cluster, dirs: Dirs) -> Results[int, tuple[LogDir, ...]]:
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
        elif any(row.future for row in here):
            coming.add(partition)
    held = {place: headed_for(here) for place, here in places.items()}
    warnings = log_dir_moves.too_large(moves, found)
    return Placing(tuple(moves), frozenset(coming), held, warnings), refused


def _cannot(broker: int, path: str, found: Results[int, tuple[LogDir, ...]]) -> Failure | None:
    if broker in found.values:
        return log_dir_moves.unusable(broker, path, found.values[broker])
    down = Failure("BROKER_NOT_AVAILABLE", f"broker {broker} is down: it has no log dir to show", 8)
    return found.failures.get(broker, down)


def plan_back(cluster: Cluster, dirs: Dirs) -> tuple[Move, ...]:
    """The copies between dirs that are under way, called back."""
    places = _places(cluster, dirs) if dirs else {}
    return tuple(
        towards(*place, here, now.path)
        for place, here in places.items()
        if place in dirs and headed_for(here) != (now := current(here) or here[0]).path
    )


# -- look, and follow ------------------------------------------------------------------------------


def judged(cluster: Cluster, dirs: Dirs, rows: list[PartitionMove]) -> list[PartitionMove]:
    """The rows, those of them not completed whose replicas are in other dirs than wanted."""
    places = _places(cluster, dirs) if dirs else {}
    by_partition: dict[TopicPartition, list[tuple[MoveStatus, str]]] = {}
    for (broker, partition), path in dirs.items():
        here = places.get((broker, partition), ())
        by_partition.setdefault(partition, []).append(_stands(broker, path, here))
    return [
        _judged(row, by_partition.get(TopicPartition(row.topic, row.partition))) for row in rows
    ]


def _stands(broker: int, path: str, here: Here) -> tuple[MoveStatus, str]:
    if headed_for(here) != path:
        there = headed_for(here) or "no log dir"
        return MoveStatus.FAILED, f"broker {broker} has it in {there}, not in {path}"
    if any(row.future for row in here):
        return MoveStatus.IN_PROGRESS, f"broker {broker} copies it to {path}"
    return MoveStatus.COMPLETED, ""


def _judged(row: PartitionMove, stands: list[tuple[MoveStatus, str]] | None) -> PartitionMove:
    if row.status is not MoveStatus.COMPLETED or not stands:
        return row
    status = min(status for status, _ in stands)
    note = ", ".join(said for _, said in stands if said)
    return replace(row, status=status, code=int(status), note=note)


def follow(cluster: Cluster, dirs: Dirs, report: Report) -> None:
    """See that the replicas are in their dirs. Raises ShellError where one cannot get there."""
    if not dirs:
        return
    placing, refused = plan(cluster, dirs)
    for why in (*refused.values(), *placing.send(cluster).failures.values()):
        raise as_error(why)
    log_dir_moves.follow(cluster, report, _under_way(cluster, dirs))


def _under_way(cluster: Cluster, dirs: Dirs) -> list[Move]:
    places = _places(cluster, dirs)
    return [
        towards(*place, here, dirs[place])
        for place, here in places.items()
        if place in dirs and any(row.future for row in here)
    ]


__all__ = ["Dirs", "Placing", "follow", "judged", "plan", "plan_back"]
