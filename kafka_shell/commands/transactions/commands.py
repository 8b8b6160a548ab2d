"""Commands on transactions (KIP-664)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kafka_shell.answers import Nothing
from kafka_shell.commands import select
from kafka_shell.errors import ShellError, UsageError
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option, Short
from kafka_shell.plan.model import Effect, Plan, Resource
from kafka_shell.plan.results import Failure, Results
from kafka_shell.quoting import positional

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.admin.transactions.model import (
        HangingSearch,
        ProducerState,
        Transaction,
        TransactionListing,
    )
    from kafka_shell.admin.wire.connection import Cluster
    from kafka_shell.context import Context

_MINUTE = 60_000
_UNSEEN = " (it takes Describe and Read on a topic to search it)"
_STATES = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort",
    "PrepareEpochFence", "Dead",
)  # fmt: skip


# -- look ------------------------------------------------------------------------------------------


def list_transactions(
    invocation: Invocation, context: Context
) -> Results[Resource, tuple[TransactionListing, ...]] | Nothing:
    """The transactional ids of every coordinator."""
    from kafka_shell.admin.transactions import read as transactions

    found = transactions.list_transactions(
        context.cluster,
        states=[state for word in invocation["state"] for state in word.split(",")],
        producer_ids=invocation["producer-id"],
        longer_than_ms=invocation["duration-filter"],
        pattern=invocation["transactional-id-pattern"],
    )
    if found.ok and not any(found):
        return Nothing(
            "no transaction; those are listed of which one may Describe the transactional id"
        )
    return Results(found.values, _of_brokers(found.failures))  # type: ignore[arg-type]


def _of_brokers(failures: dict[int, Failure]) -> dict[Resource, Failure]:
    return {Resource("broker", str(broker)): why for broker, why in failures.items()}


def describe_transactions(
    invocation: Invocation, context: Context
) -> Results[Resource, Transaction]:
    """Each transactional id with its current transaction."""
    from kafka_shell.admin.transactions import read as transactions

    found = transactions.describe(
        context.cluster, invocation["transactional-id"], clock=context.clock
    )
    return Results(
        {each.resource: each for each in found},
        {Resource("transactional-id", name): why for name, why in found.failures.items()},
    )


def describe_producers(
    invocation: Invocation, context: Context
) -> Results[Resource, tuple[ProducerState, ...]] | Nothing:
    """The producers that partitions remember."""
    from kafka_shell.admin.transactions import producers

    wanted, refused = _partitions(invocation, context.cluster)
    found = producers.describe(context.cluster, wanted, broker=_broker(invocation))
    if found.ok and not refused and not any(found):
        count = len(found.values)
        return Nothing(f"no producer is remembered in {count} partition{'s' * (count != 1)}")
    states = {Resource("partition", str(each)): told for each, told in found.values.items()}
    failures = {Resource("partition", str(each)): why for each, why in found.failures.items()}
    return Results(states, {**refused, **failures})


def find_hanging_transactions(invocation: Invocation, context: Context) -> HangingSearch:
    """Open transactions that no coordinator will end."""
    search = _search(invocation, context)
    if search.ok and not search.searched:
        context.note(f"there is no partition to search{_UNSEEN}")
    return search


def _search(invocation: Invocation, context: Context) -> HangingSearch:
    from kafka_shell.admin.transactions import read as transactions
    from kafka_shell.admin.transactions.model import Unread

    timeout = invocation["max-transaction-timeout"]
    least = _minutes(invocation, timeout) if timeout else transactions.DEFAULT_MAX_TIMEOUT_MS
    wanted: list[TopicPartition] | None = None
    refused: dict[Resource, Failure] = {}
    if invocation["topic"] or invocation["partition"]:
        wanted, refused = _partitions(invocation, context.cluster)
    search = transactions.find_hanging(
        context.cluster,
        partitions=wanted,
        broker=_broker(invocation),
        max_timeout_ms=least,
        clock=context.clock,
    )
    unread = tuple(
        Unread(about.name, None, why.name, why.message, why.hint, why.see)
        for about, why in refused.items()
    )
    return replace(search, unread=(*unread, *search.unread))


def _broker(invocation: Invocation) -> int | None:
    text = invocation["broker-id"]
    if text is None or text.isdecimal():
        return None if text is None else int(text)
    raise UsageError(
        f"--broker-id wants one broker's id; got '{text}'",
        code="bad-value",
        span=invocation.span("broker-id"),
    )


def _minutes(invocation: Invocation, text: str) -> int:
    """A duration; a bare number is minutes, as kafka-transactions has it."""
    from kafka_shell.units import parse_duration

    try:
        found = int(text) * _MINUTE if text.isdecimal() else parse_duration(text)
        why = "" if 0 <= found < 1 << 63 else f"must be a duration of 0 or more, got '{text}'"
    except ShellError as error:
        why = error.message
    if not why:
        return found
    raise UsageError(
        f"--max-transaction-timeout: {why}",
        hint="A bare number is minutes.",
        code="bad-value",
        span=invocation.span("max-transaction-timeout"),
    )


def _partitions(
    invocation: Invocation, cluster: Cluster
) -> tuple[list[TopicPartition], dict[Resource, Failure]]:
    """The partitions that the line means, and what it means that is not there."""
    from kafka_shell.admin.partitions.model import TopicPartition

    numbers = invocation["partition"]
    if numbers:
        named = invocation["topic"]
        if len(named) != 1 or named[0][1] is not None:
            raise UsageError(
                "--partition wants one topic, without partitions of its own",
                hint="Several: orders:0,3-5 payments:1",
                span=invocation.span("partition"),
            )
        values = {**invocation.values, "topic": ((named[0][0], tuple(numbers)),)}
        invocation = replace(invocation, values=values)
    found = select.partitions(invocation, cluster)
    return [TopicPartition(each.topic, each.partition) for each in found], found.failures


# -- change ----------------------------------------------------------------------------------------


def abort_transaction(invocation: Invocation, context: Context) -> Plan | Nothing:
    """Write the markers that end transactions which hang."""
    if invocation["start-offset"] is not None:
        return _abort_one(invocation, context)
    wanted = invocation["transactional-id"]
    if wanted:
        _refuse_known(wanted, context)
    from kafka_shell.admin.transactions import change as transaction_changes

    search = _search(invocation, context)
    if search.unread:
        first = search.unread[0]
        raise ShellError(
            f"{len(search.unread)} partitions could not be searched: {first.message}",
            hint=first.hint,
            see=first.see or Resource("hanging-transaction"),
            code=first.error,
        )
    found = [each for each in search.found if not wanted or each.transactional_id == wanted]
    if not found:
        whose = f" of {wanted}" if wanted else ""
        unseen = "" if search.searched else _UNSEEN
        return Nothing(f"no transaction{whose} hangs in {search.searched:,} partitions{unseen}")
    return transaction_changes.plan_abort(context.cluster, found, clock=context.clock)


def _abort_one(invocation: Invocation, context: Context) -> Plan:
    from kafka_shell.admin.transactions import change as transaction_changes
    from kafka_shell.admin.wire.failures import as_error

    if not invocation["topic"]:
        raise _one_partition(invocation)
    partitions, refused = _partitions(invocation, context.cluster)
    for why in refused.values():
        raise as_error(why)
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
        "--start-offset wants one partition, such as orders:0",
        span=invocation.span("topic") or invocation.span("start-offset"),
    )


def _refuse_known(name: str, context: Context) -> None:
    """What its coordinator still has in hand is not for markers of ours."""
    from kafka_shell.admin.transactions import read as transactions
    from kafka_shell.admin.wire.failures import as_error

    found = transactions.describe(context.cluster, [name], clock=context.clock)
    if name in found.failures:
        raise as_error(found.failures[name])
    transaction = found[name]
    if transaction.under_way:
        raise ShellError(
            f"the transaction of {name} does not hang: its coordinator has it as"
            f" {transaction.state}",
            hint=f"fence-producer {positional('--transactional-id', name)} aborts it by its"
            " coordinator.",
            code="not-hanging",
        )


def fence_producer(invocation: Invocation, context: Context) -> Plan:
    """A new epoch for transactional ids."""
    from kafka_shell.admin.transactions import change as transaction_changes

    return transaction_changes.plan_fence(context.cluster, invocation["transactional-id"])


_TOPIC_HELP = "Which partitions: orders:0,3-5; orders means all of it"
_PARTITION = Option("--partition", Kind.INTEGER, "A partition of the --topic; may be repeated.",
                    many=True, metavar="N", least=0, most=2**31 - 1)  # fmt: skip
_BROKER = Option("--broker-id", Kind.BROKER, "Ask this broker, which has a replica, and not the"
                 " leader.", metavar="N")  # fmt: skip
_MAX_TIMEOUT = Option(
    "--max-transaction-timeout",
    Kind.TEXT,
    "Leave alone what wrote later than this ago: 15 minutes unless told; the brokers'"
    " transaction.max.timeout.ms.",
    metavar="MINUTES",
)
_IDS = Argument("transactional-id", Kind.TRANSACTIONAL_ID, "Which transactional ids.", many=True,
                option="--transactional-id")  # fmt: skip

COMMANDS: tuple[Command, ...] = (
    Command(
        name="list-transactions",
        summary="Transactional ids and the state of their transactions.",
        family="transactions",
        run=list_transactions,
        options=(
            Option("--state", Kind.TEXT, "Only these states: Ongoing,PrepareCommit ...; may be"
                   " repeated.", many=True, choices=_STATES, metavar="STATES"),
            Option("--producer-id", Kind.INTEGER, "Only of this producer; may be repeated.",
                   many=True, metavar="ID", least=0),
            Option("--duration-filter", Kind.DURATION,
                   "Only transactions that run longer (Kafka 3.8).", metavar="DURATION",
                   least=0),
            Option("--transactional-id-pattern", Kind.TEXT,
                   "Only ids that match this regular expression as a whole (Kafka 4.1).",
                   metavar="REGEX"),
        ),
        shorts=(Short("transactions", "list-transactions"),),
        search=("txn", "exactly-once", "producers"),
        examples=(
            Example("list-transactions", "every transactional id that a coordinator knows"),
            Example("list-transactions --state Ongoing --duration-filter 5m",
                    "what has been open for more than five minutes"),
        ),
        apis=(66,),
    ),
    Command(
        name="describe-transactions",
        summary="Transactional ids with their current transaction and its partitions.",
        family="transactions",
        run=describe_transactions,
        arguments=(_IDS,),
        shorts=(Short("transaction", "describe-transactions"),),
        search=("txn", "coordinator", "timeout"),
        examples=(
            Example("describe-transactions ledger-1", "who has it, since when, in which partitions"
                    " (the demo company has none)", status=1),
        ),
        apis=(65,),
    ),
    Command(
        name="describe-producers",
        summary="Producers that partitions remember, and their open transactions.",
        family="transactions",
        run=describe_producers,
        arguments=(
            Argument("topic", Kind.TOPIC_PARTITIONS, _TOPIC_HELP, many=True, option="--topic"),
        ),
        options=(_PARTITION, _BROKER),
        search=("idempotent", "sequence", "last stable offset", "txn"),
        examples=(
            Example("describe-producers orders.placed:0", "who writes to a partition"),
            Example("describe-producers --topic orders.placed --partition 0 --broker-id 1",
                    "as one broker's replica has it"),
        ),
        apis=(61,),
    ),
    Command(
        name="find-hanging-transactions",
        summary="Open transactions that no coordinator will end.",
        family="transactions",
        run=find_hanging_transactions,
        arguments=(
            Argument("topic", Kind.TOPIC_PARTITIONS, f"{_TOPIC_HELP} (none: every topic)",
                     many=True, required=False, option="--topic"),
        ),
        options=(
            _PARTITION,
            Option("--broker-id", Kind.BROKER, "Only partitions that this broker has a replica"
                   " of, as it sees them.", metavar="N"),
            _MAX_TIMEOUT,
        ),
        search=("stuck", "last stable offset", "lso", "txn", "read_committed"),
        description=(
            "Consumers that read committed records only stop where such a transaction starts, and"
            " a compacted topic is not cleaned beyond it. Exit status 1 where one is found."
        ),
        examples=(
            Example("find-hanging-transactions", "look at every partition"),
            Example("find-hanging-transactions orders.placed --max-transaction-timeout 30m",
                    "one topic, where transactions may take half an hour"),
        ),
        apis=(61, 65, 66),
    ),
    Command(
        name="abort-transaction",
        summary="End a transaction that hangs by writing its abort markers.",
        family="transactions",
        run=abort_transaction,
        effect=Effect.DESTROY,
        arguments=(
            Argument("topic", Kind.TOPIC_PARTITIONS, "The partition where it hangs: orders:0; with"
                     " --hanging, where to look", many=True, required=False, option="--topic"),
        ),
        options=(
            _PARTITION,
            Option("--start-offset", Kind.INTEGER,
                   "Where the transaction starts in the one partition named.", metavar="OFFSET",
                   least=0),
            Option("--transactional-id", Kind.TRANSACTIONAL_ID,
                   "All that hangs of this transactional id.", metavar="ID"),
            Option("--hanging", Kind.FLAG, "All that find-hanging-transactions finds."),
            Option("--broker-id", Kind.BROKER, "Look only on this broker.", metavar="N",
                   excludes=("--start-offset",)),
            Option("--max-transaction-timeout", Kind.TEXT, _MAX_TIMEOUT.help, metavar="MINUTES",
                   excludes=("--start-offset",)),
        ),
        exactly_one=(("start-offset", "transactional-id", "hanging"),),
        search=("stuck", "txn", "marker", "lso"),
        description=(
            "For transactions that their coordinator has forgotten. One that it knows is ended by"
            " fence-producer, or by its own timeout: aborted partition by partition it could be"
            " half committed."
        ),
        examples=(
            Example("abort-transaction --hanging --dry-run",
                    "what would be aborted, of all that hangs"),
            Example("abort-transaction orders.placed:0 --start-offset 42 --dry-run",
                    "one, by the offset that find-hanging-transactions tells (none is open here)",
                    status=1),
        ),
        apis=(2, 27, 61, 65, 66),
    ),
    Command(
        name="fence-producer",
        summary="Shut out the producers of transactional ids, and abort what they have open.",
        family="transactions",
        run=fence_producer,
        effect=Effect.DESTROY,
        arguments=(_IDS,),
        search=("zombie", "epoch", "abort", "txn", "kill"),
        examples=(
            Example("fence-producer ledger-1 --dry-run", "what it would do (the demo company has"
                    " no transactional id)", status=1),
        ),
        apis=(22, 65),
    ),
)  # fmt: skip
