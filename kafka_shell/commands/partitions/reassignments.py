"""Commands that move replicas (KIP-4, KIP-455)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kafka_shell.commands import select
from kafka_shell.errors import ShellError, UsageError
from kafka_shell.language.command import Command, Example, Invocation, Kind, Option
from kafka_shell.plan.model import Effect, Plan, Resource
from kafka_shell.plan.results import Failure, Results
from kafka_shell.structs import replace

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.reassignment import Layout
    from kafka_shell.admin.partitions.targets import Wish
    from kafka_shell.admin.wire.connection import Cluster
    from kafka_shell.context import Context

    from .reassignment_files import MoveFile, RecordedMove

THROTTLE = Option("--throttle", Kind.RATE, "How fast copies are made at most, by each broker.",
                  metavar="RATE", least=1)  # fmt: skip
WAIT = Option("--wait", Kind.FLAG, "Follow the move to its end, then put throttles back.")
FILE = Option("--reassignment-json-file", Kind.FILE, "A move in Kafka's JSON format.",
               metavar="FILE")  # fmt: skip
_SOURCES = ("reassignment-json-file", "topics-to-move-json-file", "topics", "drain")


# -- move ------------------------------------------------------------------------------------------


def reassign_partitions(invocation: Invocation, context: Context) -> Plan:
    """Move what a file says, or what the planner finds; or cancel."""
    if invocation["cancel"]:
        return _cancel(invocation, context)
    _check(invocation)
    from kafka_shell.admin.partitions import reassignment
    from kafka_shell.commands.partitions.throttle_store import throttle_record

    now = reassignment.layout(context.cluster)
    file = given_file(invocation)
    wanted, refused = (file.wanted, {}) if file else _wished(invocation, context.cluster, now)
    throttle = invocation["throttle"]
    if throttle is None and file is not None:
        throttle = file.throttle
    if invocation["export"]:
        from .reassignment_files import export

        export(invocation["export"], wanted)
    plan = reassignment.plan_move(
        context.cluster,
        wanted,
        throttle=throttle,
        additional=invocation["additional"],
        keep_factor=invocation["disallow-replication-factor-change"],
        dirs=file.dirs if file else None,
        record=throttle_record(context),
        now=now,
    )
    return carried(invocation, context, plan, throttle, refused)


def replicate(invocation: Invocation, context: Context, topics: Sequence[str]) -> Plan:
    """`alter-topic --replication-factor N`: a move that adds replicas, or removes some."""
    from kafka_shell.admin.partitions import (
        reassignment,
    )
    from kafka_shell.admin.partitions import (
        targets as move_targets,
    )
    from kafka_shell.commands.partitions.throttle_store import throttle_record

    now = reassignment.layout(context.cluster)
    try:
        wanted, refused = move_targets.with_factor(now, topics, invocation["replication-factor"])
    except ShellError as error:
        error.span = invocation.span("replication-factor")
        raise
    throttle = invocation["throttle"]
    plan = reassignment.plan_move(
        context.cluster, wanted, throttle=throttle, record=throttle_record(context), now=now
    )
    return carried(invocation, context, plan, throttle, refused)


def _check(invocation: Invocation) -> None:
    given = [name for name in _SOURCES if invocation[name]]
    if not given:
        raise UsageError(
            "say what is to be moved: --reassignment-json-file, --topics or --drain",
            hint="For example: reassign-partitions --topics 'orders.*' --broker-list 1,2,3",
            text=invocation.text,
        )
    if len(given) > 1 and set(given) != {"topics", "drain"}:
        raise UsageError(
            f"--{given[0]} and --{given[1]} do not go together",
            span=invocation.span(given[1]),
            text=invocation.text,
        )


def given_file(invocation: Invocation) -> MoveFile | None:
    """The file of --reassignment-json-file."""
    if not invocation["reassignment-json-file"]:
        return None
    from .reassignment_files import read_moves

    return read_moves(invocation["reassignment-json-file"])


def _wished(invocation: Invocation, cluster: Cluster, now: Layout) -> Wish:
    """What the planner makes of --drain, or of --topics over --broker-list."""
    from kafka_shell.admin.partitions import targets as move_targets

    topics = chosen_topics(invocation, cluster)
    if invocation["drain"] is not None:
        return move_targets.drained(now, _drained(invocation, now), topics)
    brokers: list[str] = []
    if invocation["broker-list"]:
        brokers = select.brokers(invocation, cluster, "broker-list")
    return move_targets.spread_over(now, topics or (), frozenset(map(int, brokers)))


def chosen_topics(invocation: Invocation, cluster: Cluster) -> list[str] | None:
    """The topics that a line or its file names; None for all."""
    if invocation.get("topics-to-move-json-file"):
        from .reassignment_files import read_topics

        return read_topics(invocation["topics-to-move-json-file"])
    return select.topics(invocation, cluster, "topics") if invocation["topics"] else None


def _drained(invocation: Invocation, now: Layout) -> int:
    """The broker to be emptied; it may be down."""
    word: str = invocation["drain"]
    known = {*now.racks, *now.found.replica_ids()}
    if not word.isdigit() or int(word) not in known:
        raise ShellError(
            f"no broker {word}",
            hint=f"This cluster has {', '.join(map(str, sorted(known)))}.",
            code="no-match",
            span=invocation.span("drain"),
        )
    return int(word)


def carried(
    invocation: Invocation,
    context: Context,
    plan: Plan,
    throttle: int | None,
    refused: dict[Resource, Failure],
) -> Plan:
    """The plan with its files, and waited for only if that is wanted."""
    from kafka_shell.admin.partitions.progress import wanted_of
    from kafka_shell.admin.partitions.steps import MoveReplicas
    from kafka_shell.quoting import quote

    from .reassignment_files import MovePaths, RecordedMove, folder

    plan = replace(plan, refused=Results({}, {**refused, **plan.refused.failures}))
    follow: Any = plan.follow
    paths = MovePaths.new(folder(context), context.clock())
    also = wanted_of(follow.moves) if follow else {}
    steps, file = plan.steps, ""
    starts = [step for step in steps if isinstance(step, MoveReplicas) and not step.cancelled]
    if starts:  # otherwise only a throttle is changed
        move = RecordedMove(starts[0], paths, throttle, also)
        steps = tuple(_written_down(step, move) for step in steps)
        file = f"--reassignment-json-file {quote(str(paths.move))}"
    cancel = f"reassign-partitions --cancel {file}" if file else ""
    follow = replace(follow, cancel=cancel) if follow else None
    look = f"verify-reassign-partitions --finish {file}".strip()
    return replace(plan, steps=steps, follow=follow, waits=bool(invocation["wait"]), resume=look)


def _written_down(step: Any, move: RecordedMove) -> Any:
    from kafka_shell.admin.partitions.throttles import SetThrottle

    from .reassignment_files import RecordedThrottle

    if isinstance(step, SetThrottle):
        return RecordedThrottle(step, move)
    return move if step is move.step else step


# -- cancel ----------------------------------------------------------------------------------------


def _cancel(invocation: Invocation, context: Context) -> Plan:
    from kafka_shell.admin.partitions import progress as move_progress
    from kafka_shell.admin.partitions import reassignment
    from kafka_shell.commands.partitions.throttle_store import throttle_record

    from .reassignment_files import read_moves

    given = [name for name in _SOURCES if invocation[name]]
    if given not in (["reassignment-json-file"], ["topics"]):
        raise UsageError(
            "--cancel wants the move's --reassignment-json-file, or --topics",
            hint="For everything that is under way: reassign-partitions --cancel --topics '*'",
            text=invocation.text,
        )
    if given == ["topics"]:
        topics = chosen_topics(invocation, context.cluster)
        moving = move_progress.under_way(context.cluster, topics).values
        return reassignment.plan_cancel(
            context.cluster, list(moving), record=throttle_record(context)
        )
    file = read_moves(invocation["reassignment-json-file"])
    return reassignment.plan_cancel(
        context.cluster, list(file.wanted), file.before, file.dirs, throttle_record(context)
    )


COMMANDS: tuple[Command, ...] = (
    Command(
        name="reassign-partitions",
        summary="Move replicas to other brokers: as a file says, spread out, or off a broker.",
        family="partitions",
        run=reassign_partitions,
        effect=Effect.CHANGE,
        options=(
            FILE,
            Option("--topics", Kind.TOPIC, "Spread these topics evenly: a,b  svc-*  /regex/",
                   many=True, aliases=("--topic",), metavar="TOPICS"),
            Option("--topics-to-move-json-file", Kind.FILE, "The same, from a file of Kafka's.",
                   metavar="FILE"),
            Option("--broker-list", Kind.BROKER, "Over these brokers (without: all that are up).",
                   many=True, metavar="IDS"),
            Option("--drain", Kind.BROKER, "Everything (or these topics) off this broker.",
                   metavar="BROKER", excludes=("--broker-list",)),
            THROTTLE,
            Option("--additional", Kind.FLAG,
                   "Also for partitions that are being moved: another aim, another throttle."),
            Option("--disallow-replication-factor-change", Kind.FLAG,
                   "Refuse a partition whose number of replicas would change."),
            Option("--export", Kind.FILE, "Write the move in Kafka's JSON format, too.",
                   metavar="FILE"),
            WAIT,
            Option("--cancel", Kind.FLAG, "Cancel a move under way: a file's, or of these topics.",
                   excludes=("--throttle", "--drain", "--broker-list", "--additional", "--export",
                             "--wait", "--topics-to-move-json-file")),
        ),
        description=(
            "The planner keeps replicas in as many racks as there are, copies no replica that can"
            " stay, and spreads the preferred leaders. Where the replicas were is written to a"
            " rollback file first. A throttle is set on the brokers and replicas of the move only;"
            " with --wait what stood there before is put back at the end. Without it the prompt"
            " does that in the background, and elsewhere the line that is printed does"
            " (verify-reassign-partitions --finish). A file that this shell wrote knows its move's"
            " throttle; --throttle overrides it. The log_dirs of a file are kept to: copies between"
            " the dirs of one broker know no --throttle but the broker's"
            " replica.alter.log.dirs.io.max.bytes.per.second."
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
                    "how these topics could be spread better"),
            Example("reassign-partitions --topics 'orders.*' --export /dev/null --dry-run",
                    "the same, with the plan in Kafka's JSON format in a file"),
            Example("reassign-partitions --cancel --topics '*'", "cancel whatever is under way"),
        ),
    ),
)  # fmt: skip
