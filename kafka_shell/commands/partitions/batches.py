"""Reassignments in batches: their options, and --resume."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka_shell.commands.partitions.follow_up import end_line, resume_line, stall_advice
from kafka_shell.common.structs import replace
from kafka_shell.errors import ShellError
from kafka_shell.language import kinds
from kafka_shell.language.command import Invocation, Option
from kafka_shell.plan.model import Plan

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.batched import InBatches
    from kafka_shell.admin.partitions.log_dir_targets import Dirs
    from kafka_shell.admin.partitions.reassignment_files import MovePaths
    from kafka_shell.admin.partitions.sizes import Sizes
    from kafka_shell.context import Context

BATCHES = (
    Option("--batch", kinds.INTEGER, "Move at most this many partitions at a time (default: 100).",
           least=1, metavar="N"),
    Option("--batch-bytes", kinds.SIZE, "Copy at most this much at a time: 50GiB.", least=1,
           metavar="SIZE"),
    Option("--per-broker", kinds.INTEGER, "Move at most this many partitions to or from a broker at"
           " a time.", least=1, metavar="N"),
)  # fmt: skip
ABOUT = (
    "A reassignment that copies more than 100 partitions runs in batches of 100, with at most five"
    " per broker, unless --batch, --batch-bytes or --per-broker is given. The next batch starts"
    " when the last one is in sync, its throttle is removed, the brokers that receive replicas run,"
    " and no partition is below min.insync.replicas that was not before; otherwise the"
    " reassignment pauses and reports why. To continue after a pause, Ctrl-C or a lost terminal,"
    " run reassign-partitions --resume ID. Without --wait, the prompt moves the batches in the"
    " background; elsewhere, the command ends when the first one is started, but --resume moves all"
    " remaining ones. It pauses if all remaining partitions of a batch wait for a broker that has"
    " been down for a minute; with --wait, it keeps waiting."
)


def paths_of(context: Context) -> MovePaths:
    """The paths of a new reassignment."""
    from kafka_shell.admin.partitions.reassignment_files import MovePaths

    return MovePaths.new(context.paths.reassignments, context.clock())


def in_batches(
    invocation: Invocation,
    context: Context,
    plan: Plan,
    paths: MovePaths,
    *,
    sizes: Sizes,
    throttle: int | None,
    dirs: Dirs | None = None,
    resumable: bool = True,
) -> Plan:
    """The plan in batches, if it has to be. `resumable`: by reassign-partitions --resume."""
    from kafka_shell.admin.partitions import batch_plans
    from kafka_shell.admin.partitions.batches import BatchLimits, limits_of
    from kafka_shell.admin.partitions.steps import MoveReplicas

    moves = [
        move
        for step in plan.steps
        if isinstance(step, MoveReplicas) and not step.cancelled
        for move in step.moves
    ]
    given = (invocation.get(name) for name in ("batch", "batch-bytes", "per-broker"))
    limits = limits_of(BatchLimits(*given), sum(bool(move.adding) for move in moves))
    return batch_plans.in_batches(
        context.cluster, plan, _run(context, paths, dirs or {}, resumable=resumable),
        limits=limits, sizes=sizes, throttle=throttle,
    )  # fmt: skip


def _run(context: Context, paths: MovePaths, dirs: Dirs, *, resumable: bool = True) -> InBatches:
    from kafka_shell.admin.partitions.batch_state import BatchState
    from kafka_shell.admin.partitions.batched import InBatches
    from kafka_shell.commands.partitions.batch_store import BatchFile
    from kafka_shell.commands.partitions.throttle_store import throttle_record

    return InBatches(
        state=BatchFile(paths) if resumable else BatchState(),
        record=throttle_record(context),
        dirs=dirs,
        advice=stall_advice,
        resume=resume_line(paths.id) if resumable else "",
    )


# -- continuing ------------------------------------------------------------------------------------


def resume(invocation: Invocation, context: Context) -> Plan:
    """The plan that moves what is left of a reassignment in batches, or changes its throttle."""
    from kafka_shell.admin.partitions import batch_plans, recorded
    from kafka_shell.admin.partitions.reassignment_files import read_moves
    from kafka_shell.commands.partitions.batch_store import BatchFile

    paths = unfinished(invocation, context)
    state, file = BatchFile(paths), read_moves(str(paths.move))
    started = state.read()
    if started is None or started.cluster != context.cluster.cluster_id:
        raise ShellError(
            f"reassignment {paths.id} belongs to cluster {started and started.cluster}, not"
            f" {context.cluster.cluster_id}",
            hint="Nothing was sent. Use the profile of that cluster.",
            code="other-cluster",
        )
    given = invocation["throttle"]
    throttle = started.throttle if given is None else given
    patient = bool(invocation["wait"]) or context.shell is not None
    run = replace(_run(context, paths, file.dirs), before=file.before, patient=patient)
    if given is None:
        state.check_free()
    elif state.in_use:
        return batch_plans.with_rate(context.cluster, file.batches, run, given, paths.id)
    plan = batch_plans.resumed(context.cluster, file.batches, run, throttle, paths.id)
    plan = recorded.with_files(plan, paths, throttle, written=True)
    follow: Any = plan.follow
    return replace(
        plan,
        waits=bool(invocation["wait"]) or context.shell is None,
        resume=resume_line(paths.id) if follow else "",
        cancel=end_line(paths.id) if follow else "",
    )


def unfinished(invocation: Invocation, context: Context) -> MovePaths:
    """The files of the reassignment that --resume names. Raises ShellError if it has ended."""
    from kafka_shell.admin.partitions.reassignment_files import MovePaths

    known = {each.id: each for each in MovePaths.unfinished(context.paths.reassignments)}
    if invocation["resume"] not in known:
        ids = ", ".join(known)
        raise ShellError(
            f"there is no unfinished reassignment '{invocation['resume']}'",
            hint=f"Unfinished reassignments: {ids}." if ids else "",
            code="no-entry",
            span=invocation.span("resume"),
        )
    return known[invocation["resume"]]


def note_unfinished(context: Context) -> None:
    """Print how to continue the reassignments in batches that no session moves."""
    from kafka_shell.commands.partitions.batch_store import paused

    for id in paused(context.paths.reassignments, context.cluster.cluster_id):
        context.note(f"a reassignment in batches has not ended; to continue: {resume_line(id)}")
