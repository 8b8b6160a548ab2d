"""`reassign-partitions` (KIP-4, KIP-455)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kafka_shell import journal
from kafka_shell.admin.cluster.registrations import registered
from kafka_shell.admin.partitions import reassignment
from kafka_shell.admin.partitions import targets as move_targets
from kafka_shell.admin.partitions.batches import BatchLimits, FollowBatches
from kafka_shell.admin.partitions.follow import Follow
from kafka_shell.admin.partitions.in_progress import confirmed_under_way, under_way
from kafka_shell.admin.partitions.model import Assignment, Dirs, Move, MoveState, TopicPartition
from kafka_shell.admin.partitions.partition_files import (
    MoveFile,
    export,
    read_moves,
    read_topics,
)
from kafka_shell.admin.partitions.planner.placement import MIN_GAIN, PlanLimits
from kafka_shell.admin.partitions.planner.plan import Scope
from kafka_shell.admin.partitions.progress import CurrentAssignment, current_assignment
from kafka_shell.admin.partitions.reassignment import plan_cancel, with_rollback
from kafka_shell.admin.partitions.sizes import Disks, Sizes
from kafka_shell.admin.partitions.targets import Brokers, Targets, read_rebalance
from kafka_shell.admin.partitions.throttles import RemoveThrottle, left_behind
from kafka_shell.admin.topics import read as topics_read
from kafka_shell.admin.topics.change import plan_growth
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UnexpectedEnd, UsageError
from kafka_shell.base.plans import Change, Effect, Order, Plan, Resource, merge_plans
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.text import with_option
from kafka_shell.commands import select
from kafka_shell.commands.options import add_resume, with_hint
from kafka_shell.commands.partitions.spec import COMMANDS
from kafka_shell.commands.partitions.throttle_store import throttle_record
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.language.parse import invocation_of
from kafka_shell.language.render import render
from kafka_shell.output.humanize import name_few
from kafka_shell.wire.cluster import Cluster

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
    given = [name for name in _SUBJECTS if invocation[name]]
    if len(given) != 1 or invocation["drain"]:
        raise UsageError(
            "--cancel requires --reassignment-json-file, --topics or --partitions",
            hint="To cancel all reassignments, run reassign-partitions --cancel --topics '*'",
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
    if invocation["partitions"]:
        chosen = select.partitions(invocation, context.cluster, "partitions")
        return chosen.map(lambda partition: TopicPartition(partition.topic, partition.partition))
    topics = select.topics(invocation, context.cluster, "topics")
    moving = confirmed_under_way(context.cluster, topics).values
    busy = {partition.topic for partition in moving}
    idle = [name for name in topics if name not in busy]
    missing = topics_read.describe(context.cluster, idle, only=lambda topic: False).failures
    return Results(
        {partition.resource: partition for partition in moving},
        {Resource("topic", name): failure for name, failure in missing.items()},
    )


# By topic: a replication factor, or the replicas of each partition.
Replicas = Mapping[str, int | tuple[tuple[int, ...], ...]]
_SOURCES = ("reassignment-json-file", "topics-to-move-json-file", "topics", "drain")


# -- reassign --------------------------------------------------------------------------------------


def reassign_partitions(invocation: Invocation, context: Context) -> Plan:
    """Reassign partitions by a file or by the planner, or cancel reassignments."""
    if invocation["cancel"]:
        return cancel(invocation, context)
    _check(invocation)

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
        export(invocation["export"], target)
    return plan_start(
        invocation, context, target, now=now, sizes=sizes, planned=planned, throttle=throttle,
        dirs=file.dirs if file else None,
    )  # fmt: skip


def plan_rollback(file: str, context: Context) -> Plan:
    """The plan that moves replicas to the assignment of a rollback file."""
    return reassign_partitions(
        _command("reassign-partitions", reassignment_json_file=file), context
    )


def _command(name: str, **values: Any) -> Invocation:
    (command,) = (command for command in COMMANDS if command.name == name)
    return invocation_of(command, **values)


def replicate(
    invocation: Invocation,
    context: Context,
    wanted: Replicas,
    growing: Mapping[str, int] = MappingProxyType({}),
) -> Plan:
    """The plan that gives each topic a replication factor, or these replicas of its partitions.

    The topics in `growing` first get this many partitions.
    """
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
    wanted = {}
    for topic, count in growing.items():
        partitions = now.found.topic(topic).partitions if topic in now.found else ()
        new = (TopicPartition(topic, number) for number in range(len(partitions), count))
        replicas = (*(row.replicas for row in partitions), *(now.added[place] for place in new))
        wanted[topic] = (count, replicas if len(replicas) == count else ())
    return plan_growth(cluster, wanted)


def _check(invocation: Invocation) -> None:
    given = [name for name in _SOURCES if invocation[name]]
    if not given:
        raise UsageError(
            "one of --reassignment-json-file, --topics or --drain is required",
            hint="For example: reassign-partitions --topics 'orders.*' --broker-list 1,2,3",
        )
    if invocation["partitions"] and given != ["drain"]:
        raise UsageError(
            "--partitions requires --drain or --cancel", span=invocation.span("partitions")
        )
    if len(given) > 1 and set(given) != {"topics", "drain"}:
        raise UsageError(
            f"--{given[0]} cannot be used with --{given[1]}", span=invocation.span(given[1])
        )


def given_file(invocation: Invocation) -> MoveFile | None:
    """The content of --reassignment-json-file, or None."""
    if not invocation["reassignment-json-file"]:
        return None

    return read_moves(invocation["reassignment-json-file"])


def _planned(
    invocation: Invocation, cluster: Cluster, now: CurrentAssignment, disks: Disks
) -> Targets:
    """The target replicas for --drain, or for --topics on --broker-list, and what was refused."""
    topics = chosen_topics(invocation, cluster)
    if invocation["drain"] is not None:
        broker = _drained(invocation, now)
        if invocation["partitions"]:
            partitions = select.partitions(invocation, cluster, "partitions")
            chosen = [each for each in select.topic_partitions(partitions) if each in now.replicas]
            planned = move_targets.drained(now, disks, broker, partitions=chosen)
            return replace(planned, refused=planned.refused | partitions.failures)
        return move_targets.drained(now, disks, broker, topics)
    brokers = named_brokers(invocation, cluster, now, disks, "broker-list")
    return move_targets.spread_over(now, disks, topics or (), brokers)


def named_brokers(
    invocation: Invocation, cluster: Cluster, now: CurrentAssignment, disks: Disks, option: str
) -> Brokers:
    """The brokers of an option. Raises ShellError for one that cannot receive replicas."""
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
        return read_topics(invocation["topics-to-move-json-file"])
    return select.topics(invocation, cluster, "topics") if invocation["topics"] else None


def _drained(invocation: Invocation, now: CurrentAssignment) -> int:
    """The broker of --drain, which need not be running."""
    word: str = invocation["drain"]
    known = sorted({*now.racks, *now.found.replica_ids()})
    if not word.isdigit() or int(word) not in known:
        raise select.unknown_broker(word, known, invocation.span("drain"))
    return int(word)


def verify_reassign_partitions(
    invocation: Invocation, context: Context
) -> MoveState | Plan | NoRows:
    """The state of a reassignment; --finish waits for its end and removes its throttle."""
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
    read = confirmed_under_way if finish else under_way
    return {key: each.after for key, each in read(cluster, topics).values.items()}


def _finish(
    invocation: Invocation,
    context: Context,
    file: MoveFile | None,
    wanted: dict[TopicPartition, tuple[int, ...]] | None,
    topics: Sequence[str] | None,
) -> MoveState | Plan | NoRows:
    """Follow the reassignment, then plan the removal of its throttle."""
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
        topics = list({partition.topic: None for partition in file.target})
    record = throttle_record(context)
    state = reassignment.state(cluster, wanted, dirs, record.read(), topics)
    moving = under_way(cluster).values
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


# -- `rebalance`: move replicas and leaders until the brokers have their shares --------------------

_PERCENT = 100


def rebalance(invocation: Invocation, context: Context) -> Plan:
    """Plan moves between brokers by the goals of the planner."""
    scope = Scope.ALL
    if invocation["only-leaders"] or invocation["racks"]:
        scope = Scope.LEADERS if invocation["only-leaders"] else Scope.RACKS
    limits = None
    if invocation["max-bytes"] is not None or invocation["max-partitions"] is not None:
        limits = PlanLimits(invocation["max-bytes"], invocation["max-partitions"])
    min_gain, measure = invocation["min-gain"], invocation["measure"]
    plan = read_rebalance(
        context.cluster,
        chosen_topics(invocation, context.cluster),
        lambda now, disks: _brokers(invocation, context.cluster, now, disks),
        scope=scope,
        limits=limits,
        min_gain=MIN_GAIN if min_gain is None else min_gain / _PERCENT,
        measure=None if measure is None else measure / 1000,
    )
    return plan_start(
        invocation, context, plan.targets.replicas, now=plan.now, sizes=plan.disks.sizes,
        planned=plan.targets, throttle=invocation["throttle"],
    )  # fmt: skip


def _brokers(
    invocation: Invocation, cluster: Cluster, now: CurrentAssignment, disks: Disks
) -> Brokers:
    brokers = named_brokers(invocation, cluster, now, disks, "brokers")
    if not invocation["exclude-brokers"]:
        return brokers
    known = sorted({*now.racks, *now.found.replica_ids()})
    excluded = select.brokers_among(invocation, known, "exclude-brokers")
    return replace(brokers, excluded=frozenset(map(int, excluded)))


def plan_rollbacks(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that goes back to what these files describe."""
    return merge_plans([plan_rollback(change.resource.name, context) for change in changes])


def plan_factors(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that gives topics these replication factors."""
    factors = {change.resource.name: int(change.after or 0) for change in changes}
    return replicate(_command("reassign-partitions"), context, factors)


def plan_racks(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that spreads the replicas of topics over racks."""
    topics = tuple(change.resource.name for change in changes)
    return rebalance(_command("rebalance", topics=topics, racks=True), context)
