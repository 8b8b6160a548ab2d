"""Commands that set and delete the offsets of groups (KIP-122, 496, 932)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from kafka_shell.admin.topics.model import Partition
from kafka_shell.commands import select
from kafka_shell.errors import ShellError, UsageError, did_you_mean
from kafka_shell.language import selectors
from kafka_shell.language.command import Argument, Command, Example, Invocation, Kind, Option
from kafka_shell.plan.model import Effect, Plan, Resource
from kafka_shell.plan.results import Failure, Results
from kafka_shell.units import in_utc

if TYPE_CHECKING:
    from kafka_shell.admin.groups.model import GroupType, ResetTo
    from kafka_shell.admin.partitions.model import TopicPartition
    from kafka_shell.admin.wire.connection import Cluster
    from kafka_shell.context import Context

    Offsets = dict[TopicPartition, int]

Span = tuple[int, int] | None

_WORDS = ("earliest", "latest", "current")
_SHIFT, _OFFSET = re.compile(r"[+-][0-9]{1,18}"), re.compile(r"[0-9]{1,18}")
_NONE = "none"
_PAIR = re.compile(r"([0-9]{1,9})=([0-9]{1,18}|none)")
_WANTED = "earliest, latest, current, 1200, +10, -10, 2026-01-31T10:00, -1h, group:g or file:f.csv"
# Kafka's own spellings -> what --to says.
_SPELLINGS: dict[str, Callable[[Any], str]] = {
    "to-earliest": lambda _: "earliest",
    "to-latest": lambda _: "latest",
    "to-current": lambda _: "current",
    "to-offset": str,
    "shift-by": lambda by: f"{by:+d}",
    "to-datetime": in_utc,
    "by-duration": lambda duration: f"-{duration}",
    "from-file": lambda file: f"file:{file}",
}


# -- reset -----------------------------------------------------------------------------------------


def reset_offsets(invocation: Invocation, context: Context) -> Plan:
    """Set a group's offsets, after a question."""
    plan = _plan(invocation, context)
    if invocation["export"]:
        from .files import write_offsets

        write_offsets(invocation["export"], (*plan.changes, *plan.unchanged))
    return plan


def _plan(invocation: Invocation, context: Context) -> Plan:
    from kafka_shell.admin.groups import resets as group_resets
    from kafka_shell.admin.groups.model import GroupType

    cluster, group = context.cluster, invocation["group"]
    kind = GroupType(invocation["type"])
    if invocation["offset"]:
        wanted = _explicit(invocation)
        return group_resets.plan_offsets(cluster, group, wanted, kind, exact=True)
    text, span = _said(invocation)
    how, _, what = text.partition(":")
    if how == "group" and what:
        return _copied(invocation, cluster, _of_group(cluster, what, span), kind)
    if how == "file" and what:
        from .files import read_offsets

        return _copied(invocation, cluster, read_offsets(what, group), kind)
    where = _where(text, span, context)
    if not invocation["topic"]:
        return group_resets.plan_reset(cluster, group, where, kind=kind)
    chosen = select.partitions(invocation, cluster)
    plan = group_resets.plan_reset(cluster, group, where, _named(chosen), kind)
    plan.refused.failures.update(chosen.failures)
    return plan


def _named(chosen: Results[Resource, Partition]) -> list[TopicPartition]:
    from kafka_shell.admin.partitions.model import TopicPartition

    return [TopicPartition(each.topic, each.partition) for each in chosen]


def _copied(invocation: Invocation, cluster: Cluster, offsets: Offsets, kind: GroupType) -> Plan:
    """The offsets of another group, or of a file; with --topic only those."""
    from kafka_shell.admin.groups import resets as group_resets

    chosen, refused = _among(invocation, offsets)
    copied = {each: offsets[each] for each in chosen}
    plan = group_resets.plan_offsets(cluster, invocation["group"], copied, kind)
    plan.refused.failures.update(refused)
    return plan


def _of_group(cluster: Cluster, other: str, span: Span) -> Offsets:
    from kafka_shell.admin.groups import resets as group_resets

    try:
        return group_resets.offsets_of(cluster, other)
    except ShellError as error:
        error.span = error.span or span
        raise


