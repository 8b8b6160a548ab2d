"""`reassign-partitions` (KIP-4, KIP-455)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Effect, Order, Plan, Resource, merge_plans
from kafka_shell.base.results import Results
from kafka_shell.base.structs import replace
from kafka_shell.base.text import with_option
from kafka_shell.commands import select
from kafka_shell.commands.hints import with_hint
from kafka_shell.language import kinds
from kafka_shell.language.command import Command, Example, Invocation, Option
from kafka_shell.language.parse import defaults
from kafka_shell.language.render import render
from kafka_shell.language.scan import Scope
from kafka_shell.output.humanize import name_few

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.current_assignment import CurrentAssignment
    from kafka_shell.admin.partitions.disks import Disks
    from kafka_shell.admin.partitions.log_dir_moves import Dirs
    from kafka_shell.admin.partitions.model import Assignment, TopicPartition
    from kafka_shell.admin.partitions.partition_files import MoveFile
    from kafka_shell.admin.partitions.sizes import Sizes
    from kafka_shell.admin.partitions.targets import Brokers, Targets
    from kafka_shell.context import Context
    from kafka_shell.wire.connection import Cluster


# The plan that starts a reassignment. Every command that moves replicas is built on it.


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
) -> Plan:
    """The plan that moves partitions to these replicas, after a rollback file is written.

    Its options (--wait, --additional, --batch, ...) are those of the command, as far as it has
    them. `planned` is what the planner returned; `sizes` are read if not given. Outside the prompt
    batches are waited for: without it, nothing would start the next one.
    """
    from kafka_shell.admin.partitions import reassignment
    from kafka_shell.admin.partitions.batches import BatchLimits, FollowBatches
    from kafka_shell.admin.partitions.rollback import with_rollback
    from kafka_shell.commands.partitions.throttle_store import throttle_record

    limits = [invocation.get(name) for name in ("batch", "batch-bytes", "per-broker")]
    plan = reassignment.plan_move(
        context.cluster,
        {**target, **planned.moving} if planned else target,
        throttle=throttle,
        additional=bool(invocation.get("additional")),
        keep_factor=bool(invocation.get("disallow-replication-factor-change")),
        dirs=dirs,
        record=throttle_record(context),
        now=now,
        sizes=sizes,
        batches=BatchLimits(*limits),
    )
    if invocation.command.option("--additional"):
        hint = "Wait until it completes, or use --additional to change its target."
        plan = with_hint(plan, "REASSIGNMENT_IN_PROGRESS", hint)
    resume, waits = "verify-reassign-partitions --finish", bool(invocation["wait"])
    if file := invocation.get("reassignment-json-file"):
        resume += f" {with_option('--reassignment-json-file', file)}"
    if isinstance(plan.following.follow, FollowBatches) or any(limits):
        resume, waits = render(invocation), waits or context.shell is None
    plan = with_rollback(plan, context.paths.reassignments, context.clock(), throttle)
    plan = plan.followed(waits=waits, resume=resume)
    if planned is None:
        return plan
    explained = planned if plan.advice.figures else replace(planned, scores=(), loads=())
    return explained.explaining(plan)


# `reassign-partitions --cancel` (KIP-455).

_SUBJECTS = ("reassignment-json-file", "topics", "partitions")
_ENTRIES = 100  # of the journal: older reassignments have ended


def cancel(invocation: Invocation, context: Context) -> Plan:
    """The plan that cancels reassignments in progress: those of a file, of topics or of
    partitions."""
    from kafka_shell.admin.partitions.reassignment import plan_cancel
    from kafka_shell.commands.partitions.throttle_store import throttle_record

    given = [name for name in _SUBJECTS if invocation[name]]
    if len(given) != 1 or invocation["drain"]:
        raise UsageError(
            "--cancel requires --reassignment-json-file, --topics or --partitions",
            hint="To cancel all reassignments, run reassign-partitions --cancel --topics '*'",
            text=invocation.text,
        )
    before, record = _replicas_before(context), throttle_record(context)
    file = given_file(invocation)
    if file is not None:
        return plan_cancel(context.cluster, list(file.target), before, record, file.target)
    moving = _moving(invocation, context)
    plan = plan_cancel(context.cluster, list(moving), before, record=record)
    return replace(plan, refused=Results.merge([plan.refused, Results({}, moving.failures)]))


def _replicas_before(context: Context) -> Assignment:
    """The replicas, in their order, before the last reassignment of each partition in the journal:
    controllers do not remember the order."""
    from kafka_shell import journal
    from kafka_shell.admin.partitions.model import TopicPartition

    entries = journal.newest(context.paths.journal, cluster=context.cluster.cluster_id)
    before: dict[TopicPartition, tuple[int, ...]] = {}
    for entry in islice(entries, _ENTRIES):
        for row in () if isinstance(entry, Path) else entry.changes:
            if row["kind"] == "partition" and not row["field"] and row["before"]:
                topic, _, number = row["resource"].removeprefix("partition ").rpartition(":")
                replicas = tuple(map(int, row["before"].split(",")))
                before.setdefault(TopicPartition(topic, int(number)), replicas)
    return before


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


# By topic: a replication factor, or the replicas of each partition.
Replicas = Mapping[str, int | tuple[tuple[int, ...], ...]]
THROTTLE = Option("--throttle", kinds.RATE, "Replication throttle per broker: 50MB/s.", least=1)
WAIT = Option("--wait", kinds.FLAG, "Wait until the reassignment ends, then remove its throttle.")
INCLUDE_CORDONED = Option("--include-cordoned", kinds.FLAG,
                          "Also move replicas to cordoned brokers that are named.")  # fmt: skip
FILE = Option("--reassignment-json-file", kinds.FILE, "A reassignment in Kafka's JSON format.")
BATCHES = (
    Option("--batch", kinds.INTEGER, "Move at most this many partitions at a time (default: 100).",
           least=1, metavar="N"),
    Option("--batch-bytes", kinds.SIZE, "Copy at most this much at a time: 50GiB.", least=1,
           metavar="SIZE"),
    Option("--per-broker", kinds.INTEGER, "Move at most this many partitions to or from a broker at"
           " a time.", least=1, metavar="N"),
)  # fmt: skip
PARTITIONS = Option("--partitions", kinds.TOPIC_PARTITIONS, "Only these partitions, for --drain or"
                    " --cancel: orders:0,3-5", many=True, excludes=("--topics",))  # fmt: skip
_SOURCES = ("reassignment-json-file", "topics-to-move-json-file", "topics", "drain")


# -- reassign --------------------------------------------------------------------------------------


def reassign_partitions(invocation: Invocation, context: Context) -> Plan:
    """Reassign partitions by a file or by the planner, or cancel reassignments."""
    if invocation["cancel"]:
        return cancel(invocation, context)
    _check(invocation)
    from kafka_shell.admin.partitions import targets as move_targets
    from kafka_shell.admin.partitions.current_assignment import current_assignment

    now = current_assignment(context.cluster)
    file = given_file(invocation)
    planned, sizes = None, None
    if file is None:
        disks = move_targets.read_disks(context.cluster, now)
        planned, sizes = _planned(invocation, context.cluster, now, disks), disks.sizes
    target: Assignment = planned.replicas if planned else file.target if file else {}
    throttle = invocation["throttle"]
    if throttle is None and file is not None:
        throttle = file.throttle
    if invocation["export"]:
        from kafka_shell.admin.partitions.partition_files import export

        export(invocation["export"], target)
    return plan_start(
        invocation, context, target, now=now, sizes=sizes, planned=planned, throttle=throttle,
        dirs=file.dirs if file else None,
    )  # fmt: skip


def plan_rollback(file: str, context: Context) -> Plan:
    """The plan that moves replicas to the assignment of a rollback file."""
    (command,) = (command for command in COMMANDS if command.name == "reassign-partitions")
    values = {**defaults(Scope(command)), "reassignment-json-file": file}
    return reassign_partitions(Invocation(command, values), context)


def replicate(
    invocation: Invocation,
    context: Context,
    wanted: Replicas,
    growing: Mapping[str, int] = MappingProxyType({}),
) -> Plan:
    """The plan that gives each topic a replication factor, or these replicas of its partitions.

    The topics in `growing` first get this many partitions.
    """
    from kafka_shell.admin.partitions import targets as move_targets
    from kafka_shell.admin.partitions.current_assignment import current_assignment
    from kafka_shell.admin.partitions.model import TopicPartition

    now = current_assignment(context.cluster)
    growth = Plan(Effect.CHANGE, ())
    if growing:
        assignments = {topic: each for topic, each in wanted.items() if not isinstance(each, int)}
        now = move_targets.with_new_partitions(now, growing, assignments)
        growth = _growth(context.cluster, now, growing)
    target: dict[TopicPartition, tuple[int, ...]] = {}
    by_factor: dict[int, list[str]] = {}
    for topic, factor in wanted.items():
        if isinstance(factor, int):
            by_factor.setdefault(factor, []).append(topic)
        else:
            target |= {TopicPartition(topic, at): brokers for at, brokers in enumerate(factor)}
    disks = move_targets.read_disks(context.cluster, now)
    planned = move_targets.Targets(target)
    for factor, topics in by_factor.items():
        try:
            planned = planned.merged(move_targets.with_factor(now, disks, topics, factor))
        except ShellError as error:
            error.span = invocation.span("replication-factor")
            error.message = f"{name_few(Resource('topic', each) for each in topics)}: {error}"
            raise
    moves = plan_start(
        invocation, context, planned.replicas, now=now, sizes=disks.sizes,
        planned=replace(planned, scores=()), throttle=invocation["throttle"],
    )  # fmt: skip
    if not growing:
        return moves
    # What does not exist cannot be moved.
    return replace(merge_plans([growth, moves]), order=Order.CHAINED | Order.WHOLE)


def _growth(cluster: Cluster, now: CurrentAssignment, growing: Mapping[str, int]) -> Plan:
    """The plan that adds partitions, where `now` places them."""
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.admin.topics.change import plan_growth

    wanted = {}
    for topic, count in growing.items():
        found = now.found.topic(topic).partitions if topic in now.found else ()
        new = (TopicPartition(topic, number) for number in range(len(found), count))
        replicas = (*(each.replicas for each in found), *(now.added[each] for each in new))
        wanted[topic] = (count, replicas if len(replicas) == count else ())
    return plan_growth(cluster, wanted)


def _check(invocation: Invocation) -> None:
    given = [name for name in _SOURCES if invocation[name]]
    if not given:
        raise UsageError(
            "one of --reassignment-json-file, --topics or --drain is required",
            hint="For example: reassign-partitions --topics 'orders.*' --broker-list 1,2,3",
            text=invocation.text,
        )
    if invocation["partitions"] and given != ["drain"]:
        raise UsageError(
            "--partitions requires --drain or --cancel",
            span=invocation.span("partitions"),
            text=invocation.text,
        )
    if len(given) > 1 and set(given) != {"topics", "drain"}:
        raise UsageError(
            f"--{given[0]} cannot be used with --{given[1]}",
            span=invocation.span(given[1]),
            text=invocation.text,
        )


def given_file(invocation: Invocation) -> MoveFile | None:
    """The content of --reassignment-json-file, or None."""
    if not invocation["reassignment-json-file"]:
        return None
    from kafka_shell.admin.partitions.partition_files import read_moves

    return read_moves(invocation["reassignment-json-file"])


def _planned(
    invocation: Invocation, cluster: Cluster, now: CurrentAssignment, disks: Disks
) -> Targets:
    """The target replicas for --drain, or for --topics on --broker-list, and what was refused."""
    from kafka_shell.admin.partitions import targets as move_targets

    topics = chosen_topics(invocation, cluster)
    if invocation["drain"] is not None:
        broker = _drained(invocation, now)
        if invocation["partitions"]:
            found = select.partitions(invocation, cluster, "partitions")
            chosen = [each for each in select.topic_partitions(found) if each in now.replicas]
            planned = move_targets.drained(now, disks, broker, partitions=chosen)
            return replace(planned, refused=planned.refused | found.failures)
        return move_targets.drained(now, disks, broker, topics)
    brokers = named_brokers(invocation, cluster, now, disks, "broker-list")
    return move_targets.spread_over(now, disks, topics or (), brokers)


def named_brokers(
    invocation: Invocation, cluster: Cluster, now: CurrentAssignment, disks: Disks, option: str
) -> Brokers:
    """The brokers of an option. Raises ShellError for one that cannot receive replicas."""
    from kafka_shell.admin.cluster.registrations import registered
    from kafka_shell.admin.partitions import targets as move_targets

    named = frozenset[int]()
    if invocation[option]:
        known = {*now.racks, *now.found.replica_ids(), *(registered(cluster) or ())}
        named = frozenset(map(int, select.brokers_among(invocation, sorted(known), option)))
    brokers = move_targets.Brokers(named, include_cordoned=invocation["include-cordoned"])
    try:
        move_targets.check_named(cluster, now, disks, brokers)
    except ShellError as error:
        error.span = invocation.span(option)
        if error.code == move_targets.CORDONED:
            error.hint = "Use --include-cordoned to move replicas to it."
        raise
    return brokers


def chosen_topics(invocation: Invocation, cluster: Cluster) -> list[str] | None:
    """The topics of the command or its file; None for all."""
    if invocation.get("topics-to-move-json-file"):
        from kafka_shell.admin.partitions.partition_files import read_topics

        return read_topics(invocation["topics-to-move-json-file"])
    return select.topics(invocation, cluster, "topics") if invocation["topics"] else None


def _drained(invocation: Invocation, now: CurrentAssignment) -> int:
    """The broker of --drain, which need not be running."""
    word: str = invocation["drain"]
    known = sorted({*now.racks, *now.found.replica_ids()})
    if not word.isdigit() or int(word) not in known:
        raise select.unknown_broker(word, known, invocation.span("drain"))
    return int(word)


COMMANDS: tuple[Command, ...] = (
    Command(
        name="reassign-partitions",
        summary="Move replicas to other brokers: from a file, spread evenly, or drain a broker.",
        family="partitions",
        run=reassign_partitions,
        effect=Effect.CHANGE,
        options=(
            FILE,
            Option("--topics", kinds.TOPIC, "Spread these topics evenly: a,b  svc-*  /regex/",
                   many=True, aliases=("--topic",), metavar="TOPICS"),
            Option("--topics-to-move-json-file", kinds.FILE, "The same for topics in a JSON file."),
            Option("--broker-list", kinds.BROKER,
                   "The brokers for --topics (default: all running ones that are not cordoned).",
                   many=True, metavar="IDS"),
            INCLUDE_CORDONED,
            Option("--drain", kinds.BROKER,
                   "Move all replicas (or those of --topics) off a broker.", metavar="BROKER",
                   excludes=("--broker-list",)),
            PARTITIONS,
            THROTTLE,
            *BATCHES,
            Option("--additional", kinds.FLAG,
                   "Allow changing the target of running reassignments."),
            Option("--disallow-replication-factor-change", kinds.FLAG,
                   "Refuse partitions whose replication factor would change."),
            Option("--export", kinds.FILE, "Also write the reassignment in Kafka's JSON format."),
            WAIT,
            Option("--cancel", kinds.FLAG, "Cancel running reassignments of a file, of --topics or"
                   " of --partitions.",
                   excludes=("--throttle", "--drain", "--broker-list", "--additional", "--export",
                             "--wait", "--topics-to-move-json-file", "--batch", "--batch-bytes",
                             "--per-broker")),
        ),
        description=(
            "Uses the planner of rebalance; --broker-list moves replicas off all other brokers.\n"
            "The current replicas are first written to a rollback file.\n"
            "The throttle is removed at the end with --wait, and at the prompt in the "
            "background; elsewhere, run verify-reassign-partitions --finish.\n"
            "More than 100 partitions are moved in batches, each when the one before is in sync; "
            "otherwise the reassignment pauses and reports why.\n"
            "To continue after a pause or Ctrl-C, run the same command again."
        ),
        search=("rebalance", "migrate", "decommission", "generate", "execute", "rack", "balance"),
        apis=(2, 3, 32, 34, 35, 44, 45, 46),
        elsewhere=(
            ("--execute", "Leave it out: the file is executed unless --dry-run is given."),
            ("--verify", "Run verify-reassign-partitions --reassignment-json-file FILE."),
            ("--generate", "Use --dry-run to see the plan, and --export FILE to write it."),
            ("--list", "Run list-reassignments."),
        ),
        examples=(
            Example("reassign-partitions --topics 'orders.*' --dry-run",
                    "preview spreading topics evenly"),
            Example("reassign-partitions --topics 'orders.*' --export /dev/null --dry-run",
                    "export the plan in Kafka's JSON format"),
            Example("reassign-partitions --cancel --topics '*'", "cancel all reassignments"),
        ),
    ),
)  # fmt: skip
