"""Moves of replicas between the log directories of their broker (KIP-113; API key 34).

A broker that has a replica copies it to the other directory, then switches to the copy. A broker
without one answers REPLICA_NOT_AVAILABLE, and creates its replica in that directory later: so
directories are sent before the reassignment that adds it. A broker that restarts forgets them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.model import (
    Dirs,
    LogDir,
    MoveStatus,
    PartitionMove,
    Place,
    ReplicaOnDisk,
    TopicPartition,
)
from kafka_shell.admin.records.offsets import by_topic
from kafka_shell.admin.steps import BaseStep, row_failure
from kafka_shell.base.errors import ShellError, UnexpectedEnd
from kafka_shell.base.plans import (
    Advice,
    Change,
    Effect,
    Following,
    Outcomes,
    Plan,
    Report,
    Resource,
)
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import Bytes, approximate_bytes, counted
from kafka_shell.base.waits import POLL_S, PROGRESS_S
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster, wait_until_visible
from kafka_shell.wire.error_codes import (
    BROKER_NOT_AVAILABLE,
    KAFKA_STORAGE_ERROR,
    LOG_DIR_NOT_FOUND,
    REPLICA_NOT_AVAILABLE,
)
from kafka_shell.wire.failures import as_error, failure
from kafka_shell.wire.requests import Call, Node

Places = Mapping[Place, Sequence[ReplicaOnDisk]]  # a replica, and the future one that replaces it
Found = Results[int, tuple[LogDir, ...]]


class LogDirMove(Struct, frozen=True):
    """The move of a replica to another log directory."""

    broker: int
    partition: TopicPartition
    before: str  # where it is, or is being moved to; empty without a replica
    after: str
    size: int  # bytes to copy

    @property
    def place(self) -> Place:
        """The broker and the partition."""
        return self.broker, self.partition

    @property
    def resource(self) -> Resource:
        """The resource of its change, if nothing else of the partition changes."""
        return Resource("replica", f"{self.partition} on broker {self.broker}")


class LogDirPlan(Struct, frozen=True):
    """Moves to log directories, as a part of a reassignment."""

    moves: tuple[LogDirMove, ...] = ()
    current_dirs: Dirs = field(default_factory=dict)  # of all replicas, for the rollback
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
        return tuple(
            Change(
                Resource("partition", str(move.partition)), "alter",
                f"log directory on broker {move.broker}", move.before or None, move.after,
                note=approximate_bytes(move.size) if move.before else "for the new replica",
            )
            for move in self.moves
        )  # fmt: skip

    def of(self, partitions: Collection[TopicPartition]) -> LogDirPlan:
        """Only the moves of these partitions."""
        moves = tuple(move for move in self.moves if move.partition in partitions)
        return replace(self, moves=moves, warnings=self.warnings if moves else ())

    def reread(self, cluster: Cluster) -> LogDirPlan:
        """The same moves from the current log directories."""
        return replace(self, moves=_reread(cluster, self.moves))

    def send(self, cluster: Cluster) -> Outcomes:
        """Start the moves. It is not a failure if a broker does not have the replica yet."""
        return Results.of(self.changes, _send(cluster, self.moves))


class AlterReplicaLogDirs(Struct, BaseStep, frozen=True):
    """One AlterReplicaLogDirs request per broker (KIP-113; API key 34)."""

    moves: tuple[LogDirMove, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(
                move.resource, "alter", "log directory", move.before, move.after,
                note=approximate_bytes(move.size),
            )
            for move in self.moves
        )  # fmt: skip

    def reread(self, cluster: Cluster) -> AlterReplicaLogDirs:
        """The same moves from the current log directories."""
        return AlterReplicaLogDirs(_reread(cluster, self.moves))

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Start the moves. They continue in the background."""
        return Results.of(self.changes, _send(cluster, self.moves))


def _reread(cluster: Cluster, moves: Sequence[LogDirMove]) -> tuple[LogDirMove, ...]:
    places = _places(_described(cluster, [move.place for move in moves])) if moves else {}
    return tuple(
        replace(move, before=_target_dir(places.get(move.place, ())) or move.before)
        for move in moves
    )


def _send(cluster: Cluster, moves: Sequence[LogDirMove]) -> list[Failure | None]:
    """Send one request per broker, all at once, and wait until brokers show the moves. Returns why
    each was refused."""
    by_broker: dict[int, list[LogDirMove]] = {}
    for move in moves:
        by_broker.setdefault(move.broker, []).append(move)
    calls = [Call(_request(group), Node(broker)) for broker, group in by_broker.items()]
    codes: dict[Place, int | Failure] = {}
    responses = zip(by_broker.items(), cluster.send_all(calls), strict=True)
    for (broker, group), response in responses:
        if isinstance(response, Failure):
            codes |= {move.place: response for move in group}
        else:
            codes |= {
                (broker, TopicPartition(topic.topic_name, row.partition_index)): row.error_code
                for topic in response.results
                for row in topic.partitions
            }
    failures = [
        None
        if not move.before and codes.get(move.place) == REPLICA_NOT_AVAILABLE
        else row_failure(
            codes.get(move.place), move.resource, requires="ALTER on the cluster",
            see=Resource("log-dirs", str(move.broker)),
        )
        for move in moves
    ]  # fmt: skip
    sent = {
        move.place: move.after
        for move, why in zip(moves, failures, strict=True)
        if why is None and move.before
    }

    def visible() -> bool:
        places = _places(_described(cluster, sent))
        return all(path in _target_dirs(places.get(place, ())) for place, path in sent.items())

    if sent:
        wait_until_visible(visible)
    return failures


