"""Moving replicas between the log dirs of their broker (KIP-113; API key 34)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from kafka_shell.admin.records.offsets import by_topic
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import REQUEST_TIMED_OUT, as_error, failure, requires
from kafka_shell.admin.wire.propagation import wait_until_visible
from kafka_shell.admin.wire.requests import Call, Node
from kafka_shell.errors import ShellError
from kafka_shell.plan.model import Change, Effect, Plan, Report, Resource
from kafka_shell.plan.results import Failure, Results
from kafka_shell.quoting import positional
from kafka_shell.structs import replace
from kafka_shell.units import approximate_bytes

from . import log_dirs
from .model import LogDir, ReplicaOnDisk, TopicPartition

_REPLICA_NOT_AVAILABLE = 9
_KAFKA_STORAGE_ERROR = 56
_LOG_DIR_NOT_FOUND = 57
_LOOK_S = 0.25
_GRACE_S = 60.0  # a broker that restarts goes on with its moves

Place = tuple[int, TopicPartition]  # a broker and one of its replicas
Here = Sequence[ReplicaOnDisk]  # a replica, and beside it the future one that will replace it
Places = Mapping[Place, Here]


class Move(Struct, frozen=True):
    """A replica, the dir it is in (or on its way to) and the one it goes to. `size` in bytes."""

    broker: int
    partition: TopicPartition
    before: str
    after: str
    size: int
    cancels: bool = False  # it is in `after` still, and stays there

    @property
    def place(self) -> Place:
        """The broker and the partition."""
        return self.broker, self.partition

    @property
    def resource(self) -> Resource:
        """What the change is about."""
        return Resource("replica", f"{self.partition} on broker {self.broker}")


class MoveReplicas(Struct, frozen=True):
    """One AlterReplicaLogDirs request a broker (KIP-113, API key 34)."""

    moves: tuple[Move, ...]
    validates = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """One other dir a replica."""
        return tuple(
            Change(
                move.resource, "alter", "log dir", move.before, move.after,
                note="the move under way is cancelled" if move.cancels
                else approximate_bytes(move.size),
            )
            for move in self.moves
        )  # fmt: skip

    def reread(self, cluster: Cluster) -> MoveReplicas:
        """Where the replicas are now."""
        places = _places(cluster, self.moves)
        return MoveReplicas(
            tuple(
                replace(move, before=headed_for(places.get(move.place, ())) or move.before)
                for move in self.moves
            )
        )

    def send(self, cluster: Cluster, *, validate_only: bool) -> Results[Change, Change]:
        """Begin to move. The API cannot only validate."""
        codes = ask(cluster, self.moves)
        results: Results[Change, Change] = Results()
        for move, change in zip(self.moves, self.changes, strict=True):
            why = refusal(move, codes.get(move.place))
            if why is None:
                results.values[change] = change
            else:
                results.failures[change] = why
        sent = [
            move
            for move, change in zip(self.moves, self.changes, strict=True)
            if change in results.values
        ]
        wait_until_visible(lambda: all_begun(cluster, sent))
        return results


def ask(cluster: Cluster, moves: Sequence[Move]) -> dict[Place, int | Failure]:
    """One request a broker, all at once; the code that each has for each of its replicas."""
    by_broker: dict[int, list[Move]] = {}
    for move in moves:
        by_broker.setdefault(move.broker, []).append(move)
    calls = [Call(_request(group), Node(broker)) for broker, group in by_broker.items()]
    codes: dict[Place, int | Failure] = {}
    for (broker, group), answer in zip(by_broker.items(), cluster.send_all(calls), strict=True):
        if isinstance(answer, Failure):
            codes |= {move.place: answer for move in group}
        else:
            codes |= {
                (broker, TopicPartition(topic.topic_name, row.partition_index)): row.error_code
                for topic in answer.results
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
    """Move replicas to the log dir `path` of their brokers. The copy goes on by itself.

    With `wait` it is followed to its end. A replica that is on its way elsewhere turns round; one
    sent to the dir it is still in stays there.
    """
    brokers = list(dict.fromkeys(broker for broker, _ in replicas))
    found = log_dirs.describe(cluster, brokers)
    places = by_place(found)
    moves, under_way, refused, unchanged = [], [], {}, []
    for broker, partition in replicas:
        here = places.get((broker, partition), ())
        move = towards(broker, partition, here, path)
        why = found.failures.get(broker) or _cannot(move, here, found[broker])
        if why is not None:
            refused[move.resource] = why
        elif headed_for(here) == path:
            unchanged.append(_there(move, here))
            under_way += [move] if on_its_way(here) else []
        else:
            moves.append(move)
    chosen, followed = tuple(moves), (*moves, *under_way)
    return Plan(
        Effect.CHANGE,
        (MoveReplicas(chosen),) if chosen else (),
        follow=partial(follow, moves=followed) if followed else None,
        waits=wait,
        resume=_look_line(chosen),
        fresh=lambda later: _as_they_are(later, chosen),
        warnings=too_large(chosen, found),
        refused=Results({}, refused),
        unchanged=tuple(unchanged),
    )


def follow(cluster: Cluster, report: Report, moves: Sequence[Move]) -> None:
    """Watch moves to their end. Raises ShellError where one was cancelled, or cannot be seen."""
    task = f"moving {len(moves):,} replica{'' if len(moves) == 1 else 's'}"
    total = max(1, sum(move.size for move in moves if not move.cancels))
    seen = time.monotonic()
    while True:
        found = _described(cluster, moves)
        places = by_place(found)
        if found.ok:
            seen = time.monotonic()
        elif time.monotonic() - seen > _GRACE_S or _is_deadline(found):
            raise as_error(next(iter(found.failures.values())))
        lost = [] if not found.ok else [
            move for move in moves if not _begun(move, places)
        ]  # fmt: skip
        if lost:
            raise ShellError(
                f"the move of {lost[0].resource} to {lost[0].after} has been cancelled",
                hint=f"Look: {_look_line(lost)}",
                code="cancelled",
            )
        if found.ok and all(_ended(move, places) for move in moves):
            report(task, total, total)
            return
        copied = sum(_copied(move, places) for move in moves)
        report(task, min(copied, total - 1), total)
        time.sleep(_LOOK_S)


# -- where things are ------------------------------------------------------------------------------


def _described(cluster: Cluster, moves: Iterable[Move]) -> Results[int, tuple[LogDir, ...]]:
    brokers = list(dict.fromkeys(move.broker for move in moves))
    return log_dirs.describe(cluster, brokers, list({move.partition: None for move in moves}))


def _places(cluster: Cluster, moves: Iterable[Move]) -> Places:
    return by_place(_described(cluster, list(moves)))


def by_place(found: Results[int, tuple[LogDir, ...]]) -> Places:
    """The replicas of log dirs by where they are."""
    places: dict[Place, list[ReplicaOnDisk]] = {}
    for dirs in found:
        for row in (row for dir in dirs for row in dir.rows):
            places.setdefault((row.broker, row.topic_partition), []).append(row)
    return places


def _as_they_are(cluster: Cluster, moves: Sequence[Move]) -> tuple[ReplicaOnDisk, ...]:
    places = _places(cluster, moves)
    return tuple(row for move in moves for row in places.get(move.place, ()))


def headed_for(here: Here) -> str:
    """The dir a replica will be in: the future one's, where there is one."""
    future = [row.path for row in here if row.future]
    return (future or [row.path for row in here] or [""])[0]


