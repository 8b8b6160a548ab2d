"""Commands that change groups: delete, remove members, reset and delete offsets."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC
from typing import Any

from kafka_shell.admin.groups import members as group_members
from kafka_shell.admin.groups import resets as group_resets
from kafka_shell.admin.groups.model import GroupType, ResetTarget, ResetTo
from kafka_shell.admin.groups.resets import plan_offsets
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.base.errors import ShellError, UsageError, did_you_mean
from kafka_shell.base.files import bad_file, read_csv
from kafka_shell.base.plans import Advice, Change, Plan, Resource, merge_plans
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.text import named
from kafka_shell.base.units import counted, parse_time, to_path
from kafka_shell.commands import select
from kafka_shell.commands.groups.run import groups_to_change
from kafka_shell.commands.options import offset_or_time, with_hint, with_time
from kafka_shell.context import Context
from kafka_shell.language import kinds
from kafka_shell.language.command import Invocation
from kafka_shell.output.change_kinds import SHARE_OFFSETS
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.failures import as_error
from kafka_shell.wire.model import Partition

Offsets = dict[TopicPartition, int]
Refused = dict[Resource, Failure]
Span = tuple[int, int] | None
_WORDS = ("earliest", "latest", "current")
_SHIFT = re.compile(r"[+-][0-9]{1,18}")
_NONE = "none"
_PAIR = re.compile(r"([0-9]{1,9})=([0-9]{1,18}|none)")
_FORMS = "earliest, latest, current, 1200, +10, -10, 2026-01-31T10:00, -1h, group:g or file:f.csv"


# Option of kafka-consumer-groups -> the target for its value, which has a type of its own.
_KAFKA_TARGETS: dict[str, Callable[[Any, int], tuple[str, int]]] = {
    "to-earliest": lambda _, now: ("earliest", 0),
    "to-latest": lambda _, now: ("latest", 0),
    "to-current": lambda _, now: ("current", 0),
    "to-offset": lambda offset, now: ("offset", offset),
    "shift-by": lambda by, now: ("shift", by),
    "to-datetime": lambda text, now: ("time", max(0, parse_time(text, now=now, zone=UTC))),
    "by-duration": lambda age, now: ("time", max(0, now - age)),
}


# -- reset -----------------------------------------------------------------------------------------


def reset_offsets(invocation: Invocation, context: Context) -> Plan:
    """Reset the committed offsets of groups; asks for confirmation."""
    names = groups_to_change(invocation, context.cluster)
    plan = _plan(invocation, context, names)
    if invocation["export"]:
        changes = (*plan.changes, *plan.unchanged)
        written = write_offsets(invocation["export"], changes, several=len(names) > 1)
        what = f"the new offsets of {counted(written, 'partition')}"
        note = f"{what} were written to {invocation['export']}"
        plan = plan.advised(Advice(notes=(note,)))
    return plan


def _copied(
    invocation: Invocation, cluster: Cluster, names: Sequence[str]
) -> Mapping[str, Offsets]:
    """The offsets that each group gets from another one or from a file, if --to names one."""
    how, _, what = (invocation["to"] or "").partition(":")
    if how == "group" and what:
        offsets = _offsets_of(cluster, [what], invocation.span("to"))
        return dict.fromkeys(names, offsets[what])
    file = invocation["from-file"] or (what if how == "file" else "")
    return read_offsets(file, names) if file else {}


def _plan(invocation: Invocation, context: Context, names: Sequence[str]) -> Plan:
    cluster, kind = context.cluster, GroupType(invocation["type"])
    if invocation["offset"]:
        same = dict.fromkeys(names, _explicit_offsets(invocation))
        return group_resets.plan_offsets(cluster, same, kind, exact=True)
    if copied := _copied(invocation, cluster, names):
        chosen = {name: _selected(invocation, offsets) for name, offsets in copied.items()}
        plan = group_resets.plan_offsets(
            cluster,
            {name: {at: copied[name][at] for at in picked} for name, (picked, _) in chosen.items()},
            kind,
            may_lack=not invocation["topic"] and (invocation["to"] or "").startswith("group:"),
        )
        return _without(plan, chosen)
    where = reset_target(invocation, context)
    if not invocation["topic"]:
        plan = group_resets.plan_reset(cluster, dict.fromkeys(names), where, kind)
        plan = with_hint(
            plan, "NO_OFFSETS", "Name the partitions: --topic orders:0,1 or --topic orders"
        )
    else:
        partitions = _partitions_to_reset(invocation, context, names)
        wanted = {name: select.topic_partitions(each) for name, each in partitions.items()}
        plan = group_resets.plan_reset(cluster, wanted, where, kind)
        for each in partitions.values():
            plan.refused.failures.update(each.failures)
    if where.to is not ResetTarget.TIME:
        return plan
    typed = next(filter(None, map(invocation.get, ("to", "to-datetime"))), "the time")
    return with_time(plan, typed, where.number, context)


def _without(plan: Plan, chosen: Mapping[str, tuple[object, Refused]]) -> Plan:
    """The plan, with a rejection for each selected partition that has no offset."""
    missing = group_resets.of_groups({name: refused for name, (_, refused) in chosen.items()})
    plan.refused.failures.update(missing.failures)
    return plan


def _partitions_to_reset(
    invocation: Invocation, context: Context, names: Sequence[str]
) -> Mapping[str, Results[Resource, Partition]]:
    """The partitions that --topic selects for each group. A pattern selects only topics in which
    the group has offsets, because it does not read others. If it has none, internal topics are left
    out."""
    cluster, words = context.cluster, [word for word, _ in invocation["topic"]]
    if not any(map(kinds.is_pattern, words)):
        return dict.fromkeys(names, select.partitions(invocation, cluster))
    held = group_resets.committed_of(cluster, names)  # the plan rejects the others
    topics = {name: frozenset(at.topic for at in held.values.get(name, ())) for name in names}
    partitions = {some: _among(invocation, context, some) for some in set(topics.values())}
    return {name: partitions[topics[name]] for name in names}


def _among(
    invocation: Invocation, context: Context, topics: frozenset[str]
) -> Results[Resource, Partition]:
    if not topics:
        return select.partitions_to_change(invocation, context)
    for index, (word, _) in enumerate(invocation["topic"]):
        for _, item in kinds.select([word], sorted(topics)).unmatched:
            if kinds.is_pattern(item):
                hint = "Without a pattern, --topic also selects a topic without offsets."
                raise _no_match(item, invocation.span("topic", index), hint)
    return select.partitions(invocation, context.cluster, among=topics)


def _offsets_of(cluster: Cluster, names: Sequence[str], span: Span) -> Mapping[str, Offsets]:
    offsets = group_resets.offsets_of(cluster, names)
    for why in offsets.failures.values():
        error = as_error(why)
        error.span = span
        raise error
    return offsets.values


def _selected(
    invocation: Invocation, offsets: Collection[TopicPartition]
) -> tuple[list[TopicPartition], Refused]:
    """The partitions that --topic selects (default: all), and a failure for each missing one."""
    chosen: dict[TopicPartition, None] = {}
    refused: Refused = {}
    by_topic: dict[str, dict[int, TopicPartition]] = {}
    for offset in sorted(offsets):
        by_topic.setdefault(offset.topic, {})[offset.partition] = offset
    topics = list(by_topic)
    for index, (word, numbers) in enumerate(invocation["topic"]):
        selection = kinds.select([word], topics)
        for _, item in selection.unmatched:
            if kinds.is_pattern(item):
                raise _no_match(item, invocation.span("topic", index))
            refused[Resource("topic", item)] = _no_offset(item, did_you_mean(item, topics))
        for topic in selection.names:
            existing = by_topic[topic]
            for number in existing if numbers is None else numbers:
                if number in existing:
                    chosen[existing[number]] = None
                else:
                    about = f"{topic}:{number}"
                    refused[Resource("partition", about)] = _no_offset(about)
    return list(chosen) if invocation["topic"] else sorted(offsets), refused


def _no_match(item: str, span: Span, hint: str = "") -> ShellError:
    message = f"no topic with offsets matches '{item}'"
    return ShellError(message, hint=hint, code="no-match", span=span)


def _no_offset(about: str, hint: str = "") -> Failure:
    return Failure("NO_OFFSETS", f"no offset in {about}", hint=hint)


# -- target offsets --------------------------------------------------------------------------------


def reset_target(invocation: Invocation, context: Context) -> ResetTo:
    """The value of --to or of an option of kafka-consumer-groups."""
    now = int(context.clock() * 1000)
    for name, target in _KAFKA_TARGETS.items():
        value = invocation[name]
        if value is not None and value is not False:
            word, number = target(value, now)
            return ResetTo(ResetTarget(word), number)
    text = invocation["to"]
    if text in _WORDS:
        return ResetTo(ResetTarget(text))
    if _SHIFT.fullmatch(text):
        return ResetTo(ResetTarget.SHIFT, int(text))
    try:
        offset, time = offset_or_time(text, now)
    except ShellError:
        hint = did_you_mean(text, _WORDS) or f"Use {_FORMS}."
        message = f"invalid --to: '{text}'"
        raise UsageError(message, hint=hint, code="bad-value", span=invocation.span("to")) from None
    return (
        ResetTo(ResetTarget.TIME, time or 0)
        if offset is None
        else ResetTo(ResetTarget.OFFSET, offset)
    )


def _explicit_offsets(invocation: Invocation) -> dict[TopicPartition, int | None]:
    """Partition -> offset (None: delete) of each --offset, such as `orders:0=5,1=none`."""
    requested: dict[TopicPartition, int | None] = {}
    for index, text in enumerate(invocation["offset"]):
        topic, _, listed = text.rpartition(":")
        pairs = [_PAIR.fullmatch(part) for part in listed.split(",")]
        for pair in pairs:
            if not topic or pair is None:
                raise _bad_offset(f"--offset must be TOPIC:PARTITION=OFFSET, got '{text}'",
                                  invocation.span("offset", index))  # fmt: skip
            each = TopicPartition(topic, int(pair[1]))
            if each in requested:
                raise _bad_offset(f"{each} is set twice", invocation.span("offset", index))
            requested[each] = None if pair[2] == _NONE else int(pair[2])
    return requested


def _bad_offset(message: str, span: Span) -> UsageError:
    hint = "For example: orders:0=1200,1=none (none deletes the offset)."
    return UsageError(message, hint=hint, code="bad-value", span=span)


# -- delete ----------------------------------------------------------------------------------------


def delete_offsets(invocation: Invocation, context: Context) -> Plan:
    """Delete committed offsets of groups; asks for confirmation."""
    names = groups_to_change(invocation, context.cluster)
    offsets = _offsets_of(context.cluster, names, invocation.span("groups"))
    chosen = {name: _selected(invocation, offsets[name]) for name in names}
    wanted = {name: picked for name, (picked, _) in chosen.items()}
    return _without(group_resets.plan_delete_offsets(context.cluster, wanted), chosen)


# Read and write offsets as CSV files of kafka-consumer-groups: topic,partition,offset.

_MAX_OFFSET = (1 << 63) - 1
_MAX_PARTITION = (1 << 31) - 1


def write_offsets(file: str, changes: Iterable[Change], *, several: bool) -> int:
    """Write the new offset of each partition to a new file, and return their number. With `several`
    groups, each row begins with the group. Raises ShellError, also if the file exists: it may be
    the only record of earlier offsets."""
    rows = [
        (*([change.resource.name] if several else []), topic, int(partition), change.after)
        for change in changes
        if change.after is not None
        for topic, _, partition in [change.field.rpartition(":")]
    ]
    try:
        with to_path(file).open("x", encoding="utf-8", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows(sorted(rows))
    except FileExistsError:
        raise ShellError(
            f"{file} already exists", hint="Use another file.",
            code="file-exists",
        ) from None  # fmt: skip
    except OSError as error:
        raise ShellError(f"cannot write {file}: {error.strerror}", code="bad-file") from None
    return len(rows)


def read_offsets(file: str, groups: Sequence[str]) -> dict[str, Offsets]:
    """The offsets of each group in a file; without a group column, all groups have the same.

    Raises ShellError, which names the line.
    """
    offsets: dict[str, Offsets] = {group: {} for group in groups}
    for line, row in read_csv(file):
        each, offset = _row(file, line, row[-3:] if len(row) == 4 else row)
        for group in row[:1] if len(row) == 4 else groups:
            of_group = offsets.get(group, {})
            if each in of_group:
                raise bad_file(file, f"{each} is listed twice", line=line)
            of_group[each] = offset
    for group, of_group in offsets.items():
        if not of_group:
            raise bad_file(file, f"has no offsets of group {named(group)}")
    return offsets


def _row(file: str, line: int, row: list[str]) -> tuple[TopicPartition, int]:
    words = [word.strip() for word in row]
    numbers = words[1:]
    if len(words) != 3 or not all(number.isascii() and number.isdigit() for number in numbers):
        problem = f"expected topic,partition,offset, got '{','.join(row)[:60]}'"
        raise bad_file(file, problem, line=line)
    if not words[0] or any(len(number) > 19 for number in numbers):
        raise bad_file(file, "topic, partition or offset is out of range", line=line)
    partition, offset = map(int, numbers)
    if partition > _MAX_PARTITION or offset > _MAX_OFFSET:
        raise bad_file(file, "partition or offset is out of range", line=line)
    return TopicPartition(words[0], partition), offset


# -- delete, remove --------------------------------------------------------------------------------


def delete_group(invocation: Invocation, context: Context) -> Plan:
    """Delete groups without members, with their committed offsets."""
    names = groups_to_change(invocation, context.cluster)
    plan = group_members.plan_delete(context.cluster, names)
    if invocation["if-exists"]:
        return plan.without_refused("GROUP_ID_NOT_FOUND")
    return plan


def remove_members(invocation: Invocation, context: Context) -> Plan:
    """Remove members from groups."""
    cluster, reason = context.cluster, invocation["reason"] or ""
    chosen = {"members": invocation["member"], "instances": invocation["instance"]}
    names = groups_to_change(invocation, cluster)
    return group_members.plan_remove(cluster, names, reason=reason, **chosen)


def plan_changes(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that makes these changes."""
    wanted: dict[GroupType, dict[str, dict[TopicPartition, int | None]]] = {}
    for change in changes:
        offset = None if change.after is None else int(change.after)
        type = GroupType.SHARE if change.resource.kind == SHARE_OFFSETS else GroupType.UNKNOWN
        offsets = wanted.setdefault(type, {}).setdefault(change.resource.name, {})
        offsets[TopicPartition.of(change.field)] = offset
    return merge_plans(
        [plan_offsets(context.cluster, each, type, exact=True) for type, each in wanted.items()]
    )


def plan_deletions(context: Context, changes: Sequence[Change], _: dict[str, Any]) -> Plan:
    """The plan that deletes these groups."""
    return group_members.plan_delete(context.cluster, [change.resource.name for change in changes])
