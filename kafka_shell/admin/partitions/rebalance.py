"""The plan that balances topics, leaders, bytes and replicas between brokers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from kafka_shell.admin.partitions import targets as move_targets
from kafka_shell.admin.partitions import write_rates
from kafka_shell.admin.partitions.current_assignment import CurrentAssignment, current_assignment
from kafka_shell.admin.partitions.disks import Disks
from kafka_shell.admin.partitions.planner.plan import Scope
from kafka_shell.admin.partitions.planner.problem import MIN_GAIN, PlanLimits
from kafka_shell.admin.partitions.reassignment import plan_move
from kafka_shell.admin.partitions.targets import Brokers, Targets
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.plan.model import Plan


class Rebalance(Struct, frozen=True):
    """What a rebalance moves: the current assignment, the disks, and the target replicas of the
    partitions that change."""

    now: CurrentAssignment
    disks: Disks
    targets: Targets


def read_rebalance(
    cluster: Cluster,
    topics: Sequence[str] | None,
    choose: Callable[[CurrentAssignment, Disks], Brokers],
    *,
    scope: Scope = Scope.ALL,
    limits: PlanLimits | None = None,
    min_gain: float = MIN_GAIN,
    measure: float | None = None,
) -> Rebalance:
    """Plan how to balance these topics (None: all) between the brokers that `choose` returns.

    `measure` is for how many seconds to measure what is written to each partition.
    """
    now, disks = _current(cluster)
    brokers, writes = choose(now, disks), None
    if measure is not None:
        writes = write_rates.measure(cluster, now, disks.sizes, measure)
        now, disks = _current(cluster)  # others may have changed the cluster meanwhile
        brokers = choose(now, disks)
    return Rebalance(now, disks, move_targets.rebalanced(
        now, disks, topics, brokers, scope=scope, limits=limits, min_gain=min_gain, writes=writes
    ))  # fmt: skip


def _current(cluster: Cluster) -> tuple[CurrentAssignment, Disks]:
    now = current_assignment(cluster)
    return now, move_targets.read_disks(cluster, now)


def plan_rebalance(
    cluster: Cluster,
    topics: Sequence[str] | None = None,
    brokers: Brokers | None = None,
    *,
    scope: Scope = Scope.ALL,
    limits: PlanLimits | None = None,
    min_gain: float = MIN_GAIN,
    measure: float | None = None,
    throttle: int | None = None,
) -> Plan:
    """Balance these topics (None: all) by the goals of the planner (API key 45).

    `measure` is in seconds, and `throttle` in bytes per second. The figures are the load of brokers
    and topics and the score of each goal, before and after. Raises ShellError if a named broker
    cannot receive replicas.
    """

    def checked(now: CurrentAssignment, disks: Disks) -> Brokers:
        chosen = brokers or Brokers()
        move_targets.check_named(cluster, now, disks, chosen)
        return chosen

    found = read_rebalance(
        cluster, topics, checked, scope=scope, limits=limits, min_gain=min_gain, measure=measure
    )
    replicas, sizes = found.targets.replicas, found.disks.sizes
    plan = plan_move(cluster, replicas, throttle=throttle, now=found.now, sizes=sizes)
    return found.targets.explaining(plan)
