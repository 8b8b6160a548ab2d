"""The cluster: its brokers, controller, counts and features (API keys 3, 18, 55, 60)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from msgspec import Struct

from kafka_shell.admin.cluster import features
from kafka_shell.admin.cluster.cluster_probe import ClusterProbe, probe_cluster
from kafka_shell.admin.cluster.model import Broker, ClusterMetadata
from kafka_shell.admin.cluster.registrations import registered_brokers
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.endpoint import ConnectionConfig
from kafka_shell.admin.wire.metadata_scan import MetadataScan
from kafka_shell.common.structs import replace
from kafka_shell.common.units import some
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Failure, Results, as_failure

T = TypeVar("T")
_PROBE_S = 2.0  # timeout of a probe
_READ_S = 2.5  # for each of the other reads: 10 s for everything


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


def brokers(cluster: Cluster, quorum_timeout: float = _READ_S) -> Brokers:
    """Probe the brokers in the metadata, and look up brokers that are not in it. `quorum_timeout`
    is how long the active controller may take (seconds)."""
    found = probe_cluster(cluster, _PROBE_S, quorum_timeout)
    not_read = {f"broker {id}": failure for id, failure in found.probed.failures.items()}
    not_read |= {f"broker {id}": failure for id, failure in found.behind.items()}
    with Cluster(found.config) as own:
        own.join(cluster)
        registrations = _read(own, "fenced brokers", registered_brokers, not_read)
    return Brokers(_with_states(found.metadata, registrations or {}, found.probed), found, not_read)


def metadata(cluster: Cluster) -> ClusterMetadata:
    """Brokers with racks and versions, controller, cluster ID, counts and features (API keys 3, 18,
    55, 60).

    What cannot be read in time is left out, with the failure in `not_read`. Raises ShellError if no
    broker can be reached.
    """
    known = brokers(cluster)
    found, not_read = known.metadata, known.not_read
    with Cluster(known.config) as own:
        own.join(cluster)
        described = _read(own, "features", features.describe, not_read)
        up = [id for id, broker in known.by_id.items() if broker.state == "up"]
        dirs = _read(own, "log directories", lambda own: log_dirs.describe(own, up, []), not_read)
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
    summaries = found.summaries()
    return ClusterMetadata(
        cluster_id=found.cluster_id,
        controller=controller,
        brokers=tuple(
            replace(broker, controller=broker.id == controller, cordoned=cordoned.get(broker.id))
            for broker in known.by_id.values()
        ),
        topics=len(summaries),
        internal_topics=sum(summary.internal for summary in summaries),
        partitions=found.partitions,
        bootstrap=",".join(map(str, cluster.config.bootstrap)),
        features=described.features if described is not None else (),
        not_read=tuple(not_read.items()),
    )


def _read(
    cluster: Cluster, what: str, read: Callable[[Cluster], T], not_read: dict[str, Failure]
) -> T | None:
    try:
        with cluster.within(_READ_S):
            return read(cluster)
    except ShellError as error:
        not_read[what] = as_failure(error)
        return None


def _controller(probe: ClusterProbe) -> int | None:
    """The active controller. In KRaft mode it is the leader of the quorum: Metadata returns any
    broker."""
    if probe.quorum is not None:
        controller = probe.quorum.leader
    else:
        controller = -1 if probe.unread is not None else probe.metadata.controller_id
    return controller if controller >= 0 else None


def _with_states(
    found: MetadataScan, registrations: Mapping[int, Broker], probed: Results[int, str]
) -> dict[int, Broker]:
    """All brokers by ID: in the metadata, fenced, and those that only have replicas."""
    brokers = {broker.id: broker for broker in registrations.values() if broker.state}
    for broker in found.brokers:
        release = probed.values.get(broker.id, "")
        state = "up" if broker.id in probed.values else "not responding"
        brokers[broker.id] = replace(broker, version=release, state=state)
    for id in found.replica_ids() - brokers.keys():
        brokers[id] = Broker(id, "", 0, state="absent")
    return {id: brokers[id] for id in sorted(brokers)}
