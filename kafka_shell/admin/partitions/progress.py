"""How moves stand, what of them is copied, and their following to the end (KIP-455; API key 46)."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field

from kafka_shell.admin.records.offsets import log_ends
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import requires
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.admin.wire.requests import CONTROLLER
from kafka_shell.errors import ShellError, Status, UnexpectedEnd
from kafka_shell.plan.model import Report
from kafka_shell.plan.results import Results
from kafka_shell.structs import replace

from . import sizes as move_sizes
from .log_dir_targets import Dirs, follow, judged
from .model import Move, MoveStatus, PartitionMove, Reassignment, TopicPartition
from .sizes import Sizes

TIMEOUT_MS = 60_000
_POLL_S = 1.0
_PATIENCE_S = 60.0  # without an answer, as while brokers restart
_HEARSAY_S, _LOOK_S = 0.5, 0.05

Wanted = Mapping[TopicPartition, tuple[int, ...]]
Lags = Mapping[tuple[int, TopicPartition], int]


# -- under way -------------------------------------------------------------------------------------


def under_way(
    cluster: Cluster, topics: Sequence[str] | None = None
) -> Results[TopicPartition, Reassignment]:
    """The partitions that are being moved: all, or of these topics. In order."""
    from kafka.protocol.admin import ListPartitionReassignmentsRequest

    request = ListPartitionReassignmentsRequest(timeout_ms=TIMEOUT_MS, topics=None)
    names = None if topics is None else set(topics)
    try:
        response = cluster.send(request, to=CONTROLLER)
    except ShellError as error:
        error.hint = error.hint or requires(
            getattr(error, "kafka_code", None) or 0, "DESCRIBE on the cluster"
        )
        raise
    found = sorted(
        (
            Reassignment(
                topic.name, row.partition_index, tuple(row.replicas),
                tuple(row.adding_replicas), tuple(row.removing_replicas),
            )
            for topic in response.topics
            for row in topic.partitions
            if names is None or topic.name in names
        ),
        key=lambda each: each.topic_partition,
    )  # fmt: skip
    return Results({each.topic_partition: each for each in found})


def needing(error: ShellError, permission: str) -> ShellError:
    """The error with the permission that is missing, where that is what it is about."""
    error.hint = error.hint or requires(getattr(error, "kafka_code", None) or 0, permission)
    return error


def with_sizes(cluster: Cluster, moving: Sequence[Reassignment]) -> list[Reassignment]:
    """The same moves with what is copied: bytes from the log dirs of the brokers concerned, and how
    far the copies' log ends are behind their leaders'."""
    if not moving:
        return []
    leaders = _leaders(cluster, moving)
    concerned = {broker for each in moving for broker in each.replicas}
    sizes = move_sizes.read(cluster, [each.topic_partition for each in moving], concerned)
    lags = _lags(cluster, moving, leaders)
    return [_measured(each, sizes, lags, leaders.get(each.topic_partition)) for each in moving]


def _lags(
    cluster: Cluster, moving: Sequence[Reassignment], leaders: Mapping[TopicPartition, int | None]
) -> Lags:
    """By how many offsets each copy that is made lacks its leader's log end."""
    asked: dict[int, list[TopicPartition]] = {}
    for each in moving:
        leader = leaders.get(each.topic_partition)
        for broker in () if leader is None else {leader, *each.adding}:
            asked.setdefault(broker, []).append(each.topic_partition)
    ends = log_ends(cluster, asked)
    lags = {}
    for (broker, partition), end in ends.items():
        leader = leaders[partition]
        if broker != leader and leader is not None and (leader, partition) in ends:
            lags[broker, partition] = max(0, ends[leader, partition] - end)
    return lags


