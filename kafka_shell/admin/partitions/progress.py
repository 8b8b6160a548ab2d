"""The progress of partition reassignments, and waiting for their end (KIP-455; API key 46)."""

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
from kafka_shell.units import counted

from . import sizes as move_sizes
from .log_dir_targets import Dirs, follow, with_dir_status
from .model import Assignment, Move, MoveStatus, PartitionMove, Reassignment, TopicPartition
from .sizes import Sizes

TIMEOUT_MS = 60_000
_POLL_S = 1.0
_MAX_SILENCE_S = 60.0  # without a response, for example while brokers restart
_PROPAGATION_S, _RETRY_S = 0.5, 0.05  # until brokers have the controller's metadata
_NOT_MOVING = "not being reassigned"

Lags = Mapping[tuple[int, TopicPartition], int]


# -- in progress -----------------------------------------------------------------------------------


def under_way(
    cluster: Cluster, topics: Sequence[str] | None = None
) -> Results[TopicPartition, Reassignment]:
    """The reassignments in progress: all, or of these topics, sorted by partition."""
    from kafka.protocol.admin import ListPartitionReassignmentsRequest

    request = ListPartitionReassignmentsRequest(timeout_ms=TIMEOUT_MS, topics=None)
    names = None if topics is None else set(topics)
    try:
        response = cluster.send(request, to=CONTROLLER)
    except ShellError as error:
        raise needing(error, "DESCRIBE on the cluster") from None
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
    """The error; the hint of an authorization error names the required permission."""
    error.hint = error.hint or requires(getattr(error, "kafka_code", None) or 0, permission)
    return error


def with_sizes(cluster: Cluster, moving: Sequence[Reassignment]) -> list[Reassignment]:
    """The same reassignments with the copied bytes (from log directories), and the offset lag of
    the new replicas behind their leaders."""
    if not moving:
        return []
    leaders = _leaders(cluster, moving)
    brokers = {broker for each in moving for broker in each.replicas}
    sizes = move_sizes.read(cluster, [each.topic_partition for each in moving], brokers)
    lags = _lags(cluster, moving, leaders)
    return [_measured(each, sizes, lags, leaders.get(each.topic_partition)) for each in moving]


def _lags(
    cluster: Cluster, moving: Sequence[Reassignment], leaders: Mapping[TopicPartition, int | None]
) -> Lags:
    """The offset lag of each new replica behind its leader, by broker and partition."""
    by_broker: dict[int, list[TopicPartition]] = {}
    for each in moving:
        leader = leaders.get(each.topic_partition)
        for broker in () if leader is None else {leader, *each.adding}:
            by_broker.setdefault(broker, []).append(each.topic_partition)
    ends = log_ends(cluster, by_broker)
    lags = {}
    for (broker, partition), end in ends.items():
        leader = leaders[partition]
        if broker != leader and leader is not None and (leader, partition) in ends:
            lags[broker, partition] = max(0, ends[leader, partition] - end)
    return lags


def _measured(each: Reassignment, sizes: Sizes, lags: Lags, leader: int | None) -> Reassignment:
    if not each.adding:
        return each
    new_lags = [
        lags.get((broker, each.topic_partition)) for broker in each.adding if broker != leader
    ]
    known = [lag for lag in new_lags if lag is not None]
    lag = max(known, default=0) if len(known) == len(new_lags) else None
    size = sizes.of(each.topic_partition, leader)
    copies = [_copied(each.topic_partition, broker, sizes, lags, size) for broker in each.adding]
    known_copies = [copy for copy in copies if copy is not None]
    if size is None or len(known_copies) < len(copies):
        return replace(each, lag=lag)
    return replace(each, copied=sum(known_copies), size=size * len(copies), lag=lag)


def _copied(
    partition: TopicPartition, broker: int, sizes: Sizes, lags: Lags, size: int | None
) -> int | None:
    """The bytes copied to a broker, of `size`; None if unknown. A replica without lag is complete:
    after compaction and retention it can be smaller than its leader."""
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
    """Broker IDs in their order: `1,2,3`."""
    return ",".join(map(str, replicas))


def assignment_of(moves: Sequence[Move]) -> dict[TopicPartition, tuple[int, ...]]:
    """The target replicas of these moves."""
    return {move.partition: move.after for move in moves}


# -- status ----------------------------------------------------------------------------------------


def progress(
    cluster: Cluster, wanted: Assignment | None = None, dirs: Dirs | None = None
) -> tuple[PartitionMove, ...]:
    """The status of these moves, or of all reassignments in progress. A partition whose replicas
    are not in their target log directories is not completed."""
    if wanted is None:
        moving = under_way(cluster).values
        return tuple(
            _in_progress(each, None) for each in with_sizes(cluster, list(moving.values()))
        )
    return tuple(with_dir_status(cluster, dirs or {}, _settled_rows(cluster, wanted)))


def _settled_rows(cluster: Cluster, wanted: Assignment) -> list[PartitionMove]:
    """The rows; brokers show the end of a reassignment a moment later than the controller."""
    deadline = time.monotonic() + _PROPAGATION_S
    while True:
        rows = _rows(cluster, wanted, under_way(cluster).values)
        failed = any(row.status is MoveStatus.FAILED and row.replicas for row in rows)
        if not failed or time.monotonic() > deadline:
            return rows
        time.sleep(_RETRY_S)


