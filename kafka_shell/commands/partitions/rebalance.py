"""`rebalance`: move replicas and leaders until the brokers have their shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.base.plans import Effect, Plan
from kafka_shell.base.structs import replace
from kafka_shell.commands import select
from kafka_shell.commands.partitions.reassignments import (
    BATCHES,
    INCLUDE_CORDONED,
    THROTTLE,
    WAIT,
    chosen_topics,
    named_brokers,
    plan_start,
)
from kafka_shell.language import kinds
from kafka_shell.language.command import Command, Example, Invocation, Option

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.current_assignment import CurrentAssignment
    from kafka_shell.admin.partitions.disks import Disks
    from kafka_shell.admin.partitions.targets import Brokers
    from kafka_shell.context import Context
    from kafka_shell.wire.connection import Cluster

_PERCENT = 100


def rebalance(invocation: Invocation, context: Context) -> Plan:
    """Plan moves between brokers by the goals of the planner."""
    from kafka_shell.admin.partitions.planner.plan import Scope
    from kafka_shell.admin.partitions.planner.problem import MIN_GAIN, PlanLimits
    from kafka_shell.admin.partitions.targets import read_rebalance

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


COMMANDS: tuple[Command, ...] = (
    Command(
        name="rebalance",
        summary="Balance topics, leaders, bytes and replicas between brokers.",
        family="partitions",
        run=rebalance,
        effect=Effect.CHANGE,
        options=(
            Option("--topics", kinds.TOPIC, "Only these topics: a,b  svc-*  /regex/",
                   many=True, aliases=("--topic",), metavar="TOPICS"),
            Option("--brokers", kinds.BROKER, "Only between these brokers (default: all running"
                   " ones that are not cordoned).", many=True, metavar="IDS"),
            Option("--exclude-brokers", kinds.BROKER, "Do not move replicas from or to these"
                   " brokers.", many=True, metavar="IDS"),
            Option("--racks", kinds.FLAG, "Only spread replicas over racks.",
                   excludes=("--only-leaders",)),
            Option("--only-leaders", kinds.FLAG, "Only change the order of replicas: preferred"
                   " leaders move, no data does."),
            Option("--max-bytes", kinds.SIZE, "Copy at most this much: 500GiB. The moves with the"
                   " best gain per byte are made.", least=0, metavar="SIZE"),
            Option("--max-partitions", kinds.INTEGER, "Change at most this many partitions.",
                   least=0),
            Option("--min-gain", kinds.INTEGER, "Minimum gain of a goal, in percent, that justifies"
                   " copying data (default: 1).", least=0, most=100, metavar="PERCENT"),
            Option("--measure", kinds.DURATION, "Measure for this long what is written to each"
                   " partition, and balance leaders by it: 30s.", least=1),
            INCLUDE_CORDONED,
            THROTTLE,
            *BATCHES,
            WAIT,
        ),
        description=(
            "Hard constraints: one replica of a partition per broker, racks no worse than "
            "before, only active brokers, and 5% of each disk stays free.\n"
            "Goals, in this order: replicas and leaders of each topic, leaders per broker, "
            "written bytes (with --measure), bytes per broker, replicas per broker, and little "
            "copying.\n"
            "A score of 0 is perfect balance.\n"
            "Partitions of unknown size are not copied.\n"
            "Undo, --throttle, --batch and --wait work as in reassign-partitions; to elect the "
            "new preferred leaders, run elect-leaders."
        ),
        search=("balance", "skew", "goals", "cruise", "spread", "leaders", "disk", "move"),
        apis=(2, 3, 32, 34, 35, 44, 45, 46, 60),
        examples=(
            Example("rebalance --dry-run", "preview a rebalance of the cluster"),
            Example("rebalance --only-leaders --topics 'orders.*'",
                    "balance preferred leaders without moving data"),
            Example("rebalance --max-bytes 500GiB --throttle 50MB/s --dry-run",
                    "preview the most useful moves of 500 GiB"),
        ),
    ),
)  # fmt: skip
