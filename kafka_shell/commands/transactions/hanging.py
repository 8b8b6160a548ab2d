"""Find and abort hanging transactions (KIP-664)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Effect, Plan, Resource
from kafka_shell.base.results import Failure
from kafka_shell.base.structs import replace
from kafka_shell.base.text import positional
from kafka_shell.base.units import counted
from kafka_shell.commands.transactions.commands import (
    PARTITION,
    TOPIC_HELP,
    broker_of,
    partitions_of,
)
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Invocation, Option

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.admin.transactions.model import HangingSearch
    from kafka_shell.context import Context

_MINUTE = 60_000
_ONLY_READABLE = " (requires DESCRIBE and READ on topics)"


def find_hanging_transactions(invocation: Invocation, context: Context) -> HangingSearch:
    """Open transactions that no coordinator will end."""
    search = _search(invocation, context)
    if search.ok and not search.searched:
        context.note(f"no partitions to search{_ONLY_READABLE}")
    return search


def _search(invocation: Invocation, context: Context) -> HangingSearch:
    from kafka_shell.admin.topics.visibility import hidden
    from kafka_shell.admin.transactions import read as transactions
    from kafka_shell.admin.transactions.model import Unread
    from kafka_shell.wire.metadata_scan import scan

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


def abort_transaction(invocation: Invocation, context: Context) -> Plan | NoRows:
    """Abort hanging transactions by writing abort markers."""
    if invocation["start-offset"] is not None:
        return _abort_one(invocation, context)
    requested = invocation["transactional-id"]
    if requested:
        _refuse_managed(requested, context)
    from kafka_shell.admin.transactions import change as transaction_changes

    search = _search(invocation, context)
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
        note = "" if search.searched else _ONLY_READABLE
        searched = counted(search.searched, "partition")
        return NoRows(f"no hanging transaction{of} in {searched}{note}")
    return transaction_changes.plan_abort(context.cluster, found, clock=context.clock)


def _abort_one(invocation: Invocation, context: Context) -> Plan:
    from kafka_shell.admin.transactions import change as transaction_changes
    from kafka_shell.wire.failures import as_error

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
    from kafka_shell.admin.transactions import read as transactions
    from kafka_shell.wire.failures import as_error

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


def _minutes(invocation: Invocation, text: str) -> int:
    """A duration in milliseconds; a bare number is minutes, as in kafka-transactions."""
    from kafka_shell.base.units import parse_duration

    try:
        found = int(text) * _MINUTE if text.isdecimal() else parse_duration(text)
        problem = "" if 0 <= found < 1 << 63 else f"must be a duration of 0 or more, got '{text}'"
    except ShellError as error:
        problem = error.message
    if not problem:
        return found
    raise UsageError(
        f"--max-transaction-timeout: {problem}",
        hint="Use a duration such as 30m; a number without a unit is in minutes.",
        code="bad-value",
        span=invocation.span("max-transaction-timeout"),
    )


_MAX_TIMEOUT = Option(
    "--max-transaction-timeout",
    kinds.TEXT,
    "Ignore producers that wrote within this time (default: 15 minutes). Set it to"
    " transaction.max.timeout.ms of the brokers.",
    metavar="MINUTES",
)
COMMANDS: tuple[Command, ...] = (
    Command(
        name="find-hanging-transactions",
        summary="Find hanging transactions: open transactions that no coordinator will end.",
        family="transactions",
        run=find_hanging_transactions,
        arguments=(
            Argument("topic", kinds.TOPIC_PARTITIONS, f"{TOPIC_HELP} (default: all topics)",
                     many=True, required=False, option="--topic"),
        ),
        options=(
            PARTITION,
            Option("--broker-id", kinds.BROKER, "Only partitions with a replica on this broker,"
                   " querying that replica.", metavar="N"),
            _MAX_TIMEOUT,
        ),
        search=("stuck", "last stable offset", "lso", "txn", "read_committed"),
        description=(
            "read_committed consumers cannot read past the start of a hanging transaction, and"
            " compacted topics are not cleaned beyond it. The exit status is 1 if one is found."
        ),
        examples=(
            Example("find-hanging-transactions", "search all partitions"),
            Example("find-hanging-transactions orders.placed --max-transaction-timeout 30m",
                    "search a topic whose transactions may take 30 minutes"),
        ),
        apis=(35, 60, 61, 65, 66),
    ),
    Command(
        name="abort-transaction",
        summary="Abort a hanging transaction by writing abort markers.",
        family="transactions",
        run=abort_transaction,
        effect=Effect.DESTROY,
        arguments=(
            Argument("topic", kinds.TOPIC_PARTITIONS, "The partition of the transaction: orders:0;"
                     " with --hanging, the partitions to search", many=True, required=False,
                     option="--topic"),
        ),
        options=(
            PARTITION,
            Option("--start-offset", kinds.INTEGER,
                   "The start offset of the transaction in the partition.", metavar="OFFSET",
                   least=0),
            Option("--transactional-id", kinds.TRANSACTIONAL_ID,
                   "All hanging transactions of this transactional ID."),
            Option("--hanging", kinds.FLAG,
                   "All transactions that find-hanging-transactions finds."),
            Option("--broker-id", kinds.BROKER, "Search only this broker.", metavar="N",
                   excludes=("--start-offset",)),
            Option("--max-transaction-timeout", kinds.TEXT, _MAX_TIMEOUT.help, metavar="MINUTES",
                   excludes=("--start-offset",)),
        ),
        exactly_one=(("start-offset", "transactional-id", "hanging"),),
        search=("stuck", "txn", "marker", "lso"),
        description=(
            "Use this only for hanging transactions. Other transactions are ended by fence-producer"
            " or their own timeout; aborting them partition by partition could leave them partly"
            " committed."
        ),
        examples=(
            Example("abort-transaction --hanging --dry-run",
                    "preview aborting all hanging transactions"),
            Example("abort-transaction orders.placed:0 --start-offset 42 --dry-run",
                    "preview aborting one, by its start offset",
                    status=1),
        ),
        apis=(2, 27, 35, 60, 61, 65, 66),
    ),
)  # fmt: skip
