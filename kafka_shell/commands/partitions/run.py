"""Commands that list reassignments, elect leaders, and show and move log directories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from struct import iter_unpack
from typing import Any

from kafka_shell.admin.partitions import elections, log_dir_moves, log_dirs
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.log_dir_moves import plan_move
from kafka_shell.admin.partitions.model import (
    DiskUse,
    ElectionStatus,
    LogDir,
    Reassignment,
    ReplicaOnDisk,
    TopicPartition,
)
from kafka_shell.admin.partitions.partition_files import read_partitions
from kafka_shell.admin.partitions.progress import with_sizes
from kafka_shell.admin.topics.partitions import find
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Change, Plan, Resource, merge_plans
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.commands import select
from kafka_shell.commands.options import timeout_ms
from kafka_shell.commands.partitions.spec import UNCLEAN
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.language.render import render
from kafka_shell.output.change_kinds import ON_BROKER, replica_line
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import BROKER_NOT_AVAILABLE
from kafka_shell.wire.failures import failure
from kafka_shell.wire.metadata_scan import MetadataScan, scan
from kafka_shell.wire.model import Partition


def list_reassignments(
    invocation: Invocation, context: Context
) -> tuple[Reassignment, ...] | NoRows:
    """The running reassignments, and how much of them is copied."""
    topics = select.topics(invocation, context.cluster) if invocation["topic"] else None
    moves = under_way(context.cluster, topics)
    if not moves.values:
        return NoRows("no partition is being reassigned")
    return tuple(with_sizes(context.cluster, list(moves)))


def elect_preferred(invocation: Invocation, context: Context) -> Plan:
    """Elect the preferred leaders of the selected partitions, of a file's, or of all."""
    chosen = _selected(invocation, context)
    if chosen is None:
        everywhere = elections.misplaced(context.cluster)
        return elections.plan_preferred(everywhere, named=False, timeout_ms=timeout_ms(invocation))
    return elections.plan_preferred(chosen, timeout_ms=timeout_ms(invocation))


def elect_leaders(invocation: Invocation, context: Context) -> Plan:
    """Elect preferred leaders, or any live replicas (unclean)."""
    if invocation["election-type"] != UNCLEAN:
        return elect_preferred(invocation, context)
    chosen = _selected(invocation, context)
    partitions = elections.leaderless(context.cluster) if chosen is None else chosen
    return elections.plan_unclean(partitions, timeout_ms=timeout_ms(invocation))


def verify_preferred(invocation: Invocation, context: Context) -> ElectionStatus | NoRows:
    """The status of preferred leader elections; missing partitions count as failed."""
    chosen = _selected(invocation, context)
    if chosen is None:
        chosen = select.partitions(invocation, context.cluster)
    status = elections.status(chosen)
    return status if status.partitions else NoRows("no partitions")


def _selected(invocation: Invocation, context: Context) -> Results[Resource, Partition] | None:
    """The partitions of the command or its file; None for all."""
    if invocation["path-to-json-file"]:
        partitions = find(context.cluster, read_partitions(invocation["path-to-json-file"]))
        return partitions.keyed(lambda partition: partition.resource)
    if invocation["topic"]:
        return select.partitions(invocation, context.cluster)
    return None


def plan_elections(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that elects leaders: the preferred ones, or any where there is none."""
    plans: list[Plan] = []
    for elect, unclean in ((elections.plan_preferred, False), (elections.plan_unclean, True)):
        chosen = [change.resource.name for change in changes if (change.before is None) is unclean]
        if chosen:
            partitions = find(context.cluster, map(TopicPartition.of, chosen))
            plans.append(elect(partitions.keyed(lambda each: each.resource)))
    return merge_plans(plans)


Rows = Results[Resource, tuple[object, ...]]
Replica = tuple[int, str, int]
"""Broker, topic and partition."""
Key = Callable[[int, str, int], tuple[int | None, str | None, int | None]]
"""Of a replica, what its row stands for: None is all brokers, topics or partitions."""


# -- describe --------------------------------------------------------------------------------------


def describe_log_dirs(invocation: Invocation, context: Context) -> Rows | NoRows:
    """The log directories, or the disk usage by broker, topic, partition or replica."""
    cluster = context.cluster
    brokers = _brokers(invocation, cluster)
    chosen = select.partitions(invocation, cluster) if invocation["topic"] else Results()
    partitions = select.topic_partitions(chosen) if invocation["topic"] else None
    if partitions == []:
        return Results({}, chosen.failures)
    metadata = scan(cluster)
    down = _down(metadata) if brokers is None else {}
    described = log_dirs.describe(cluster, brokers, partitions)
    failures = (
        chosen.failures
        | {_broker(id): failure for id, failure in described.failures.items()}
        | down
    )
    dirs = [dir for dirs_ in described for dir in dirs_ if _wanted(dir, invocation["log-dir"])]
    if not dirs and not failures:
        return NoRows(f"no broker has log directory {invocation['log-dir']}")
    by = invocation["by"] or ("replica" if partitions is not None else "dir")
    if by in _KEYS:
        unread = _unread(metadata, described, brokers, partitions)
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


def _down(metadata: MetadataScan) -> dict[Resource, Failure]:
    """A failure for each broker with replicas that is not running."""
    down = metadata.replica_ids() - {broker.id for broker in metadata.brokers}
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
    directories: Results[int, tuple[LogDir, ...]],
    brokers: Sequence[int] | None,
    partitions: Sequence[TopicPartition] | None,
) -> list[Replica]:
    """The replicas that no log directory lists: on brokers that were not read, and on those with an
    offline directory."""
    offline = {dir.broker for dirs in directories for dir in dirs if dir.error}
    wanted = metadata.replica_ids() if brokers is None else set(brokers)
    incomplete = (wanted - directories.values.keys()) | offline
    if not incomplete:
        return []
    rows = [row for dirs in directories for dir in dirs for row in dir.rows]
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
    cluster, path = context.cluster, invocation["log-dir"]
    chosen = select.partitions(invocation, cluster)
    brokers = _brokers(invocation, cluster)
    named = brokers is not None
    unread: dict[int, Failure] = {}
    if brokers is None:
        described = log_dirs.describe(cluster, None, [])
        unread = described.failures
        brokers = [id for id, dirs in described.values.items() if any(d.path == path for d in dirs)]
        if not brokers and unread:
            raise ShellError(
                f"no broker that responded has log directory {path}; cannot read "
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


def plan_changes(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that makes these changes."""
    by_dir: dict[tuple[int, str], list[Change]] = {}
    for change in changes:
        broker = int(change.resource.name.rpartition(ON_BROKER)[2])
        by_dir.setdefault((broker, str(change.after)), []).append(change)
    plans = []
    for (broker, dir), some in by_dir.items():
        names = [change.resource.name.partition(ON_BROKER)[0].rpartition(":") for change in some]
        places = [(broker, TopicPartition(topic, int(number))) for topic, _colon, number in names]
        plan = plan_move(context.cluster, places, dir)
        plans.append(plan.followed(resume=f"{replica_line(some[0].resource, some)} --wait"))
    return merge_plans(plans)