def _measured(each: Reassignment, sizes: Sizes, lags: Lags, leader: int | None) -> Reassignment:
    if not each.adding:
        return each
    behind = [
        lags.get((broker, each.topic_partition)) for broker in each.adding if broker != leader
    ]
    known = [lag for lag in behind if lag is not None]
    lag = max(known, default=0) if len(known) == len(behind) else None
    size = sizes.of(each.topic_partition, leader)
    copies = [_copied(each.topic_partition, broker, sizes, lags, size) for broker in each.adding]
    there = [copy for copy in copies if copy is not None]
    if size is None or len(there) < len(copies):
        return replace(each, lag=lag)
    return replace(each, copied=sum(there), size=size * len(copies), lag=lag)


def _copied(
    partition: TopicPartition, broker: int, sizes: Sizes, lags: Lags, size: int | None
) -> int | None:
    """The bytes that a broker has of a copy of `size`. One that lacks no offset has all: compaction
    and retention make a replica smaller than its leader."""
    copy = sizes.copy(partition, broker)
    if size is None or copy is None:
        return None
    return size if lags.get((broker, partition)) == 0 else min(size, copy)


def _leaders(cluster: Cluster, moving: Sequence[Reassignment]) -> dict[TopicPartition, int | None]:
    found = scan(cluster, sorted({each.topic for each in moving}))
    return {
        TopicPartition(name, partition.partition): partition.leader
        for name in found.names
        for partition in found.topic(name).partitions
    }


def spell(replicas: Sequence[int]) -> str:
    """Replicas in their order: `1,2,3`."""
    return ",".join(map(str, replicas))


def wanted_of(moves: Sequence[Move]) -> dict[TopicPartition, tuple[int, ...]]:
    """Where these moves take their partitions."""
    return {move.partition: move.after for move in moves}


# -- how it stands ---------------------------------------------------------------------------------


def progress(
    cluster: Cluster, wanted: Wanted | None = None, dirs: Dirs | None = None
) -> tuple[PartitionMove, ...]:
    """How these moves stand, or all that are under way. What is on its brokers and not in the log
    dirs that are wanted is not completed."""
    if wanted is None:
        moving = under_way(cluster).values
        return tuple(
            _in_progress(each, None) for each in with_sizes(cluster, list(moving.values()))
        )
    return tuple(judged(cluster, dirs or {}, _rows_at_rest(cluster, wanted)))


def _rows_at_rest(cluster: Cluster, wanted: Wanted) -> list[PartitionMove]:
    """The rows; a broker may hear of a move's end a moment after the controller says it is over."""
    until = time.monotonic() + _HEARSAY_S
    while True:
        rows = _rows(cluster, wanted, under_way(cluster).values)
        failed = any(row.status is MoveStatus.FAILED and row.replicas for row in rows)
        if not failed or time.monotonic() > until:
            return rows
        time.sleep(_LOOK_S)


def _rows(
    cluster: Cluster, wanted: Wanted, moving: Mapping[TopicPartition, Reassignment]
) -> list[PartitionMove]:
    found = scan(cluster, sorted({each.topic for each in wanted}))
    now = {
        TopicPartition(name, partition.partition): partition.replicas
        for name in found.names
        for partition in found.topic(name).partitions
    }
    ours = with_sizes(cluster, [moving[each] for each in wanted if each in moving])
    measured = {each.topic_partition: each for each in ours}
    rows = []
    for each, after in wanted.items():
        if each in measured:
            rows.append(_in_progress(measured[each], after))
            continue
        replicas = now.get(each, ())
        done = replicas == after
        status = MoveStatus.COMPLETED if done else MoveStatus.FAILED
        note = "" if done else "nothing moves it" if replicas else "there is no such partition"
        rows.append(
            PartitionMove(
                each.topic, each.partition, status, int(status), replicas, after, note=note
            )
        )
    return rows


def _in_progress(each: Reassignment, wanted: tuple[int, ...] | None) -> PartitionMove:
    elsewhere = wanted is not None and set(wanted) != set(each.after)
    return PartitionMove(
        each.topic, each.partition, MoveStatus.IN_PROGRESS, int(MoveStatus.IN_PROGRESS),
        each.replicas, each.after if wanted is None else wanted, each.copied, each.size, each.lag,
        note=f"it moves to {spell(each.after)} instead" if elsewhere else "",
    )  # fmt: skip


# -- follow ----------------------------------------------------------------------------------------


