"""Reads how far a broker is decommissioned, and waits until it has stopped.

API keys 3 (Metadata), 18 (ApiVersions), 32 (DescribeConfigs), 35 (DescribeLogDirs), 46
(ListPartitionReassignments), 55 (DescribeQuorum) and 60 (DescribeCluster).
"""

from __future__ import annotations

from kafka_shell.admin.cluster import features, probes, quorum
from kafka_shell.admin.cluster import read as cluster_reads
from kafka_shell.admin.cluster.decommission import check
from kafka_shell.admin.cluster.decommission.check import CORDON, BrokerState, Decommission
from kafka_shell.admin.cluster.model import Quorum
from kafka_shell.admin.cluster.read import PartReader
from kafka_shell.admin.cluster.registrations import registered
from kafka_shell.admin.cluster.restart.judge import ClusterState
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigSource, ResourceType
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.model import LogDir
from kafka_shell.admin.partitions.targets import Drain, read_drain
from kafka_shell.base.errors import ShellError, Status
from kafka_shell.base.plans import Report
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.waits import PART_S, POLL_S, PROBE_S
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.endpoint import Address
from kafka_shell.wire.model import Broker

DEFAULT_FACTOR = "default.replication.factor"
_CORDON_SINCE = "4.3-IV0"  # the metadata.version
# What a probe of a host finds on which no broker runs any more. A broker that hangs is not stopped.
_STOPPED = frozenset(
    {"refused", "connect-timeout", "unreachable", "unknown-host", "connection-lost",
     "closed-early", "not-kafka"}
)  # fmt: skip


def describe(cluster: Cluster, broker: int) -> Decommission:
    """How far a broker is decommissioned, and whether the other brokers can hold its replicas.

    Raises ShellError if it is the only running broker, or a controller that is not a broker.
    """
    return read(cluster, broker)[0]


def read(cluster: Cluster, broker: int) -> tuple[Decommission, BrokerState, Drain]:
    """The same, with what it is based on."""
    known = cluster_reads.brokers(cluster, PART_S)
    described = known.probe.quorum
    with Cluster(known.config) as own:
        own.join(cluster)
        reader = PartReader(own)
        state, dirs = _state(reader, known, broker, described)
        drain = read_drain(own, broker)
        factor = reader(DEFAULT_FACTOR, lambda own: _default_factor(own, known, broker))
    others = ClusterState(
        brokers={id: each.rack for id, each in known.by_id.items() if each.state == "up"},
        partitions=(),
        minimum={},
        silent=frozenset(known.silent),
        behind=frozenset(known.probe.behind),
        quorum=described,
        unread={**{k: v for k, v in known.not_read.items() if k == "fenced brokers"},
                **known.probe.not_current, **reader.failures},
        topics=frozenset(known.metadata.names),
        stored={broker: _stored(dirs, broker)} if state.broker.state == "up" else {},
    )  # fmt: skip
    return check.decommission(others, state, drain, factor), state, drain


Dirs = Results[int, tuple[LogDir, ...]]


def _state(
    reader: PartReader, known: cluster_reads.Brokers, id: int, described: Quorum | None
) -> tuple[BrokerState, Dirs | None]:
    """The state of the broker in the cluster, and its log directories if it responds."""
    broker = known.by_id.get(id) or Broker(id, "", 0, state="unknown")
    registrations = reader("registered brokers", registered)
    dirs, entries, can_cordon = None, None, False
    if broker.state == "up":
        dirs = reader("log directories", lambda own: log_dirs.describe(own, [id]))
        entries = reader(f"configs of broker {id}", lambda own: _configs(own, id))
        if entries is not None and CORDON in entries:
            found = reader("features", features.describe)
            level = found.get(features.METADATA) if found is not None else None
            since = features.level_of(_CORDON_SINCE)
            can_cordon = level is not None and since is not None and level.level >= since
    voters = described.voters if described is not None else ()
    kraft = reader.cluster.is_kraft()
    state = BrokerState(
        broker=broker,
        address=Address(broker.host, broker.port) if broker.host else None,
        registered=None if registrations is None else id in registrations,
        kraft=kraft,
        cordoned=id in log_dirs.cordoned(dirs) if dirs is not None and id in dirs.values else None,
        can_cordon=can_cordon,
        configs=None if entries is None else _dynamic(entries),
        voter=None if kraft and described is None else any(voter.id == id for voter in voters),
        voters=len(voters),
        dynamic=any(voter.directory_id for voter in voters),
    )
    if broker.state == "unknown" and any(v.id == id and 0 <= v.behind_ms < 1_000 for v in voters):
        raise ShellError(f"{id} is a controller, not a broker", code="no-match")
    return state, dirs