def on_its_way(here: Here) -> bool:
    """Whether it is being copied to another dir."""
    return any(row.future for row in here)


def current(here: Here) -> ReplicaOnDisk | None:
    """The replica that serves."""
    return next((row for row in here if not row.future), None)


def _begun(move: Move, places: Places) -> bool:
    """Whether the replica is in its new dir, or on its way there."""
    return headed_for(places.get(move.place, ())) == move.after


def all_begun(cluster: Cluster, moves: Sequence[Move]) -> bool:
    """Whether all of them can be seen to have begun."""
    places = _places(cluster, moves) if moves else {}
    return all(_begun(move, places) for move in moves)


def _ended(move: Move, places: Places) -> bool:
    here = places.get(move.place, ())
    return [(row.path, row.future) for row in here] == [(move.after, False)]


def _copied(move: Move, places: Places) -> int:
    if move.cancels:
        return 0
    arrived = [row for row in places.get(move.place, ()) if row.path == move.after]
    return min(sum(row.size for row in arrived), move.size)


# -- what can be, and what came of it --------------------------------------------------------------


def towards(broker: int, partition: TopicPartition, here: Here, path: str, size: int = 0) -> Move:
    """The move of a replica to a dir; `size` is that of one that is still to come."""
    now = current(here)
    return Move(
        broker,
        partition,
        headed_for(here),
        path,
        now.size if now else size,
        cancels=now is not None and now.path == path,
    )