def _request(moves: Sequence[LogDirMove]) -> Any:
    kind = messages.AlterReplicaLogDirsRequest.AlterReplicaLogDir
    by_path: dict[str, list[TopicPartition]] = {}
    for move in moves:
        by_path.setdefault(move.after, []).append(move.partition)
    return messages.AlterReplicaLogDirsRequest(
        dirs=[
            kind(
                path=path,
                topics=[
                    kind.AlterReplicaLogDirTopic(
                        name=name, partitions=[partition.partition for partition in group]
                    )
                    for name, group in by_topic(partitions).items()
                ],
            )
            for path, partitions in by_path.items()
        ]
    )


# -- plans -----------------------------------------------------------------------------------------


def plan_dirs(cluster: Cluster, dirs: Dirs) -> tuple[LogDirPlan, dict[TopicPartition, Failure]]:
    """The moves to these directories in a reassignment, and the partitions whose directories are
    refused."""
    if not dirs:
        return LogDirPlan(), {}
    directories = log_dirs.describe(cluster, None, list({each: None for _, each in dirs}))
    places = _places(directories)
    largest: Counter[TopicPartition] = Counter()
    for (_, partition), replicas in places.items():
        largest[partition] = max(largest[partition], *(row.size for row in replicas))
    refused: dict[TopicPartition, Failure] = {}
    moves = []
    for (broker, partition), path in dirs.items():
        current = places.get((broker, partition), ())
        if (why := _dir_failure(broker, path, directories)) is not None:
            refused.setdefault(partition, why)
        elif _target_dir(current) != path:
            moves.append(_move(broker, partition, current, path, largest[partition]))
    current_dirs = {place: _target_dir(current) for place, current in places.items()}
    return LogDirPlan(tuple(moves), current_dirs, _too_large(moves, directories)), refused


def plan_move(
    cluster: Cluster, replicas: Sequence[Place], path: str, *, wait: bool = False
) -> Plan:
    """Move replicas to the log directory `path` of their brokers, in the background; with `wait`,
    the plan waits for the end. A replica that is being moved elsewhere is moved here instead (API
    key 34). A replica is a broker and a partition."""
    directories = log_dirs.describe(cluster, list(dict.fromkeys(broker for broker, _ in replicas)))
    places = _places(directories)
    moves, followed, refused, unchanged = [], {}, {}, []
    for broker, partition in replicas:
        current = places.get((broker, partition), ())
        move = _move(broker, partition, current, path, 0)
        why = directories.failures.get(broker) or _refusal(move, current, directories)
        if why is not None:
            refused[move.resource] = why
            continue
        followed[move.place] = path
        if move.before == path:
            moving = any(row.future for row in current)
            note = f"no change: already {'being moved ' if moving else ''}there"
            unchanged.append(Change(move.resource, "alter", "log directory", path, path, note=note))
        else:
            moves.append(move)
    return Plan(
        Effect.CHANGE,
        (AlterReplicaLogDirs(tuple(moves)),) if moves else (),
        following=Following(
            follow=lambda cluster, report: follow(cluster, followed, report), waits=wait
        ),
        advice=Advice(warnings=_too_large(moves, directories)),
        refused=Results({}, refused),
        unchanged=tuple(unchanged),
    )


def _move(
    broker: int,
    partition: TopicPartition,
    replicas: Sequence[ReplicaOnDisk],
    path: str,
    size: int,
) -> LogDirMove:
    """The move of a replica to a log directory. `size` is used if the broker has no replica yet."""
    for row in replicas:
        if not row.future:  # one that is still there is not copied
            size = 0 if row.path == path else row.size
    return LogDirMove(broker, partition, _target_dir(replicas), path, size)


def _refusal(move: LogDirMove, replicas: Sequence[ReplicaOnDisk], known: Found) -> Failure | None:
    if not replicas:
        return failure(
            REPLICA_NOT_AVAILABLE,
            text=f"broker {move.broker} has no replica of partition {move.partition}",
            see=Resource("topic", move.partition.topic),
        )
    return _dir_failure(move.broker, move.after, known)


def _dir_failure(broker: int, path: str, known: Found) -> Failure | None:
    """Why replicas cannot be moved to this log directory; None if they can."""
    if broker not in known.values:
        hint = f'Start broker {broker}, or use "any" as its log directory in the file.'
        message = f"broker {broker} is down, so its log directories cannot be read"
        return known.failures.get(broker, failure(BROKER_NOT_AVAILABLE, text=message, hint=hint))
    dirs = known.values[broker]
    target = next((dir for dir in dirs if dir.path == path), None)
    if target is None:
        return failure(
            LOG_DIR_NOT_FOUND,
            text=f"broker {broker} has no log directory {path}",
            hint=f"Use one of: {', '.join(dir.path for dir in dirs)}.",
        )
    return None if target.error is None else _offline(target)


