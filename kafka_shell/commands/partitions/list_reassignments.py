"""Commands that list, verify and finish reassignments (KIP-4, KIP-455)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UnexpectedEnd
from kafka_shell.base.plans import Effect, Following, Plan, Report, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.commands import select
from kafka_shell.commands.hints import add_commands
from kafka_shell.commands.partitions.batches import note_unfinished
from kafka_shell.commands.partitions.follow_up import cancel_line, stall_advice
from kafka_shell.commands.partitions.reassignments import FILE, chosen_topics, given_file
from kafka_shell.language import kinds
from kafka_shell.language.command import CHANGING, Argument, Command, Example, Invocation, Option

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.log_dir_targets import Dirs
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
    from kafka_shell.commands.partitions.batches import not_started
    from kafka_shell.commands.partitions.throttle_store import throttle_record

    file = given_file(invocation)
    cluster = context.cluster
    wanted, dirs = (file.target, file.dirs) if file else (None, {})
    topics = chosen_topics(invocation, cluster)
    if topics is not None:
        wanted = _under_way(cluster, topics, invocation["finish"])
    if invocation["finish"]:
        return _finish(invocation, context, file, wanted, topics)
    note_unfinished(context)
    record = throttle_record(context).read()
    later = not_started(invocation["reassignment-json-file"], file) if file else ()
    state = reassignment.state(cluster, wanted, dirs, record, topics, later)
    if not state.partitions and not state.throttles and not state.not_read:
        return NoRows("no partition is being reassigned, and there are no leftover throttles")
    return state


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
    from kafka_shell.admin.partitions.follow import Follow
    from kafka_shell.admin.partitions.model import Move
    from kafka_shell.commands.partitions.batches import not_started

    dirs = file.dirs if file else {}
    if not invocation["dry-run"]:
        moves = None
        if wanted is not None:
            moves = tuple(Move(each, (), after) for each, after in wanted.items())
        advice = partial(stall_advice, ours=file is not None)
        try:
            Follow(moves, advice, dirs)(context.cluster, context.report)
        except UnexpectedEnd:
            pass  # the state shows it
        except ShellError as error:
            add_commands(error, _cancel_line(invocation), invocation.text)
            raise
    later: Collection[TopicPartition] = ()
    if file is not None:
        topics = list({each.topic: None for each in file.target})
        later = not_started(invocation["reassignment-json-file"], file)
    return _removal(invocation, context, wanted, dirs, topics, later)


def _removal(
    invocation: Invocation,
    context: Context,
    wanted: dict[TopicPartition, tuple[int, ...]] | None,
    dirs: Dirs,
    topics: Sequence[str] | None,
    later: Collection[TopicPartition],
) -> MoveState | Plan | NoRows:
    """The plan that removes throttles: those of brokers that are down when these are back."""
    from kafka_shell.admin.partitions import progress as move_progress
    from kafka_shell.admin.partitions import reassignment
    from kafka_shell.admin.partitions.follow import Follow, until_back
    from kafka_shell.admin.partitions.throttles import RemoveThrottle, left_behind, on_down_brokers
    from kafka_shell.commands.partitions.throttle_store import throttle_record

    cluster, record = context.cluster, throttle_record(context)
    moving = move_progress.under_way(cluster).values
    # Read first: a broker that comes back meanwhile is then waited for, not reported as down.
    rates = on_down_brokers(cluster, moving, record.read())
    down = [replace(each, now=each.value) for each in rates]
    state = reassignment.state(cluster, wanted, dirs, record.read(), topics, later)
    rows, _ = left_behind(cluster, moving, record.read(), topics)
    steps: list[Any] = [RemoveThrottle(rows, record)] if rows else []
    steps += reassignment.misplaced(cluster, state, dirs)
    if down and not steps and not invocation["dry-run"]:
        until_back(cluster, record, context.report)
        return _removal(invocation, context, wanted, dirs, topics, later)
    if not steps and not state.partitions and not state.not_read:
        return NoRows("no partition is being reassigned, and there are no leftover throttles")
    if not steps:
        return state

    def follow(cluster: Cluster, report: Report) -> None:
        Follow((), dirs=dirs)(cluster, report)
        until_back(cluster, record, report)

    waited_for = {Resource("broker", row.resource.name) for row in down}
    refused = {about: why for about, why in state.not_read if about not in waited_for}
    return Plan(
        Effect.CHANGE,
        tuple(steps),
        fresh=lambda cluster: reassignment.state(
            cluster, wanted, dirs, record.read(), topics, later
        ),
        refused=Results({}, refused | (_failed(state) if not invocation["dry-run"] else {})),
        following=Following(
            follow=follow, afterwards=(RemoveThrottle(tuple(down), record),) if down else ()
        ),
    )


def _failed(state: MoveState) -> dict[Resource, Failure]:
    """The failed partitions: not at their target and not being reassigned."""
    return {
        Resource("partition", f"{row.topic}:{row.partition}"): Failure(
            "REASSIGNMENT_FAILED", f"partition {row.topic}:{row.partition}: {row.note}"
        )
        for row in state.partitions
        if row.code < 0 and row.replicas != row.wanted
    }


def _cancel_line(invocation: Invocation) -> str:
    """The command that cancels the moves of the file; empty without one, as another client may have
    started the moves."""
    file = invocation["reassignment-json-file"]
    return cancel_line(Path(file)) if file else ""


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
            "Each partition is completed (1 in KIP-4), in progress (0) or failed (-1: not at its"
            " target and not being reassigned). LAG is the offset lag of the slowest new replica."
            " The exit status is 1 until all partitions are completed and no throttle is left: a"
            " leftover throttle lists replicas that are not being reassigned. A rate without"
            " throttled replicas has no effect, and * is never treated as a leftover.\n"
            "--finish also finishes reassignments of a session that has ended; without a file, all"
            " running ones. Rates that kafka.sh replaced are restored; throttles set by other tools"
            " are removed. The throttle of a broker that is down is shown as it was recorded;"
            " --finish waits for the broker and removes it."
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