def _among(
    invocation: Invocation, offsets: Collection[TopicPartition]
) -> tuple[list[TopicPartition], dict[Resource, Failure]]:
    """The partitions that --topic means of those there are offsets in (none: all of them)."""
    chosen: dict[TopicPartition, None] = {}
    refused: dict[Resource, Failure] = {}
    topics = sorted({each.topic for each in offsets})
    for index, (word, numbers) in enumerate(invocation["topic"]):
        found = selectors.select([word], topics)
        for _, item in found.unmatched:
            if selectors.is_pattern(item):
                raise _no_match(item, invocation.span("topic", index))
            refused[Resource("topic", item)] = _no_offset(item, did_you_mean(item, topics))
        for topic in found.names:
            there = {each.partition: each for each in sorted(offsets) if each.topic == topic}
            for number in there if numbers is None else numbers:
                if number in there:
                    chosen[there[number]] = None
                else:
                    about = f"{topic}:{number}"
                    refused[Resource("partition", about)] = _no_offset(about)
    return list(chosen) if invocation["topic"] else sorted(offsets), refused


def _no_match(item: str, span: Span) -> ShellError:
    return ShellError(f"no topic that there are offsets in matches {item}", code="no-match",
                      span=span)  # fmt: skip


def _no_offset(about: str, hint: str = "") -> Failure:
    return Failure("NO_OFFSETS", f"there is no offset in {about}", hint=hint)


# -- where to --------------------------------------------------------------------------------------


def _said(invocation: Invocation) -> tuple[str, Span]:
    """What --to says, or one of Kafka's own spellings, and which word says it."""
    for name, spelled in _SPELLINGS.items():
        value = invocation[name]
        if value is not None and value is not False:
            return spelled(value), invocation.span(name)
    return invocation["to"], invocation.span("to")


def _where(text: str, span: Span, context: Context) -> ResetTo:
    from kafka_shell.admin.groups.model import ResetTo, To
    from kafka_shell.units import parse_time

    if text in _WORDS:
        return ResetTo(To(text))
    if _OFFSET.fullmatch(text):
        return ResetTo(To.OFFSET, int(text))
    if _SHIFT.fullmatch(text):
        return ResetTo(To.SHIFT, int(text))
    try:
        return ResetTo(To.TIME, max(0, parse_time(text, now=int(context.clock() * 1000))))
    except ShellError:
        hint = did_you_mean(text, _WORDS) or f"Wanted: {_WANTED}"
        message = f"--to cannot be '{text}'"
        raise UsageError(message, hint=hint, code="bad-value", span=span) from None


def _explicit(invocation: Invocation) -> dict[TopicPartition, int | None]:
    """`orders:0=5,1=none` of each --offset."""
    from kafka_shell.admin.partitions.model import TopicPartition

    wanted: dict[TopicPartition, int | None] = {}
    for index, text in enumerate(invocation["offset"]):
        topic, _, listed = text.rpartition(":")
        pairs = [_PAIR.fullmatch(part) for part in listed.split(",")]
        for pair in pairs:
            if not topic or pair is None:
                raise _bad_offset(f"--offset wants TOPIC:PARTITION=OFFSET; got '{text}'",
                                  invocation.span("offset", index))  # fmt: skip
            each = TopicPartition(topic, int(pair[1]))
            if each in wanted:
                raise _bad_offset(f"{each} is given twice", invocation.span("offset", index))
            wanted[each] = None if pair[2] == _NONE else int(pair[2])
    return wanted


def _bad_offset(message: str, span: Span) -> UsageError:
    hint = "Such as orders:0=1200,1=none; none deletes the offset."
    return UsageError(message, hint=hint, code="bad-value", span=span)


# -- delete ----------------------------------------------------------------------------------------


def delete_offsets(invocation: Invocation, context: Context) -> Plan:
    """Delete offsets of a group, after a question."""
    from kafka_shell.admin.groups import resets as group_resets

    cluster, group = context.cluster, invocation["group"]
    offsets = _of_group(cluster, group, invocation.span("group"))
    chosen, refused = _among(invocation, offsets)
    plan = group_resets.plan_delete_offsets(cluster, group, chosen)
    plan.refused.failures.update(refused)
    return plan


