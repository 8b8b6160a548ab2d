"""Declarations of the records commands."""

from __future__ import annotations

from kafka_shell.admin.records.codecs import CODECS
from kafka_shell.base.plans import Effect
from kafka_shell.language import kinds
from kafka_shell.language.command import TIMEOUT, Argument, Command, Example, Option, Short
from kafka_shell.language.kinds import CandidateSource, Kind

# The names and numbers that kafka-get-offsets accepts for --time.
OFFSETS_BY_NAME = {
    "earliest": -2,
    "latest": -1,
    "max-timestamp": -3,
    "earliest-local": -4,
    "latest-tiered": -5,
    "earliest-pending-upload": -6,
}
LATEST = "latest"
_PARTITIONS = "Partitions: orders:0,3-5  orders  svc-*"

SCHEMA_FORMATS = ("avro", "protobuf", "json-schema")
FORMATS = (
    "auto", "json", "string", "hex", "base64", "int32", "int64", "double", *SCHEMA_FORMATS,
)  # fmt: skip
MAX_BATCH_SIZE = Option(
    "--max-batch-size", kinds.SIZE, "Skip record batches larger than this after"
    " decompression (default: 64MiB).", least=1, most=(1 << 31) - 1,
)  # fmt: skip

# The isolation levels of consumers (KIP-98).

READ_COMMITTED = "read_committed"
ISOLATION_LEVELS = ("read_uncommitted", READ_COMMITTED)

# Positions in partitions as they are typed: earliest, latest, an offset or a time.

STARTS = Kind(
    "text",
    CandidateSource(lambda found, known: known.times(found.prefix, {"earliest": "", LATEST: ""})),
)
ENDS = Kind("text", CandidateSource(lambda found, known: known.times(found.prefix, {LATEST: ""})))


class _Header(kinds.Pair):
    """key=value, whose value is not shown again."""

    def format(self, value: tuple[str, str]) -> str:
        return f"{value[0]}=***"


_HEADER = _Header("header", metavar="KEY=VALUE")

# How records are printed and decoded.
_PRINTED = (
    Option("--keys-only", kinds.FLAG, "Print only the keys.", excludes=("--full",)),
    Option("--raw", kinds.FLAG, "Print raw values, one per line.", excludes=("--full",)),
    Option("--full", kinds.FLAG, "Print each record in full instead of on one line."),
)
UNMASK = Option("--unmask", kinds.FLAG, "Show masked fields, if the profile has unmask = true.")
_DECODED = (
    UNMASK,
    Option("--key-format", kinds.CHOICE, "How to decode keys (default: auto).",
           choices=FORMATS, metavar="FORMAT"),
    Option("--value-format", kinds.CHOICE, "How to decode values (default: auto).",
           choices=FORMATS, metavar="FORMAT", excludes=("--schema",)),
    Option("--schema", kinds.FILE, "Decode values with the schema of a file (.avsc, .proto, .json)"
           " or directory.", metavar="FILE|DIR"),
    Option("--message-type", kinds.TEXT, "The Avro type or Protobuf message in the schema (default:"
           " the first of a file).", requires=("--schema",), metavar="NAME"),
)  # fmt: skip

# What a continued copy takes from the journal.
SAVED = ("where", "grep", "keep-timestamps", "add-source-headers", "isolation-level",
          "max-batch-size", "compression-type", "to-profile")  # fmt: skip


