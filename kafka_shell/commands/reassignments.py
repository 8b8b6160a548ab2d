"""Commands that move replicas (KIP-4, KIP-455)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kafka_shell.errors import ShellError, UsageError
from kafka_shell.language.command import (
    Argument,
    Command,
    Effect,
    Example,
    Invocation,
    Kind,
    Option,
)
from kafka_shell.language.common import CHANGING
from kafka_shell.nouns import Failure, Nothing, Plan, Resource, Results

from . import select

if TYPE_CHECKING:
    from kafka_shell.admin.connection import Cluster
    from kafka_shell.admin.move_wishes import Wish
    from kafka_shell.admin.reassignment import Layout
    from kafka_shell.context import Context
    from kafka_shell.nouns.partitions import TopicPartition
    from kafka_shell.nouns.reassignment import MoveState, Reassignment

    from .reassignment_files import MoveFile

THROTTLE = Option("--throttle", Kind.RATE, "How fast copies are made at most, by each broker.",
                  metavar="RATE")  # fmt: skip
WAIT = Option("--wait", Kind.FLAG, "Follow the move to its end, then put throttles back.")
_FILE = Option("--reassignment-json-file", Kind.FILE, "A move in Kafka's JSON format.",
               metavar="FILE")  # fmt: skip
_SOURCES = ("reassignment-json-file", "topics-to-move-json-file", "topics", "drain")


# -- move ------------------------------------------------------------------------------------------


def reassign_partitions(invocation: Invocation, context: Context) -> Plan:
    """Move what a file says, or what the planner finds; or cancel."""
    if invocation["cancel"]:
        return _cancel(invocation, context)
    _check(invocation)
    from kafka_shell.admin import reassignment

    now = reassignment.layout(context.cluster)
    file = _file(invocation)
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
        now=now,
    )
    return carried(invocation, context, plan, throttle, refused)


def replicate(invocation: Invocation, context: Context, topics: Sequence[str]) -> Plan:
    """`alter-topic --replication-factor N`: a move that adds replicas, or removes some."""
    from kafka_shell.admin import move_wishes, reassignment

    _check_throttle(invocation)
    now = reassignment.layout(context.cluster)
    try:
        wanted, refused = move_wishes.with_factor(now, topics, invocation["replication-factor"])
    except ShellError as error:
        error.span = invocation.span("replication-factor")
        raise
    throttle = invocation["throttle"]
    plan = reassignment.plan_move(context.cluster, wanted, throttle=throttle, now=now)
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
    _check_throttle(invocation)


def _check_throttle(invocation: Invocation) -> None:
    throttle = invocation["throttle"]
    if throttle is not None and throttle <= 0:
        raise UsageError(
            "--throttle wants a rate above zero, such as 50MB/s",
            span=invocation.span("throttle"),
            text=invocation.text,
        )


def _file(invocation: Invocation) -> MoveFile | None:
    if not invocation["reassignment-json-file"]:
        return None
    from .reassignment_files import read_moves

    return read_moves(invocation["reassignment-json-file"])


def _wished(invocation: Invocation, cluster: Cluster, now: Layout) -> Wish:
    """What the planner makes of --drain, or of --topics over --broker-list."""
    from kafka_shell.admin import move_wishes

    topics = _topics(invocation, cluster)
    if invocation["drain"] is not None:
        return move_wishes.drained(now, _drained(invocation, now), topics)
    brokers: list[str] = []
    if invocation["broker-list"]:
        brokers = select.brokers(invocation, cluster, "broker-list")
    return move_wishes.spread_over(now, topics or (), frozenset(map(int, brokers)))


def _topics(invocation: Invocation, cluster: Cluster) -> list[str] | None:
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
    from kafka_shell.admin.move_progress import wanted_of
    from kafka_shell.admin.reassignment import MoveReplicas
    from kafka_shell.language.tokens import quote

    from .reassignment_files import MovePaths, RecordedMove

    plan = replace(plan, refused=Results({}, {**refused, **plan.refused.failures}))
    follow: Any = plan.follow
    paths = MovePaths.new(context.paths.state / "reassignments", context.clock())
    also = wanted_of(follow.moves) if follow else {}
    steps = tuple(
        RecordedMove(step, paths, throttle, also)
        if isinstance(step, MoveReplicas) and not step.cancelled
        else step
        for step in plan.steps
    )
    file = f"--reassignment-json-file {quote(str(paths.move))}"
    if not any(isinstance(step, RecordedMove) for step in steps):
        file = ""  # only a throttle is changed
    cancel = f"reassign-partitions --cancel {file}" if file else ""
    follow = replace(follow, cancel=cancel) if follow else None
    look = f"verify-reassign-partitions --finish {file}".strip()
    return replace(plan, steps=steps, follow=follow, waits=bool(invocation["wait"]), look=look)


# -- cancel ----------------------------------------------------------------------------------------


def _cancel(invocation: Invocation, context: Context) -> Plan:
    from kafka_shell.admin import reassignment

    from .reassignment_files import read_moves

    given = [name for name in _SOURCES if invocation[name]]
    if given not in (["reassignment-json-file"], ["topics"]):
        raise UsageError(
            "--cancel wants the move's --reassignment-json-file, or --topics",
            hint="For everything that is under way: reassign-partitions --cancel --topics '*'",
            text=invocation.text,
        )
    if given == ["topics"]:
        topics = _topics(invocation, context.cluster)
        return reassignment.plan_cancel(
            context.cluster, list(reassignment.under_way(context.cluster, topics).values)
        )
    file = read_moves(invocation["reassignment-json-file"])
    return reassignment.plan_cancel(context.cluster, list(file.wanted), file.before, file.dirs)


# -- look ------------------------------------------------------------------------------------------


def list_reassignments(
    invocation: Invocation, context: Context
) -> tuple[Reassignment, ...] | Nothing:
    """What is being moved, and how much of it is copied."""
    from kafka_shell.admin import reassignment

    topics = select.topics(invocation, context.cluster) if invocation["topic"] else None
    found = reassignment.under_way(context.cluster, topics)
    if not found.values:
        return Nothing("no partition is being moved")
    return tuple(reassignment.with_sizes(context.cluster, list(found)))


def verify_reassign_partitions(
    invocation: Invocation, context: Context
) -> MoveState | Plan | Nothing:
    """How a move stands; with --finish its end is waited for, and its throttle lifted."""
    from kafka_shell.admin import reassignment

    file = _file(invocation)
    cluster = context.cluster
    wanted, dirs = (file.wanted, file.dirs) if file else (None, {})
    if invocation["topics"]:
        wanted = _under_way(cluster, _topics(invocation, cluster) or ())
    if invocation["finish"]:
        return _finish(invocation, context, file, wanted)
    state = reassignment.state(cluster, wanted, dirs)
    if not state.partitions and not state.throttles:
        return Nothing("no partition is being moved, and no throttle is left behind")
    return state


def _under_way(cluster: Cluster, topics: Sequence[str]) -> dict[TopicPartition, tuple[int, ...]]:
    from kafka_shell.admin import reassignment

    found = reassignment.under_way(cluster, topics)
    return {key: each.after for key, each in found.values.items()}


def _finish(
    invocation: Invocation,
    context: Context,
    file: MoveFile | None,
    wanted: dict[TopicPartition, tuple[int, ...]] | None,
) -> MoveState | Plan | Nothing:
    """Follow, then a plan of what is to be put back."""
    from kafka_shell.admin import reassignment, throttles
    from kafka_shell.nouns.reassignment import Move

    cluster, dirs = context.cluster, file.dirs if file else {}
    if not invocation["dry-run"]:
        moves = None
        if wanted is not None:
            moves = tuple(Move(each, (), after) for each, after in wanted.items())
        follow = reassignment.Follow(moves, _cancel_line(invocation), invocation.text, dirs)
        follow(cluster, context.report)
    settings = throttles.still_set(cluster, file.settings) if file and file.settings else ()
    if not (file and file.settings):
        settings = _left_behind(cluster, file)
    state = reassignment.state(cluster, wanted, dirs)
    steps: list[Any] = [throttles.LiftThrottle(settings)] if settings else []
    steps += reassignment.misplaced(cluster, state, dirs)
    if steps:
        return Plan(
            Effect.CHANGE,
            tuple(steps),
            follow=reassignment.Follow((), dirs=dirs),
            fresh=lambda later: reassignment.state(later, wanted, dirs),
            refused=Results({}, _failed(state) if not invocation["dry-run"] else {}),
        )
    if not state.partitions:
        return Nothing("nothing is being moved, and no throttle is left behind")
    return state


def _failed(state: MoveState) -> dict[Resource, Failure]:
    """What nothing moves to where it should be; its throttle is lifted all the same."""
    return {
        Resource("partition", f"{row.topic}:{row.partition}"): Failure(
            "REASSIGNMENT_FAILED", f"partition {row.topic}:{row.partition}: {row.note}"
        )
        for row in state.partitions
        if row.code < 0 and row.replicas != row.wanted
    }


def _left_behind(cluster: Cluster, file: MoveFile | None) -> Any:
    """Throttles that nothing needs: of the topics of a file from elsewhere, or all."""
    from kafka_shell.admin import throttles

    settings = throttles.to_lift(throttles.find(cluster))
    topics = {each.topic for each in file.wanted} if file else None
    return tuple(
        each
        for each in settings
        if topics is None or each.resource.kind != "topic" or each.resource.name in topics
    )


def _cancel_line(invocation: Invocation) -> str:
    from kafka_shell.language.tokens import quote

    if invocation["reassignment-json-file"]:
        file = quote(invocation["reassignment-json-file"])
        return f"reassign-partitions --cancel --reassignment-json-file {file}"
    topics = " ".join(f"--topics {quote(word)}" for word in invocation["topics"] or ("*",))
    return f"reassign-partitions --cancel {topics}"


COMMANDS: tuple[Command, ...] = (
    Command(
        name="reassign-partitions",
        summary="Move replicas to other brokers: as a file says, spread out, or off a broker.",
        family="partitions",
        run=reassign_partitions,
        effect=Effect.CHANGE,
        options=(
            _FILE,
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
        examples=(
            Example("reassign-partitions --topics 'orders.*' --dry-run",
                    "how these topics could be spread better"),
            Example("reassign-partitions --topics 'orders.*' --export /dev/null --dry-run",
                    "the same, with the plan in Kafka's JSON format in a file"),
            Example("reassign-partitions --cancel --topics '*'", "cancel whatever is under way"),
        ),
    ),
    Command(
        name="verify-reassign-partitions",
        summary="How a move of replicas stands, and throttles left behind; --finish ends both.",
        family="partitions",
        run=verify_reassign_partitions,
        options=(
            _FILE,
            Option("--topics", Kind.TOPIC, "Only moves of these topics: a,b  svc-*  /regex/",
                   many=True, aliases=("--topic",), metavar="TOPICS",
                   excludes=("--reassignment-json-file",)),
            Option("--finish", Kind.FLAG, "Follow the move to its end, then put throttles back."),
            *CHANGING,
        ),
        description=(
            "Each partition is completed (KIP-4's 1), in progress (0) or failed (-1): nothing moves"
            " it and it is not where the file says. LAG is how many offsets the copy that is"
            " furthest behind lacks. The exit status is 1 until all is completed"
            " and no throttle is left behind. --finish also picks up the move of a shell that was"
            " lost; without a file it takes all that is under way."
        ),
        search=("throttle", "progress", "reassignment"),
        apis=(2, 3, 32, 34, 35, 44, 46),
        examples=(
            Example("verify-reassign-partitions", "what is being moved, and what a move left"),
            Example("verify-reassign-partitions --finish", "wait for it, and clean up"),
        ),
    ),
    Command(
        name="list-reassignments",
        summary="Partitions that are being moved.",
        family="partitions",
        run=list_reassignments,
        arguments=(
            Argument("topic", Kind.TOPIC, "Only of these topics: a,b  svc-*  /regex/", many=True,
                     required=False, option="--topic"),
        ),
        search=("moves", "progress", "reassign"),
        apis=(2, 3, 35, 46),
        examples=(
            Example("list-reassignments", "what is being moved, and how far it is"),
        ),
    ),
)  # fmt: skip
