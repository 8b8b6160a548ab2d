"""Commands that list offsets (KIP-79) and delete records (KIP-107)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Effect, Plan, Resource
from kafka_shell.base.results import Results
from kafka_shell.commands import select
from kafka_shell.commands.records.read_records import (
    ISOLATION_LEVELS,
    READ_COMMITTED,
    offset_or_time,
    with_time,
)
from kafka_shell.commands.timeout import timeout_ms
from kafka_shell.language import kinds
from kafka_shell.language.command import (
    TIMEOUT,
    Argument,
    Command,
    Example,
    Invocation,
    Option,
    Short,
)
from kafka_shell.language.kinds import CandidateSource, Kind

if TYPE_CHECKING:
    from kafka_shell.admin.partitions.model import (
        OffsetRange,
        PartitionOffset,
        TopicPartition,
    )
    from kafka_shell.context import Context
    from kafka_shell.wire.connection import Cluster

# The names and numbers that kafka-get-offsets accepts for --time.
_SPECS = {
    "earliest": -2,
    "latest": -1,
    "max-timestamp": -3,
    "earliest-local": -4,
    "latest-tiered": -5,
    "earliest-pending-upload": -6,
}
_NUMBERS = frozenset(map(str, _SPECS.values()))
_LATEST = "latest"


# -- list ------------------------------------------------------------------------------------------


def list_offsets(
    invocation: Invocation, context: Context
) -> Results[Resource, OffsetRange] | Results[Resource, PartitionOffset] | NoRows:
    """First and last offsets of partitions, or the offset at a time (or earliest, latest ...)."""
    from kafka_shell.admin.partitions.model import PartitionOffset
    from kafka_shell.admin.records import offsets

    cluster = context.cluster
    chosen = select.partitions(invocation, cluster)
    partitions = select.topic_partitions(chosen)
    if invocation["exclude-internal"]:
        partitions = _without_internal(cluster, partitions)
    if not partitions and chosen.ok:
        return NoRows("no partitions (topics without DESCRIBE permission are hidden)")
    committed = invocation["isolation"] == READ_COMMITTED
    if invocation["time"] is None:
        ranges = offsets.ranges(cluster, partitions, committed=committed)
        return Results.merge([Results({}, chosen.failures), ranges.keyed(_resource)])
    time = _time(invocation["time"], context)
    found = offsets.list_offsets(cluster, dict.fromkeys(partitions, time), committed=committed)
    rows = {
        each: PartitionOffset(each.topic, each.partition, at.offset, at.timestamp, at.leader_epoch)
        for each, at in found.values.items()
    }
    listed = Results(rows, found.failures)
    return Results.merge([Results({}, chosen.failures), listed.keyed(_resource)])


def _without_internal(
    cluster: Cluster, partitions: Sequence[TopicPartition]
) -> list[TopicPartition]:
    from kafka_shell.wire.metadata_scan import scan

    found = scan(cluster, list(dict.fromkeys(each.topic for each in partitions)))
    internal = {name for name in found.names if found.summary(name).internal}
    return [each for each in partitions if each.topic not in internal]


def _resource(partition: TopicPartition) -> Resource:
    return partition.resource


def _time(text: str, context: Context) -> int:
    special = _SPECS.get(text)
    if special is None and text in _NUMBERS:
        special = int(text)
    return _to_time(text, context) if special is None else special


def _to_time(text: str, context: Context) -> int:
    """A time in milliseconds since the epoch, relative ones from now; never negative."""
    from kafka_shell.base.units import odd_hour, parse_time

    time = parse_time(text, now=int(context.clock() * 1000))
    if note := odd_hour(text, time):
        context.note(note)
    return max(0, time)


# -- delete ----------------------------------------------------------------------------------------


def delete_records(invocation: Invocation, context: Context) -> Plan:
    """Delete the oldest records of partitions; asks for confirmation."""
    from kafka_shell.admin.records import delete as records

    cluster = context.cluster
    timeout = timeout_ms(invocation)
    if invocation["offset-json-file"]:
        from kafka_shell.admin.partitions.partition_files import read_offsets

        targets = read_offsets(invocation["offset-json-file"])
        return records.plan_delete(cluster, targets, timeout_ms=timeout)
    if invocation["to"] is None:
        raise UsageError(
            "--to is required", hint="Add --to 1200, --to -7d or --to latest.", code="missing"
        )
    offset, time = _target(invocation, context)
    chosen = select.partitions_to_change(invocation, context)
    partitions = select.topic_partitions(chosen)
    if time is not None:
        plan = records.plan_delete_before(cluster, partitions, time, timeout_ms=timeout)
    else:
        targets = dict.fromkeys(partitions, -1 if offset is None else offset)
        plan = records.plan_delete(cluster, targets, timeout_ms=timeout)
    plan.refused.failures.update(chosen.failures)
    return plan if time is None else with_time(plan, invocation["to"], time, context)


def _target(invocation: Invocation, context: Context) -> tuple[int | None, int | None]:
    """(offset, None), (None, time), or (None, None) for the end of the partition."""
    text: str = invocation["to"]
    if text == _LATEST:
        return None, None
    try:
        return offset_or_time(text, int(context.clock() * 1000))
    except ShellError:
        raise UsageError(
            "--to must be an offset, a time such as 2026-01-31T10:00 or -7d, or latest,"
            f" got '{text}'",
            code="bad-value",
            span=invocation.span("to"),
        ) from None


_PARTITIONS = "Partitions: orders:0,3-5  orders  svc-*"


_TO = Kind("text", CandidateSource(lambda found, known: known.times(found.prefix, {_LATEST: ""})))

COMMANDS: tuple[Command, ...] = (
    Command(
        name="list-offsets",
        summary="List the first and last offsets of partitions, or the offsets at a time.",
        family="topics",
        run=list_offsets,
        arguments=(
            Argument("topic", kinds.TOPIC_PARTITIONS, f"{_PARTITIONS} (default: all)", many=True,
                     required=False, option="--topic"),
        ),
        options=(
            Option("--time", kinds.TIME,
                   "Offset at: 2026-01-31T10:00, -1h, earliest (-2), latest (-1) ...",
                   choices=tuple(_SPECS), metavar="TIME"),
            Option("--isolation", kinds.CHOICE,
                   "read_committed: the end is the last stable offset.",
                   choices=ISOLATION_LEVELS, metavar="LEVEL"),
            Option("--exclude-internal", kinds.FLAG, "Exclude internal topics.",
                   aliases=("--exclude-internal-topics",)),
        ),
        shorts=(Short("offsets", "list-offsets"),),
        search=("earliest", "latest", "count", "watermark", "timestamp", "records"),
        description=(
            "Without --time: the earliest offset, the latest offset (the next to be written) and"
            " the difference: the most records that there can be. Compaction and transactions leave"
            " fewer; read-records --count counts them. With a time: the first record with that"
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
        run=delete_records,
        effect=Effect.DESTROY,
        arguments=(
            Argument("topic", kinds.TOPIC_PARTITIONS, _PARTITIONS, many=True, required=False,
                     option="--topic"),
        ),
        options=(
            Option("--to", _TO,
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
)  # fmt: skip