COMMANDS: tuple[Command, ...] = (
    Command(
        name="list-offsets",
        summary="List the first and last offsets of partitions, or the offsets at a time.",
        family="topics",
        run="records.run:list_offsets",
        arguments=(
            Argument("topic", kinds.TOPIC_PARTITIONS, f"{_PARTITIONS} (default: all)", many=True,
                     required=False, option="--topic"),
        ),
        options=(
            Option("--time", kinds.TIME,
                   "Offset at: 2026-01-31T10:00, -1h, earliest (-2), latest (-1) ...",
                   choices=tuple(OFFSETS_BY_NAME), metavar="TIME"),
            Option("--isolation", kinds.CHOICE,
                   "read_committed: the end is the last stable offset.",
                   choices=ISOLATION_LEVELS, metavar="LEVEL"),
            Option("--exclude-internal", kinds.FLAG, "Exclude internal topics.",
                   aliases=("--exclude-internal-topics",)),
        ),
        shorts=(Short("offsets", "list-offsets"),),
        search=("earliest", "latest", "count", "watermark", "timestamp", "records"),
        description=(
            "Without --time: the earliest offset, the latest offset (of the next record) and the"
            " difference. After compaction or transactions there are fewer records than that; to"
            " count them, use read-records --count. With a time: the first record with that"
            " timestamp or later; - if there is none.\n"
            "max-timestamp is the record with the largest timestamp (Kafka 3.0). With tiered"
            " storage: earliest-local is the first record on the broker's disk, latest-tiered the"
            " last in remote storage (3.9), earliest-pending-upload the first not yet uploaded"
            " (4.2)."
        ),
        apis=(2,),
        examples=(
            Example("list-offsets orders.placed", "show the offset range of each partition"),
            Example("list-offsets orders.placed:0 --time -1h",
                    "find the first record of the last hour"),
            Example("list-offsets 'payments.*' --time max-timestamp",
                    "show the newest record of each partition"),
        ),
    ),
    Command(
        name="delete-records",
        summary="Delete the oldest records of partitions.",
        family="topics",
        run="records.run:delete_records",
        effect=Effect.DESTROY,
        arguments=(
            Argument("topic", kinds.TOPIC_PARTITIONS, _PARTITIONS, many=True, required=False,
                     option="--topic"),
        ),
        options=(
            Option("--to", ENDS,
                   "Delete records before an offset, a time (2026-01-31T10:00, -7d) or latest.",
                   metavar="OFFSET|TIME|latest"),
            Option("--offset-json-file", kinds.FILE,
                   "A JSON file of partitions and offsets (kafka-delete-records).",
                   excludes=("--to",)),
            TIMEOUT,
        ),
        exactly_one=(("topic", "offset-json-file"),),
        search=("purge", "truncate", "empty", "trim"),
        description=(
            "The plan names the groups that have not read the records yet.\n"
            "A number of more than 11 digits is a time in milliseconds; offset:N is always an"
            " offset.\n"
            "Deleted records cannot be restored. latest is the end of the partition when the plan"
            " is made; records written later are kept. The file lists {\"partitions\": [{\"topic\":"
            " \"orders\", \"partition\": 0, \"offset\": 100}]}; offset -1 is the end.\n"
            "Requires a cleanup.policy that includes delete."
        ),
        apis=(2, 9, 16, 21, 32, 60, 90),
        examples=(
            Example("delete-records orders.placed:0 --to 10 --dry-run",
                    "preview deleting the records before offset 10"),
            Example("delete-records orders.placed --to -30d --dry-run",
                    "preview deleting all records older than 30 days"),
        ),
    ),
    Command(
        name="read-records",
        summary="Read records of topics: the last ones, a range, or as they arrive.",
        family="records",
        run="records.read_records:read_records",
        arguments=(
            Argument("topic", kinds.TOPIC_PARTITIONS, "Partitions: orders:0,3-5  orders  svc-*",
                     many=True, option="--topic"),
        ),
        options=(
            Option("--from", STARTS, "Start: earliest, latest, an offset, or a time such as -1h.",
                   metavar="POSITION"),
            Option("--to", ENDS, "End, exclusive: an offset, a time or latest (default).",
                   metavar="POSITION", excludes=("--follow",)),
            Option("--last", kinds.INTEGER, "The last records before the end (default: 10).",
                   least=1, most=10_000_000, metavar="N"),
            Option("--limit", kinds.INTEGER, "Stop after this many records.",
                   least=1, metavar="N", excludes=("--last",)),
            Option("--follow", kinds.FLAG, "Keep reading new records until Ctrl-C."),
            Option("--where", kinds.TEXT,
                   "Only records that match this condition: key=4711, 'value.amount>10',"
                   " header.reason=~'5..'; may be repeated, all must match.",
                   many=True, metavar="CONDITION"),
            Option("--grep", kinds.TEXT,
                   "Only records whose key, value or headers match this regular expression.",
                   many=True, metavar="REGEX"),
            Option("--count", kinds.FLAG, "Print only the number of records.",
                   excludes=("--last", "--limit", "--follow")),
            *_PRINTED,
            Option("--isolation-level", kinds.CHOICE,
                   "read_committed: skip aborted transactions, stop at the first open one.",
                   choices=ISOLATION_LEVELS, metavar="LEVEL"),
            MAX_BATCH_SIZE,
            *_DECODED,
        ),
        shorts=(Short("peek", "read-records"),),
        elsewhere=(
            ("--partition", "Write it after the topic: orders:0, or orders:0,3-5."),
            ("--offset", "Use --from: read-records orders:0 --from 5"),
            ("--from-beginning", "Use --from earliest."),
            ("--max", "Use --limit."),
            ("--max-messages", "Use --limit."),
        ),
        search=("consume", "consumer", "tail", "messages", "kcat", "dump", "search", "grep"),
        description=(
            "Prints the last 10 records (or --limit); with --from, --where, --grep or --count, the "
            "records from --from (default: earliest) to --to (exclusive; default: latest).\n"
            "A time selects the first record with this timestamp or a later one; offset:N is "
            "always an offset.\n"
            "Conditions: key, value, header.NAME, or a path into JSON such as value.user.name; "
            "operators = != < <= > >= =~ !~ (null finds tombstones).\n"
            "Quote conditions that contain < or >.\n"
            "Uses no consumer group, and commits nothing."
        ),
        apis=(1, 2, 3),
        examples=(
            Example("peek orders.placed", "show the last 10 records of a topic"),
            Example("read-records orders.placed:0-1 --from -1h --limit 5",
                    "show the first 5 records of the last hour of two partitions"),
            Example("read-records orders.placed --where 'value.items>=5' --count",
                    "count the orders of 5 items or more"),
            Example("read-records orders.placed --from earliest --limit 3 --output json",
                    "print the first records as JSON, one per line"),
        ),
    ),
    Command(
        name="consume-records",
        summary="Read the next records of a share group, and release, accept or reject them.",
        family="records",
        run="records.read_records:consume_records",
        effect=Effect.DESTROY,
        arguments=(
            Argument("group", kinds.GROUP, "The share group.", option="--share-group"),
        ),
        options=(
            Option("--topic", kinds.TOPIC,
                   "Only these topics (default: all with offsets of the group).", many=True),
            Option("--acknowledge", kinds.CHOICE,
                   "release (default): deliver again; accept: mark as consumed; reject: never"
                   " deliver again.", choices=("release", "accept", "reject"), metavar="HOW"),
            Option("--limit", kinds.INTEGER, "Stop after this many records (default: 10).",
                   least=1, most=100_000, metavar="N"),
            *_PRINTED,
            MAX_BATCH_SIZE,
            *_DECODED,
        ),
        search=("share", "queue", "acknowledge", "poison", "kip-932"),
        description=(
            "Joins the group as one more member, which gets records of the partitions that the "
            "group assigns to it, and leaves it.\n"
            "A released record is delivered again, and counts one more delivery: after "
            "group.share.delivery.count.limit deliveries (default 5) it is not delivered again.\n"
            "The journal records the offsets; read-records can still read the records."
        ),
        apis=(3, 9, 15, 16, 69, 76, 77, 78, 79, 89, 90),
        examples=(
            Example("consume-records dispatch --limit 1",
                    "show the next record of a share group, and release it", status=1),
            Example("consume-records dispatch --topic parcels.sent --limit 1 --acknowledge reject",
                    "skip a record that its consumers cannot process", status=1),
        ),
    ),
    Command(
        name="write-record",
        summary="Write a record to a topic, or the records of a file.",
        family="records",
        run="records.write:write_record",
        effect=Effect.CHANGE,
        arguments=(
            Argument("topic", kinds.TOPIC, "The topic.", option="--topic"),
            Argument("value", kinds.SECRET, "The value of the record.", required=False,
                     option="--value"),
        ),
        options=(
            Option("--key", kinds.SECRET, "The key, which determines the partition.",
                   metavar="KEY"),
            Option("--header", _HEADER, "A header; may be repeated.", many=True),
            Option("--partition", kinds.INTEGER, "Write to this partition.", least=0,
                   most=(1 << 31) - 1, excludes=("--keep-partitions",)),
            Option("--tombstone", kinds.FLAG, "Write a null value, which deletes the key.",
                   requires=("--key",)),
            Option("--from-file", kinds.FILE,
                   "Write the rows of a file, as read-records --output json prints them; - is"
                   " standard input.", metavar="FILE"),
            Option("--lines", kinds.FLAG, "Each line of the file is a value, not a row of JSON.",
                   requires=("--from-file",)),
            Option("--keep-partitions", kinds.FLAG, "Write each row to its partition.",
                   requires=("--from-file",)),
            Option("--keep-timestamps", kinds.FLAG, "Write each row with its timestamp.",
                   requires=("--from-file",)),
            Option("--compression-type", kinds.CHOICE, "Codec of the batches (default: none).",
                   choices=CODECS),
            Option("--value-format", kinds.CHOICE,
                   "Encode values, which are JSON, with a schema of the schema registry.",
                   choices=SCHEMA_FORMATS, metavar="FORMAT"),
            Option("--schema", kinds.TEXT, "The schema of the values: a subject (default:"
                   " TOPIC-value), an ID, or a file (.avsc, .proto, .json), which is registered"
                   " after confirmation if it is new.",
                   requires=("--value-format",), metavar="SCHEMA"),
            Option("--message-type", kinds.TEXT, "The message of a Protobuf schema (default: the"
                   " first).", requires=("--value-format",), metavar="NAME"),
            Option("--key-format", kinds.CHOICE, "Encode keys in the same way.",
                   choices=SCHEMA_FORMATS, metavar="FORMAT"),
            Option("--key-schema", kinds.TEXT, "The schema of the keys (default: the subject"
                   " TOPIC-key).", requires=("--key-format",), metavar="SCHEMA"),
        ),
        exactly_one=(("value", "tombstone", "from-file"),),
        shorts=(Short("produce", "write-record"),),
        search=("send", "publish", "producer", "message", "insert"),
        description=(
            "Keys select partitions as in Kafka's Java producer; a record without a key goes to "
            "any partition.\n"
            "Records are written exactly once, with acks=all; writing is irreversible.\n"
            "Rows have key, value and headers; partition and timestamp are used only with "
            "--keep-partitions and --keep-timestamps.\n"
            "All lines of a file are checked before the first record is written; standard input "
            "is written as it arrives.\n"
            "The journal records offsets, never keys or values."
        ),
        apis=(0, 22),
        examples=(
            Example("write-record parcels.delivered '{\"parcel\": 4711}' --key 4711",
                    "write one record"),
            Example("write-record orders.placed --key 4711 --tombstone --dry-run",
                    "preview a record that deletes a key"),
        ),
    ),
    Command(
        name="copy-records",
        summary="Copy records to another topic, for example from a dead-letter topic.",
        family="records",
        run="records.write:copy_records",
        effect=Effect.CHANGE,
        arguments=(
            Argument("source", kinds.TOPIC_PARTITIONS, "The source: orders.dlq  orders.dlq:0,2",
                     required=False, option="--source", unless=("--resume",)),
        ),
        options=(
            Option("--to-topic", kinds.TOPIC, "The target topic.", metavar="TOPIC"),
            Option("--to-profile", kinds.PROFILE, "The profile of the target's cluster.",
                   metavar="PROFILE"),
            Option("--from", STARTS, "Start: earliest (default), an offset, or a time such as -1h.",
                   metavar="POSITION"),
            Option("--to", ENDS, "End, exclusive: a time, an offset or latest (default).",
                   metavar="POSITION"),
            Option("--to-offset", kinds.INTEGER, "End, exclusive: an offset.", least=0,
                   metavar="OFFSET", excludes=("--to",)),
            Option("--where", kinds.TEXT, "Only records that match this condition: key=4711; may"
                   " be repeated, all must match.", many=True, metavar="CONDITION"),
            Option("--grep", kinds.TEXT, "Only records that match this regular expression.",
                   many=True, metavar="REGEX"),
            Option("--limit", kinds.INTEGER, "Copy at most this many records, the oldest.",
                   least=1, metavar="N"),
            Option("--keep-timestamps", kinds.FLAG, "Copy the timestamps (default: now)."),
            Option("--add-source-headers", kinds.FLAG,
                   "Add the header copied-from with topic:partition:offset."),
            Option("--isolation-level", kinds.CHOICE,
                   "read_committed (default): without aborted transactions, up to the first open"
                   " one.",
                   choices=ISOLATION_LEVELS, metavar="LEVEL"),
            MAX_BATCH_SIZE,
            Option("--compression-type", kinds.CHOICE, "Codec of the batches (default: none).",
                   choices=CODECS),
            UNMASK,
            Option("--resume", kinds.TEXT, "Continue an interrupted copy, by its journal ID.",
                   metavar="ID", excludes=("--to-topic", "--from", "--to", "--to-offset", "--limit",
                                           *(f"--{name}" for name in SAVED))),
        ),
        exactly_one=(("to-topic", "resume"), ("source", "resume")),
        search=("redrive", "replay", "dead-letter", "dlq", "mirror", "reprocess"),
        description=(
            "Keys, values and headers are copied unchanged; if both topics have the same number "
            "of partitions, a record keeps its partition.\n"
            "Records that are written to the source after the plan was made are not copied.\n"
            "Copying is irreversible; the source keeps its records.\n"
            "Records are written exactly once; --resume continues an interrupted copy at least "
            "once (the last 8MiB may be copied twice).\n"
            "A copy cannot be resumed if one of the topics was recreated."
        ),
        apis=(0, 1, 2, 22),
        examples=(
            Example("copy-records orders.placed --to-topic parcels.delivered --limit 3 --dry-run",
                    "preview copying the three oldest records"),
            Example("copy-records orders.placed:0 --to-topic parcels.delivered --from -1h"
                    " --add-source-headers --dry-run",
                    "preview copying the records of the last hour of a partition"),
        ),
    ),
)  # fmt: skip
