"""One broker described: its replicas, log directories, configs, and role in the quorum."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from kafka_shell.admin.cluster.model import Broker
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigEntry, ConfigResource, ConfigSource, ResourceType
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.model import LogDirUse
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import as_error, as_failure
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Failure

from . import quorum
from .model import BrokerDescription
from .read import Brokers

T = TypeVar("T")
_QUORUM_S = 3.0  # seconds to wait for the active controller


def describe(known: Brokers, ids: Iterable[int]) -> list[BrokerDescription]:
    """These brokers. One that does not respond has no log directories and configs."""
    with Cluster(known.config) as cluster:
        return [_describe(cluster, known, known.by_id[id]) for id in ids]


def _describe(cluster: Cluster, known: Brokers, broker: Broker) -> BrokerDescription:
    found = known.metadata
    not_read: dict[str, Failure] = {}

    def read(what: str, verb: Callable[[], T], otherwise: T) -> T:
        try:
            return verb()
        except ShellError as error:
            not_read[what] = as_failure(error)
            return otherwise

    dirs: tuple[LogDirUse, ...] = ()
    entries: tuple[ConfigEntry, ...] = ()
    if broker.id in known.silent:
        not_read["log directories and configs"] = known.silent[broker.id]
    elif broker.state != "up":
        failure = Failure("BROKER_NOT_AVAILABLE", f"broker {broker.id} is {broker.state}", 8)
        not_read["log directories and configs"] = failure
    else:
        dirs = read("log directories", lambda: _log_dirs(cluster, broker.id), ())
        entries = read("configs", lambda: _configs(cluster, broker.id), ())
    partitions = [p for name in found.names for p in found.topic(name).partitions
            if broker.id in p.replicas]  # fmt: skip
    return BrokerDescription(
        broker,
        read("role in the metadata quorum", lambda: _quorum_role(cluster, broker.id), ""),
        leaders=sum(each.leader == broker.id for each in partitions),
        preferred=sum(each.replicas[0] == broker.id for each in partitions),
        replicas=len(partitions),
        out_of_sync=sum(broker.id not in each.isr for each in partitions),
        log_dirs=dirs,
        configs=entries,
        not_read=tuple(not_read.items()),
    )


def _log_dirs(cluster: Cluster, broker: int) -> tuple[LogDirUse, ...]:
    found = log_dirs.describe(cluster, [broker])
    for failure in found.failures.values():
        raise as_error(failure)
    return tuple(each.use for each in found[broker])


def _configs(cluster: Cluster, broker: int) -> tuple[ConfigEntry, ...]:
    """The configs that differ from their defaults."""
    found = configs.describe(cluster, [ConfigResource(ResourceType.BROKER, str(broker))])
    for failure in found.failures.values():
        raise as_error(failure)
    return tuple(
        entry for entries in found for entry in entries if entry.source is not ConfigSource.DEFAULT
    )


def _quorum_role(cluster: Cluster, broker: int) -> str:
    if not cluster.is_kraft():
        return ""
    with cluster.within(_QUORUM_S):
        described = quorum.describe(cluster)
    return next((replica.role for replica in described.replicas if replica.id == broker), "")