_GROUP = Argument("group", Kind.GROUP, "Which group.", option="--group")
_HIDDEN = {
    "--to-earliest": Kind.FLAG,
    "--to-latest": Kind.FLAG,
    "--to-current": Kind.FLAG,
    "--to-offset": Kind.INTEGER,
    "--shift-by": Kind.INTEGER,
    "--to-datetime": Kind.TEXT,
    "--by-duration": Kind.TEXT,
    "--from-file": Kind.FILE,
}

COMMANDS: tuple[Command, ...] = (
    Command(
        name="reset-offsets",
        summary="Set the offsets of a group that nobody reads for.",
        family="groups",
        run=reset_offsets,
        effect=Effect.DESTROY,
        arguments=(_GROUP,),
        options=(
            Option("--to", Kind.TEXT, "Where to: earliest, latest, 1200, -10, -1h, group:g ...",
                   metavar="WHERE"),
            Option("--offset", Kind.TEXT, "Offsets one by one: orders:0=5,1=none; repeated.",
                   many=True, metavar="T:P=N", excludes=("--topic",)),
            Option("--topic", Kind.TOPIC_PARTITIONS,
                   "Only these: orders:0,3-5  orders  svc-*  (repeated)", many=True,
                   metavar="TOPIC"),
            Option("--export", Kind.FILE, "Write the new offsets to a file that --to file: reads.",
                   metavar="FILE"),
            Option("--type", Kind.CHOICE, "What a group that is not there yet is to be.",
                   choices=("classic", "share"), metavar="TYPE"),
            *(Option(name, kind, "Kafka's own spelling of --to.", hidden=True,
                     least=0 if name == "--to-offset" else None)
              for name, kind in _HIDDEN.items()),
            Option("--all-topics", Kind.FLAG, "As without --topic.", hidden=True),
            Option("--execute", Kind.FLAG, "As without --dry-run.", hidden=True),
        ),
        exactly_one=(("to", "offset", *(name.removeprefix("--") for name in _HIDDEN)),),
        search=("rewind", "seek", "replay", "skip", "commit", "offset", "lag"),
        apis=(2, 8, 9, 15, 16, 47, 69, 77, 89, 90, 91, 92),
        description=(
            "--to takes earliest, latest, current (where the group is, else the end), an offset"
            " (1200), a shift (+10, -10), a time (2026-01-31T10:00), how long ago (-1h, -P1D),"
            " another group's offsets (group:OTHER) or a file's (file:F.csv, as --export and"
            " Kafka's tool write them: topic,partition,offset).\n"
            "A copy to go back to: --to current --export before.csv --dry-run.\n"
            "Without --topic: every partition the group has an offset in. A group with members is"
            " refused: they would go on where they are. With --topic or --offset a group that is"
            " not there is made. Kafka's own spellings are known too: --to-earliest, --shift-by,"
            " --to-datetime, --by-duration, --from-file ..."
        ),
        examples=(
            Example("reset-offsets orders-enricher --to -1h --dry-run",
                    "where the records of the last hour begin"),
            Example("reset-offsets fraud-check --to +1 --topic payments.authorized:2 --dry-run",
                    "step over a record that cannot be read"),
            Example("reset-offsets billing-sync.v2 --to group:billing-sync --dry-run",
                    "a new group that goes on where another is"),
            Example("reset-offsets anna-console --to latest --topic tmp.replay --yes",
                    "without a question"),
        ),
    ),
    Command(
        name="delete-offsets",
        summary="Delete offsets of a group in topics that it no longer reads.",
        family="groups",
        run=delete_offsets,
        effect=Effect.DESTROY,
        arguments=(_GROUP,),
        options=(
            Option("--topic", Kind.TOPIC_PARTITIONS,
                   "Which: orders:0,3-5  orders  svc-*  (repeated)", many=True, required=True,
                   metavar="TOPIC"),
        ),
        search=("remove", "forget", "offset"),
        apis=(2, 9, 15, 16, 47, 69, 77, 89, 90, 92),
        examples=(
            Example("delete-offsets shipping-notifier --topic orders.shipped --dry-run",
                    "see what would be forgotten"),
            Example("delete-offsets billing-sync --topic payments.captured:5 --yes",
                    "without a question"),
        ),
    ),
)  # fmt: skip
