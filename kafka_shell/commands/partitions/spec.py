"""Declarations of the partitions commands."""

from __future__ import annotations

from kafka_shell.base.plans import Effect
from kafka_shell.language import kinds
from kafka_shell.language.command import CHANGING, TIMEOUT, Argument, Command, Example, Option
from kafka_shell.language.kinds import Kind

THROTTLE = Option("--throttle", kinds.RATE, "Replication throttle per broker: 50MB/s.", least=1)
WAIT = Option(
    "--wait", kinds.FLAG, "Wait until the reassignment completes, then remove its throttle."
)
INCLUDE_CORDONED = Option("--include-cordoned", kinds.FLAG,
                          "Also move replicas to cordoned brokers that are named.")  # fmt: skip
FILE = Option("--reassignment-json-file", kinds.FILE, "A reassignment in Kafka's JSON format.")
BATCHES = (
    Option("--batch", kinds.INTEGER, "Move at most this many partitions at a time (default: 100).",
           least=1, metavar="N"),
    Option("--batch-bytes", kinds.SIZE, "Copy at most this much at a time: 50GiB.", least=1,
           metavar="SIZE"),
    Option("--per-broker", kinds.INTEGER, "Move at most this many partitions to or from a broker at"
           " a time.", least=1, metavar="N"),
)  # fmt: skip
PARTITIONS = Option("--partitions", kinds.TOPIC_PARTITIONS, "Only these partitions, for --drain or"
                    " --cancel: orders:0,3-5", many=True, excludes=("--topics",))  # fmt: skip
_PREFERRED, UNCLEAN = "preferred", "unclean"


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
_BY = ("dir", "broker", "topic", "partition", "replica")
_LOG_DIR = Kind("log-dir", kinds.in_view("log_dirs"), "DIR")
_BROKER = Option("--broker-id", kinds.BROKER, "Only these brokers: 1,2 (default: all).", many=True)


