"""The command that copies records, such as those of a dead-letter topic back to their topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafka_shell import journal
from kafka_shell.admin.records.codecs import CODECS
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Advice, Effect, Plan
from kafka_shell.base.structs import replace
from kafka_shell.base.units import format_time
from kafka_shell.commands.records.read_records import (
    ENDS,
    ISOLATION_LEVELS,
    MAX_BATCH_SIZE,
    READ_COMMITTED,
    STARTS,
    check_order,
    decoder_of,
    formats_of,
    position,
)
from kafka_shell.identity import on_expected_cluster
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option

if TYPE_CHECKING:
    from kafka_shell.admin.records.copy import CopyRequest, Progress
    from kafka_shell.context import Context, OtherClusterPlan

# What a continued copy takes from the journal.
_SAVED = ("where", "grep", "keep-timestamps", "add-source-headers", "isolation-level",
          "max-batch-size", "compression-type", "to-profile")  # fmt: skip


def copy_records(invocation: Invocation, context: Context) -> Plan | OtherClusterPlan | NoRows:
    """The plan of a copy, on this cluster or on that of --to-profile."""
    from kafka_shell.context import OtherClusterPlan

    saved = _saved(invocation, context) if invocation["resume"] else None
    profile = invocation["to-profile"] if saved is None else saved["options"]["to-profile"]
    if profile is None:
        return _or_nothing(_plan(invocation, context, context, saved))
    target = _other(profile, invocation, context)
    try:
        plan = on_expected_cluster(target, lambda: _plan(invocation, context, target, saved))
    except BaseException:
        target.close()
        raise
    if not plan.steps:
        target.close()
        return _or_nothing(plan)
    return OtherClusterPlan(plan, target)


def _or_nothing(plan: Plan) -> Plan | NoRows:
    return plan if plan.steps or not plan.refused.ok else NoRows("no records to copy")


def _other(profile: str, invocation: Invocation, context: Context) -> Context:
    """The context of another profile."""
    from kafka_shell import settings

    flags = {"profile": profile}
    found = settings.load_for_line(
        context.settings, flags, context.environ, context.paths.config_file
    )
    target = context.with_settings(found)
    target.cluster.deadline = context.cluster.deadline
    return target


def _plan(
    invocation: Invocation, context: Context, target: Context, saved: dict[str, Any] | None
) -> Plan:
    from kafka_shell.admin.records.copy import plan_continue, plan_copy

    if saved is not None:
        request, progress = _continued(saved, context, target)
        plan = plan_continue(context.cluster, target.cluster, request, progress)
        return plan.noted(continues=saved["continues"])
    request = _request(invocation, context, target)
    _refuse_same_topic(request, context, target)
    plan = plan_copy(context.cluster, target.cluster, request, report=context.report)
    if not plan.steps:  # it is not shown
        for warning in plan.advice.warnings:
            context.note(warning)
    times = (("from", request.start.time), ("until", request.end.time))
    instants = (f"{invocation[name]} is {format_time(at)}" for name, at in times
                if invocation[name] and at > 0)  # fmt: skip
    return plan.advised(Advice(notes=tuple(instants)))


def _refuse_same_topic(request: CopyRequest, context: Context, target: Context) -> None:
    same = target is context or context.cluster.cluster_id == target.cluster.cluster_id
    if same and request.source == request.target:
        raise ShellError(
            f"topic {request.source} cannot be copied to itself",
            hint="Use another topic with --to, or another cluster with --to-profile.",
            code="same-topic",
        )


# -- a new copy ------------------------------------------------------------------------------------


def _request(invocation: Invocation, context: Context, target: Context) -> CopyRequest:
    from kafka_shell.admin.records.read import FROM_EARLIEST, TO_LATEST, Position

    source, numbers = invocation["source"]
    start = position(invocation, "from", context) or FROM_EARLIEST
    end = position(invocation, "until", context) or TO_LATEST
    if invocation["to-offset"] is not None:
        end = Position(offset=invocation["to-offset"])
    check_order(invocation, start, end, "until" if invocation["until"] else "to-offset")
    saved = {
        "source": source,
        "target": invocation["to"],
        "source_cluster": context.cluster.cluster_id,
        "target_cluster": target.cluster.cluster_id,
        "options": {name: invocation[name] for name in _SAVED},
    }
    request = _saved_request(saved, context)
    return replace(request, numbers=numbers, start=start, end=end, limit=invocation["limit"])


def _saved_request(saved: dict[str, Any], context: Context) -> CopyRequest:
    """The request with what a later run needs to continue it."""
    from kafka_shell.admin.records.copy import CopyRequest

    source, options = saved["source"], saved["options"]
    return CopyRequest(
        source=source,
        target=saved["target"],
        decoder=decoder_of(options, formats_of(context), internal=source.startswith("__")),
        committed=(options["isolation-level"] or READ_COMMITTED) == READ_COMMITTED,
        keep_timestamps=options["keep-timestamps"],
        add_headers=options["add-source-headers"],
        codec=CODECS.index(options["compression-type"] or "none"),
        saved=saved,
    )


# -- continuing ------------------------------------------------------------------------------------


def _saved(invocation: Invocation, context: Context) -> dict[str, Any]:
    """The progress of an earlier copy, from the journal."""
    from kafka_shell.commands.program.journal import entries

    (entry,) = entries([invocation["resume"]], context)
    saved = entry.progress
    if entry.command.split()[0] != invocation.command.name or not saved:
        raise ShellError(
            f"journal entry {entry.id} is not a copy that can be continued", code="no-entry"
        )
    if saved.get("complete"):
        raise ShellError(f"the copy of journal entry {entry.id} is complete", code="complete")
    journal.check_continuable(context, entry.id)
    return saved | {"continues": entry.id}


def _continued(
    saved: dict[str, Any], context: Context, target: Context
) -> tuple[CopyRequest, Progress]:
    import msgspec

    from kafka_shell.admin.records.copy import Progress

    for cluster, side in ((context.cluster, "source"), (target.cluster, "target")):
        if cluster.cluster_id != saved[f"{side}_cluster"]:
            raise ShellError(
                f"the {side} of this copy is cluster {saved[f'{side}_cluster']}, not"
                f" {cluster.cluster_id}",
                hint="Use the profile of that cluster.",
                code="other-cluster",
            )
    request = _saved_request(
        {name: value for name, value in saved.items() if name != "progress"}, context
    )
    return request, msgspec.convert(saved["progress"], Progress, strict=False)


COMMANDS: tuple[Command, ...] = (
    Command(
        name="copy-records",
        summary="Copy records to another topic, such as those of a dead-letter topic.",
        family="records",
        run=copy_records,
        effect=Effect.CHANGE,
        arguments=(
            Argument("source", kinds.TOPIC_PARTITIONS, "The source: orders.dlq  orders.dlq:0,2",
                     required=False, option="--source", unless=("--resume",)),
        ),
        options=(
            Option("--to", kinds.TOPIC, "The target topic.", metavar="TOPIC"),
            Option("--to-profile", kinds.PROFILE, "The profile of the target's cluster.",
                   metavar="PROFILE"),
            Option("--from", STARTS, "Start: earliest (default), an offset, or a time such as -1h.",
                   metavar="POSITION"),
            Option("--until", ENDS, "End, exclusive: a time, an offset or latest (default).",
                   metavar="POSITION"),
            Option("--to-offset", kinds.INTEGER, "End, exclusive: an offset.", least=0,
                   metavar="OFFSET", excludes=("--until",)),
            Option("--where", kinds.TEXT, "Only records that match this condition: key=4711; may"
                   " be repeated, all must match.", many=True, metavar="CONDITION"),
            Option("--grep", kinds.TEXT, "Only records that match this regular expression.",
                   many=True, metavar="REGEX"),
            Option("--limit", kinds.INTEGER, "Copy at most this many records, the oldest.",
                   least=1, metavar="N"),
            Option("--keep-timestamps", kinds.FLAG, "Copy the timestamps (default: now)."),
            Option("--add-source-headers", kinds.FLAG,
                   "Add the header copied-from with topic:partition:offset."),
            Option("--isolation-level", kinds.CHOICE,
                   "read_committed (default): without aborted transactions, up to the first open"
                   " one.",
                   choices=ISOLATION_LEVELS, metavar="LEVEL"),
            MAX_BATCH_SIZE,
            Option("--compression-type", kinds.CHOICE, "Codec of the batches (default: none).",
                   choices=CODECS),
            Option("--resume", kinds.TEXT, "Continue an interrupted copy of the journal.",
                   metavar="ID", excludes=("--to", "--from", "--until", "--to-offset", "--limit",
                                           *(f"--{name}" for name in _SAVED))),
        ),
        exactly_one=(("to", "resume"), ("source", "resume")),
        search=("redrive", "replay", "dead-letter", "dlq", "mirror", "reprocess"),
        description=(
            "Keys, values and headers are copied unchanged; if both topics have the same number "
            "of partitions, a record keeps its partition.\n"
            "Records that are written to the source after the plan was made are not copied.\n"
            "Copying is irreversible; the source keeps its records.\n"
            "Records are written exactly once; --resume continues an interrupted copy at least "
            "once (the last 8MiB may be copied twice).\n"
            "A copy cannot be resumed if one of the topics was recreated."
        ),
        apis=(0, 1, 2, 22),
        examples=(
            Example("copy-records orders.placed --to parcels.delivered --limit 3 --dry-run",
                    "preview copying the three oldest records"),
            Example("copy-records orders.placed:0 --to parcels.delivered --from -1h"
                    " --add-source-headers --dry-run",
                    "preview copying the records of the last hour of a partition"),
        ),
    ),
)  # fmt: skip
