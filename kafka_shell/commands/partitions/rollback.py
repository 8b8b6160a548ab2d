"""The rollback of a reassignment in batches that has not ended."""

from __future__ import annotations

from msgspec import Struct

from kafka_shell.admin.partitions.batch_plans import ForgetBatches
from kafka_shell.admin.partitions.model import Assignment, TopicPartition
from kafka_shell.admin.partitions.reassignment_files import MovePaths, read_moves
from kafka_shell.commands.partitions.batch_store import BatchFile
from kafka_shell.common.structs import replace
from kafka_shell.common.units import to_path
from kafka_shell.plan.model import Plan


class Rollback(Struct, frozen=True):
    """Only what the reassignment has `started` is moved back, the first `batches`, and no further
    batch is started."""

    paths: MovePaths
    started: frozenset[TopicPartition]
    batches: int

    def target(self, before: Assignment) -> Assignment:
        """What is moved back, of the replicas in the rollback file."""
        return {each: replicas for each, replicas in before.items() if each in self.started}

    def ending(self, plan: Plan) -> Plan:
        """The plan that also ends the reassignment."""
        note, id = "no further batch is started", self.paths.id
        end = ForgetBatches(BatchFile(self.paths), id, note, self.batches)
        return replace(plan, steps=(end, *plan.steps))


def rollback_of(file: str) -> Rollback | None:
    """The rollback that this file is, if its reassignment is in batches and has not ended."""
    path = to_path(file)
    paths = MovePaths.of_file(path)
    state = BatchFile(paths).read() if paths is not None and path == paths.rollback else None
    if paths is None or state is None:
        return None
    batches = read_moves(str(paths.move)).batches[: state.batches]
    started = frozenset(each for batch in batches for each in batch)
    return Rollback(paths, started, state.batches)
