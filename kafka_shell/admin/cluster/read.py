"""The cluster: its brokers, controller, counts and features (API keys 3, 18, 55, 60)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct, field

from kafka_shell.admin.cluster import features
from kafka_shell.admin.cluster.model import BrokerDescription, ClusterMetadata
from kafka_shell.admin.cluster.probes import ClusterProbe, probe_cluster
from kafka_shell.admin.cluster.registrations import registered_brokers
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigSource, ResourceType
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.model import LogDirUse
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, Results, as_failure
from kafka_shell.base.structs import replace
from kafka_shell.base.units import some
from kafka_shell.base.waits import CONTROLLER_S, PART_S, PROBE_S
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.endpoint import ConnectionConfig
from kafka_shell.wire.error_codes import BROKER_NOT_AVAILABLE
from kafka_shell.wire.failures import failure
from kafka_shell.wire.metadata_scan import MetadataScan
from kafka_shell.wire.model import Broker

# Brokers described: replicas, log directories, configs, and role in the quorum.

# Reads a state part by part: what cannot be read is a failure, and does not prevent the rest.

T = TypeVar("T")


class Brokers(Struct, frozen=True):
    """All brokers by ID: those that respond, those that do not, fenced and absent ones. `probe` has
    the metadata and how it was read."""

    by_id: dict[int, Broker]
    probe: ClusterProbe
    not_read: dict[str, Failure]

    @property
    def metadata(self) -> MetadataScan:
        """The metadata of the cluster."""
        return self.probe.metadata

    @property
    def config(self) -> ConnectionConfig:
        """Connects through the brokers that respond and whose metadata is current."""
        return self.probe.config

    @property
    def silent(self) -> dict[int, Failure]:
        """Why brokers do not respond."""
        return self.probe.probed.failures

    @property
    def down(self) -> frozenset[int]:
        """The brokers that are down in the metadata of the cluster."""
        return frozenset(
            id for id, broker in self.by_id.items() if broker.state in ("fenced", "absent")
        )


def brokers(cluster: Cluster, quorum_timeout: float = CONTROLLER_S) -> Brokers:
    """Probe the brokers in the metadata, and look up brokers that are not in it. `quorum_timeout`
    is how long the active controller may take (seconds)."""
    probe = probe_cluster(cluster, PROBE_S, quorum_timeout)
    not_read = {f"broker {id}": failure for id, failure in probe.probed.failures.items()}
    not_read |= {f"broker {id}": failure for id, failure in probe.behind.items()}
    with Cluster(probe.config) as own:
        own.join(cluster)
        registrations = PartReader(own, not_read, CONTROLLER_S)(
            "fenced brokers", registered_brokers
        )
    return Brokers(_with_states(probe.metadata, registrations or {}, probe.probed), probe, not_read)


def metadata(cluster: Cluster) -> ClusterMetadata:
    """Brokers with racks and versions, controller, cluster ID, counts and features (API keys 3, 18,
    55, 60).

    Parts that cannot be read in time are missing, with the failure in `not_read`. Raises ShellError
    if no broker can be reached.
    """
    known = brokers(cluster)
    topics_metadata, not_read = known.metadata, known.not_read
    with Cluster(known.config) as own:
        own.join(cluster)
        read = PartReader(own, not_read, CONTROLLER_S)
        described = read("features", features.describe)
        up = [id for id, broker in known.by_id.items() if broker.state == "up"]
        dirs = read("log directories", lambda own: log_dirs.describe(own, up, []))
    if known.probe.unread is not None:
        not_read["metadata" if known.probe.quorum else "controller"] = known.probe.unread
    controller = _controller(known.probe)
    cordoned: dict[int, bool] = {}
    if dirs is not None:
        cordoned = {id: id in log_dirs.cordoned(dirs) for id in dirs.values}
    if dirs is not None and dirs.failures:
        ids = some([str(id) for id in dirs.failures], 3)
        of = "broker" if len(dirs.failures) == 1 else "brokers"
        not_read[f"log directories of {of} {ids}"] = next(iter(dirs.failures.values()))
    summaries = topics_metadata.summaries()
    return ClusterMetadata(
        cluster_id=topics_metadata.cluster_id,
        controller=controller,
        brokers=tuple(
            replace(broker, controller=broker.id == controller, cordoned=cordoned.get(broker.id))
            for broker in known.by_id.values()
        ),
        topics=len(summaries),
        internal_topics=sum(summary.internal for summary in summaries),
        partitions=topics_metadata.partitions,
        bootstrap=",".join(map(str, cluster.config.bootstrap)),
        features=described.features if described is not None else (),
        not_read=tuple(not_read.items()),
    )


def _controller(probe: ClusterProbe) -> int | None:
    """The active controller. In KRaft mode it is the leader of the quorum: Metadata returns any
    broker."""
    if probe.quorum is not None:
        controller = probe.quorum.leader
    else:
        controller = -1 if probe.unread is not None else probe.metadata.controller_id
    return controller if controller >= 0 else None


def _with_states(
    topics_metadata: MetadataScan, registrations: Mapping[int, Broker], probed: Results[int, str]
) -> dict[int, Broker]:
    """All brokers by ID: in the metadata, fenced, and those that only have replicas."""
    brokers = {broker.id: broker for broker in registrations.values() if broker.state}
    for broker in topics_metadata.brokers:
        release = probed.values.get(broker.id, "")
        state = "up" if broker.id in probed.values else "not responding"
        brokers[broker.id] = replace(broker, version=release, state=state)
    for id in topics_metadata.replica_ids() - brokers.keys():
        brokers[id] = Broker(id, "", 0, state="absent")
    return {id: brokers[id] for id in sorted(brokers)}


def describe(known: Brokers, ids: Iterable[int]) -> list[BrokerDescription]:
    """These brokers. One that does not respond has no log directories and configs."""
    chosen = [known.by_id[id] for id in ids]
    unread = {broker.id: _unread(known, broker) for broker in chosen}
    readable = [id for id, reason in unread.items() if reason is None]
    with Cluster(known.config) as cluster:
        dirs = _each(readable, lambda: _log_dirs(cluster, readable))
        entries = _each(readable, lambda: _configs(cluster, readable))
    roles = _quorum_roles(known.probe)
    # The quorum can be read although no broker is current.
    unread_role = "metadata" if known.probe.quorum else "role in the metadata quorum"
    counts = _counts(known.metadata)
    return [
        BrokerDescription(
            broker,
            roles.get(broker.id, ""),
            leaders=counts.leaders[broker.id],
            preferred=counts.preferred[broker.id],
            replicas=counts.replicas[broker.id],
            out_of_sync=counts.out_of_sync[broker.id],
            log_dirs=dirs.values.get(broker.id, ()),
            configs=entries.values.get(broker.id, ()),
            not_read=_not_read(
                ("log directories and configs", unread[broker.id]),
                ("log directories", dirs.failures.get(broker.id)),
                ("configs", entries.failures.get(broker.id)),
                (unread_role, known.probe.unread),
                ("metadata", known.probe.behind.get(broker.id)),
            ),
        )
        for broker in chosen
    ]


def _unread(known: Brokers, broker: Broker) -> Failure | None:
    """Why a broker cannot be asked about itself; None if it can."""
    if broker.id in known.silent:
        return known.silent[broker.id]
    if broker.state != "up":
        return failure(BROKER_NOT_AVAILABLE, text=f"broker {broker.id} is {broker.state}")
    return None


def _not_read(*reasons: tuple[str, Failure | None]) -> tuple[tuple[str, Failure], ...]:
    return tuple((what, reason) for what, reason in reasons if reason is not None)


def _each(ids: Sequence[int], read: Callable[[], Results[int, T]]) -> Results[int, T]:
    """What was read of each broker. An error is the failure of all of them."""
    try:
        return read()
    except ShellError as error:
        return Results({}, dict.fromkeys(ids, as_failure(error)))


class _Counts(Struct):
    """Of each broker: partitions that it leads, or should lead, and its replicas."""

    leaders: Counter[int] = field(default_factory=Counter)
    preferred: Counter[int] = field(default_factory=Counter)
    replicas: Counter[int] = field(default_factory=Counter)
    out_of_sync: Counter[int] = field(default_factory=Counter)


def _counts(scan: MetadataScan) -> _Counts:
    counts = _Counts()
    for partition in (row for name in scan.names for row in scan.topic(name).partitions):
        if partition.leader is not None:
            counts.leaders[partition.leader] += 1
        counts.preferred.update(partition.replicas[:1])
        counts.replicas.update(partition.replicas)
        counts.out_of_sync.update(partition.out_of_sync)
    return counts


def _log_dirs(cluster: Cluster, brokers: Sequence[int]) -> Results[int, tuple[LogDirUse, ...]]:
    directories = log_dirs.describe(cluster, brokers)
    return directories.map(lambda dirs: tuple(log_dir.use for log_dir in dirs))


def _configs(cluster: Cluster, brokers: Sequence[int]) -> Results[int, tuple[ConfigEntry, ...]]:
    """The configs that differ from their defaults."""
    resources = [ConfigResource(ResourceType.BROKER, str(broker)) for broker in brokers]
    of_brokers = configs.describe(cluster, resources).keyed(lambda resource: int(resource.name))
    return of_brokers.map(
        lambda entries: tuple(each for each in entries if each.source is not ConfigSource.DEFAULT)
    )


def _quorum_roles(probe: ClusterProbe) -> dict[int, str]:
    replicas = () if probe.quorum is None else probe.quorum.replicas
    return {replica.id: replica.role for replica in replicas}


class PartReader:
    """Reads parts of the state, and keeps the failures of those that could not be read."""

    def __init__(
        self,
        cluster: Cluster,
        failures: dict[str, Failure] | None = None,
        seconds: float | None = PART_S,
    ) -> None:
        self.cluster, self._seconds = cluster, seconds
        self.failures = {} if failures is None else failures

    def __call__(self, what: str, read: Callable[[Cluster], T]) -> T | None:
        """The part, or None if it could not be read. `what` names it in `failures`."""
        try:
            with self.cluster.within(self._seconds):
                return read(self.cluster)
        except ShellError as error:
            self.failures[what] = as_failure(error)
            return None