def _cannot(move: Move, here: Here, dirs: Sequence[LogDir]) -> Failure | None:
    if not here:
        return failure(
            _REPLICA_NOT_AVAILABLE,
            text=f"broker {move.broker} has no replica of partition {move.partition}",
            hint=f"Look: describe-topic {positional('--topic', move.partition.topic)}",
        )
    return unusable(move.broker, move.after, dirs)


def unusable(broker: int, path: str, dirs: Sequence[LogDir]) -> Failure | None:
    """Why nothing can be moved to this dir of a broker; None where it can."""
    target = next((dir for dir in dirs if dir.path == path), None)
    if target is None:
        return failure(
            _LOG_DIR_NOT_FOUND,
            text=f"broker {broker} has no log dir {path}",
            hint=f"It has {', '.join(dir.path for dir in dirs)}.",
        )
    if target.error is not None:
        return failure(
            _KAFKA_STORAGE_ERROR,
            text=f"log dir {target.path} of broker {broker} is offline",
            hint=f"Look: describe-log-dirs --broker-id {broker}",
        )
    return None


def _there(move: Move, here: Here) -> Change:
    note = "it is on its way there" if on_its_way(here) else "it is there"
    return Change(move.resource, "alter", "log dir", move.after, move.after, note=note)


def too_large(moves: Sequence[Move], found: Results[int, tuple[LogDir, ...]]) -> tuple[str, ...]:
    """A warning for each dir that has no room for what goes there."""
    coming: Counter[tuple[int, str]] = Counter()
    for move in moves:
        coming[move.broker, move.after] += 0 if move.cancels else move.size
    return tuple(
        f"{approximate_bytes(coming[dir.broker, dir.path])} go to {dir.path} of broker"
        f" {dir.broker}, which has {approximate_bytes(dir.usable)} left"
        for dirs in found
        for dir in dirs
        if dir.usable is not None and coming[dir.broker, dir.path] > dir.usable
    )


def _look_line(moves: Sequence[Move]) -> str:
    if not moves:
        return ""
    topics = dict.fromkeys(move.partition.topic for move in moves)
    brokers = ",".join(map(str, dict.fromkeys(move.broker for move in moves)))
    named = " ".join(positional("--topic", topic) for topic in topics)
    return f"describe-log-dirs {named} --broker-id {brokers}"


def _is_deadline(found: Results[int, Any]) -> bool:
    return any(why.name == "deadline" for why in found.failures.values())


def _request(moves: Sequence[Move]) -> Any:
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


def refusal(move: Move, code: int | Failure | None) -> Failure | None:
    """What a broker's code for a move means; None where it has begun."""
    if code == 0:
        return None
    if isinstance(code, Failure):
        return code
    look = f"Look: {_look_line([move])}"
    if code is None:
        said = f"the broker's answer does not mention {move.resource}"
        return Failure("UNKNOWN", said, hint=look)
    hint = requires(code, "ALTER on the cluster")
    if code == REQUEST_TIMED_OUT:
        hint = f"It may still begin. {look}"
    return failure(code, about=str(move.resource), hint=hint)