COMMANDS: tuple[Command, ...] = (
    Command(
        name="reassign-partitions",
        summary="Move replicas to other brokers: from a file, by topic, or to drain a broker.",
        family="partitions",
        run="partitions.reassignments:reassign_partitions",
        effect=Effect.CHANGE,
        options=(
            FILE,
            Option("--topics", kinds.TOPIC, "Spread these topics evenly: a,b  svc-*  /regex/",
                   many=True, aliases=("--topic",), metavar="TOPICS"),
            Option("--topics-to-move-json-file", kinds.FILE, "The same for topics in a JSON file."),
            Option("--broker-list", kinds.BROKER,
                   "The brokers for --topics (default: all running ones that are not cordoned).",
                   many=True, metavar="IDS"),
            INCLUDE_CORDONED,
            Option("--drain", kinds.BROKER,
                   "Move all replicas off a broker, or only those of --topics.", metavar="BROKER",
                   excludes=("--broker-list",)),
            PARTITIONS,
            THROTTLE,
            *BATCHES,
            Option("--additional", kinds.FLAG,
                   "Allow changing the target of running reassignments."),
            Option("--disallow-replication-factor-change", kinds.FLAG,
                   "Reject partitions whose replication factor would change."),
            Option("--export", kinds.FILE, "Also write the reassignment in Kafka's JSON format."),
            WAIT,
            Option("--cancel", kinds.FLAG, "Cancel running reassignments of a file, of --topics or"
                   " of --partitions.",
                   excludes=("--throttle", "--drain", "--broker-list", "--additional", "--export",
                             "--wait", "--topics-to-move-json-file", "--batch", "--batch-bytes",
                             "--per-broker")),
        ),
        description=(
            "Uses the planner of rebalance; --broker-list moves replicas off all other brokers.\n"
            "The current replicas are first written to a rollback file.\n"
            "--wait and the prompt remove the throttle when the reassignment completes; otherwise "
            "run verify-reassign-partitions --finish.\n"
            "More than 100 partitions are moved in batches; if the replicas of a batch are not in "
            "sync, the reassignment pauses and reports why.\n"
            "To continue after a pause or Ctrl-C, run the same command again."
        ),
        search=("rebalance", "migrate", "decommission", "generate", "execute", "rack", "balance"),
        apis=(2, 3, 32, 34, 35, 44, 45, 46),
        elsewhere=(
            ("--execute", "Omit it: the file is executed unless --dry-run is given."),
            ("--verify", "Run verify-reassign-partitions --reassignment-json-file FILE."),
            ("--generate", "Use --dry-run to see the plan, and --export FILE to write it."),
            ("--list", "Run list-reassignments."),
        ),
        examples=(
            Example("reassign-partitions --topics 'orders.*' --dry-run",
                    "preview spreading topics evenly"),
            Example("reassign-partitions --topics 'orders.*' --export /dev/null --dry-run",
                    "export the plan in Kafka's JSON format"),
            Example("reassign-partitions --cancel --topics '*'", "cancel all reassignments"),
        ),
    ),
    Command(
        name="rebalance",
        summary="Balance topics, leaders, bytes and replicas between brokers.",
        family="partitions",
        run="partitions.reassignments:rebalance",
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
            Option("--only-leaders", kinds.FLAG, "Only change the order of replicas: moves"
                   " preferred leaders, not data."),
            Option("--max-bytes", kinds.SIZE, "Copy at most this much: 500GiB. The moves with the"
                   " best gain per byte are made.", least=0, metavar="SIZE"),
            Option("--max-partitions", kinds.INTEGER, "Change at most this many partitions.",
                   least=0),
            Option("--min-gain", kinds.INTEGER, "Minimum gain of a goal, in percent, that justifies"
                   " copying data (default: 1).", least=0, most=100, metavar="PERCENT"),
            Option("--measure", kinds.DURATION, "Measure the bytes written to each partition for"
                   " this long, and balance leaders by them: 30s.", least=1),
            INCLUDE_CORDONED,
            THROTTLE,
            *BATCHES,
            WAIT,
        ),
        description=(
            "Hard constraints: one replica of a partition per broker, racks no worse than "
            "before, only active brokers, and 5% of each disk stays free.\n"
            "Goals, in this order: replicas and leaders of each topic, leaders per broker, "
            "written bytes (with --measure), bytes per broker, replicas per broker, and few "
            "copied bytes.\n"
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
    Command(
        name="verify-reassign-partitions",
        summary="Show the state of reassignments and leftover throttles; --finish removes the"
        " throttles.",
        family="partitions",
        run="partitions.reassignments:verify_reassign_partitions",
        options=(
            FILE,
            Option("--topics", kinds.TOPIC, "Only these topics: a,b  svc-*  /regex/", many=True,
                   aliases=("--topic",), metavar="TOPICS", excludes=("--reassignment-json-file",)),
            Option("--finish", kinds.FLAG, "Wait until moves are complete, then remove throttles."),
            *CHANGING,
        ),
        description=(
            "Each partition is completed (1), in progress (0) or failed (-1); LAG is the offset "
            "lag of the slowest new replica.\n"
            "The exit status is 1 until all partitions are completed and no throttle is left.\n"
            "--finish waits for the end, removes throttles and restores the rates that kafka.sh "
            "replaced; without a file it finishes all running reassignments.\n"
            "Throttles set by other tools are removed.\n"
            "If a broker is down, run --finish again when it is up."
        ),
        search=("throttle", "progress", "reassignment"),
        apis=(2, 3, 32, 34, 35, 44, 46),
        examples=(
            Example("verify-reassign-partitions", "show reassignments and leftover throttles"),
            Example("verify-reassign-partitions --finish", "wait for the end and remove throttles"),
        ),
    ),
    Command(
        name="list-reassignments",
        summary="List partitions that are being reassigned.",
        family="partitions",
        run="partitions.run:list_reassignments",
        arguments=(
            Argument("topic", kinds.TOPIC, "Only these topics: a,b  svc-*  /regex/", many=True,
                     required=False, option="--topic"),
        ),
        search=("moves", "progress", "reassign"),
        apis=(2, 3, 35, 46),
        examples=(
            Example("list-reassignments", "list reassignments and their progress"),
        ),
    ),
    Command(
        name="preferred-replica-leader-election",
        rare=True,
        summary="Elect the preferred leaders of partitions (KIP-4).",
        family="partitions",
        run="partitions.run:elect_preferred",
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
        run="partitions.run:verify_preferred",
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
        run="partitions.run:elect_leaders",
        effect=Effect.CHANGE,
        arguments=(_partitions(""),),
        options=(
            Option("--election-type", kinds.CHOICE,
                   "preferred (default), or unclean: a replica not in sync, which loses records.",
                   choices=(_PREFERRED, UNCLEAN), metavar="TYPE"),
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
    Command(
        name="describe-log-dirs",
        summary="Show log directories, or disk usage by broker, topic or partition.",
        family="partitions",
        run="partitions.run:describe_log_dirs",
        arguments=(
            Argument("topic", kinds.TOPIC_PARTITIONS,
                     "Only these partitions: orders:0,3-5  orders  svc-*  (default: all)",
                     many=True, required=False, option="--topic"),
        ),
        options=(
            _BROKER,
            Option("--log-dir", _LOG_DIR, "Only this log directory."),
            Option("--by", kinds.CHOICE,
                   "Group by dir (default), replica (default with topics), broker, topic or"
                   " partition.",
                   choices=_BY, metavar="WHAT"),
        ),
        search=("disk", "size", "usage", "space", "storage", "future", "jbod"),
        description=(
            "USABLE and TOTAL refer to the volume of the log directory.\n"
            "INCOMING counts future replicas, which alter-log-dirs copies from another log"
            " directory of the broker; LAG is their offset lag.\n"
            "--by topic and --by partition sort by size: SIZE is the sum of all replicas, LARGEST"
            " the largest replica.\n"
            "A + marks an incomplete sum: a broker was not read, or a log directory is offline."
        ),
        apis=(35,),
        examples=(
            Example("describe-log-dirs",
                    "show all log directories with state, size and free space"),
            Example("describe-log-dirs --by topic", "show disk usage by topic, largest first"),
            Example("describe-log-dirs orders.placed --broker-id 1",
                    "show the replicas of a topic on a broker"),
        ),
    ),
    Command(
        name="alter-log-dirs",
        summary="Move replicas to another log directory of their broker.",
        family="partitions",
        run="partitions.run:alter_log_dirs",
        effect=Effect.CHANGE,
        arguments=(
            Argument("topic", kinds.TOPIC_PARTITIONS, "Partitions: orders:0,3-5  orders  svc-*",
                     many=True, option="--topic"),
        ),
        options=(
            Option("--log-dir", _LOG_DIR, "The target, as shown by describe-log-dirs.",
                   required=True),
            Option("--broker-id", kinds.BROKER,
                   "Only these brokers (default: all with this log directory).", many=True),
            Option("--wait", kinds.FLAG, "Wait until the replicas are copied."),
        ),
        search=("disk", "jbod", "move", "balance"),
        description=(
            "The broker copies the replica while serving it, then switches to the copy. To cancel,"
            " move the replica to the log directory it is still in; to follow the copy, run the"
            " same command with --wait. The rate is limited by"
            " replica.alter.log.dirs.io.max.bytes.per.second of the broker."
        ),
        apis=(34, 35),
        examples=(
            Example("alter-log-dirs orders.placed:0 --log-dir /data/b --broker-id 1 --dry-run",
                    "preview moving a replica (the demo has no such directory)", status=1),
        ),
    ),
)  # fmt: skip