def _offline(dir: LogDir) -> Failure:
    return failure(
        KAFKA_STORAGE_ERROR,
        text=f"log directory {dir.path} of broker {dir.broker} is offline",
        see=Resource("log-dirs", str(dir.broker)),
    )


def _too_large(moves: Sequence[LogDirMove], directories: Found) -> tuple[str, ...]:
    """A warning for each log directory that is too small for the replicas moved to it."""
    incoming: Counter[tuple[int, str]] = Counter()
    for move in moves:
        incoming[move.broker, move.after] += move.size
    return tuple(
        f"broker {dir.broker}: {approximate_bytes(incoming[dir.broker, dir.path])} will be copied"
        f" to {dir.path}, which has only {approximate_bytes(dir.usable)} free"
        for dirs in directories
        for dir in dirs
        if dir.usable is not None and incoming[dir.broker, dir.path] > dir.usable
    )


# -- progress --------------------------------------------------------------------------------------


def follow(cluster: Cluster, dirs: Dirs, report: Report) -> None:
    """Wait until replicas are in these log directories.

    Raises UnexpectedEnd if one is neither there nor being moved there, and ShellError at the
    deadline, or if a broker does not respond for a minute.
    """
    if not dirs:
        return
    task = f"Moving {counted(len(dirs), 'replica')}"
    last_response = time.monotonic()
    while True:
        directories = _described(cluster, dirs)
        if directories.ok:
            last_response = time.monotonic()
            places = _places(directories)
            for place, path in dirs.items():
                if path not in _target_dirs(places.get(place, ())):
                    raise _ended(place, path, directories)
            largest = [max(row.size for row in places[place]) for place in dirs]
            total = max(1, sum(largest))
            if all(
                [(row.path, row.future) for row in places[place]] == [(path, False)]
                for place, path in dirs.items()
            ):
                report(task, total, total)
                return
            copied = sum(
                row.size for place in dirs for row in places[place] if row.path == dirs[place]
            )
            report(task, Bytes(min(copied, total - 1)), Bytes(total))
        elif time.monotonic() - last_response > PROGRESS_S or any(
            why.name == "deadline" for why in directories.failures.values()
        ):
            raise as_error(next(iter(directories.failures.values())))
        cluster.pause(POLL_S, task.lower())


def _ended(place: Place, path: str, directories: Found) -> ShellError:
    """Why a replica is not being moved any more."""
    broker, partition = place
    for dir in directories.values.get(broker, ()):
        if dir.path == path and dir.error is not None:
            return as_error(_offline(dir))
    return UnexpectedEnd(
        f"replica {partition} on broker {broker} is no longer being moved to {path}",
        code="cancelled",
        see=Resource("log-dirs", str(broker)),
    )


def with_dir_status(cluster: Cluster, dirs: Dirs, rows: list[PartitionMove]) -> list[PartitionMove]:
    """The rows; those with replicas in other log directories than these are not completed."""
    directories: Found = _described(cluster, dirs) if dirs else Results()
    places = _places(directories)
    by_partition: dict[TopicPartition, list[tuple[MoveStatus, str]]] = {}
    for place, path in dirs.items():
        status = _status(place, path, places.get(place, ()), directories)
        by_partition.setdefault(place[1], []).append(status)
    return [
        _with_status(row, by_partition.get(TopicPartition(row.topic, row.partition)))
        for row in rows
    ]


def _status(
    place: Place, path: str, replicas: Sequence[ReplicaOnDisk], directories: Found
) -> tuple[MoveStatus, str]:
    broker, _ = place
    if broker in directories.failures:
        return MoveStatus.IN_PROGRESS, str(directories.failures[broker])  # unknown
    current = _target_dir(replicas)
    if not current:
        return MoveStatus.FAILED, f"broker {broker} has no replica"
    if current != path:
        return MoveStatus.FAILED, f"broker {broker} has it in {current}, not in {path}"
    if any(row.future for row in replicas):
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


def _described(cluster: Cluster, places: Collection[Place]) -> Found:
    brokers = list(dict.fromkeys(broker for broker, _ in places))
    return log_dirs.describe(cluster, brokers, list({each: None for _, each in places}))


def _places(directories: Found) -> Places:
    """The replicas in these log directories, by broker and partition."""
    places: dict[Place, list[ReplicaOnDisk]] = {}
    for dirs in directories:
        for row in (row for dir in dirs for row in dir.rows):
            places.setdefault((row.broker, row.topic_partition), []).append(row)
    return places


def _target_dir(replicas: Sequence[ReplicaOnDisk]) -> str:
    """The log directory that a replica is in, or is being moved to; empty without a replica."""
    return (_target_dirs(replicas) or [""])[0]


def _target_dirs(replicas: Sequence[ReplicaOnDisk]) -> list[str]:
    """When a future replica replaces the old one, a broker shows both as not future at first."""
    return [row.path for row in replicas if row.future] or [row.path for row in replicas]
