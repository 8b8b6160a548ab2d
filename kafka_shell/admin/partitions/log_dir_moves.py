"""Move replicas between the log directories of their broker (KIP-113; API key 34)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.model import LogDir, ReplicaOnDisk, TopicPartition
from kafka_shell.admin.records.offsets import by_topic
from kafka_shell.admin.steps import BaseStep, row_failure
from kafka_shell.base.errors import ShellError
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
from kafka_shell.wire.connection import Cluster, wait_until_visible
from kafka_shell.wire.error_codes import (
    KAFKA_STORAGE_ERROR,
    LOG_DIR_NOT_FOUND,
    REPLICA_NOT_AVAILABLE,
)
from kafka_shell.wire.failures import as_error, failure
from kafka_shell.wire.requests import Call, Node

_POLL_S = 0.25
_MAX_SILENCE_S = 60.0  # a broker that restarts continues its moves

Place = tuple[int, TopicPartition]  # a broker and one of its replicas
Replicas = Sequence[ReplicaOnDisk]  # a replica, and the future one that will replace it, if any
Places = Mapping[Place, Replicas]


class LogDirMove(Struct, frozen=True):
    """The move of a replica from its log directory, or the one it is being moved to, to another.
    `size` is in bytes."""

    broker: int
    partition: TopicPartition
    before: str
    after: str
    size: int
    cancels: bool = False  # it is still in `after`, and stays there

    @property
    def place(self) -> Place:
        """The broker and the partition."""
        return self.broker, self.partition

    @property
    def resource(self) -> Resource:
        """The resource of its change."""
        return Resource("replica", f"{self.partition} on broker {self.broker}")


class AlterReplicaLogDirs(Struct, BaseStep, frozen=True):
    """One AlterReplicaLogDirs request per broker (KIP-113; API key 34)."""

    moves: tuple[LogDirMove, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(
                move.resource, "alter", "log directory", move.before, move.after,
                note="cancels the move in progress" if move.cancels
                else approximate_bytes(move.size),
            )
            for move in self.moves
        )  # fmt: skip

    def reread(self, cluster: Cluster) -> AlterReplicaLogDirs:
        """The same moves from the current log directories."""
        places = _places(cluster, self.moves)
        return AlterReplicaLogDirs(
            tuple(
                replace(move, before=target_dir(places.get(move.place, ())) or move.before)
                for move in self.moves
            )
        )

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Start the moves. They continue in the background."""
        codes = send_moves(cluster, self.moves)
        results = Results.of(
            self.changes, (move_failure(move, codes.get(move.place)) for move in self.moves)
        )
        started = [
            move
            for move, change in zip(self.moves, self.changes, strict=True)
            if change in results.values
        ]
        wait_until_visible(lambda: all_started(cluster, started))
        return results


def send_moves(cluster: Cluster, moves: Sequence[LogDirMove]) -> dict[Place, int | Failure]:
    """Send one request per broker, all at once. Returns the error code of each replica."""
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
    return codes


def plan_move(
    cluster: Cluster,
    replicas: Sequence[Place],
    path: str,
    *,
    wait: bool = False,
) -> Plan:
    """Move replicas to the log directory `path` of their brokers, in the background.

    With `wait`, the plan waits for the end. A replica that is being moved to another directory is
    redirected; moving it to its current directory cancels its move.
    """
    brokers = list(dict.fromkeys(broker for broker, _ in replicas))
    found = log_dirs.describe(cluster, brokers)
    places = by_place(found)
    moves, in_progress, refused, unchanged = [], [], {}, []
    for broker, partition in replicas:
        current = places.get((broker, partition), ())
        move = move_to(broker, partition, current, path)
        reason = found.failures.get(broker) or _refusal(move, current, found[broker])
        if reason is not None:
            refused[move.resource] = reason
        elif target_dir(current) == path:
            unchanged.append(_unchanged(move, current))
            in_progress += [move] if is_moving(current) else []
        else:
            moves.append(move)
    chosen, followed = tuple(moves), (*moves, *in_progress)
    return Plan(
        Effect.CHANGE,
        (AlterReplicaLogDirs(chosen),) if chosen else (),
        fresh=lambda later: _replicas(later, chosen),
        refused=Results({}, refused),
        unchanged=tuple(unchanged),
        following=Following(
            follow=partial(follow, moves=followed) if followed else None, waits=wait
        ),
        advice=Advice(warnings=too_large(chosen, found)),
    )


