"""Commands that list reassignments and elect leaders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_shell.admin.partitions import elections
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.model import ElectionStatus, Reassignment, TopicPartition
from kafka_shell.admin.partitions.partition_files import read_partitions
from kafka_shell.admin.partitions.progress import with_sizes
from kafka_shell.admin.topics.partitions import find
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.plans import Change, Plan, Resource, merge_plans
from kafka_shell.base.results import Results
from kafka_shell.commands import select
from kafka_shell.commands.options import timeout_ms
from kafka_shell.commands.partitions.spec import UNCLEAN
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.wire.model import Partition


def list_reassignments(
    invocation: Invocation, context: Context
) -> tuple[Reassignment, ...] | NoRows:
    """The running reassignments, and how much of them is copied."""
    topics = select.topics(invocation, context.cluster) if invocation["topic"] else None
    moves = under_way(context.cluster, topics)
    if not moves.values:
        return NoRows("no partition is being reassigned")
    return tuple(with_sizes(context.cluster, list(moves)))


def elect_preferred(invocation: Invocation, context: Context) -> Plan:
    """Elect the preferred leaders of the selected partitions, of a file's, or of all."""
    chosen = _selected(invocation, context)
    if chosen is None:
        everywhere = elections.misplaced(context.cluster)
        return elections.plan_preferred(everywhere, named=False, timeout_ms=timeout_ms(invocation))
    return elections.plan_preferred(chosen, timeout_ms=timeout_ms(invocation))


def elect_leaders(invocation: Invocation, context: Context) -> Plan:
    """Elect preferred leaders, or any live replicas (unclean)."""
    if invocation["election-type"] != UNCLEAN:
        return elect_preferred(invocation, context)
    chosen = _selected(invocation, context)
    partitions = elections.leaderless(context.cluster) if chosen is None else chosen
    return elections.plan_unclean(partitions, timeout_ms=timeout_ms(invocation))


def verify_preferred(invocation: Invocation, context: Context) -> ElectionStatus | NoRows:
    """The status of preferred leader elections; missing partitions count as failed."""
    chosen = _selected(invocation, context)
    if chosen is None:
        chosen = select.partitions(invocation, context.cluster)
    status = elections.status(chosen)
    return status if status.partitions else NoRows("no partitions")


def _selected(invocation: Invocation, context: Context) -> Results[Resource, Partition] | None:
    """The partitions of the command or its file; None for all."""
    if invocation["path-to-json-file"]:
        partitions = find(context.cluster, read_partitions(invocation["path-to-json-file"]))
        return partitions.keyed(lambda partition: partition.resource)
    if invocation["topic"]:
        return select.partitions(invocation, context.cluster)
    return None


def plan_elections(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that elects leaders: the preferred ones, or any where there is none."""
    plans: list[Plan] = []
    for elect, unclean in ((elections.plan_preferred, False), (elections.plan_unclean, True)):
        chosen = [each.resource.name for each in changes if (each.before is None) is unclean]
        if chosen:
            found = find(context.cluster, map(TopicPartition.of, chosen))
            plans.append(elect(found.keyed(lambda each: each.resource)))
    return merge_plans(plans)
