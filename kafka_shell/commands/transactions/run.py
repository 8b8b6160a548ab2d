"""Commands on transactions (KIP-664)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics.visibility import hidden
from kafka_shell.admin.transactions import change as transaction_changes
from kafka_shell.admin.transactions import producers
from kafka_shell.admin.transactions import read as transactions
from kafka_shell.admin.transactions.model import (
    HangingSearch,
    HangingTransaction,
    ProducerState,
    Transaction,
    TransactionListing,
    Unread,
)
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Change, Effect, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.text import positional
from kafka_shell.base.units import counted, parse_duration
from kafka_shell.commands import select
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.output.change_kinds import AT_OFFSET
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import as_error
from kafka_shell.wire.metadata_scan import scan

# The partitions and the broker that commands on transactions select.


def broker_of(invocation: Invocation) -> int | None:
    """The ID in --broker-id, or None. Raises UsageError if it is not one ID."""
    text = invocation["broker-id"]
    if text is None or text.isdecimal():
        return None if text is None else int(text)
    raise UsageError(
        f"--broker-id must be one broker ID, got '{text}'",
        code="bad-value",
        span=invocation.span("broker-id"),
    )


def partitions_of(
    invocation: Invocation, cluster: Cluster
) -> tuple[list[TopicPartition], dict[Resource, Failure]]:
    """The selected partitions, and a failure for each that does not exist."""
    numbers = invocation["partition"]
    if numbers:
        named = invocation["topic"]
        if len(named) != 1 or named[0][1] is not None:
            raise UsageError(
                "--partition requires exactly one topic without partitions",
                hint="For several topics, use orders:0,3-5 payments:1.",
                span=invocation.span("partition"),
            )
        values = {**invocation.values, "topic": ((named[0][0], tuple(numbers)),)}
        invocation = replace(invocation, values=values)
    partitions = select.partitions(invocation, cluster)
    return select.topic_partitions(partitions), partitions.failures


# -- read ------------------------------------------------------------------------------------------


def list_transactions(
    invocation: Invocation, context: Context
) -> Results[Resource, tuple[TransactionListing, ...]] | NoRows:
    """The transactional IDs of all coordinators."""
    listings = transactions.list_transactions(
        context.cluster,
        states=[state for word in invocation["state"] for state in word.split(",")],
        producer_ids=invocation["producer-id"],
        longer_than_ms=invocation["duration-filter"],
        pattern=invocation["transactional-id-pattern"],
    )
    failures = {
        Resource("transactions", f"of broker {id}"): why for id, why in listings.failures.items()
    }
    if missing := transactions.without_coordinator(context.cluster):
        failures[Resource("transactions")] = missing
    if not failures and not any(listings):
        return NoRows("no transactions (IDs without DESCRIBE permission are hidden)")
    return Results(listings.values, failures)  # type: ignore[arg-type]


def describe_transactions(
    invocation: Invocation, context: Context
) -> Results[Resource, Transaction]:
    """The transactional IDs with their current transactions."""
    described = transactions.describe(
        context.cluster, invocation["transactional-id"], clock=context.clock
    )
    return described.keyed(partial(Resource, "transactional-id"))


def describe_producers(
    invocation: Invocation, context: Context
) -> Results[Resource, tuple[ProducerState, ...]] | NoRows:
    """The active producers of partitions."""
    requested, refused = partitions_of(invocation, context.cluster)
    states = producers.describe(context.cluster, requested, broker=broker_of(invocation))
    if states.ok and not refused and not any(states):
        return NoRows(f"no active producers in {counted(len(states.values), 'partition')}")
    return Results.merge([Results({}, refused), states.keyed(lambda partition: partition.resource)])


_MINUTE = 60_000
ONLY_READABLE = " (requires DESCRIBE and READ on topics)"


def find_hanging_transactions(invocation: Invocation, context: Context) -> HangingSearch:
    """Open transactions that no coordinator will end."""
    search = search_hanging(invocation, context)
    if search.ok and not search.searched:
        context.note(f"no partitions to search{ONLY_READABLE}")
    return search


def search_hanging(invocation: Invocation, context: Context) -> HangingSearch:
    timeout = invocation["max-transaction-timeout"]
    least = _minutes(invocation, timeout) if timeout else transactions.DEFAULT_MAX_TIMEOUT_MS
    requested: list[TopicPartition] | None = None
    refused: dict[Resource, Failure] = {}
    if invocation["topic"] or invocation["partition"]:
        requested, refused = partitions_of(invocation, context.cluster)
    search = transactions.find_hanging(
        context.cluster,
        partitions=requested,
        broker=broker_of(invocation),
        max_timeout_ms=least,
        clock=context.clock,
    )
    unread = {about.name: failure for about, failure in refused.items()}
    if requested is None:
        visible = frozenset(scan(context.cluster).names)
        hiding = hidden(context.cluster, visible)
        unread |= {about.removeprefix("topic "): why for about, why in hiding.items()}
    rows = (Unread(name, None, f.name, f.message, f.hint) for name, f in unread.items())
    return replace(search, unread=(*rows, *search.unread))


def _minutes(invocation: Invocation, text: str) -> int:
    """A duration in milliseconds; a bare number is minutes, as in kafka-transactions."""
    try:
        given = int(text) * _MINUTE if text.isdecimal() else parse_duration(text)
        problem = "" if 0 <= given < 1 << 63 else f"must be a duration of 0 or more, got '{text}'"
    except ShellError as error:
        problem = error.message
    if not problem:
        return given
    raise UsageError(
        f"--max-transaction-timeout: {problem}",
        hint="Use a duration such as 30m; a number without a unit is in minutes.",
        code="bad-value",
        span=invocation.span("max-transaction-timeout"),
    )


# -- Commands that fence producers and abort transactions (KIP-664) --------------------------------


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
            f"cannot search {search.unread_count}: {first.message}",
            hint=first.hint or "Run find-hanging-transactions for details.",
            code=first.error,
        )
    hanging = [each for each in search.found if not requested or each.transactional_id == requested]
    if not hanging:
        of = f" of {requested}" if requested else ""
        note = "" if search.searched else ONLY_READABLE
        searched = counted(search.searched, "partition")
        return NoRows(f"no hanging transaction{of} in {searched}{note}")
    return transaction_changes.plan_abort(context.cluster, hanging, clock=context.clock)


def _abort_one(invocation: Invocation, context: Context) -> Plan:
    if not invocation["topic"]:
        raise _one_partition(invocation)
    partitions, refused = partitions_of(invocation, context.cluster)
    for failure in refused.values():
        raise as_error(failure)
    if len(partitions) != 1:
        raise _one_partition(invocation)
    (each,) = partitions
    opened = transaction_changes.find_open(
        context.cluster, each, invocation["start-offset"], clock=context.clock
    )
    if isinstance(opened, Failure):
        raise ShellError(
            opened.message, hint=opened.hint, code=opened.name, span=invocation.span("start-offset")
        )
    return transaction_changes.plan_abort(context.cluster, [opened], clock=context.clock)


def _one_partition(invocation: Invocation) -> UsageError:
    return UsageError(
        "--start-offset requires exactly one partition, such as orders:0",
        span=invocation.span("topic") or invocation.span("start-offset"),
    )


def _refuse_managed(name: str, context: Context) -> None:
    """Raise ShellError if the coordinator still manages the transaction of this ID."""
    described = transactions.describe(context.cluster, [name], clock=context.clock)
    if name in described.failures:
        raise as_error(described.failures[name])
    transaction = described[name]
    if transaction.under_way:
        raise ShellError(
            f"the transaction of {name} is not hanging: its coordinator reports state"
            f" {transaction.state}",
            hint=f"To let the coordinator abort it, run fence-producer"
            f" {positional('--transactional-id', name)}",
            code="not-hanging",
        )


# -- What a remedy does ----------------------------------------------------------------------------


def plan_fences(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that fences the producers of these transactional IDs."""
    names = [change.resource.name for change in changes]
    return transaction_changes.plan_fence(context.cluster, names)


def plan_aborts(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that aborts these transactions, if they are still open."""
    hanging: list[HangingTransaction] = []
    refused: dict[Resource, Failure] = {}
    for change in changes:
        place, _at, offset = change.resource.name.partition(AT_OFFSET)
        each = transaction_changes.find_open(
            context.cluster, TopicPartition.of(place), int(offset), clock=context.clock
        )
        if isinstance(each, Failure):
            refused[change.resource] = each
        else:
            hanging.append(each)
    rest = Plan(Effect.DESTROY, (), refused=Results({}, refused))
    if not hanging:
        return rest
    return rest + transaction_changes.plan_abort(context.cluster, hanging, clock=context.clock)
