"""Steps of a reassignment that first write its files, so that it can be followed and reverted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from kafka_shell.admin.partitions.batched import StartBatches
from kafka_shell.admin.partitions.follow import Follow
from kafka_shell.admin.partitions.model import Assignment
from kafka_shell.admin.partitions.partition_files import MovePaths, rows_of, to_json
from kafka_shell.admin.partitions.progress import assignment_of
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.partitions.throttles import SetThrottle
from kafka_shell.admin.steps import BaseStep
from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import write_private
from kafka_shell.base.plans import Change, Outcomes, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.wire.connection import Cluster


def with_files(
    plan: Plan, paths: MovePaths, throttle: int | None, *, written: bool = False
) -> Plan:
    """The plan with steps that first write the files; the same plan if it starts no reassignment.
    `throttle` is its rate in bytes per second. `written`: the files exist, as it is continued."""
    start: Any = next(filter(_starts, plan.steps), None)
    if start is None:
        return plan
    follow = plan.following.follow
    also = assignment_of(follow.moves or ()) if isinstance(follow, Follow) else {}
    move = RecordedMove(start, paths, throttle, also, written)
    steps = (
        RecordedThrottle(step, move) if isinstance(step, SetThrottle)
        else move if step is start else step
        for step in plan.steps
    )  # fmt: skip
    return replace(plan, steps=tuple(steps))


def _starts(step: Any) -> bool:
    return isinstance(step, StartBatches) or (isinstance(step, MoveReplicas) and not step.cancelled)


class RecordedMove(Struct, BaseStep, frozen=True):
    """A reassignment whose files are written before it starts."""

    step: MoveReplicas | StartBatches
    paths: MovePaths
    throttle: int | None
    also: Assignment  # partitions that are already being reassigned; followed too
    written: bool = False  # by the session that started it

    @property
    def changes(self) -> tuple[Change, ...]:
        return (self._written, *self.step.changes)

    @property
    def _written(self) -> Change:
        resource = Resource("rollback-file", str(self.paths.rollback))
        if self.written:
            return Change(resource, "alter", note="written when the reassignment was started")
        count = len(self.step.moves) + len(self.step.stay)
        content = f"current replicas of {counted(count, 'partition')}"
        return Change(resource, "create", after=content)

    def reread(self, cluster: Cluster) -> RecordedMove:
        return replace(self, step=self.step.reread(cluster))

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Write both files, then start the moves. Raises ShellError if a file cannot be written."""
        try:
            self.write(cluster)
        except ShellError as error:
            self.step.remove_throttle(cluster, error)
            raise
        sent = self.step.send(cluster, validate_only=validate_only)
        results: Outcomes = Results(dict(sent.values), dict(sent.failures))
        if sent.values or self.written:
            results.values[self._written] = self._written
        else:
            results.failures[self._written] = Failure("UNUSED", "nothing was moved")
        return results

    def write(self, cluster: Cluster) -> None:
        """Both files, unless they exist."""
        if self.written:
            return
        stay = dict(self.step.stay)
        before = {move.partition: move.before for move in self.step.moves} | stay
        after = dict(self.step.target) | dict(self.also)
        log_dirs = self.step.log_dirs
        # Only directories that replicas leave: the broker may move replicas that stay.
        dirs = log_dirs.dirs
        old_dirs = {
            (broker, each): path
            for (broker, each), path in log_dirs.current_dirs.items()
            if (broker, each) in dirs or broker not in after.get(each, ())
        }
        why = "Nothing was moved: the rollback file is required."
        _write(
            self.paths.rollback, to_json(before, old_dirs, **_throttle_entry(self.throttle)), why
        )
        ours = _throttle_entry(self.throttle) | {"before": rows_of(before)}
        ours["cluster"] = cluster.cluster_id
        if isinstance(self.step, StartBatches):  # the partitions are in their order
            ours["batches"] = [len(batch.target) for batch in self.step.run.batches]
        _write(self.paths.move, to_json(after, dirs, **ours), why)


class RecordedThrottle(Struct, BaseStep, frozen=True):
    """The throttle of a reassignment. It writes the files first, so that they exist if the command
    is interrupted before the move starts."""

    step: SetThrottle
    move: RecordedMove
    validates = True

    @property
    def changes(self) -> tuple[Change, ...]:
        return self.step.changes

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Write the files, then set the throttle. Raises ShellError if either fails."""
        if not validate_only:
            self.move.write(cluster)
        return self.step.send(cluster, validate_only=validate_only)


def _throttle_entry(throttle: int | None) -> dict[str, Any]:
    return {} if throttle is None else {"throttle": throttle}


def _write(path: Path, text: str, why: str) -> None:
    """Write a file whole or not at all. It is never replaced: a session may have locked it."""
    try:
        if not path.exists():
            write_private(path, text)
    except OSError as error:
        raise ShellError(
            f"cannot write {path}: {error.strerror}", hint=why, code="no-file"
        ) from None