def _rows(
    cluster: Cluster, wanted: Assignment, moving: Mapping[TopicPartition, Reassignment]
) -> list[PartitionMove]:
    found = scan(cluster, sorted({each.topic for each in wanted}))
    now = {
        TopicPartition(name, partition.partition): partition.replicas
        for name in found.names
        for partition in found.topic(name).partitions
    }
    sized = with_sizes(cluster, [moving[each] for each in wanted if each in moving])
    measured = {each.topic_partition: each for each in sized}
    rows = []
    for each, after in wanted.items():
        if each in measured:
            rows.append(_in_progress(measured[each], after))
            continue
        replicas = now.get(each, ())
        done = replicas == after
        status = MoveStatus.COMPLETED if done else MoveStatus.FAILED
        note = "" if done else _NOT_MOVING if replicas else "the partition does not exist"
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
        note=f"being reassigned to {spell(each.after)} instead" if elsewhere else "",
    )  # fmt: skip


# -- follow ----------------------------------------------------------------------------------------


class Follow(Struct, frozen=True):
    """Wait for the end of moves (None: of all reassignments in progress) and report copied bytes.

    Then wait until replicas are in their target log directories. A broker that restarts is waited
    for. Raises ShellError if interrupted, and UnexpectedEnd if a move was cancelled or changed.
    """

    moves: tuple[Move, ...] | None = None
    cancel: str = ""  # the command that cancels the moves
    resume: str = ""  # the command that continues, unless the plan has one
    dirs: Dirs = field(default_factory=dict)

    def __call__(self, cluster: Cluster, report: Report) -> None:
        try:
            self._check(cluster, self._follow(cluster, report))
            follow(cluster, self.dirs, report)
        except KeyboardInterrupt:
            raise ShellError(
                "interrupted: the reassignment continues, and its throttle is still set",
                hint="\n".join(
                    f"To {action}: {command}"
                    for action, command in (("cancel it", self.cancel), ("continue", self.resume))
                    if command
                ),
                code="interrupted",
                status=Status.INTERRUPTED,
            ) from None

    def _follow(self, cluster: Cluster, report: Report) -> set[TopicPartition]:
        """The partitions that were being reassigned (others were refused, or had ended already)."""
        progress, seen = _Progress(report), set[TopicPartition]()
        last_response = time.monotonic()
        while True:
            try:
                moving = self._moving(cluster)
                if not moving:
                    progress.end()
                    return seen
                seen.update(moving)
                progress.report(with_sizes(cluster, list(moving.values())))
                last_response = time.monotonic()
            except ShellError as error:
                refused = getattr(error, "kafka_code", None) is not None
                if refused or time.monotonic() > last_response + _MAX_SILENCE_S:
                    raise
            time.sleep(_POLL_S)

    def _moving(self, cluster: Cluster) -> Mapping[TopicPartition, Reassignment]:
        """The moves in progress."""
        moving = under_way(cluster).values
        if self.moves is None:
            return moving
        ours = {move.partition for move in self.moves}
        return {key: each for key, each in moving.items() if key in ours}

    def _check(self, cluster: Cluster, seen: Collection[TopicPartition]) -> None:
        wanted = assignment_of(self.moves or ())
        failed = [
            row
            for row in _settled_rows(cluster, wanted)
            if row.status is MoveStatus.FAILED and TopicPartition(row.topic, row.partition) in seen
        ]
        if failed:
            row = failed[0]
            more = f" (and {len(failed) - 1:,} more)" if len(failed) > 1 else ""
            state = "no longer exists"
            if row.replicas:
                replicas, target = spell(row.replicas), spell(row.wanted or ())
                state = f"has replicas {replicas} instead of {target}, and is {_NOT_MOVING}"
            raise UnexpectedEnd(
                f"partition {row.topic}:{row.partition} {state}{more}",
                hint="The reassignment was cancelled or changed by somebody else.",
                code="reassignment-failed",
            )


class _Progress:
    """Reports the bytes copied since waiting began, so that the remaining time can be estimated."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._task = ""
        self._start: int | None = None
        self._bytes: dict[TopicPartition, tuple[int, int]] = {}  # copied, size

    def report(self, moving: Sequence[Reassignment]) -> None:
        """Report the progress of these; others that were reported before have ended."""
        now = {each.topic_partition: each for each in moving}
        self._task = self._task or f"Moving {counted(len(now), 'partition')}"
        for key, (_, size) in self._bytes.items():
            if key not in now:
                self._bytes[key] = (size, size)
        for key, each in now.items():
            if each.size is not None and each.copied is not None:
                self._bytes[key] = (each.copied, each.size)
        copied = sum(copied for copied, _ in self._bytes.values())
        size = sum(size for _, size in self._bytes.values())
        self._start = copied if self._start is None else min(self._start, copied)
        total = size - self._start
        # Never complete: only the controller decides when a reassignment has ended.
        done = max(0, min(copied - self._start, total - 1))
        self._report(self._task, done, total if total > 0 else None)

    def end(self) -> None:
        """Remove the progress bar."""
        if self._task:
            self._report(self._task, 1, 1)