def follow(cluster: Cluster, report: Report, moves: Sequence[LogDirMove]) -> None:
    """Wait for the end of moves.

    Raises ShellError if one was cancelled or its log directory is offline, or if a broker does not
    respond for a minute.
    """
    task = f"Moving {counted(len(moves), 'replica')}"
    total = max(1, sum(move.size for move in moves if not move.cancels))
    last_response = time.monotonic()
    while True:
        found = _described(cluster, moves)
        places = by_place(found)
        if found.ok:
            last_response = time.monotonic()
        elif time.monotonic() - last_response > _MAX_SILENCE_S or _is_deadline(found):
            raise as_error(next(iter(found.failures.values())))
        cancelled = [move for move in moves if found.ok and not is_started(move, places)]
        if cancelled:
            raise _ended(cancelled[0], found[cancelled[0].broker])
        if found.ok and all(_finished(move, places) for move in moves):
            report(task, total, total)
            return
        copied = sum(_copied(move, places) for move in moves)
        report(task, Bytes(min(copied, total - 1)), Bytes(total))
        cluster.pause(_POLL_S, task.lower())


def _ended(move: LogDirMove, dirs: Sequence[LogDir]) -> ShellError:
    """Why a replica is no longer being moved."""
    for dir in dirs:
        if dir.path in (move.before, move.after) and dir.error is not None:
            return as_error(_offline(dir))
    return ShellError(
        f"the move of {move.resource} to {move.after} has been cancelled",
        code="cancelled",
        see=Resource("log-dirs", str(move.broker)),
    )


def when_all_respond(
    cluster: Cluster, brokers: Iterable[int], partitions: Sequence[TopicPartition]
) -> Results[int, tuple[LogDir, ...]]:
    """The log directories of brokers, of which some may be restarting. Raises ShellError if one
    does not respond for a minute, or at the deadline."""
    began, brokers = time.monotonic(), sorted(brokers)
    while not (found := log_dirs.describe(cluster, brokers, partitions)).ok:
        if time.monotonic() - began > _MAX_SILENCE_S or _is_deadline(found):
            raise as_error(next(iter(found.failures.values())))
        time.sleep(_POLL_S)
    return found


# -- log directories -------------------------------------------------------------------------------


def _described(cluster: Cluster, moves: Iterable[LogDirMove]) -> Results[int, tuple[LogDir, ...]]:
    brokers = list(dict.fromkeys(move.broker for move in moves))
    return log_dirs.describe(cluster, brokers, list({move.partition: None for move in moves}))


def _places(cluster: Cluster, moves: Iterable[LogDirMove]) -> Places:
    return by_place(_described(cluster, list(moves)))


def by_place(found: Results[int, tuple[LogDir, ...]]) -> Places:
    """The replicas in these log directories, by broker and partition."""
    places: dict[Place, list[ReplicaOnDisk]] = {}
    for dirs in found:
        for row in (row for dir in dirs for row in dir.rows):
            places.setdefault((row.broker, row.topic_partition), []).append(row)
    return places


def _replicas(cluster: Cluster, moves: Sequence[LogDirMove]) -> tuple[ReplicaOnDisk, ...]:
    places = _places(cluster, moves)
    return tuple(row for move in moves for row in places.get(move.place, ()))


def target_dir(replicas: Replicas) -> str:
    """The log directory that a replica is in, or is being moved to; empty without a replica."""
    return (_target_dirs(replicas) or [""])[0]


def _target_dirs(replicas: Replicas) -> list[str]:
    """When a future replica replaces the old one, a broker shows both as not future at first."""
    return [row.path for row in replicas if row.future] or [row.path for row in replicas]


def is_moving(replicas: Replicas) -> bool:
    """Whether the replica is being moved to another log directory."""
    return any(row.future for row in replicas)


def current_replica(replicas: Replicas) -> ReplicaOnDisk | None:
    """The replica in use, not the future one."""
    return next((row for row in replicas if not row.future), None)


def is_started(move: LogDirMove, places: Places) -> bool:
    """Whether the replica is in its new log directory, or is being moved there."""
    return move.after in _target_dirs(places.get(move.place, ()))


