"""The target log directories of replicas in a reassignment (KIP-113; API key 34).

A broker that has a replica copies it to the other directory (see `log_dir_moves`). A broker without
one answers REPLICA_NOT_AVAILABLE, and creates its replica in that directory later: so directories
are sent before the reassignment. A broker that restarts forgets them. Replicas that are then in
another directory fail the verification, and a new plan moves them.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from msgspec import Struct, field

from kafka_shell.admin.partitions import log_dir_moves, log_dirs
from kafka_shell.admin.partitions.log_dir_moves import (
    LogDirMove,
    Place,
    Places,
    Replicas,
    by_place,
    current_replica,
    is_moving,
    move_to,
    target_dir,
)
from kafka_shell.admin.partitions.model import LogDir, MoveStatus, PartitionMove, TopicPartition
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Outcomes, Report, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import approximate_bytes
from kafka_shell.wire.connection import Cluster, wait_until_visible
from kafka_shell.wire.error_codes import REPLICA_NOT_AVAILABLE

Dirs = Mapping[Place, str]
Found = Results[int, tuple[LogDir, ...]]


class LogDirPlan(Struct, frozen=True):
    """One AlterReplicaLogDirs request per broker. A move to a broker without the replica has an
    empty `before`.

    `in_progress` are partitions with a replica that is already being moved to its target directory.
    `current_dirs` has the directories of all replicas of these partitions, for the rollback.
    """

    moves: tuple[LogDirMove, ...] = ()
    in_progress: frozenset[TopicPartition] = frozenset()
    current_dirs: Dirs = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def dirs(self) -> Dirs:
        """The target directories."""
        return {move.place: move.after for move in self.moves}

    @property
    def partitions(self) -> tuple[TopicPartition, ...]:
        """The partitions with a replica that gets another directory."""
        return tuple(dict.fromkeys(move.partition for move in self.moves))

    @property
    def changes(self) -> tuple[Change, ...]:
        """One change per replica. The rollback file of the reassignment undoes it."""
        return tuple(map(_change, self.moves))

    def of(self, partitions: Container[TopicPartition]) -> LogDirPlan:
        """Only the moves of these partitions."""
        moves = tuple(move for move in self.moves if move.partition in partitions)
        return replace(self, moves=moves, warnings=self.warnings if moves else ())

    def reread(self, cluster: Cluster) -> LogDirPlan:
        """The same moves from the current log directories."""
        places = _places(cluster, self.dirs)
        moves = (
            replace(move, before=target_dir(places.get(move.place, ())) or move.before)
            for move in self.moves
        )
        return replace(self, moves=tuple(moves))

    def send(self, cluster: Cluster) -> Outcomes:
        """Send the target directories. It is not a failure if a broker does not have the replica
        yet and the reassignment adds it."""
        codes = log_dir_moves.send_moves(cluster, self.moves) if self.moves else {}
        failures: list[Failure | None] = []
        started = []
        for move in self.moves:
            code = codes.get(move.place)
            if not move.before and code == REPLICA_NOT_AVAILABLE:
                failures.append(None)
                continue
            failures.append(log_dir_moves.move_failure(move, code))
            if failures[-1] is None:
                started.append(move)
        wait_until_visible(lambda: log_dir_moves.all_started(cluster, started))
        return Results.of(self.changes, failures)


def _change(move: LogDirMove) -> Change:
    resource = Resource("partition", str(move.partition))
    note = approximate_bytes(move.size) if move.before else "for the new replica"
    if move.cancels:
        note = "cancels the move in progress"
    field = f"log directory on broker {move.broker}"
    return Change(resource, "alter", field, move.before or None, move.after, note=note)


def _places(cluster: Cluster, dirs: Dirs) -> Places:
    return by_place(_described(cluster, dirs))


def _described(cluster: Cluster, dirs: Dirs) -> Found:
    brokers = list(dict.fromkeys(broker for broker, _ in dirs))
    return log_dirs.describe(cluster, brokers, list({each: None for _, each in dirs}))


# -- plan ------------------------------------------------------------------------------------------


def plan(cluster: Cluster, dirs: Dirs) -> tuple[LogDirPlan, dict[TopicPartition, Failure]]:
    """The moves to these directories, and the partitions whose directories are refused."""
    if not dirs:
        return LogDirPlan(), {}
    partitions = list({each: None for _, each in dirs})
    found = log_dirs.describe(cluster, None, partitions)
    places = by_place(found)
    refused: dict[TopicPartition, Failure] = {}
    sizes: dict[TopicPartition, int] = {}
    for (_, partition), replicas in places.items():
        sizes[partition] = max(sizes.get(partition, 0), *(row.size for row in replicas))
    moves, in_progress = [], set[TopicPartition]()
    for (broker, partition), path in dirs.items():
        failure = _dir_failure(broker, path, found)
        current = places.get((broker, partition), ())
        if failure is not None:
            refused.setdefault(partition, failure)
        elif target_dir(current) != path:
            moves.append(move_to(broker, partition, current, path, sizes.get(partition, 0)))
        elif is_moving(current):
            in_progress.add(partition)
    current_dirs = {place: target_dir(current) for place, current in places.items()}
    warnings = log_dir_moves.too_large(moves, found)
    return LogDirPlan(tuple(moves), frozenset(in_progress), current_dirs, warnings), refused


def _dir_failure(broker: int, path: str, found: Found) -> Failure | None:
    if broker in found.values:
        return log_dir_moves.dir_failure(broker, path, found.values[broker])
    hint = f'Start broker {broker}, or use "any" as its log directory in the file.'
    message = f"broker {broker} is down, so its log directories cannot be read"
    return found.failures.get(broker, Failure("BROKER_NOT_AVAILABLE", message, 8, hint))


def plan_revert(
    cluster: Cluster, dirs: Dirs
) -> tuple[tuple[LogDirMove, ...], dict[TopicPartition, Failure]]:
    """The moves that cancel copies in progress to these directories, and the partitions whose
    directories could not be read."""
    if not dirs:
        return (), {}
    found = _described(cluster, dirs)
    moves = tuple(
        move_to(*place, replicas, current.path)
        for place, replicas in by_place(found).items()
        if is_moving(replicas)
        and dirs.get(place) == target_dir(replicas)
        and (current := current_replica(replicas))
    )
    failures = {each: found.failures[broker] for broker, each in dirs if broker in found.failures}
    return moves, failures


# -- status ----------------------------------------------------------------------------------------


def with_dir_status(cluster: Cluster, dirs: Dirs, rows: list[PartitionMove]) -> list[PartitionMove]:
    """The rows; those with replicas in other log directories than these are not completed."""
    found: Found = _described(cluster, dirs) if dirs else Results()
    places = by_place(found)
    by_partition: dict[TopicPartition, list[tuple[MoveStatus, str]]] = {}
    for (broker, partition), path in dirs.items():
        status = _status(broker, path, places.get((broker, partition), ()), found)
        by_partition.setdefault(partition, []).append(status)
    return [
        _with_status(row, by_partition.get(TopicPartition(row.topic, row.partition)))
        for row in rows
    ]


def _status(broker: int, path: str, replicas: Replicas, found: Found) -> tuple[MoveStatus, str]:
    if broker in found.failures:
        return MoveStatus.IN_PROGRESS, str(found.failures[broker])  # unknown
    current = target_dir(replicas)
    if not current:
        return MoveStatus.FAILED, f"broker {broker} has no replica"
    if current != path:
        return MoveStatus.FAILED, f"broker {broker} has it in {current}, not in {path}"
    if is_moving(replicas):
        return MoveStatus.IN_PROGRESS, f"broker {broker} copies it to {path}"
    return MoveStatus.COMPLETED, ""


def _with_status(
    row: PartitionMove, statuses: list[tuple[MoveStatus, str]] | None
) -> PartitionMove:
    if row.status is not MoveStatus.COMPLETED or not statuses:
        return row
    status = min(status for status, _ in statuses)
    note = ", ".join(note for _, note in statuses if note)
    return replace(row, status=status, code=int(status), note=note)


def follow(cluster: Cluster, dirs: Dirs, report: Report) -> None:
    """Wait for the end of the copies to these directories. Cancelled copies and offline directories
    raise no error: the status shows them afterwards. Raises ShellError at the deadline, or if a
    broker does not respond for a minute."""
    if not dirs:
        return
    names = list({each: None for _, each in dirs})
    found = log_dir_moves.when_all_respond(cluster, {broker for broker, _ in dirs}, names)
    moves = [
        move_to(*place, replicas, target_dir(replicas))
        for place, replicas in by_place(found).items()
        if place in dirs and is_moving(replicas)
    ]
    if moves:
        try:
            log_dir_moves.follow(cluster, report, moves)
        except ShellError as error:
            if error.code not in ("cancelled", "KAFKA_STORAGE_ERROR"):
                raise
