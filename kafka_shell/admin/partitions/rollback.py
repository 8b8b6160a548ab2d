"""The rollback file of a reassignment: the replicas before it, in Kafka's format."""

from __future__ import annotations

import os
import time
from pathlib import Path

from msgspec import Struct

from kafka_shell.admin.partitions.partition_files import to_json
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.steps import BaseStep
from kafka_shell.base.errors import ShellError
from kafka_shell.base.files import write_private
from kafka_shell.base.plans import Change, Outcomes, Plan, Resource
from kafka_shell.base.results import Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.wire.connection import Cluster


def with_rollback(plan: Plan, folder: Path, now: float, throttle: int | None) -> Plan:
    """The plan with a step that first writes the rollback file, with the rate of the throttle; the
    same plan if it starts no reassignment. `now` is in seconds since the epoch."""
    for step in plan.steps:
        if isinstance(step, MoveReplicas) and not step.cancelled:
            stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
            path = folder / f"{stamp}-{os.urandom(4).hex()}-rollback.json"
            return replace(plan, steps=(WriteRollback(path, step, throttle), *plan.steps))
    return plan


class WriteRollback(Struct, BaseStep, frozen=True):
    """Writes the file. It is the first step: without the file, nothing is moved."""

    path: Path
    step: MoveReplicas
    throttle: int | None

    @property
    def changes(self) -> tuple[Change, ...]:
        count = len(self.step.moves) + len(self.step.stay)
        content = f"current replicas of {counted(count, 'partition')}"
        return (Change(Resource("rollback-file", str(self.path)), "create", after=content),)

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        """Sends nothing. Raises ShellError if the file cannot be written."""
        before = {move.partition: move.before for move in self.step.moves} | dict(self.step.stay)
        log_dirs, target = self.step.log_dirs, self.step.target
        # Only directories that replicas leave: the broker may move replicas that stay.
        dirs = {
            (broker, each): path
            for (broker, each), path in log_dirs.current_dirs.items()
            if (broker, each) in log_dirs.dirs or broker not in target.get(each, ())
        }
        ours = {} if self.throttle is None else {"throttle": self.throttle}
        try:
            write_private(self.path, to_json(before, dirs, **ours))
        except OSError as error:
            raise ShellError(
                f"cannot write {self.path}: {error.strerror} (nothing was moved)",
                code="no-file",
            ) from None
        return Results.of(self.changes, (None for _ in self.changes))
