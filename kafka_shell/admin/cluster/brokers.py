"""Brokers described: replicas, log directories, configs, and role in the quorum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from msgspec import Struct, field

from kafka_shell.admin.cluster.cluster_probe import ClusterProbe
from kafka_shell.admin.cluster.model import Broker, BrokerDescription
from kafka_shell.admin.cluster.read import Brokers
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigSource, ResourceType
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.model import LogDirUse
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import MetadataScan
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Failure, Results, as_failure

T = TypeVar("T")


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
        return Failure("BROKER_NOT_AVAILABLE", f"broker {broker.id} is {broker.state}", 8)
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


def _counts(found: MetadataScan) -> _Counts:
    counts = _Counts()
    for partition in (each for name in found.names for each in found.topic(name).partitions):
        if partition.leader is not None:
            counts.leaders[partition.leader] += 1
        counts.preferred.update(partition.replicas[:1])
        counts.replicas.update(partition.replicas)
        counts.out_of_sync.update(partition.out_of_sync)
    return counts


def _log_dirs(cluster: Cluster, brokers: Sequence[int]) -> Results[int, tuple[LogDirUse, ...]]:
    found = log_dirs.describe(cluster, brokers)
    return found.map(lambda dirs: tuple(each.use for each in dirs))


def _configs(cluster: Cluster, brokers: Sequence[int]) -> Results[int, tuple[ConfigEntry, ...]]:
    """The configs that differ from their defaults."""
    resources = [ConfigResource(ResourceType.BROKER, str(broker)) for broker in brokers]
    found = configs.describe(cluster, resources).keyed(lambda resource: int(resource.name))
    return found.map(
        lambda entries: tuple(each for each in entries if each.source is not ConfigSource.DEFAULT)
    )


def _quorum_roles(probe: ClusterProbe) -> dict[int, str]:
    replicas = () if probe.quorum is None else probe.quorum.replicas
    return {replica.id: replica.role for replica in replicas}
