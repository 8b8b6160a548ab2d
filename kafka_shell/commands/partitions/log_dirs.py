"""Commands on log dirs: what is where on the brokers' disks, and moving it (KIP-113, 827)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from kafka_shell.answers import Nothing
from kafka_shell.commands import select
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option
from kafka_shell.plan.model import Effect, Plan, Resource
from kafka_shell.plan.results import Failure, Results

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import DiskUse, LogDir, ReplicaOnDisk, TopicPartition
    from kafka_shell.admin.wire.connection import Cluster
    from kafka_shell.context import Context

_BY = ("dir", "broker", "topic", "partition", "replica")
Rows = Results[Resource, tuple[object, ...]]


# -- describe --------------------------------------------------------------------------------------


def describe_log_dirs(invocation: Invocation, context: Context) -> Rows | Nothing:
    """The log dirs, or what of them a broker, a topic, a partition, a replica takes."""
    from kafka_shell.admin.partitions import log_dirs

    cluster = context.cluster
    brokers = _brokers(invocation, cluster)
    chosen = select.partitions(invocation, cluster) if invocation["topic"] else Results()
    partitions = _named(chosen.values) if invocation["topic"] else None
    if partitions == []:
        return Results({}, chosen.failures)
    down = _down(cluster) if brokers is None else {}
    found = log_dirs.describe(cluster, brokers, partitions)
    failures = chosen.failures | {_broker(id): why for id, why in found.failures.items()} | down
    dirs = [dir for each in found for dir in each if _wanted(dir, invocation["log-dir"])]
    if not dirs and not failures:
        return Nothing(f"no broker has a log dir {invocation['log-dir']}")
    by = invocation["by"] or ("replica" if partitions is not None else "dir")
    return Results({Resource("log-dirs", ""): tuple(_VIEWS[by](dirs))}, failures)


def _brokers(invocation: Invocation, cluster: Cluster) -> list[int] | None:
    if not invocation["broker-id"]:
        return None
    return [int(id) for id in select.brokers(invocation, cluster)]


def _broker(id: int) -> Resource:
    return Resource("broker", str(id))


def _named(resources: Iterable[Resource]) -> list[TopicPartition]:
    from kafka_shell.admin.partitions.model import TopicPartition

    parts = (resource.name.rpartition(":") for resource in resources)
    return [TopicPartition(topic, int(number)) for topic, _, number in parts]


def _wanted(dir: LogDir, path: str | None) -> bool:
    return path is None or dir.path == path


def _down(cluster: Cluster) -> dict[Resource, Failure]:
    """Brokers that hold replicas and are not up: nobody can tell of their disks."""
    from kafka_shell.admin.wire.metadata_scan import scan

    found = scan(cluster)
    away = found.replica_ids() - {broker.id for broker in found.brokers}
    return {
        _broker(id): Failure(
            "BROKER_NOT_AVAILABLE", f"broker {id} is down: its log dirs cannot be read", 8
        )
        for id in sorted(away)
    }


def _replicas(dirs: Sequence[LogDir]) -> list[ReplicaOnDisk]:
    rows = [row for dir in dirs for row in dir.rows]
    return sorted(rows, key=lambda row: (row.topic, row.partition, row.broker, row.future))


def _use(
    dirs: Sequence[LogDir],
    key: Callable[[ReplicaOnDisk], tuple[int | None, str | None, int | None]],
) -> list[DiskUse]:
    """What each thing takes; topics and partitions by size, the largest first."""
    from kafka_shell.admin.partitions.model import DiskUse

    sizes: dict[tuple[int | None, str | None, int | None], list[int]] = {}
    for row in _replicas(dirs):
        sizes.setdefault(key(row), []).append(row.size)
    uses = [DiskUse(*name, len(each), sum(each), max(each)) for name, each in sizes.items()]
    return sorted(uses, key=lambda use: (use.broker or 0, -use.size))


_VIEWS: dict[str, Callable[[Sequence[LogDir]], Sequence[object]]] = {
    "dir": lambda dirs: [dir.use for dir in dirs],
    "replica": _replicas,
    "broker": lambda dirs: _use(dirs, lambda row: (row.broker, None, None)),
    "topic": lambda dirs: _use(dirs, lambda row: (None, row.topic, None)),
    "partition": lambda dirs: _use(dirs, lambda row: (None, row.topic, row.partition)),
}


# -- alter -----------------------------------------------------------------------------------------


def alter_log_dirs(invocation: Invocation, context: Context) -> Plan:
    """Move replicas to another log dir of their broker."""
    from kafka_shell.admin.partitions import log_dir_moves, log_dirs
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.errors import ShellError

    cluster, path = context.cluster, invocation["log-dir"]
    chosen = select.partitions(invocation, cluster)
    brokers = _brokers(invocation, cluster)
    named = brokers is not None
    unread: dict[int, Failure] = {}
    if brokers is None:
        found = log_dirs.describe(cluster, None, [])
        unread = found.failures
        brokers = [id for id, dirs in found.values.items() if any(d.path == path for d in dirs)]
        if not brokers and unread:
            raise ShellError(
                f"no broker that answered has a log dir {path}; not answered: "
                + "; ".join(f"broker {id} ({why.message})" for id, why in unread.items()),
                hint="Look: describe-log-dirs",
                code=next(iter(unread.values())).name,
            )
        if not brokers:
            raise ShellError(
                f"no broker has a log dir {path}",
                hint="Look: describe-log-dirs",
                code="LOG_DIR_NOT_FOUND",
                span=invocation.span("log-dir"),
            )
    replicas = [
        (id, TopicPartition(partition.topic, partition.partition))
        for partition in chosen
        for id in brokers
        if named or id in partition.replicas
    ]
    plan = log_dir_moves.plan_move(cluster, replicas, path, wait=invocation["wait"])
    plan.refused.failures.update(chosen.failures)
    held = {id for partition in chosen for id in partition.replicas}
    plan.refused.failures.update({_broker(id): unread[id] for id in unread if id in held})
    return plan


_BROKER = Option("--broker-id", Kind.BROKER, "Only on these brokers: 1,2  (none: all)", many=True,
                 metavar="ID")  # fmt: skip

COMMANDS: tuple[Command, ...] = (
    Command(
        name="describe-log-dirs",
        summary="What is where on the brokers' disks.",
        family="partitions",
        run=describe_log_dirs,
        arguments=(
            Argument("topic", Kind.TOPIC_PARTITIONS,
                     "Only replicas of these: orders:0,3-5  orders  svc-*  (none: all)",
                     many=True, required=False, option="--topic"),
        ),
        options=(
            _BROKER,
            Option("--log-dir", Kind.LOG_DIR, "Only this log dir.", metavar="DIR"),
            Option("--by", Kind.CHOICE,
                   "A line for each: dir (what holds without topics), replica (with topics) ...",
                   choices=_BY, metavar="WHAT"),
        ),
        search=("disk", "size", "usage", "space", "storage", "future", "jbod"),
        description=(
            "USABLE and TOTAL are of the dir's volume. INCOMING counts future replicas: those that"
            " alter-log-dirs copies from another dir of the broker. A future replica's LAG is how"
            " many offsets it is behind. --by topic and --by partition put the largest first; sizes"
            " are of all replicas together, LARGEST is of one."
        ),
        apis=(35,),
        examples=(
            Example("describe-log-dirs", "every log dir: its state, size and room"),
            Example("describe-log-dirs --by topic", "what takes the room, the largest first"),
            Example("describe-log-dirs orders.placed --broker-id 1",
                    "the replicas of one topic on one broker"),
        ),
    ),
    Command(
        name="alter-log-dirs",
        summary="Move replicas to another log dir of their broker.",
        family="partitions",
        run=alter_log_dirs,
        effect=Effect.CHANGE,
        arguments=(
            Argument("topic", Kind.TOPIC_PARTITIONS, "Which: orders:0,3-5  orders  svc-*",
                     many=True, option="--topic"),
        ),
        options=(
            Option("--log-dir", Kind.LOG_DIR, "Where to, as describe-log-dirs shows it.",
                   required=True, metavar="DIR"),
            Option("--broker-id", Kind.BROKER,
                   "On these brokers (none: on all that have such a dir).", many=True,
                   metavar="ID"),
            Option("--wait", Kind.FLAG, "Follow the copy to its end."),
        ),
        search=("disk", "jbod", "move", "balance"),
        description=(
            "The broker copies the replica while it serves it, and then swaps the two. A replica"
            " that is on its way is called back by sending it to the dir it is still in. The copy"
            " is as fast as replica.alter.log.dirs.io.max.bytes.per.second of the broker allows."
        ),
        apis=(34, 35),
        examples=(
            Example("alter-log-dirs orders.placed:0 --log-dir /data/b --broker-id 1 --dry-run",
                    "what moving it to a dir would do: here there is no such dir", status=1),
        ),
    ),
)  # fmt: skip
