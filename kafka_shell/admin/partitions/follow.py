"""Following reassignments to their end: their progress, and what they wait for (KIP-455)."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field

from kafka_shell.admin.partitions.in_progress import CONFIRM_S, under_way
from kafka_shell.admin.partitions.log_dir_moves import follow as follow_dirs
from kafka_shell.admin.partitions.model import Dirs, Move, MoveStatus, Reassignment, TopicPartition
from kafka_shell.admin.partitions.progress import (
    assignment_of,
    settled_rows,
    spell,
    with_sizes,
)
from kafka_shell.admin.partitions.stalls import Stall, StallWatch
from kafka_shell.base.errors import ShellError, Status, UnexpectedEnd
from kafka_shell.base.plans import Report
from kafka_shell.base.units import Bytes, counted
from kafka_shell.base.waits import PART_S, PROGRESS_S
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan

_FIRST_POLL_S, _POLL_S = 0.1, 1.0  # between two looks; doubled each time


class Follow(Struct, frozen=True):
    """Wait for the end of moves (None: of all reassignments in progress) and report copied bytes.

    Then wait until replicas are in their target log directories. A broker that restarts is waited
    for, and named. Raises ShellError if interrupted or at the deadline, and UnexpectedEnd if a move
    was cancelled or changed.
    """

    moves: tuple[Move, ...] | None = None
    dirs: Dirs = field(default_factory=dict)

    def __call__(self, cluster: Cluster, report: Report) -> None:
        watch = _Waiting(self, cluster, report)
        try:
            self._check(cluster, watch.until_ended())
            follow_dirs(cluster, self.dirs, report)
        except KeyboardInterrupt:
            raise ShellError(
                "interrupted: the reassignment continues, and its throttle is still set",
                code="interrupted",
                status=Status.INTERRUPTED,
            ) from None

    def moving(self, cluster: Cluster) -> Mapping[TopicPartition, Reassignment]:
        """The moves in progress."""
        moving = under_way(cluster).values
        if self.moves is None:
            return moving
        ours = {move.partition for move in self.moves}
        return {key: each for key, each in moving.items() if key in ours}

    def are_at_their_targets(self, cluster: Cluster) -> bool:
        """Whether all partitions have the target replicas of these moves, in sync, and no others.
        Not known of all reassignments: which there were is not."""
        if self.moves is None:
            return False
        wanted = assignment_of(self.moves)
        metadata = scan(cluster, sorted({partition.topic for partition in wanted}))
        ended = {
            TopicPartition(name, partition.partition): partition.replicas
            for name in metadata.names
            for partition in metadata.topic(name).partitions
            if set(partition.replicas) <= set(partition.isr)
        }
        return all(ended.get(each) == after for each, after in wanted.items())

    def _check(self, cluster: Cluster, seen: Collection[TopicPartition]) -> None:
        wanted = assignment_of(self.moves or ())
        failed = [
            row
            for row in settled_rows(cluster, wanted)
            if row.status is MoveStatus.FAILED and TopicPartition(row.topic, row.partition) in seen
        ]
        if failed:
            row = failed[0]
            more = f" (and {len(failed) - 1:,} more)" if len(failed) > 1 else ""
            state = "no longer exists"
            if row.replicas:
                replicas, target = spell(row.replicas), spell(row.wanted or ())
                state = (
                    f"has replicas {replicas} instead of {target}: another client cancelled or"
                    " changed its reassignment"
                )
            raise UnexpectedEnd(
                f"partition {row.topic}:{row.partition} {state}{more}",
                code="reassignment-failed",
            )


class _Waiting:
    """One wait for the end of moves. `stalls` are those of the last check."""

    def __init__(self, follow: Follow, cluster: Cluster, report: Report) -> None:
        self.stalls: list[Stall] = []
        self._follow, self._cluster = follow, cluster
        self._progress, self._watch = _Progress(report), StallWatch()
        self._left: Collection[TopicPartition] = ()

    def until_ended(self) -> set[TopicPartition]:
        """The partitions that were being reassigned (others were refused, or had ended already)."""
        seen = set[TopicPartition]()
        last_response, pause = time.monotonic(), _FIRST_POLL_S
        none_since: float | None = None
        while True:
            try:
                with self._cluster.within(PART_S):
                    moving = self._follow.moving(self._cluster)
                    if moving:
                        none_since = None
                        self._left = moving
                        seen.update(moving)
                        self._report_progress(list(moving.values()))
                    else:
                        none_since = none_since or time.monotonic()
                        if self._has_ended(none_since):
                            self._progress.end()
                            return seen
                last_response = time.monotonic()
            except ShellError as error:
                self._check_deadline()
                refused = getattr(error, "kafka_code", None) is not None
                if refused or time.monotonic() > last_response + PROGRESS_S:
                    raise
            self._check_deadline()
            time.sleep(min(pause, self._seconds_left))
            pause = min(2 * pause, _POLL_S)

    def _has_ended(self, none_since: float) -> bool:
        """Whether moves of which the controller has listed none since then have ended."""
        return time.monotonic() > none_since + CONFIRM_S or self._follow.are_at_their_targets(
            self._cluster
        )

    @property
    def _seconds_left(self) -> float:
        until = self._cluster.deadline
        return _POLL_S if until is None else max(0.0, until - time.monotonic())

    def _check_deadline(self) -> None:
        """Raise ShellError if the deadline has passed."""
        if self._seconds_left > 0:
            return
        left = f"{counted(len(self._left), 'partition')} still being reassigned"
        reasons = "; ".join(stall.reason for stall in self.stalls)
        raise ShellError(
            f"deadline exceeded: {reasons or left}",
            code="deadline",
        )

    def _report_progress(self, moving: Sequence[Reassignment]) -> None:
        """Report how much is copied, or what is waited for: then no remaining time is known."""
        sized = with_sizes(self._cluster, moving)
        self.stalls = self._watch.see(sized)
        if self.stalls:
            self._progress.waiting("; ".join(map(str, self.stalls)))
        else:
            self._progress.report(sized)


class _Progress:
    """Reports the bytes copied since waiting began, so that the remaining time can be estimated."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._task = ""
        self._waits = ""
        self._start: int | None = None
        self._bytes: dict[TopicPartition, tuple[int, int]] = {}  # copied, size

    def report(self, moving: Sequence[Reassignment]) -> None:
        """Report the progress of these; others that were reported before have ended."""
        self._end_wait()
        now = {partition.topic_partition: partition for partition in moving}
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
        self._report(self._task, Bytes(done), Bytes(total) if total > 0 else None)

    def waiting(self, reason: str) -> None:
        """Report what is waited for."""
        if reason != self._waits:
            self._end_wait()
            self._waits = reason
        self._report(reason, 0, None)

    def _end_wait(self) -> None:
        if self._waits:
            self._report(self._waits, 1, 1)
            self._waits = ""

    def end(self) -> None:
        """Remove the progress bar."""
        self._end_wait()
        if self._task:
            self._report(self._task, 1, 1)
