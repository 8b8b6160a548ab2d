"""Commands that describe log directories and move replicas between them (KIP-113, 827)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from struct import iter_unpack
from typing import TYPE_CHECKING

from kafka_shell.base.command_results import NoRows
from kafka_shell.base.plans import Effect, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.commands import select
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option
from kafka_shell.language.kinds import Kind
from kafka_shell.language.render import render
from kafka_shell.wire.error_codes import BROKER_NOT_AVAILABLE
from kafka_shell.wire.failures import failure

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import (
        DiskUse,
        LogDir,
        ReplicaOnDisk,
        TopicPartition,
    )
    from kafka_shell.context import Context
    from kafka_shell.wire.connection import Cluster
    from kafka_shell.wire.metadata_scan import MetadataScan

_BY = ("dir", "broker", "topic", "partition", "replica")
Rows = Results[Resource, tuple[object, ...]]
Replica = tuple[int, str, int]
"""Broker, topic and partition."""
Key = Callable[[int, str, int], tuple[int | None, str | None, int | None]]
"""Of a replica, what its row stands for: None is all brokers, topics or partitions."""


# -- describe --------------------------------------------------------------------------------------


def describe_log_dirs(invocation: Invocation, context: Context) -> Rows | NoRows:
    """The log directories, or the disk usage by broker, topic, partition or replica."""
    from kafka_shell.admin.partitions import log_dirs
    from kafka_shell.wire.metadata_scan import scan

    cluster = context.cluster
    brokers = _brokers(invocation, cluster)
    chosen = select.partitions(invocation, cluster) if invocation["topic"] else Results()
    partitions = select.topic_partitions(chosen) if invocation["topic"] else None
    if partitions == []:
        return Results({}, chosen.failures)
    metadata = scan(cluster)
    down = _down(metadata) if brokers is None else {}
    found = log_dirs.describe(cluster, brokers, partitions)
    failures = (
        chosen.failures | {_broker(id): failure for id, failure in found.failures.items()} | down
    )
    dirs = [dir for each in found for dir in each if _wanted(dir, invocation["log-dir"])]
    if not dirs and not failures:
        return NoRows(f"no broker has log directory {invocation['log-dir']}")
    by = invocation["by"] or ("replica" if partitions is not None else "dir")
    if by in _KEYS:
        unread = _unread(metadata, found, brokers, partitions)
        rows: Sequence[object] = _use(dirs, unread, _KEYS[by])
    else:
        rows = _replicas(dirs) if by == "replica" else [dir.use for dir in dirs]
    failures |= {_log_dir(dir): dir.error for dir in dirs if dir.error}
    return Results({Resource("log-dirs", ""): tuple(rows)}, failures)


def _brokers(invocation: Invocation, cluster: Cluster) -> list[int] | None:
    if not invocation["broker-id"]:
        return None
    return [int(id) for id in select.brokers(invocation, cluster)]


def _broker(id: int) -> Resource:
    return Resource("broker", str(id))


def _log_dir(dir: LogDir) -> Resource:
    return Resource("log-dirs", f"{dir.path} of broker {dir.broker}")


def _wanted(dir: LogDir, path: str | None) -> bool:
    return path is None or dir.path == path


def _down(found: MetadataScan) -> dict[Resource, Failure]:
    """A failure for each broker with replicas that is not running."""
    down = found.replica_ids() - {broker.id for broker in found.brokers}
    return {
        _broker(id): failure(
            BROKER_NOT_AVAILABLE, text=f"broker {id} is down, so its log directories cannot be read"
        )
        for id in sorted(down)
    }


def _replicas(dirs: Sequence[LogDir]) -> list[ReplicaOnDisk]:
    rows = [row for dir in dirs for row in dir.rows]
    return sorted(rows, key=lambda row: (row.topic, row.partition, row.broker, row.future))


def _unread(
    metadata: MetadataScan,
    found: Results[int, tuple[LogDir, ...]],
    brokers: Sequence[int] | None,
    partitions: Sequence[TopicPartition] | None,
) -> list[Replica]:
    """The replicas that no log directory lists: on brokers that were not read, and on those with an
    offline directory."""
    offline = {dir.broker for dirs in found for dir in dirs if dir.error}
    wanted = metadata.replica_ids() if brokers is None else set(brokers)
    incomplete = (wanted - found.values.keys()) | offline
    if not incomplete:
        return []
    rows = [row for dirs in found for dir in dirs for row in dir.rows]
    listed = {(row.broker, row.topic, row.partition) for row in rows}
    chosen = None if partitions is None else {(each.topic, each.partition) for each in partitions}
    return [
        (broker, topic, partition)
        for topic, partition, _, replicas, _ in metadata.placements()
        if chosen is None or (topic, partition) in chosen
        for (broker,) in iter_unpack(">i", replicas)
        if broker in incomplete and (broker, topic, partition) not in listed
    ]


def _use(dirs: Sequence[LogDir], unread: Sequence[Replica], key: Key) -> list[DiskUse]:
    """The disk usage by key; topics and partitions sorted by size, largest first."""
    from kafka_shell.admin.partitions.model import DiskUse

    missing = Counter(key(*replica) for replica in unread)
    sizes: dict[tuple[int | None, str | None, int | None], list[int]] = {k: [] for k in missing}
    for row in _replicas(dirs):
        sizes.setdefault(key(row.broker, row.topic, row.partition), []).append(row.size)
    uses = [
        DiskUse(*name, len(each), sum(each), max(each, default=0), missing[name])
        for name, each in sizes.items()
    ]
    return sorted(
        uses, key=lambda use: (use.broker or 0, -use.size, use.topic or "", use.partition or 0)
    )


_KEYS: dict[str, Key] = {
    "broker": lambda broker, topic, partition: (broker, None, None),
    "topic": lambda broker, topic, partition: (None, topic, None),
    "partition": lambda broker, topic, partition: (None, topic, partition),
}


# -- alter -----------------------------------------------------------------------------------------


def alter_log_dirs(invocation: Invocation, context: Context) -> Plan:
    """Move replicas to another log directory of their broker."""
    from kafka_shell.admin.partitions import log_dir_moves, log_dirs
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.base.errors import ShellError

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
                f"no broker that responded has log directory {path}; no response from: "
                + "; ".join(f"broker {id} ({failure.message})" for id, failure in unread.items()),
                hint="Run describe-log-dirs to see the log directories.",
                code=next(iter(unread.values())).name,
            )
        if not brokers:
            raise ShellError(
                f"no broker has log directory {path}",
                hint="Run describe-log-dirs to see the log directories.",
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
    replica_brokers = {id for partition in chosen for id in partition.replicas}
    plan.refused.failures.update(
        {_broker(id): unread[id] for id in unread if id in replica_brokers}
    )
    waiting = replace(invocation, values={**invocation.values, "wait": True})
    return plan.followed(resume=render(waiting))


_LOG_DIR = Kind("log-dir", kinds.in_view("log_dirs"), "DIR")
_BROKER = Option("--broker-id", kinds.BROKER, "Only these brokers: 1,2 (default: all).", many=True)

COMMANDS: tuple[Command, ...] = (
    Command(
        name="describe-log-dirs",
        summary="Show log directories, or disk usage by broker, topic or partition.",
        family="partitions",
        run=describe_log_dirs,
        arguments=(
            Argument("topic", kinds.TOPIC_PARTITIONS,
                     "Only these partitions: orders:0,3-5  orders  svc-*  (default: all)",
                     many=True, required=False, option="--topic"),
        ),
        options=(
            _BROKER,
            Option("--log-dir", _LOG_DIR, "Only this log directory."),
            Option("--by", kinds.CHOICE,
                   "One line per dir (default), replica (default with topics), broker ...",
                   choices=_BY, metavar="WHAT"),
        ),
        search=("disk", "size", "usage", "space", "storage", "future", "jbod"),
        description=(
            "USABLE and TOTAL refer to the volume of the log directory. INCOMING counts future"
            " replicas, which alter-log-dirs copies from another log directory of the broker; LAG"
            " is their offset lag. --by topic and --by partition sort by size, largest first. SIZE"
            " is the sum of all replicas, LARGEST the largest replica. A + marks figures that lack"
            " replicas: their broker was not read, or their log directory is offline."
        ),
        apis=(35,),
        examples=(
            Example("describe-log-dirs",
                    "show all log directories with state, size and free space"),
            Example("describe-log-dirs --by topic", "show disk usage by topic, largest first"),
            Example("describe-log-dirs orders.placed --broker-id 1",
                    "show the replicas of a topic on a broker"),
        ),
    ),
    Command(
        name="alter-log-dirs",
        summary="Move replicas to another log directory of their broker.",
        family="partitions",
        run=alter_log_dirs,
        effect=Effect.CHANGE,
        arguments=(
            Argument("topic", kinds.TOPIC_PARTITIONS, "Partitions: orders:0,3-5  orders  svc-*",
                     many=True, option="--topic"),
        ),
        options=(
            Option("--log-dir", _LOG_DIR, "The target, as shown by describe-log-dirs.",
                   required=True),
            Option("--broker-id", kinds.BROKER,
                   "Only these brokers (default: all with this log directory).", many=True),
            Option("--wait", kinds.FLAG, "Wait until the replicas are copied."),
        ),
        search=("disk", "jbod", "move", "balance"),
        description=(
            "The broker copies the replica while serving it, then switches to the copy. To cancel,"
            " move the replica to the log directory it is still in; to follow the copy, run the"
            " same command with --wait. The rate is limited by"
            " replica.alter.log.dirs.io.max.bytes.per.second of the broker."
        ),
        apis=(34, 35),
        examples=(
            Example("alter-log-dirs orders.placed:0 --log-dir /data/b --broker-id 1 --dry-run",
                    "preview moving a replica (the demo has no such directory)", status=1),
        ),
    ),
)  # fmt: skip
