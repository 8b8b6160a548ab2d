"""Declarations of the transactions commands."""

from __future__ import annotations

from kafka_shell.base.plans import Effect
from kafka_shell.language import kinds
from kafka_shell.language.command import Argument, Command, Example, Option, Short

TOPIC_HELP = "Partitions: orders:0,3-5, or orders for all partitions"
PARTITION = Option("--partition", kinds.INTEGER, "A partition of the --topic; may be repeated.",
                    many=True, least=0, most=2**31 - 1)  # fmt: skip
BROKER = Option("--broker-id", kinds.BROKER, "Query this broker's replica instead of the"
                 " leader.", metavar="N")  # fmt: skip
_STATES = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort",
    "PrepareEpochFence", "Dead",
)  # fmt: skip
_IDS = Argument("transactional-id", kinds.TRANSACTIONAL_ID, "Transactional IDs.", many=True,
                option="--transactional-id")  # fmt: skip
_MAX_TIMEOUT = Option(
    "--max-transaction-timeout",
    kinds.TEXT,
    "Ignore producers that wrote within this time (default: 15 minutes). Set it to"
    " transaction.max.timeout.ms of the brokers.",
    metavar="MINUTES",
)


COMMANDS: tuple[Command, ...] = (
    Command(
        name="list-transactions",
        summary="List transactional IDs and the state of their transactions.",
        family="transactions",
        run="transactions.run:list_transactions",
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
        run="transactions.run:describe_transactions",
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
        run="transactions.run:describe_producers",
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
        run="transactions.run:fence_producer",
        effect=Effect.DESTROY,
        arguments=(_IDS,),
        search=("zombie", "epoch", "abort", "txn", "kill"),
        examples=(
            Example("fence-producer ledger-1 --dry-run", "preview fencing a producer (the demo has"
                    " no transactional IDs)", status=1),
        ),
        apis=(22, 65),
    ),
    Command(
        name="find-hanging-transactions",
        summary="Find hanging transactions: open transactions that no coordinator will end.",
        family="transactions",
        run="transactions.run:find_hanging_transactions",
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
            "read_committed consumers and compaction stop at the start of a hanging transaction."
            " The exit status is 1 if one is found."
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
        run="transactions.run:abort_transaction",
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
