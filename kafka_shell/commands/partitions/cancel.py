"""`reassign-partitions --cancel` (KIP-455)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.commands import select
from kafka_shell.commands.partitions.batches import unfinished
from kafka_shell.common.structs import replace
from kafka_shell.common.units import counted
from kafka_shell.errors import UsageError
from kafka_shell.language.command import Invocation
from kafka_shell.plan.model import Plan, Resource
from kafka_shell.plan.results import Results

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.context import Context

_SUBJECTS = ("reassignment-json-file", "topics", "partitions", "resume")


def cancel(invocation: Invocation, context: Context) -> Plan:
    """The plan that cancels reassignments in progress: those of a file, of topics or of partitions,
    or those that a reassignment in batches has started."""
    from kafka_shell.admin.partitions.cancel import plan_cancel, recorded_before
    from kafka_shell.commands.partitions.throttle_store import throttle_record

    given = [name for name in _SUBJECTS if invocation[name]]
    if len(given) != 1 or invocation["drain"]:
        raise UsageError(
            "--cancel requires --reassignment-json-file, --topics, --partitions or --resume",
            hint="To cancel all reassignments, run reassign-partitions --cancel --topics '*'",
            text=invocation.text,
        )
    if given[0] in ("topics", "partitions"):
        moving = _moving(invocation, context)
        before = recorded_before(context.cluster, context.paths.reassignments)
        plan = plan_cancel(context.cluster, list(moving), before, record=throttle_record(context))
        return replace(plan, refused=Results.merge([plan.refused, Results({}, moving.failures)]))
    return _of_file(invocation, context)


def _moving(invocation: Invocation, context: Context) -> Results[Resource, TopicPartition]:
    from kafka_shell.admin.partitions import progress as move_progress
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.admin.topics import read as topics_read

    if invocation["partitions"]:
        chosen = select.partitions(invocation, context.cluster, "partitions")
        return chosen.map(lambda each: TopicPartition(each.topic, each.partition))
    topics = select.topics(invocation, context.cluster, "topics")
    moving = move_progress.confirmed_under_way(context.cluster, topics).values
    busy = {each.topic for each in moving}
    idle = [name for name in topics if name not in busy]
    missing = topics_read.describe(context.cluster, idle, only=lambda topic: False).failures
    return Results(
        {each.resource: each for each in moving},
        {Resource("topic", name): failure for name, failure in missing.items()},
    )


def _of_file(invocation: Invocation, context: Context) -> Plan:
    """Cancel what the file has started. What it has not started yet is not started later."""
    from kafka_shell.admin.partitions.batch_plans import ForgetBatches
    from kafka_shell.admin.partitions.cancel import plan_cancel, recorded_before
    from kafka_shell.admin.partitions.reassignment_files import MovePaths, read_moves
    from kafka_shell.commands.partitions.batch_store import BatchFile
    from kafka_shell.commands.partitions.throttle_store import throttle_record
    from kafka_shell.common.units import to_path

    paths = unfinished(invocation, context) if invocation["resume"] else None
    file = read_moves(str(paths.move) if paths else invocation["reassignment-json-file"])
    if paths is None:  # only this file has the batches
        given = to_path(invocation["reassignment-json-file"])
        found = MovePaths.of_file(given)
        paths = found if found is not None and given.name == found.move.name else None
    state = BatchFile(paths) if paths is not None else None
    started = state.read() if state is not None else None
    partitions = list(file.target)
    if started is not None:
        partitions = [each for batch in file.batches[: started.batches] for each in batch]
    before = {**recorded_before(context.cluster, context.paths.reassignments), **file.before}
    plan = plan_cancel(
        context.cluster, partitions, before, file.dirs, throttle_record(context), file.target
    )
    if started is None or state is None or paths is None:
        return plan
    left, every = len(file.target) - len(partitions), counted(len(file.target), "partition")
    end = ForgetBatches(state, paths.id, f"{left:,} of {every} not started", started.batches)
    return replace(plan, steps=(end, *plan.steps))
