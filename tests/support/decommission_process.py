"""`decommission` in a process that tests can watch and interrupt."""

from __future__ import annotations

from contextlib import AbstractContextManager

from kafka_shell.admin.cluster import quorum
from kafka_shell.admin.cluster.registrations import registered
from kafka_shell.admin.configs import read as configs
from kafka_shell.admin.configs.model import ConfigResource, ResourceType
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan
from tests.support.program import Program
from tests.support.program_process import Running, running

STOP_IT = "has no replicas left. Stop the broker now"


def decommission(kafka: Program, line: str) -> AbstractContextManager[Running]:
    """A run of `decommission LINE --yes`."""
    return running(kafka, f"decommission {line} --yes")


def held(cluster: Cluster, broker: int) -> list[str]:
    """The partitions with a replica on the broker."""
    found = scan(cluster)
    return [
        f"{name}:{each.partition}"
        for name in found.names
        for each in found.topic(name).partitions
        if broker in each.replicas
    ]


def is_cordoned(cluster: Cluster, broker: int) -> bool:
    return broker in log_dirs.cordoned(log_dirs.describe(cluster, [broker]))


def is_registered(cluster: Cluster, broker: int) -> bool:
    return broker in (registered(cluster) or ())


def dynamic_configs(cluster: Cluster, broker: int) -> dict[str, str | None]:
    """The dynamic configs of a running broker."""
    resource = ConfigResource(ResourceType.BROKER, str(broker))
    found = configs.describe(cluster, [resource])
    assert found.ok, found.failures
    return {entry.name: entry.value for entry in found[resource] if entry.overridden}


def assert_removed(cluster: Cluster, broker: int) -> None:
    """It has no replicas, no vote and no registration."""
    assert held(cluster, broker) == []
    assert broker not in {voter.id for voter in quorum.describe(cluster).voters}
    assert not is_registered(cluster, broker)


def finish(kafka: Program, run: Running, status: int, line: str) -> None:
    """Continue a run that has failed, as it says: a request may have been sent to a controller that
    was killed or that hung."""
    if status:
        assert f"To continue: decommission {line} --yes" in run.err, run.err[-1500:]
        kafka.ok("decommission", *line.split(), "--yes")
