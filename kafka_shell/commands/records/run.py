"""Commands that list offsets (KIP-79) and delete records (KIP-107)."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_shell.admin.partitions.model import OffsetRange, PartitionOffset, TopicPartition
from kafka_shell.admin.partitions.partition_files import read_offsets
from kafka_shell.admin.records import delete as records
from kafka_shell.admin.records import offsets
from kafka_shell.base.command_results import NoRows
from kafka_shell.base.errors import ShellError, UsageError
from kafka_shell.base.plans import Plan, Resource
from kafka_shell.base.results import Results
from kafka_shell.base.units import odd_hour, parse_time
from kafka_shell.commands import select
from kafka_shell.commands.options import offset_or_time, timeout_ms, with_time
from kafka_shell.commands.records.spec import LATEST, OFFSETS_BY_NAME, READ_COMMITTED
from kafka_shell.context import Context
from kafka_shell.language.command import Invocation
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan

_NUMBERS = frozenset(map(str, OFFSETS_BY_NAME.values()))


# -- list ------------------------------------------------------------------------------------------


def list_offsets(
    invocation: Invocation, context: Context
) -> Results[Resource, OffsetRange] | Results[Resource, PartitionOffset] | NoRows:
    """First and last offsets of partitions, or the offset at a time (or earliest, latest ...)."""
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
    found = scan(cluster, list(dict.fromkeys(each.topic for each in partitions)))
    internal = {name for name in found.names if found.summary(name).internal}
    return [each for each in partitions if each.topic not in internal]


def _resource(partition: TopicPartition) -> Resource:
    return partition.resource


def _time(text: str, context: Context) -> int:
    special = OFFSETS_BY_NAME.get(text)
    if special is None and text in _NUMBERS:
        special = int(text)
    return _to_time(text, context) if special is None else special


def _to_time(text: str, context: Context) -> int:
    """A time in milliseconds since the epoch, relative ones from now; never negative."""
    now = int(context.clock() * 1000)
    time = parse_time(text, now=now)
    if note := odd_hour(text, time, now):
        context.note(note)
    return max(0, time)


# -- delete ----------------------------------------------------------------------------------------


def delete_records(invocation: Invocation, context: Context) -> Plan:
    """Delete the oldest records of partitions; asks for confirmation."""
    cluster = context.cluster
    timeout = timeout_ms(invocation)
    if invocation["offset-json-file"]:
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
    if text == LATEST:
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
