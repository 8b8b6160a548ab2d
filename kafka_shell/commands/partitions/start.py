"""The plan that starts a reassignment: with its files, in batches, and with what the planner says.

Every command that moves replicas is built on it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka_shell.commands.hints import with_hint
from kafka_shell.commands.partitions.batches import in_batches, paths_of
from kafka_shell.commands.partitions.follow_up import (
    cancel_line,
    end_line,
    resume_line,
    stall_advice,
)
from kafka_shell.common.quoting import with_option
from kafka_shell.common.structs import replace
from kafka_shell.language.command import Invocation
from kafka_shell.plan.model import Plan

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.current_assignment import CurrentAssignment
    from kafka_shell.admin.partitions.log_dir_targets import Dirs
    from kafka_shell.admin.partitions.model import Assignment
    from kafka_shell.admin.partitions.reassignment_files import MovePaths
    from kafka_shell.admin.partitions.sizes import Sizes
    from kafka_shell.admin.partitions.targets import Targets
    from kafka_shell.context import Context


def plan_start(
    invocation: Invocation,
    context: Context,
    target: Assignment,
    *,
    now: CurrentAssignment,
    sizes: Sizes | None = None,
    planned: Targets | None = None,
    throttle: int | None = None,
    dirs: Dirs | None = None,
    resumable: bool = True,
) -> Plan:
    """The plan that moves partitions to these replicas.

    Its options (--wait, --additional, --batch, ...) are those of the command, as far as it has
    them. `planned` is what the planner returned; `sizes` are read if not given. What is not
    `resumable` by its ID is continued by the command itself.
    """
    from kafka_shell.admin.partitions import reassignment
    from kafka_shell.admin.partitions import sizes as move_sizes
    from kafka_shell.commands.partitions.throttle_store import throttle_record

    if sizes is None:
        sizes = move_sizes.read(context.cluster)
    plan = reassignment.plan_move(
        context.cluster,
        target,
        throttle=throttle,
        additional=bool(invocation.get("additional")),
        keep_factor=bool(invocation.get("disallow-replication-factor-change")),
        dirs=dirs,
        record=throttle_record(context),
        now=now,
        sizes=sizes,
    )
    if invocation.command.option("--additional"):
        hint = "Wait until it completes, or use --additional to change its target or throttle."
        plan = with_hint(plan, "REASSIGNMENT_IN_PROGRESS", hint)
    paths = paths_of(context)
    plan = in_batches(
        invocation, context, plan, paths, sizes=sizes, throttle=throttle, dirs=dirs,
        resumable=resumable,
    )  # fmt: skip
    plan = replace(_with_files(plan, paths, throttle), waits=bool(invocation["wait"]))
    if planned is None:
        return plan
    explained = planned if plan.figures else replace(planned, scores=(), loads=())
    return explained.explaining(plan)


def _with_files(plan: Plan, paths: MovePaths, throttle: int | None) -> Plan:
    """The plan with steps that write its files, and with the lines that continue and cancel it."""
    from kafka_shell.admin.partitions import recorded
    from kafka_shell.admin.partitions.batched import InBatches

    steps = recorded.with_files(plan, paths, throttle).steps
    starts = steps != plan.steps  # else only a throttle is changed
    follow: Any = plan.follow
    if isinstance(follow, InBatches):
        cancel = end_line(paths.id) if follow.resume else cancel_line(paths.move)
        return replace(plan, steps=steps, resume=resume_line(paths.id), id=paths.id, cancel=cancel)
    file = with_option("--reassignment-json-file", str(paths.move)) if starts else ""
    return replace(
        plan,
        steps=steps,
        follow=replace(follow, advice=stall_advice) if follow else None,
        resume=f"verify-reassign-partitions --finish {file}".strip(),
        id=paths.id if starts else "",
        cancel=cancel_line(paths.move) if starts else "",
    )
