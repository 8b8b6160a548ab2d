"""`reassign-partitions` (KIP-4, KIP-455)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Effect, Order, Plan, Resource, merge_plans
from kafka_shell.base.results import Results
from kafka_shell.base.structs import replace
from kafka_shell.base.text import with_option
from kafka_shell.base.units import counted
from kafka_shell.commands import select
from kafka_shell.commands.hints import with_hint
from kafka_shell.commands.partitions.batches import ABOUT as BATCHES_ABOUT
from kafka_shell.commands.partitions.batches import (
    BATCHES,
    REASSIGNMENT,
    in_batches,
    paths_of,
    resume,
    unfinished,
)
from kafka_shell.commands.partitions.follow_up import (
    cancel_line,
    end_line,
    resume_line,
    stall_advice,
)
from kafka_shell.language import kinds
from kafka_shell.language.command import Command, Example, Invocation, Option
from kafka_shell.output.humanize import name_few

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.current_assignment import CurrentAssignment
    from kafka_shell.admin.partitions.disks import Disks
    from kafka_shell.admin.partitions.log_dir_targets import Dirs
    from kafka_shell.admin.partitions.model import Assignment, TopicPartition
    from kafka_shell.admin.partitions.partition_files import MoveFile, MovePaths
    from kafka_shell.admin.partitions.sizes import Sizes
    from kafka_shell.admin.partitions.targets import Brokers, Targets
    from kafka_shell.commands.partitions.batches import Rollback
    from kafka_shell.context import Context
    from kafka_shell.wire.connection import Cluster


# The plan that starts a reassignment: with its files, in batches, and with what the planner says.
#
# Every command that moves replicas is built on it.


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
    plan = _with_files(plan, paths, throttle).followed(waits=bool(invocation["wait"]))
    if planned is None:
        return plan
    explained = planned if plan.advice.figures else replace(planned, scores=(), loads=())
    return explained.explaining(plan)


def _with_files(plan: Plan, paths: MovePaths, throttle: int | None) -> Plan:
    """The plan with steps that write its files, and with the lines that continue and cancel it."""
    from kafka_shell.admin.partitions import recorded
    from kafka_shell.admin.partitions.batched import InBatches

    steps = recorded.with_files(plan, paths, throttle).steps
    starts = steps != plan.steps  # else only a throttle is changed
    plan = replace(plan, steps=steps)
    follow: Any = plan.following.follow
    if isinstance(follow, InBatches):
        cancel = end_line(paths.id) if follow.resume else cancel_line(paths.move)
        return plan.followed(resume=resume_line(paths.id), cancel=cancel).noted(id=paths.id)
    file = with_option("--reassignment-json-file", str(paths.move)) if starts else ""
    return plan.followed(
        follow=replace(follow, advice=stall_advice) if follow else None,
        resume=f"verify-reassign-partitions --finish {file}".strip(),
        cancel=cancel_line(paths.move) if starts else "",
    ).noted(id=paths.id if starts else "")


# `reassign-partitions --cancel` (KIP-455).

_SUBJECTS = ("reassignment-json-file", "topics", "partitions", "resume")


def cancel(invocation: Invocation, context: Context) -> Plan:
    """The plan that cancels reassignments in progress: those of a file, of topics or of partitions,
    or those that a reassignment in batches has started."""
    from kafka_shell.admin.partitions.reassignment import plan_cancel, recorded_before
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
    from kafka_shell.admin.partitions.batched import ForgetBatches
    from kafka_shell.admin.partitions.partition_files import MovePaths, read_moves
    from kafka_shell.admin.partitions.reassignment import plan_cancel, recorded_before
    from kafka_shell.base.units import to_path
    from kafka_shell.commands.partitions.batches import BatchFile
    from kafka_shell.commands.partitions.throttle_store import throttle_record

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


# By topic: a replication factor, or the replicas of each partition.
Replicas = Mapping[str, int | tuple[tuple[int, ...], ...]]
THROTTLE = Option("--throttle", kinds.RATE, "Replication throttle per broker: 50MB/s.", least=1)
WAIT = Option("--wait", kinds.FLAG, "Wait until the reassignment ends, then remove its throttle.")
INCLUDE_CORDONED = Option("--include-cordoned", kinds.FLAG,
                          "Also move replicas to cordoned brokers that are named.")  # fmt: skip
FILE = Option("--reassignment-json-file", kinds.FILE, "A reassignment in Kafka's JSON format.")
PARTITIONS = Option("--partitions", kinds.TOPIC_PARTITIONS, "Only these partitions, for --drain or"
                    " --cancel: orders:0,3-5", many=True, excludes=("--topics",))  # fmt: skip
_SOURCES = ("reassignment-json-file", "topics-to-move-json-file", "topics", "drain")


# -- reassign --------------------------------------------------------------------------------------


def reassign_partitions(invocation: Invocation, context: Context) -> Plan:
    """Reassign partitions by a file or by the planner, or cancel reassignments."""
    if invocation["cancel"]:
        return cancel(invocation, context)
    if invocation["resume"]:
        return resume(invocation, context)
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
    if planned and (invocation["additional"] or invocation["throttle"]):
        target = {**target, **planned.moving}  # to change their throttle, or to refuse that
    rollback = _rollback(invocation)
    if rollback is not None:
        target = rollback.target(target)
    throttle = invocation["throttle"]
    if throttle is None and file is not None:
        throttle = file.throttle
    if invocation["export"]:
        from kafka_shell.admin.partitions.partition_files import export

        export(invocation["export"], target)
    plan = plan_start(
        invocation, context, target, now=now, sizes=sizes, planned=planned, throttle=throttle,
        dirs=file.dirs if file else None,
    )  # fmt: skip
    return plan if rollback is None else rollback.ending(plan)


def _rollback(invocation: Invocation) -> Rollback | None:
    if not invocation["reassignment-json-file"]:
        return None
    from kafka_shell.commands.partitions.batches import rollback_of

    return rollback_of(invocation["reassignment-json-file"])


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
                   "Allow changing running reassignments and their throttle."),
            Option("--disallow-replication-factor-change", kinds.FLAG,
                   "Refuse partitions whose replication factor would change."),
            Option("--export", kinds.FILE, "Also write the reassignment in Kafka's JSON format."),
            WAIT,
            Option("--resume", REASSIGNMENT, "Continue an unfinished reassignment in batches; with"
                   " --throttle, at this rate.", metavar="ID",
                   excludes=("--reassignment-json-file", "--topics", "--topics-to-move-json-file",
                             "--drain", "--partitions", "--broker-list", "--export", "--batch",
                             "--batch-bytes", "--per-broker", "--additional")),
            Option("--cancel", kinds.FLAG, "Cancel running reassignments of a file, of --topics or"
                   " of --partitions, or those that --resume ID started.",
                   excludes=("--throttle", "--drain", "--broker-list", "--additional", "--export",
                             "--wait", "--topics-to-move-json-file", "--batch", "--batch-bytes",
                             "--per-broker")),
        ),
        description=(
            "Uses the planner of rebalance, which spreads each topic over the brokers, considers"
            " racks and disk space, and balances leaders, bytes and replicas. With --broker-list,"
            " replicas on other brokers are moved. The current replicas are first written to a"
            " rollback file. The throttle is set only for the brokers and replicas of the"
            " reassignment. With --wait, it is removed at the end and earlier rates are restored;"
            " without --wait, the prompt does this in the background; elsewhere, run"
            " verify-reassign-partitions --finish. Files written by kafka.sh contain their"
            " throttle; --throttle overrides it. The log_dirs of a file are used; copies"
            " between log directories of one broker are not limited by --throttle but by"
            " replica.alter.log.dirs.io.max.bytes.per.second of the broker.\n" + BATCHES_ABOUT
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
