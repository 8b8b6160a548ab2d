"""Plans that cordon a broker, and delete the dynamic configs of one that is gone."""

from __future__ import annotations

from collections.abc import Collection

from kafka_shell.admin.cluster.decommission.check import CORDON
from kafka_shell.admin.cluster.decommission.read import dynamic_configs
from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs.change import DeleteLeftoverConfigs
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.throttles import RATES
from kafka_shell.base.plans import Effect, Plan
from kafka_shell.base.structs import replace
from kafka_shell.wire.connection import Cluster, wait_until_visible

ALL = "*"


def plan_cordon(cluster: Cluster, broker: int) -> Plan:
    """Cordon all log directories of a broker: it gets no new replicas (KIP-1066, Kafka 4.3)."""
    return _alter(cluster, broker, ConfigAlteration(CORDON, ConfigOp.SET, ALL))


def plan_uncordon(cluster: Cluster, broker: int) -> Plan:
    """Remove the cordon of a broker. If it is not running, the active controller does it."""
    if any(each.id == broker for each in cluster.brokers(refresh=True)):
        return _alter(cluster, broker, ConfigAlteration(CORDON, ConfigOp.DELETE))
    return config_changes.plan_delete(cluster, [broker], [CORDON])


def _alter(cluster: Cluster, broker: int, alteration: ConfigAlteration) -> Plan:
    resource = ConfigResource(ResourceType.BROKER, str(broker))
    return config_changes.plan_alter(cluster, {resource: [alteration]})


def is_cordoned(cluster: Cluster, broker: int) -> bool:
    """Whether the broker reports its log directories as cordoned, a moment after the change."""

    def cordoned() -> bool:
        return broker in log_dirs.cordoned(log_dirs.describe(cluster, [broker], []))

    wait_until_visible(cordoned)
    return cordoned()


def plan_delete_configs(cluster: Cluster, broker: int, seen: Collection[str] | None = None) -> Plan:
    """Delete all dynamic configs of a broker that is not running.

    No broker returns them, so every config that another broker accepts as dynamic is deleted, and
    so are the rates of replication throttles, and those `seen` while the broker ran (None: unknown;
    if there were none, nothing is deleted). Raises ShellError if no other broker returns its
    configs.
    """
    if seen is not None and not seen:
        return Plan(Effect.CHANGE, ())
    plan = config_changes.plan_delete(cluster, [broker], [CORDON])
    if not plan.steps:
        return plan
    every = dict.fromkeys((*dynamic_configs(cluster), *RATES, *sorted(seen or ())))
    return replace(plan, steps=(DeleteLeftoverConfigs(broker, tuple(every), whole=True),))
