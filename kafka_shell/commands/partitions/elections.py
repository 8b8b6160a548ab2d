"""Commands that elect leaders (KIP-4, KIP-183, KIP-460)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.admin.topics.model import Partition
from kafka_shell.answers import Nothing
from kafka_shell.commands import select
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option
from kafka_shell.plan.model import Effect, Plan, Resource
from kafka_shell.plan.results import Failure, Results

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import ElectionStatus
    from kafka_shell.context import Context

_PREFERRED, _UNCLEAN = "preferred", "unclean"


def elect_preferred(invocation: Invocation, context: Context) -> Plan:
    """KIP-4's election: of the partitions named, of a file's, or of all."""
    from kafka_shell.admin.partitions import elections

    chosen = _chosen(invocation, context)
    if chosen is None:
        everywhere = elections.misplaced(context.cluster)
        return elections.plan_preferred(everywhere, each=False, timeout_ms=_timeout(invocation))
    return elections.plan_preferred(chosen, timeout_ms=_timeout(invocation))


def elect_leaders(invocation: Invocation, context: Context) -> Plan:
    """The preferred replica, or any that lives."""
    from kafka_shell.admin.partitions import elections

    if invocation["election-type"] != _UNCLEAN:
        return elect_preferred(invocation, context)
    chosen = _chosen(invocation, context)
    found = elections.leaderless(context.cluster) if chosen is None else chosen
    return elections.plan_unclean(found, timeout_ms=_timeout(invocation))


def verify_preferred(invocation: Invocation, context: Context) -> ElectionStatus | Nothing:
    """How the elections stand; that of a partition that is not there has failed."""
    from kafka_shell.admin.partitions import elections

    chosen = _chosen(invocation, context)
    if chosen is None:
        chosen = select.partitions(invocation, context.cluster)
    status = elections.status(chosen)
    return status if status.partitions else Nothing("no partitions")


def _chosen(invocation: Invocation, context: Context) -> Results[Resource, Partition] | None:
    """The partitions of the line or its file; None where it means all."""
    if invocation["path-to-json-file"]:
        from kafka_shell.admin.topics.partitions import find

        from .partition_files import read_partitions

        found = find(context.cluster, read_partitions(invocation["path-to-json-file"]))
        failures: dict[Resource, Failure] = {
            each.resource: why for each, why in found.failures.items()
        }
        return Results({each.resource: row for each, row in found.values.items()}, failures)
    if invocation["topic"]:
        return select.partitions(invocation, context.cluster)
    return None


def _timeout(invocation: Invocation) -> int:
    from kafka_shell.admin.partitions.elections import DEFAULT_TIMEOUT_MS

    timeout = invocation.get("timeout")
    return DEFAULT_TIMEOUT_MS if timeout is None else int(timeout)


def _partitions(none: str) -> Argument:
    return Argument("topic", Kind.TOPIC_PARTITIONS, f"Which: orders:0,3-5  orders  svc-*{none}",
                    many=True, required=False, option="--topic")  # fmt: skip


_FILE = Option(
    "--path-to-json-file",
    Kind.FILE,
    'Kafka\'s JSON file: {"partitions": [{"topic": "orders", "partition": 0}]}',
    metavar="FILE",
    excludes=("--topic",),
)

COMMANDS: tuple[Command, ...] = (
    Command(
        name="preferred-replica-leader-election",
        summary="Have partitions led by their preferred replica (KIP-4).",
        family="partitions",
        run=elect_preferred,
        effect=Effect.CHANGE,
        arguments=(_partitions(" (none: all that are led by another)"),),
        options=(_FILE,),
        search=("rebalance", "leader", "balance", "prefer"),
        description=(
            "The preferred replica is the first of a partition's list. One that is down or not in"
            " sync cannot be elected, and is refused. Nothing is moved but leadership."
        ),
        apis=(43,),
        examples=(
            Example("preferred-replica-leader-election", "everywhere"),
            Example("preferred-replica-leader-election 'payments.*' --dry-run",
                    "what it would do to the topics of payments"),
        ),
    ),
    Command(
        name="verify-preferred-replica-leader-election",
        summary="How elections of preferred leaders stand: completed, in progress or failed.",
        family="partitions",
        run=verify_preferred,
        arguments=(_partitions(" (none: all)"),),
        options=(_FILE,),
        search=("leader", "preferred", "check"),
        description="The exit status is 0 where the preferred replica leads everywhere, else 1.",
        examples=(
            Example("verify-preferred-replica-leader-election 'payments.*'",
                    "whether each is led by its preferred replica"),
        ),
    ),
    Command(
        name="elect-leaders",
        summary="Elect leaders: the preferred replicas, or (unclean) any that live.",
        family="partitions",
        run=elect_leaders,
        effect=Effect.CHANGE,
        arguments=(_partitions(""),),
        options=(
            Option("--election-type", Kind.CHOICE,
                   "unclean: a replica that is not in sync; records are lost.",
                   choices=(_PREFERRED, _UNCLEAN), metavar="TYPE"),
            Option("--all-topic-partitions", Kind.FLAG,
                   "All that are led by another than the preferred; unclean: all without a leader.",
                   excludes=("--topic", "--path-to-json-file")),
            _FILE,
        ),
        at_least_one=(("topic", "all-topic-partitions", "path-to-json-file"),),
        search=("leader", "offline", "unclean", "recover"),
        description=(
            "Without --election-type the preferred replicas. An unclean election is only for"
            " partitions without a leader, and always asks: records that the replicas in sync had,"
            " and the one elected has not, are lost for good."
        ),
        apis=(43,),
        examples=(
            Example("elect-leaders orders.placed:0 --dry-run",
                    "what electing its preferred leader would do"),
            Example("elect-leaders --election-type unclean --all-topic-partitions --dry-run",
                    "which partitions have no leader, and who could lead them"),
        ),
    ),
)  # fmt: skip
