"""`rebalance`: move replicas and leaders until the brokers have their shares."""

from __future__ import annotations

from kafka_shell.admin.partitions.current_assignment import CurrentAssignment
from kafka_shell.admin.partitions.disks import Disks
from kafka_shell.admin.partitions.planner.plan import Scope
from kafka_shell.admin.partitions.planner.problem import MIN_GAIN, PlanLimits
from kafka_shell.admin.partitions.targets import Brokers, read_rebalance
from kafka_shell.base.plans import Plan
from kafka_shell.base.structs import replace
from kafka_shell.commands import select
from kafka_shell.commands.partitions.reassignments import chosen_topics, named_brokers, plan_start
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.wire.connection import Cluster

_PERCENT = 100


def rebalance(invocation: Invocation, context: Context) -> Plan:
    """Plan moves between brokers by the goals of the planner."""
    scope = Scope.ALL
    if invocation["only-leaders"] or invocation["racks"]:
        scope = Scope.LEADERS if invocation["only-leaders"] else Scope.RACKS
    limits = None
    if invocation["max-bytes"] is not None or invocation["max-partitions"] is not None:
        limits = PlanLimits(invocation["max-bytes"], invocation["max-partitions"])
    min_gain, measure = invocation["min-gain"], invocation["measure"]
    found = read_rebalance(
        context.cluster,
        chosen_topics(invocation, context.cluster),
        lambda now, disks: _brokers(invocation, context.cluster, now, disks),
        scope=scope,
        limits=limits,
        min_gain=MIN_GAIN if min_gain is None else min_gain / _PERCENT,
        measure=None if measure is None else measure / 1000,
    )
    return plan_start(
        invocation, context, found.targets.replicas, now=found.now, sizes=found.disks.sizes,
        planned=found.targets, throttle=invocation["throttle"],
    )  # fmt: skip


def _brokers(
    invocation: Invocation, cluster: Cluster, now: CurrentAssignment, disks: Disks
) -> Brokers:
    brokers = named_brokers(invocation, cluster, now, disks, "brokers")
    if not invocation["exclude-brokers"]:
        return brokers
    known = sorted({*now.racks, *now.found.replica_ids()})
    excluded = select.brokers_among(invocation, known, "exclude-brokers")
    return replace(brokers, excluded=frozenset(map(int, excluded)))