def _configs(cluster: Cluster, id: int) -> dict[str, ConfigEntry]:
    resource = ConfigResource(ResourceType.BROKER, str(id))
    found = configs.describe(cluster, [resource])
    for failure in found.failures.values():
        raise ShellError(failure.message, hint=failure.hint, code=failure.name)
    return configs.by_name(found[resource])


def _dynamic(entries: dict[str, ConfigEntry]) -> tuple[str, ...]:
    """The names of the broker's own dynamic configs."""
    return tuple(
        name for name, each in entries.items() if each.source is ConfigSource.DYNAMIC_BROKER
    )


def _default_factor(cluster: Cluster, known: cluster_reads.Brokers, broker: int) -> int | None:
    """The default replication factor of new topics, as another broker has it."""
    others = [id for id, each in known.by_id.items() if each.state == "up" and id != broker]
    if not others:
        return None
    entry = _configs(cluster, others[0]).get(DEFAULT_FACTOR)
    return int(entry.value) if entry is not None and entry.value else None


def _stored(dirs: Dirs | None, broker: int) -> frozenset[str] | Failure:
    """The topics in the log directories of the broker, or why they could not be read."""
    if dirs is None:
        return Failure("NOT_READ", "log directories were not read")
    if broker in dirs.failures:
        return dirs.failures[broker]
    failed = next((dir.error for dir in dirs[broker] if dir.error is not None), None)
    return failed or frozenset(each.topic for dir in dirs[broker] for each in dir.replicas)


def dynamic_configs(cluster: Cluster) -> tuple[str, ...]:
    """The names of all configs that the first responding broker accepts as dynamic configs. Raises
    ShellError if none responds."""
    unread = ShellError("no broker is running", code="no-broker")
    for broker in cluster.brokers(refresh=True):
        try:
            with cluster.within(PART_S):
                entries = _configs(cluster, broker.id)
        except ShellError as error:
            unread = error
            continue
        fixed = _fixed(cluster)
        return tuple(n for n, each in entries.items() if not each.read_only and n not in fixed)
    raise unread


def _fixed(cluster: Cluster) -> frozenset[str]:
    """Configs that no broker can have of its own. Deleting one would be refused, and with it all
    others (KIP-966)."""
    with cluster.within(PART_S):
        elr = features.describe(cluster).get("eligible.leader.replicas.version")
    return frozenset({"min.insync.replicas"} if elr is not None and elr.level > 0 else ())


# -- waiting ---------------------------------------------------------------------------------------


def wait_stopped(
    cluster: Cluster,
    broker: int,
    address: Address | None = None,
    report: Report = lambda *_: None,
) -> None:
    """Wait until the broker has left the cluster and does not respond at its address (None: as the
    cluster lists it), until the deadline. Raises ShellError (code `deadline`) that says what was
    found last."""
    if address is None:
        listed = cluster_reads.brokers(cluster).by_id.get(broker)
        address = Address(listed.host, listed.port) if listed and listed.host else None
    task = found = ""
    while True:
        try:
            found = _running(cluster, broker, address)
        except ShellError as error:
            if error.status is Status.WRONG:
                raise
            if cluster.has_time(POLL_S) or not found:  # else keep the last finding
                found = error.message  # of one attempt: a broker may hang
        if not found:
            report(task, 1, 1)
            return
        report(task := f"Waiting: {found}", 0, None)
        cluster.pause(POLL_S, found)


def _running(cluster: Cluster, broker: int, address: Address | None) -> str:
    """Why the broker does not count as stopped; empty if it does."""
    with probes.fresh(cluster) as own, own.within(PART_S):
        if any(each.id == broker for each in own.brokers(refresh=True)):
            return f"broker {broker} is running"
        if own.is_kraft() and quorum.describe(own).leader in (broker, -1):
            return "there is no active controller yet"
        if address is None:
            return ""
        probed = probes.probe_brokers(own.config, {broker: address}, PROBE_S)
    if broker in probed.values:
        return f"broker {broker} is fenced, but responds at {address}"
    failure = probed.failures[broker]
    return "" if failure.name in _STOPPED else f"broker {broker}: {failure.message}"
