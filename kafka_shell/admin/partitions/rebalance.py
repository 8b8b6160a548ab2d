"""The plan that balances topics, leaders, bytes and replicas between brokers."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.plan.model import Plan
from kafka_shell.plan.results import Results
from kafka_shell.structs import replace

from . import targets as move_targets
from . import write_rates
from .planner.plan import Scope
from .planner.problem import MIN_GAIN, Limits
from .reassignment import current_assignment, plan_move
from .targets import Brokers


def plan_rebalance(
    cluster: Cluster,
    topics: Sequence[str] | None = None,
    brokers: Brokers | None = None,
    *,
    scope: Scope = Scope.ALL,
    limits: Limits | None = None,
    min_gain: float = MIN_GAIN,
    measure: float | None = None,
    throttle: int | None = None,
) -> Plan:
    """Balance these topics (None: all) by the goals of the planner (API key 45).

    `measure` is for how many seconds to measure what is written to each partition, and `throttle`
    is in bytes per second. The figures are the load of brokers and topics and the score of each
    goal, before and after. Raises ShellError if a named broker cannot receive replicas.
    """
    now = current_assignment(cluster)
    disks = move_targets.read_disks(cluster, now)
    brokers = brokers or Brokers()
    move_targets.check_named(cluster, now, disks, brokers)
    writes = None if measure is None else write_rates.measure(cluster, now, disks.sizes, measure)
    planned = move_targets.rebalanced(
        now, disks, topics, brokers, scope=scope, limits=limits, min_gain=min_gain, writes=writes
    )
    plan = plan_move(cluster, planned.replicas, throttle=throttle, now=now, sizes=disks.sizes)
    loads = (move_targets.topic_loads(now, planned.replicas),) if planned.replicas else ()
    return replace(
        plan,
        figures=(*plan.figures, *loads, *planned.scores),
        refused=Results({}, {**planned.refused, **plan.refused.failures}),
        warnings=(*planned.warnings, *plan.warnings),
    )
