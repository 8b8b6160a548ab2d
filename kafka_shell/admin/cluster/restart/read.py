"""Reads the state that decides whether brokers can be stopped, and waits for their return.

API keys 3 (Metadata), 32 (DescribeConfigs), 35 (DescribeLogDirs), 46 (ListPartitionReassignments)
and 55 (DescribeQuorum).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from msgspec import Struct

from kafka_shell.admin.cluster import probes
from kafka_shell.admin.cluster import read as cluster_reads
from kafka_shell.admin.cluster.probes import freshness
from kafka_shell.admin.cluster.read import PartReader
from kafka_shell.admin.cluster.restart import judge
from kafka_shell.admin.cluster.restart.judge import (
    BackInSync,
    ClusterState,
    RestartChecks,
    RestartOrder,
    restart_order,
)
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.model import LogDir
from kafka_shell.admin.topics import min_isr
from kafka_shell.admin.topics.read import scan_reassigned
from kafka_shell.admin.topics.visibility import hidden
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.plans import Report
from kafka_shell.base.results import Failure
from kafka_shell.base.units import counted, some
from kafka_shell.base.waits import CONTROLLER_S, PART_S, POLL_S, PROBE_S
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import AUTHORIZATION
from kafka_shell.wire.metadata_scan import MetadataScan
from kafka_shell.wire.model import Partition
from kafka_shell.wire.requests import Node

_MOST_NAMES = 3


def check_each(cluster: Cluster, brokers: Sequence[int] | None = None) -> RestartChecks:
    """Whether each of these brokers, or of all that respond (None), can be stopped alone."""
    state = read_state(cluster, brokers)
    return judge.check_each(state, sorted(state.brokers) if brokers is None else brokers)


def check_together(cluster: Cluster, brokers: Sequence[int]) -> RestartChecks:
    """Whether these brokers can be stopped at the same time."""
    return judge.check_together(read_state(cluster, brokers), brokers)


def plan_order(cluster: Cluster) -> RestartOrder:
    """The order for a rolling restart of all brokers that respond."""
    return restart_order(read_state(cluster, None))


def read_state(cluster: Cluster, stopped: Sequence[int] | None) -> ClusterState:
    """What decides whether these brokers, or any (None), can be stopped.

    Raises ShellError if no broker can be reached, or if one of `stopped` is not running.
    """
    known = cluster_reads.brokers(cluster, PART_S)
    running = {id: broker.rack for id, broker in known.by_id.items() if broker.state == "up"}
    _refuse_absent(stopped or (), known)
    partitions = _partitions(known.metadata, None if stopped is None else frozenset(stopped))
    names = sorted({partition.topic for partition in partitions})
    targets = sorted(running if stopped is None else running.keys() & set(stopped))
    with Cluster(known.config) as own:
        own.deadline = cluster.deadline
        read = PartReader(own)
        moving = read("partition reassignments", under_way)
        minimum = read("min.insync.replicas", lambda own: min_isr.read(own, names))
        dirs = read("log directories", lambda own: log_dirs.describe(own, targets))
        capped = min_isr.is_capped(own)
    return ClusterState(
        brokers=running,
        partitions=partitions,
        minimum={} if minimum is None else minimum.values,
        capped=capped,
        silent=frozenset(known.silent),
        behind=frozenset(known.probe.behind),
        down=known.down,
        moving=frozenset(() if moving is None else moving.values),
        quorum=known.probe.quorum,
        unread={**known.probe.not_current, **read.failures},
        topics=frozenset(known.metadata.names),
        stored={}
        if dirs is None
        else {id: _stored(directories) for id, directories in dirs.values.items()} | dirs.failures,
    )


def _refuse_absent(stopped: Collection[int], known: cluster_reads.Brokers) -> None:
    """Raise ShellError for a broker that does not exist or does not run."""
    for id in stopped:
        broker = known.by_id.get(id)
        if broker is None:
            ids = ", ".join(map(str, known.by_id))
            raise ShellError(
                f"broker {id} does not exist", hint=f"Use one of: {ids}.",
                code="no-match",
            )  # fmt: skip
        if broker.state in ("fenced", "absent"):
            raise ShellError(f"broker {id} is not running ({broker.state})", code="unknown-broker")


def _partitions(metadata: MetadataScan, stopped: frozenset[int] | None) -> tuple[Partition, ...]:
    """The partitions with a replica on one of these brokers, or all (None), sorted."""
    return tuple(
        partition
        for name in sorted(metadata.names)
        for partition in metadata.topic(name).partitions
        if stopped is None or not stopped.isdisjoint(partition.replicas)
    )


def _stored(dirs: Sequence[LogDir]) -> frozenset[str] | Failure:
    """The topics in the log directories of a broker, or the failure of one of them."""
    failed = next((dir.error for dir in dirs if dir.error is not None), None)
    return failed or frozenset(replica.topic for dir in dirs for replica in dir.replicas)


# -- waiting ---------------------------------------------------------------------------------------


def wait_in_sync(cluster: Cluster, brokers: Sequence[int], report: Report) -> BackInSync:
    """Wait until these brokers respond and all their replicas are in sync, except those that
    a reassignment adds, until the deadline.

    Raises ShellError (code `deadline`) that names what is missing. Brokers may be unreachable, and
    metadata unreadable, for as long as the wait lasts: they are being restarted.
    """
    started = time.monotonic()
    now, unread = _Progress(), dict[str, Failure]()
    while True:
        try:
            now = _progress(cluster, brokers)
            if not now.missing:
                unread = hidden(cluster, now.topics)
        except ShellError as error:
            if error.status is Status.WRONG or error.code == "no-match":
                raise  # else of one attempt: a broker may hang
            if cluster.has_time(POLL_S) or not now.missing:  # else keep the last finding
                now = _Progress(error.message)
        report("replicas in sync", now.in_sync, now.replicas)
        if not now.missing:
            assert now.replicas is not None
            took = time.monotonic() - started
            return BackInSync(tuple(brokers), now.replicas, took, unread)
        cluster.pause(POLL_S, now.missing)


class _Progress(Struct, frozen=True):
    """What is missing, how many replicas of the brokers are in sync, of how many (None: not known),
    and all topics that are visible."""

    missing: str = ""
    in_sync: int = 0
    replicas: int | None = None
    topics: Collection[str] = ()


def _progress(cluster: Cluster, brokers: Sequence[int]) -> _Progress:
    with probes.fresh(cluster) as own, own.within(PART_S):
        at = probes.addresses(own.brokers(refresh=True))
        down = [broker for broker in brokers if broker not in at]
        if down:
            return _Progress(f"{_named(down)} not registered, or fenced")
        probed = probes.probe_brokers(own.config, {id: at[id] for id in brokers}, PROBE_S)
        if probed.failures:
            return _Progress(next(iter(probed.failures.values())).message)
        fresh = freshness(own, brokers, CONTROLLER_S)
        for stale in (*fresh.behind.values(), *filter(None, [fresh.unread])):
            if stale.code not in AUTHORIZATION:
                return _Progress(stale.message)
        metadata = scan_reassigned(own, to=Node(brokers[0]))
    mine = frozenset(brokers)
    replicas = [
        (partition, broker)
        for partition in _partitions(metadata, mine)
        for broker in mine.intersection(partition.replicas).difference(partition.adding)
    ]
    behind = [f"{each.topic}:{each.partition}" for each, id in replicas if id not in each.isr]
    total = len(replicas)
    if behind:
        names = some(behind, _MOST_NAMES)
        missing = f"{counted(len(behind), 'replica')} not in sync: {names}"
        return _Progress(missing, total - len(behind), total)
    return _Progress("", total, total, metadata.names)


def _named(brokers: Sequence[int]) -> str:
    ids = ", ".join(map(str, brokers))
    return f"broker {ids} is" if len(brokers) == 1 else f"brokers {ids} are"
