"""Commands that list, verify and finish reassignments (KIP-4, KIP-455)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UnexpectedEnd
from kafka_shell.base.plans import Effect, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.commands import select
from kafka_shell.commands.hints import add_resume
from kafka_shell.commands.partitions.reassignments import FILE, chosen_topics, given_file
from kafka_shell.language import kinds
from kafka_shell.language.command import CHANGING, Argument, Command, Example, Invocation, Option

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import MoveState, Reassignment, TopicPartition
    from kafka_shell.admin.partitions.partition_files import MoveFile
    from kafka_shell.context import Context
    from kafka_shell.wire.connection import Cluster

# -- read ------------------------------------------------------------------------------------------


def list_reassignments(
    invocation: Invocation, context: Context
) -> tuple[Reassignment, ...] | NoRows:
    """The running reassignments, and how much of them is copied."""
    from kafka_shell.admin.partitions import progress as move_progress

    topics = select.topics(invocation, context.cluster) if invocation["topic"] else None
    found = move_progress.under_way(context.cluster, topics)
    if not found.values:
        return NoRows("no partition is being reassigned")
    return tuple(move_progress.with_sizes(context.cluster, list(found)))


def verify_reassign_partitions(
    invocation: Invocation, context: Context
) -> MoveState | Plan | NoRows:
    """The state of a reassignment; --finish waits for its end and removes its throttle."""
    from kafka_shell.admin.partitions import reassignment
    from kafka_shell.commands.partitions.throttle_store import throttle_record

    file = given_file(invocation)
    cluster = context.cluster
    wanted, dirs = (file.target, file.dirs) if file else (None, {})
    topics = chosen_topics(invocation, cluster)
    if topics is not None:
        wanted = _under_way(cluster, topics, invocation["finish"])
    if invocation["finish"]:
        return _finish(invocation, context, file, wanted, topics)
    record = throttle_record(context).read()
    state = reassignment.state(cluster, wanted, dirs, record, topics)
    return _shown(state)


def _under_way(
    cluster: Cluster, topics: Sequence[str], finish: bool
) -> dict[TopicPartition, tuple[int, ...]]:
    from kafka_shell.admin.partitions import progress as move_progress

    read = move_progress.confirmed_under_way if finish else move_progress.under_way
    return {key: each.after for key, each in read(cluster, topics).values.items()}


def _finish(
    invocation: Invocation,
    context: Context,
    file: MoveFile | None,
    wanted: dict[TopicPartition, tuple[int, ...]] | None,
    topics: Sequence[str] | None,
) -> MoveState | Plan | NoRows:
    """Follow the reassignment, then plan the removal of its throttle."""
    from kafka_shell.admin.partitions import progress as move_progress
    from kafka_shell.admin.partitions import reassignment
    from kafka_shell.admin.partitions.follow import Follow
    from kafka_shell.admin.partitions.model import Move
    from kafka_shell.admin.partitions.throttles import RemoveThrottle, left_behind
    from kafka_shell.commands.partitions.throttle_store import throttle_record

    cluster = context.cluster
    dirs = file.dirs if file else {}
    if not invocation["dry-run"]:
        moves = None
        if wanted is not None:
            moves = tuple(Move(each, (), after) for each, after in wanted.items())
        try:
            Follow(moves, dirs)(cluster, context.report)
        except UnexpectedEnd:
            pass  # the state shows it
        except ShellError as error:
            add_resume(error, invocation.text)
            raise
    if file is not None:
        topics = list({each.topic: None for each in file.target})
    record = throttle_record(context)
    state = reassignment.state(cluster, wanted, dirs, record.read(), topics)
    moving = move_progress.under_way(cluster).values
    rows, _ = left_behind(cluster, moving, record.read(), topics)
    if not rows:
        return _shown(state)
    refused = dict(state.not_read) | (_failed(state) if not invocation["dry-run"] else {})
    return Plan(
        Effect.CHANGE,
        (RemoveThrottle(rows, record),),
        fresh=lambda cluster: reassignment.state(cluster, wanted, dirs, record.read(), topics),
        refused=Results({}, refused),
    )


def _shown(state: MoveState) -> MoveState | NoRows:
    if state.partitions or state.throttles or state.not_read:
        return state
    return NoRows("no partition is being reassigned, and there are no leftover throttles")


def _failed(state: MoveState) -> dict[Resource, Failure]:
    """The failed partitions: not at their target and not being reassigned."""
    return {
        Resource("partition", f"{row.topic}:{row.partition}"): Failure(
            "REASSIGNMENT_FAILED", f"partition {row.topic}:{row.partition}: {row.note}"
        )
        for row in state.partitions
        if row.code < 0 and row.replicas != row.wanted
    }


COMMANDS: tuple[Command, ...] = (
    Command(
        name="verify-reassign-partitions",
        summary="Show the state of reassignments and leftover throttles; --finish removes the"
        " throttles.",
        family="partitions",
        run=verify_reassign_partitions,
        options=(
            FILE,
            Option("--topics", kinds.TOPIC, "Only these topics: a,b  svc-*  /regex/", many=True,
                   aliases=("--topic",), metavar="TOPICS", excludes=("--reassignment-json-file",)),
            Option("--finish", kinds.FLAG, "Wait until reassignments end, then remove throttles."),
            *CHANGING,
        ),
        description=(
            "Each partition is completed (1), in progress (0) or failed (-1); LAG is the offset "
            "lag of the slowest new replica.\n"
            "The exit status is 1 until all partitions are completed and no throttle is left.\n"
            "--finish waits for the end, removes throttles and restores the rates that kafka.sh "
            "replaced; without a file it finishes all running reassignments.\n"
            "Throttles set by other tools are removed.\n"
            "If a broker is down, run --finish again when it is up."
        ),
        search=("throttle", "progress", "reassignment"),
        apis=(2, 3, 32, 34, 35, 44, 46),
        examples=(
            Example("verify-reassign-partitions", "show reassignments and leftover throttles"),
            Example("verify-reassign-partitions --finish", "wait for the end and remove throttles"),
        ),
    ),
    Command(
        name="list-reassignments",
        summary="List partitions that are being reassigned.",
        family="partitions",
        run=list_reassignments,
        arguments=(
            Argument("topic", kinds.TOPIC, "Only these topics: a,b  svc-*  /regex/", many=True,
                     required=False, option="--topic"),
        ),
        search=("moves", "progress", "reassign"),
        apis=(2, 3, 35, 46),
        examples=(
            Example("list-reassignments", "list reassignments and their progress"),
        ),
    ),
)  # fmt: skip
