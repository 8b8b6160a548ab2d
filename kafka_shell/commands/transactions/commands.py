"""Commands on transactions (KIP-664)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import UsageError
from kafka_shell.base.plans import Effect, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.units import counted
from kafka_shell.commands import select
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option, Short

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.admin.transactions.model import (
        ProducerState,
        Transaction,
        TransactionListing,
    )
    from kafka_shell.context import Context
    from kafka_shell.wire.connection import Cluster


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
    found = select.partitions(invocation, cluster)
    return select.topic_partitions(found), found.failures


TOPIC_HELP = "Partitions: orders:0,3-5, or orders for all of them"
PARTITION = Option("--partition", kinds.INTEGER, "A partition of the --topic; may be repeated.",
                    many=True, least=0, most=2**31 - 1)  # fmt: skip
BROKER = Option("--broker-id", kinds.BROKER, "Query this broker's replica instead of the"
                 " leader.", metavar="N")  # fmt: skip


_STATES = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort",
    "PrepareEpochFence", "Dead",
)  # fmt: skip


# -- read ------------------------------------------------------------------------------------------


def list_transactions(
    invocation: Invocation, context: Context
) -> Results[Resource, tuple[TransactionListing, ...]] | NoRows:
    """The transactional IDs of all coordinators."""
    from kafka_shell.admin.transactions import read as transactions

    found = transactions.list_transactions(
        context.cluster,
        states=[state for word in invocation["state"] for state in word.split(",")],
        producer_ids=invocation["producer-id"],
        longer_than_ms=invocation["duration-filter"],
        pattern=invocation["transactional-id-pattern"],
    )
    failures = {
        Resource("transactions", f"of broker {id}"): why for id, why in found.failures.items()
    }
    if missing := transactions.without_coordinator(context.cluster):
        failures[Resource("transactions")] = missing
    if not failures and not any(found):
        return NoRows("no transactions (IDs without DESCRIBE permission are hidden)")
    return Results(found.values, failures)  # type: ignore[arg-type]


def describe_transactions(
    invocation: Invocation, context: Context
) -> Results[Resource, Transaction]:
    """The transactional IDs with their current transactions."""
    from kafka_shell.admin.transactions import read as transactions

    found = transactions.describe(
        context.cluster, invocation["transactional-id"], clock=context.clock
    )
    return found.keyed(partial(Resource, "transactional-id"))


def describe_producers(
    invocation: Invocation, context: Context
) -> Results[Resource, tuple[ProducerState, ...]] | NoRows:
    """The active producers of partitions."""
    from kafka_shell.admin.transactions import producers

    requested, refused = partitions_of(invocation, context.cluster)
    found = producers.describe(context.cluster, requested, broker=broker_of(invocation))
    if found.ok and not refused and not any(found):
        return NoRows(f"no active producers in {counted(len(found.values), 'partition')}")
    return Results.merge([Results({}, refused), found.keyed(lambda each: each.resource)])


# -- change ----------------------------------------------------------------------------------------


def fence_producer(invocation: Invocation, context: Context) -> Plan:
    """Fence the producers of transactional IDs with a new epoch."""
    from kafka_shell.admin.transactions import change as transaction_changes

    return transaction_changes.plan_fence(context.cluster, invocation["transactional-id"])


_IDS = Argument("transactional-id", kinds.TRANSACTIONAL_ID, "Transactional IDs.", many=True,
                option="--transactional-id")  # fmt: skip

COMMANDS: tuple[Command, ...] = (
    Command(
        name="list-transactions",
        summary="List transactional IDs and the state of their transactions.",
        family="transactions",
        run=list_transactions,
        options=(
            Option("--state", kinds.TEXT, "Only these states: Ongoing,PrepareCommit; may be"
                   " repeated.", many=True, choices=_STATES, metavar="STATES"),
            Option("--producer-id", kinds.INTEGER, "Only this producer ID; may be repeated.",
                   many=True, metavar="ID", least=0),
            Option("--duration-filter", kinds.DURATION,
                   "Only transactions open for longer than this (Kafka 3.8).", least=0),
            Option("--transactional-id-pattern", kinds.TEXT,
                   "Only IDs that fully match this regular expression (Kafka 4.1).",
                   metavar="REGEX"),
        ),
        shorts=(Short("transactions", "list-transactions"),),
        search=("txn", "exactly-once", "producers"),
        examples=(
            Example("list-transactions", "list all transactional IDs"),
            Example("list-transactions --state Ongoing --duration-filter 5m",
                    "list transactions open for more than five minutes"),
        ),
        apis=(66,),
    ),
    Command(
        name="describe-transactions",
        summary="Show the current transaction of transactional IDs, and its partitions.",
        family="transactions",
        run=describe_transactions,
        arguments=(_IDS,),
        shorts=(Short("transaction", "describe-transactions"),),
        search=("txn", "coordinator", "timeout"),
        examples=(
            Example("describe-transactions ledger-1", "show the transaction of a transactional ID",
                    status=1),
        ),
        apis=(65,),
    ),
    Command(
        name="describe-producers",
        summary="Show the active producers of partitions, and their open transactions.",
        family="transactions",
        run=describe_producers,
        arguments=(
            Argument("topic", kinds.TOPIC_PARTITIONS, TOPIC_HELP, many=True, option="--topic"),
        ),
        options=(PARTITION, BROKER),
        search=("idempotent", "sequence", "last stable offset", "txn"),
        examples=(
            Example("describe-producers orders.placed:0", "show who writes to a partition"),
            Example("describe-producers --topic orders.placed --partition 0 --broker-id 1",
                    "query the replica of one broker"),
        ),
        apis=(61,),
    ),
    Command(
        name="fence-producer",
        summary="Fence the producers of transactional IDs and abort their open transactions.",
        family="transactions",
        run=fence_producer,
        effect=Effect.DESTROY,
        arguments=(_IDS,),
        search=("zombie", "epoch", "abort", "txn", "kill"),
        examples=(
            Example("fence-producer ledger-1 --dry-run", "preview fencing a producer (the demo has"
                    " no transactional IDs)", status=1),
        ),
        apis=(22, 65),
    ),
)  # fmt: skip