def all_started(cluster: Cluster, moves: Sequence[LogDirMove]) -> bool:
    """Whether the brokers show that all these moves have started or ended."""
    places = _places(cluster, moves) if moves else {}
    return all(is_started(move, places) for move in moves)


def _finished(move: LogDirMove, places: Places) -> bool:
    replicas = places.get(move.place, ())
    return [(row.path, row.future) for row in replicas] == [(move.after, False)]


def _copied(move: LogDirMove, places: Places) -> int:
    if move.cancels:
        return 0
    copies = [row.size for row in places.get(move.place, ()) if row.path == move.after]
    return min(sum(copies), move.size)


# -- moves and their failures ----------------------------------------------------------------------


def move_to(
    broker: int, partition: TopicPartition, replicas: Replicas, path: str, size: int = 0
) -> LogDirMove:
    """The move of a replica to a log directory. `size` is used if the broker has no replica yet."""
    current = current_replica(replicas)
    return LogDirMove(
        broker,
        partition,
        target_dir(replicas),
        path,
        current.size if current else size,
        cancels=current is not None and current.path == path,
    )


def _refusal(move: LogDirMove, replicas: Replicas, dirs: Sequence[LogDir]) -> Failure | None:
    if not replicas:
        return failure(
            REPLICA_NOT_AVAILABLE,
            text=f"broker {move.broker} has no replica of partition {move.partition}",
            see=Resource("topic", move.partition.topic),
        )
    return dir_failure(move.broker, move.after, dirs)


def dir_failure(broker: int, path: str, dirs: Sequence[LogDir]) -> Failure | None:
    """Why replicas cannot be moved to this log directory; None if they can."""
    target = next((dir for dir in dirs if dir.path == path), None)
    if target is None:
        return failure(
            LOG_DIR_NOT_FOUND,
            text=f"broker {broker} has no log directory {path}",
            hint=f"Its log directories: {', '.join(dir.path for dir in dirs)}.",
        )
    return None if target.error is None else _offline(target)


def _offline(dir: LogDir) -> Failure:
    return failure(
        KAFKA_STORAGE_ERROR,
        text=f"log directory {dir.path} of broker {dir.broker} is offline",
        see=Resource("log-dirs", str(dir.broker)),
    )


def _unchanged(move: LogDirMove, replicas: Replicas) -> Change:
    note = "already being moved there" if is_moving(replicas) else "already there"
    return Change(
        move.resource, "alter", "log directory", move.after, move.after, note=f"no change: {note}"
    )


def too_large(
    moves: Sequence[LogDirMove], found: Results[int, tuple[LogDir, ...]]
) -> tuple[str, ...]:
    """A warning for each log directory that is too small for the replicas moved to it."""
    incoming: Counter[tuple[int, str]] = Counter()
    for move in moves:
        incoming[move.broker, move.after] += 0 if move.cancels else move.size
    return tuple(
        f"broker {dir.broker}: {approximate_bytes(incoming[dir.broker, dir.path])} will be copied"
        f" to {dir.path}, which has only {approximate_bytes(dir.usable)} free"
        for dirs in found
        for dir in dirs
        if dir.usable is not None and incoming[dir.broker, dir.path] > dir.usable
    )


def _is_deadline(found: Results[int, Any]) -> bool:
    return any(failure.name == "deadline" for failure in found.failures.values())


def _request(moves: Sequence[LogDirMove]) -> Any:
    from kafka.protocol.admin import AlterReplicaLogDirsRequest

    kind = AlterReplicaLogDirsRequest.AlterReplicaLogDir
    by_path: dict[str, list[TopicPartition]] = {}
    for move in moves:
        by_path.setdefault(move.after, []).append(move.partition)
    return AlterReplicaLogDirsRequest(
        dirs=[
            kind(
                path=path,
                topics=[
                    kind.AlterReplicaLogDirTopic(
                        name=name, partitions=[each.partition for each in group]
                    )
                    for name, group in by_topic(partitions).items()
                ],
            )
            for path, partitions in by_path.items()
        ]
    )


def move_failure(move: LogDirMove, code: int | Failure | None) -> Failure | None:
    """Why a move failed, by the code in the broker's response; None if it has started."""
    see = Resource("log-dirs", str(move.broker))
    return row_failure(code, move.resource, requires="ALTER on the cluster", see=see)
