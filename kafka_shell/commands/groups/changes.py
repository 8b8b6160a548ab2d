"""Commands that change groups: delete, remove members, reset and delete offsets."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC
from functools import partial
from typing import Any

from kafka_shell.admin.groups import members as group_members
from kafka_shell.admin.groups import resets as group_resets
from kafka_shell.admin.groups.model import GroupType, ResetTarget, ResetTo
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.base.errors import ShellError, UsageError, did_you_mean
from kafka_shell.base.files import bad_file, read_csv
from kafka_shell.base.plans import Advice, Change, Plan, Resource, merge_plans
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.text import named
from kafka_shell.base.units import counted, parse_time, to_path
from kafka_shell.commands import select
from kafka_shell.commands.groups.run import groups_to_change
from kafka_shell.commands.options import offset_or_time, with_hint, with_time
from kafka_shell.context import Context
from kafka_shell.language import kinds
from kafka_shell.language.command import Invocation
from kafka_shell.wire.connection import Cluster
from kafka_shell.wire.model import Partition

Offsets = dict[TopicPartition, int]


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
    copied = _copied(invocation, context.cluster, names)
    where = None if copied or invocation["offset"] else reset_target(invocation, context)
    plan = merged({n: _plan(invocation, context, n, copied.get(n), where) for n in names})
    if invocation["export"]:
        changes = (*plan.changes, *plan.unchanged)
        written = write_offsets(invocation["export"], changes, several=len(names) > 1)
        what = f"the new offsets of {counted(written, 'partition')}"
        note = f"{what} were written to {invocation['export']}"
        plan = plan.advised(Advice(notes=(note,)))
    return plan


def _copied(
    invocation: Invocation, cluster: Cluster, groups: Sequence[str]
) -> Mapping[str, Offsets]:
    """The offsets that each group gets from another one or from a file, if --to names one."""
    how, _, what = (invocation["to"] or "").partition(":")
    if how == "group" and what:
        return dict.fromkeys(groups, _offsets_of_group(cluster, what, invocation.span("to")))
    file = invocation["from-file"] or (what if how == "file" else "")
    return read_offsets(file, groups) if file else {}


def _plan(
    invocation: Invocation,
    context: Context,
    group: str,
    copied: Offsets | None,
    where: ResetTo | None,
) -> Plan:
    cluster, kind = context.cluster, GroupType(invocation["type"])
    if invocation["offset"]:
        requested = _explicit_offsets(invocation)
        return group_resets.plan_offsets(cluster, group, requested, kind, exact=True)
    if copied is not None:
        plan = _plan_copy(invocation, cluster, group, copied, kind)
        whole = not invocation["topic"] and (invocation["to"] or "").startswith("group:")
        return group_resets.with_hidden_offsets(cluster, plan) if whole else plan
    assert where is not None
    if not invocation["topic"]:
        plan = group_resets.plan_reset(cluster, group, where, kind=kind)
        hint = "Name the partitions: --topic orders:0,1 or --topic orders"
        plan = with_hint(plan, "NO_OFFSETS", hint)
    else:
        chosen = _partitions_to_reset(invocation, context, group)
        plan = group_resets.plan_reset(cluster, group, where, select.topic_partitions(chosen), kind)
        plan.refused.failures.update(chosen.failures)
    if where.to is not ResetTarget.TIME:
        return plan
    typed = next(filter(None, map(invocation.get, ("to", "to-datetime"))), "the time")
    return with_time(plan, typed, where.number, context)


def _partitions_to_reset(
    invocation: Invocation, context: Context, group: str
) -> Results[Resource, Partition]:
    """The partitions that --topic selects. A pattern selects only topics in which the group has
    offsets, because it does not read others. If it has none, internal topics are left out."""
    cluster, words = context.cluster, [word for word, _ in invocation["topic"]]
    if not any(map(kinds.is_pattern, words)):
        return select.partitions(invocation, cluster)
    try:
        topics = group_resets.topics_of(cluster, group)
    except ShellError:  # it does not exist, or the plan is refused for the same reason
        topics = frozenset()
    if not topics:
        return select.partitions_to_change(invocation, context)
    for index, word in enumerate(words):
        for _, item in kinds.select([word], sorted(topics)).unmatched:
            if kinds.is_pattern(item):
                hint = "Without a pattern, --topic also selects a topic without offsets."
                raise _no_match(item, invocation.span("topic", index), hint)
    return select.partitions(invocation, cluster, among=topics)


def _plan_copy(
    invocation: Invocation, cluster: Cluster, group: str, offsets: Offsets, kind: GroupType
) -> Plan:
    """The plan that copies offsets of another group or a file, limited to --topic if given."""
    chosen, refused = _selected(invocation, offsets)
    copied = {each: offsets[each] for each in chosen}
    plan = group_resets.plan_offsets(cluster, group, copied, kind)
    plan.refused.failures.update(refused)
    return plan


def _offsets_of_group(cluster: Cluster, other: str, span: Span) -> Offsets:
    try:
        return group_resets.offsets_of(cluster, other)
    except ShellError as error:
        error.span = error.span or span
        raise


def _selected(
    invocation: Invocation, offsets: Collection[TopicPartition]
) -> tuple[list[TopicPartition], dict[Resource, Failure]]:
    """The partitions that --topic selects (default: all), and a failure for each missing one."""
    chosen: dict[TopicPartition, None] = {}
    refused: dict[Resource, Failure] = {}
    by_topic: dict[str, dict[int, TopicPartition]] = {}
    for each in sorted(offsets):
        by_topic.setdefault(each.topic, {})[each.partition] = each
    topics = list(by_topic)
    for index, (word, numbers) in enumerate(invocation["topic"]):
        found = kinds.select([word], topics)
        for _, item in found.unmatched:
            if kinds.is_pattern(item):
                raise _no_match(item, invocation.span("topic", index))
            refused[Resource("topic", item)] = _no_offset(item, did_you_mean(item, topics))
        for topic in found.names:
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
    cluster, plans = context.cluster, dict[str, Plan]()
    for group in groups_to_change(invocation, cluster):
        offsets = _offsets_of_group(cluster, group, invocation.span("groups"))
        chosen, refused = _selected(invocation, offsets)
        plans[group] = group_resets.plan_delete_offsets(cluster, group, chosen)
        plans[group].refused.failures.update(refused)
    return merged(plans)


# Read and write offsets as CSV files of kafka-consumer-groups: topic,partition,offset.

_MAX_OFFSET = (1 << 63) - 1


_MAX_PARTITION = (1 << 31) - 1


def write_offsets(file: str, changes: Iterable[Change], *, several: bool) -> int:
    """Write the new offset of each partition to a new file, and return how many these are; with a
    group column for `several` groups. Raises ShellError; also if the file exists: it may be the
    only record of earlier offsets."""
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
        raise ShellError(f"{file}: cannot be written: {error.strerror}", code="bad-file") from None
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
    if len(words) != 3 or not all(each.isascii() and each.isdigit() for each in numbers):
        problem = f"expected topic,partition,offset, got '{','.join(row)[:60]}'"
        raise bad_file(file, problem, line=line)
    if not words[0] or any(len(each) > 19 for each in numbers):
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
    return merged(
        {name: group_members.plan_remove(cluster, name, reason=reason, **chosen) for name in names}
    )


def merged(plans: Mapping[str, Plan]) -> Plan:
    """One plan of those of each group. Of several groups, each refusal names its group."""
    if len(plans) == 1:
        return next(iter(plans.values()))
    return merge_plans(
        [replace(plan, refused=plan.refused.keyed(partial(_of_group, group)))
         for group, plan in plans.items()]
    )  # fmt: skip


def _of_group(group: str, about: Resource) -> Resource:
    if about.name == group:
        return about
    return Resource(about.kind, f"{about.name} of group {named(group)}")