class Follow(Struct, frozen=True):
    """Watches moves to their end, telling the bytes that are copied; all under way without moves.

    Replicas that are wanted in log dirs are followed into them then.
    A broker that goes and comes back is waited for. Raises ShellError where it was interrupted,
    and UnexpectedEnd where a move was cancelled or changed by somebody.
    """

    moves: tuple[Move, ...] | None = None
    cancel: str = ""  # the line that cancels it
    go_on: str = ""  # the line that picks it up, where execute does not tell it
    dirs: Dirs = field(default_factory=dict)

    def __call__(self, cluster: Cluster, report: Report) -> None:
        try:
            self._check(cluster, self._follow(cluster, report))
            follow(cluster, self.dirs, report)
        except KeyboardInterrupt:
            raise ShellError(
                "interrupted: the move goes on, and its throttle stays",
                hint="\n".join(
                    f"To {what}: {line}"
                    for what, line in (("cancel it", self.cancel), ("go on", self.go_on))
                    if line
                ),
                code="interrupted",
                status=Status.INTERRUPTED,
            ) from None

    def _follow(self, cluster: Cluster, report: Report) -> set[TopicPartition]:
        """To the end; the partitions that were seen to move (others were refused, or are quick)."""
        progress, seen = _Progress(report), set[TopicPartition]()
        answered = time.monotonic()
        while True:
            try:
                moving = self._moving(cluster)
                if not moving:
                    progress.end()
                    return seen
                seen.update(moving)
                progress.tell(with_sizes(cluster, list(moving.values())))
                answered = time.monotonic()
            except ShellError as error:
                told = getattr(error, "kafka_code", None) is not None
                if told or time.monotonic() > answered + _PATIENCE_S:
                    raise
            time.sleep(_POLL_S)

    def _moving(self, cluster: Cluster) -> Mapping[TopicPartition, Reassignment]:
        """Those of the moves that are under way."""
        moving = under_way(cluster).values
        if self.moves is None:
            return moving
        ours = {move.partition for move in self.moves}
        return {key: each for key, each in moving.items() if key in ours}

    def _check(self, cluster: Cluster, seen: Collection[TopicPartition]) -> None:
        wanted = wanted_of(self.moves or ())
        failed = [
            row
            for row in _rows_at_rest(cluster, wanted)
            if row.status is MoveStatus.FAILED and TopicPartition(row.topic, row.partition) in seen
        ]
        if failed:
            row = failed[0]
            more = f", and {len(failed) - 1:,} more" if len(failed) > 1 else ""
            raise UnexpectedEnd(
                f"partition {row.topic}:{row.partition} is on {spell(row.replicas) or 'no broker'}"
                f" and not on {spell(row.wanted or ())}, and nothing moves it any more{more}",
                hint="Somebody cancelled the move or changed it.",
                code="reassignment-failed",
            )


class _Progress:
    """Bytes copied since the following began: so that what is left divides by what was done."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._task = ""
        self._start: int | None = None
        self._most: dict[TopicPartition, tuple[int, int]] = {}  # copied, size

    def tell(self, moving: Sequence[Reassignment]) -> None:
        """Tell how far these are; the others that were told of are done."""
        now = {each.topic_partition: each for each in moving}
        self._task = self._task or f"Moving {len(now):,} partition{'' if len(now) == 1 else 's'}"
        for key, (_, size) in self._most.items():
            if key not in now:
                self._most[key] = (size, size)
        for key, each in now.items():
            if each.size is not None and each.copied is not None:
                self._most[key] = (each.copied, each.size)
        copied = sum(copied for copied, _ in self._most.values())
        size = sum(size for _, size in self._most.values())
        self._start = copied if self._start is None else min(self._start, copied)
        total = size - self._start
        # It is the controller that says when a move is over, not the bytes.
        done = max(0, min(copied - self._start, total - 1))
        self._report(self._task, done, total if total > 0 else None)

    def end(self) -> None:
        """It is over: the bar goes."""
        if self._task:
            self._report(self._task, 1, 1)
