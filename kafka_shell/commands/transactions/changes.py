"""Commands that fence producers and abort transactions (KIP-664)."""

from __future__ import annotations

from kafka_shell.admin.transactions import change as transaction_changes
from kafka_shell.admin.transactions import read as transactions
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Plan
from kafka_shell.base.results import Failure
from kafka_shell.base.text import positional
from kafka_shell.base.units import counted
from kafka_shell.commands.transactions.run import ONLY_READABLE, partitions_of, search_hanging
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.wire.failures import as_error


def fence_producer(invocation: Invocation, context: Context) -> Plan:
    """Fence the producers of transactional IDs with a new epoch."""
    return transaction_changes.plan_fence(context.cluster, invocation["transactional-id"])


def abort_transaction(invocation: Invocation, context: Context) -> Plan | NoRows:
    """Abort hanging transactions by writing abort markers."""
    if invocation["start-offset"] is not None:
        return _abort_one(invocation, context)
    requested = invocation["transactional-id"]
    if requested:
        _refuse_managed(requested, context)

    search = search_hanging(invocation, context)
    if search.unread:
        first = search.unread[0]
        raise ShellError(
            f"{search.unread_count} could not be searched: {first.message}",
            hint=first.hint or "Run find-hanging-transactions for details.",
            code=first.error,
        )
    found = [each for each in search.found if not requested or each.transactional_id == requested]
    if not found:
        of = f" of {requested}" if requested else ""
        note = "" if search.searched else ONLY_READABLE
        searched = counted(search.searched, "partition")
        return NoRows(f"no hanging transaction{of} in {searched}{note}")
    return transaction_changes.plan_abort(context.cluster, found, clock=context.clock)


def _abort_one(invocation: Invocation, context: Context) -> Plan:
    if not invocation["topic"]:
        raise _one_partition(invocation)
    partitions, refused = partitions_of(invocation, context.cluster)
    for failure in refused.values():
        raise as_error(failure)
    if len(partitions) != 1:
        raise _one_partition(invocation)
    (each,) = partitions
    found = transaction_changes.find_open(
        context.cluster, each, invocation["start-offset"], clock=context.clock
    )
    if isinstance(found, Failure):
        raise ShellError(
            found.message, hint=found.hint, code=found.name, span=invocation.span("start-offset")
        )
    return transaction_changes.plan_abort(context.cluster, [found], clock=context.clock)


def _one_partition(invocation: Invocation) -> UsageError:
    return UsageError(
        "--start-offset requires exactly one partition, such as orders:0",
        span=invocation.span("topic") or invocation.span("start-offset"),
    )


def _refuse_managed(name: str, context: Context) -> None:
    """Raise ShellError if the coordinator still manages the transaction of this ID."""
    found = transactions.describe(context.cluster, [name], clock=context.clock)
    if name in found.failures:
        raise as_error(found.failures[name])
    transaction = found[name]
    if transaction.under_way:
        raise ShellError(
            f"the transaction of {name} is not hanging: its coordinator reports state"
            f" {transaction.state}",
            hint=f"To let the coordinator abort it, run fence-producer"
            f" {positional('--transactional-id', name)}",
            code="not-hanging",
        )
