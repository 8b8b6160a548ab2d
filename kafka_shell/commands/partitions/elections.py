"""Commands that elect partition leaders (KIP-4, KIP-183, KIP-460)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.base.command_results import NoRows
from kafka_shell.base.plans import Effect, Plan, Resource
from kafka_shell.base.results import Results
from kafka_shell.commands import select
from kafka_shell.commands.timeout import timeout_ms
from kafka_shell.language import kinds
from kafka_shell.language.command import TIMEOUT, Argument, Command, Example, Invocation, Option
from kafka_shell.wire.model import Partition

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import ElectionStatus
    from kafka_shell.context import Context

_PREFERRED, _UNCLEAN = "preferred", "unclean"


def elect_preferred(invocation: Invocation, context: Context) -> Plan:
    """Elect the preferred leaders of the selected partitions, of a file's, or of all."""
    from kafka_shell.admin.partitions import elections

    chosen = _selected(invocation, context)
    if chosen is None:
        everywhere = elections.misplaced(context.cluster)
        return elections.plan_preferred(everywhere, named=False, timeout_ms=timeout_ms(invocation))
    return elections.plan_preferred(chosen, timeout_ms=timeout_ms(invocation))


def elect_leaders(invocation: Invocation, context: Context) -> Plan:
    """Elect preferred leaders, or any live replicas (unclean)."""
    from kafka_shell.admin.partitions import elections

    if invocation["election-type"] != _UNCLEAN:
        return elect_preferred(invocation, context)
    chosen = _selected(invocation, context)
    found = elections.leaderless(context.cluster) if chosen is None else chosen
    return elections.plan_unclean(found, timeout_ms=timeout_ms(invocation))


def verify_preferred(invocation: Invocation, context: Context) -> ElectionStatus | NoRows:
    """The status of preferred leader elections; missing partitions count as failed."""
    from kafka_shell.admin.partitions import elections

    chosen = _selected(invocation, context)
    if chosen is None:
        chosen = select.partitions(invocation, context.cluster)
    status = elections.status(chosen)
    return status if status.partitions else NoRows("no partitions")


def _selected(invocation: Invocation, context: Context) -> Results[Resource, Partition] | None:
    """The partitions of the command or its file; None for all."""
    if invocation["path-to-json-file"]:
        from kafka_shell.admin.partitions.partition_files import read_partitions
        from kafka_shell.admin.topics.partitions import find

        found = find(context.cluster, read_partitions(invocation["path-to-json-file"]))
        return found.keyed(lambda each: each.resource)
    if invocation["topic"]:
        return select.partitions(invocation, context.cluster)
    return None


def _partitions(default: str) -> Argument:
    return Argument("topic", kinds.TOPIC_PARTITIONS,
                    f"Partitions: orders:0,3-5  orders  svc-*{default}",
                    many=True, required=False, option="--topic")  # fmt: skip


_FILE = Option(
    "--path-to-json-file",
    kinds.FILE,
    'A JSON file: {"partitions": [{"topic": "orders", "partition": 0}]}',
    excludes=("--topic",),
)

COMMANDS: tuple[Command, ...] = (
    Command(
        name="preferred-replica-leader-election",
        rare=True,
        summary="Elect the preferred leaders of partitions (KIP-4).",
        family="partitions",
        run=elect_preferred,
        effect=Effect.CHANGE,
        arguments=(_partitions(" (default: all not led by their preferred replica)"),),
        options=(_FILE, TIMEOUT),
        search=("rebalance", "leader", "balance", "prefer"),
        description=(
            "The preferred leader is the first replica of a partition. A replica that is offline"
            " or not in sync cannot be elected. Only leadership moves, no data."
        ),
        apis=(43,),
        examples=(
            Example("preferred-replica-leader-election",
                    "elect the preferred leaders of all partitions"),
            Example("preferred-replica-leader-election 'payments.*' --dry-run",
                    "preview the election for the payments topics"),
        ),
    ),
    Command(
        name="verify-preferred-replica-leader-election",
        rare=True,
        summary="Show whether preferred leader elections are completed, in progress or failed.",
        family="partitions",
        run=verify_preferred,
        arguments=(_partitions(" (default: all)"),),
        options=(_FILE,),
        search=("leader", "preferred", "check"),
        description="The exit status is 0 if preferred replicas lead all partitions, else 1.",
        examples=(
            Example("verify-preferred-replica-leader-election 'payments.*'",
                    "check that preferred replicas lead the payments topics"),
        ),
    ),
    Command(
        name="elect-leaders",
        summary="Elect leaders: preferred replicas, or any online replica (unclean).",
        family="partitions",
        run=elect_leaders,
        effect=Effect.CHANGE,
        arguments=(_partitions(""),),
        options=(
            Option("--election-type", kinds.CHOICE,
                   "preferred (default), or unclean: a replica not in sync, which loses records.",
                   choices=(_PREFERRED, _UNCLEAN), metavar="TYPE"),
            Option("--all-topic-partitions", kinds.FLAG,
                   "All not led by their preferred replica; with unclean, all without a leader.",
                   excludes=("--topic", "--path-to-json-file")),
            _FILE,
            TIMEOUT,
        ),
        at_least_one=(("topic", "all-topic-partitions", "path-to-json-file"),),
        search=("leader", "offline", "unclean", "recover"),
        description=(
            "An unclean election is for partitions without a leader and always asks for"
            " confirmation: records that the elected replica does not have are lost."
        ),
        apis=(43,),
        examples=(
            Example("elect-leaders orders.placed:0 --dry-run",
                    "preview electing the preferred leader"),
            Example("elect-leaders --election-type unclean --all-topic-partitions --dry-run",
                    "preview an unclean election for all partitions without a leader"),
        ),
    ),
)  # fmt: skip
