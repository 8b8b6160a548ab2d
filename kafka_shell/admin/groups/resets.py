"""Plans that set and delete the committed offsets of inactive groups (KIP-122)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct, field

from kafka_shell.admin.groups import read as groups
from kafka_shell.admin.groups.model import Group, GroupType, Member, Reset, ResetTarget, ResetTo
from kafka_shell.admin.groups.offsets import Offsets, committed, hidden
from kafka_shell.admin.groups.steps import (
    AlterShareOffsets,
    CommitOffsets,
    DeleteOffsets,
    DeleteShareOffsets,
    GroupResets,
    OffsetsStep,
    offset_change,
)
from kafka_shell.admin.partitions.model import Offset, OffsetRange, TopicPartition
from kafka_shell.admin.records.offsets import by_topic, list_offsets, ranges
from kafka_shell.base.plans import Advice, Effect, NotChecked, Plan, Resource
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import replace
from kafka_shell.base.text import named
from kafka_shell.base.units import counted, format_time, some
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import (
    GROUP_ID_NOT_FOUND,
    GROUP_SUBSCRIBED_TO_TOPIC,
    INVALID_REQUEST,
    NON_EMPTY_GROUP,
)
from kafka_shell.wire.failures import failure
from kafka_shell.wire.rounds import in_slices

_SHOWN = 5  # members that a message names
_UNCHANGED = "no change: already set"
_TOGETHER = 100  # groups whose requests are sent at once: between them, Ctrl-C works

Refused = dict[Resource, Failure]
Partitions = Sequence[TopicPartition]


def plan_reset(
    cluster: Cluster,
    wanted: Mapping[str, Partitions | None],
    where: ResetTo,
    kind: GroupType = GroupType.UNKNOWN,
) -> Plan:
    """Reset the offsets of groups in these partitions, or in all with committed offsets (API key 8;
    of share groups 91).

    A group is rejected if it has members, or if it does not exist and no partitions are given; with
    partitions it is created with this `kind`. Offsets outside of the range of a partition become
    its first or end offset, as in Kafka's tool. Without partitions, warns if offsets may be hidden.
    """
    reads = _read(cluster, wanted, kind, may_be_missing=lambda name: wanted[name] is not None)
    everywhere = [name for name, each in reads.items() if each.fit and wanted[name] is None]
    unseen = hidden(cluster) if everywhere else None
    for name in everywhere:
        if not reads[name].now:
            hint = "Name the partitions whose offsets to set."
            reads[name].why = replace(_no_offsets(name, unseen), hint=hint)
    requested = {
        name: list(dict.fromkeys(group.now if wanted[name] is None else wanted[name] or ()))
        for name, group in reads.items()
        if group.fit
    }
    distinct = list(dict.fromkeys(chain.from_iterable(requested.values())))
    spans = ranges(cluster, distinct)
    at: Results[TopicPartition, Offset] = Results()
    if where.to is ResetTarget.TIME:
        at = list_offsets(cluster, dict.fromkeys(spans.values, where.number))
    failures = spans.failures | at.failures
    for name, partitions in requested.items():
        for each in partitions:
            if each in failures:
                reads[name].refused[each.resource] = failures[each]
            else:
                _reset(reads[name], each, where, spans[each], at.values.get(each))
    return _plan(cluster, reads, unseen)


def plan_offsets(
    cluster: Cluster,
    wanted: Mapping[str, Mapping[TopicPartition, int | None]],
    kind: GroupType = GroupType.UNKNOWN,
    *,
    exact: bool = False,
    may_lack: bool = False,
) -> Plan:
    """Set the offsets of groups to these; None deletes one (API keys 8, 47). Rejected as in
    `plan_reset`.

    `exact` also sets offsets outside of the range of the partition, to restore previous ones. With
    `may_lack`, warns if offsets may be hidden that `wanted` therefore lacks.
    """
    reads = _read(cluster, wanted, kind, may_be_missing=lambda name: True)
    to_set = (at for each in wanted.values() for at, offset in each.items() if offset is not None)
    spans = ranges(cluster, list(dict.fromkeys(to_set)))
    put = _exactly if exact else _within
    for name, group in reads.items():
        for each, offset in wanted[name].items():
            before = _offset(group.now, each)
            if offset is None:
                group.resets.append(Reset(each, before, None))
            elif each in spans.failures:
                group.refused[each.resource] = spans.failures[each]
            else:
                group.resets.append(put(each, before, offset, spans[each]))
    may_lack = may_lack and any(group.fit for group in reads.values())
    return _plan(cluster, reads, hidden(cluster) if may_lack else None)


def plan_delete_offsets(cluster: Cluster, wanted: Mapping[str, Partitions]) -> Plan:
    """Delete offsets of groups (API key 47; of share groups 92). Topics that members are subscribed
    to are rejected."""
    reads = _read(cluster, wanted, may_be_active=True)
    for name, group in reads.items():
        for partition in dict.fromkeys(wanted[name]):
            topic = partition.topic
            readers = [member for member in group.members if topic in _topics(member)]
            if readers:
                group.refused[Resource("topic", topic)] = _subscribed(name, topic, readers)
            elif partition in group.now:
                group.resets.append(Reset(partition, _offset(group.now, partition), None))
            else:
                message = f"group {named(name)} has no committed offset for partition {partition}"
                see = Resource("group-offsets", name)
                group.refused[partition.resource] = Failure("NO_OFFSETS", message, see=see)
    return _plan(cluster, reads)


# -- the groups as they are ------------------------------------------------------------------------


class _Found(Struct):
    """A group, its offsets, and why it is refused (or None); then its resets, and the partitions
    that are refused.

    `kind` is its type; of a new group, the type to create: committing creates a classic group.
    """

    name: str
    kind: GroupType
    now: Offsets = field(default_factory=dict)
    why: Failure | None = None
    members: tuple[Member, ...] = ()
    warnings: tuple[str, ...] = ()
    resets: list[Reset] = field(default_factory=list)
    refused: Refused = field(default_factory=dict)

    @property
    def fit(self) -> bool:
        """Whether it is not rejected as a whole."""
        return self.why is None

    @property
    def refusals(self) -> Refused:
        return {Resource("group", self.name): self.why} if self.why else self.refused


def _read(
    cluster: Cluster,
    names: Collection[str],
    kind: GroupType = GroupType.UNKNOWN,
    *,
    may_be_missing: Callable[[str], bool] = lambda name: False,
    may_be_active: bool = False,
) -> dict[str, _Found]:
    """The groups, in two rounds for all of them."""
    described = groups.describe(cluster, names)
    reads = {}
    for name in names:
        why = described.failures.get(name)
        if why is None:
            group = described[name]
            unfit = _unfit(group, kind, may_be_active)
            reads[name] = _Found(name, group.type, why=unfit, members=group.members)
        elif why.code != GROUP_ID_NOT_FOUND or not may_be_missing(name):
            reads[name] = _Found(name, kind, why=why)
        else:
            near = f" ({why.hint})" if why.hint else ""
            warning = f"group {named(name)} does not exist and will be created{near}"
            made = GroupType.CLASSIC if kind is GroupType.UNKNOWN else kind
            reads[name] = _Found(name, made, warnings=(warning,))
    there = {name: group.kind for name, group in reads.items() if name in described.values}
    now = committed(cluster, {name: kind for name, kind in there.items() if reads[name].fit})
    for name, offsets in now.values.items():
        reads[name].now = offsets
    for name, why in now.failures.items():
        reads[name].why = why
    return reads


def _unfit(group: Group, kind: GroupType, may_be_active: bool) -> Failure | None:
    if kind not in (GroupType.UNKNOWN, group.type):
        message = (
            f"group {named(group.name)} is a {group.type.value} group, not a {kind.value} group"
        )
        return Failure("INCONSISTENT_GROUP_TYPE", message)
    return active(group) if group.state != "Empty" and not may_be_active else None


def _no_offsets(name: str, unseen: NotChecked | None) -> Failure:
    where = "" if unseen is None else " in visible topics"
    return Failure("NO_OFFSETS", f"group {named(name)} has no committed offsets{where}")


def active(group: Group) -> Failure:
    """The failure of a group with members: they would commit their own offsets again."""
    count = len(group.members)
    who = f": {_labels(group.members)}" if count else ""
    members = counted(count, "member")
    return failure(
        NON_EMPTY_GROUP,
        text=f"group {named(group.name)} is {group.state} and has {members}{who}",
        hint="Stop its members first.",
        see=Resource("group-members", group.name),
    )


def _labels(members: Sequence[Member]) -> str:
    return some([member.label for member in members], _SHOWN)


def _topics(member: Member) -> set[str]:
    """The topics that a member is subscribed or assigned to."""
    return {*member.subscription, *(partition.topic for partition in member.assignment)}


def _subscribed(name: str, topic: str, readers: Sequence[Member]) -> Failure:
    return failure(
        GROUP_SUBSCRIBED_TO_TOPIC,
        text=f"group {named(name)} is subscribed to topic {topic}: {_labels(readers)}",
        hint="Stop these members first.",
        see=Resource("group-members", name),
    )


# -- where to --------------------------------------------------------------------------------------


def _reset(
    group: _Found, partition: TopicPartition, where: ResetTo, span: OffsetRange, at: Offset | None
) -> None:
    before = _offset(group.now, partition)
    if at is not None:
        group.resets.append(_at_time(partition, before, at, span, where.number))
    elif where.to is ResetTarget.CURRENT and before is not None:
        group.resets.append(Reset(partition, before, before, span=span))
    elif where.to is ResetTarget.SHIFT and before is None:
        message = f"{partition} cannot be shifted: it has no committed offset"
        group.refused[partition.resource] = Failure("NO_OFFSETS", message)
    else:
        group.resets.append(_within(partition, before, _target(where, before, span), span))


def _target(where: ResetTo, before: int | None, range_: OffsetRange) -> int:
    """The target offset, inside the range of the partition or not."""
    if where.to is ResetTarget.EARLIEST:
        return range_.earliest
    if where.to is ResetTarget.OFFSET:
        return where.number
    if where.to is ResetTarget.SHIFT and before is not None:
        return before + where.number
    return range_.latest


def _at_time(
    partition: TopicPartition, before: int | None, offset: Offset, range_: OffsetRange, time: int
) -> Reset:
    """The first record of that time or later, else the end. Notes show the time zone."""
    if offset.offset is None:
        note = f"latest offset: no record since {format_time(time)}"
        return Reset(partition, before, range_.latest, note, range_)
    when = time if offset.timestamp is None else offset.timestamp
    return Reset(partition, before, offset.offset, f"record of {format_time(when)}", range_)


def _within(place: TopicPartition, before: int | None, target: int, range_: OffsetRange) -> Reset:
    """The offset, or the first or end offset of the partition if it is out of range."""
    if target < range_.earliest:
        note = f"earliest offset: {target} is out of range"
        return Reset(place, before, range_.earliest, note, range_)
    if target > range_.latest:
        note = f"latest offset: {target} is out of range"
        return Reset(place, before, range_.latest, note, range_)
    return Reset(place, before, target, span=range_)


def _exactly(place: TopicPartition, before: int | None, target: int, range_: OffsetRange) -> Reset:
    """Exactly this offset, with a note if it is out of range."""
    note = _within(place, before, target, range_).note
    outside = f"out of range {range_.earliest} to {range_.latest}"
    return Reset(place, before, target, note and outside, range_)


def _offset(now: Offsets, partition: TopicPartition) -> int | None:
    return now[partition].offset if partition in now else None


# -- the plan --------------------------------------------------------------------------------------


def _plan(cluster: Cluster, reads: Mapping[str, _Found], unseen: NotChecked | None = None) -> Plan:
    moved = {
        name: tuple(reset for reset in group.resets if reset.before != reset.after)
        for name, group in reads.items()
        if group.fit
    }
    by_type: dict[type[OffsetsStep], list[GroupResets]] = {
        CommitOffsets: [], DeleteOffsets: [], AlterShareOffsets: [], DeleteShareOffsets: []
    }  # fmt: skip
    for name in moved:
        for step, resets in _requests(reads[name], moved[name]):
            if resets:
                by_type[step].append((name, tuple(resets)))
    steps = [step(tuple(some)) for step, every in by_type.items()
             for some in in_slices(every, _TOGETHER)]  # fmt: skip
    changed = [name for name, resets in moved.items() if resets]
    past = {name: _moved_past(moved[name]) for name in changed}
    ahead = {name: skipped for name, (skipped, _) in past.items() if skipped}
    again = {name: back for name, (_, back) in past.items() if back}
    skipped, read = (counted(sum(side.values()), "record") for side in (ahead, again))
    warnings = [f"{_groups(ahead)} will skip up to {skipped}"] if ahead else []
    warnings += [warning for name in changed for warning in reads[name].warnings]
    warnings += groups.warnings(cluster, changed, "changing its offsets")
    if unseen is not None and moved:
        warnings.append(f"{unseen.what} are not reset: {unseen.reason}")
    return Plan(
        Effect.DESTROY,
        tuple(steps),
        refused=of_groups({name: group.refusals for name, group in reads.items()}),
        unchanged=tuple(
            replace(offset_change(name, reset, reads[name].kind), note=_UNCHANGED)
            for name in moved
            for reset in reads[name].resets
            if reset.before == reset.after
        ),
        advice=Advice(
            warnings=tuple(warnings),
            notes=(f"{_groups(again)} will read up to {read} again",) if again else (),
            stakes=f"skips up to {skipped}" if ahead else "",
        ),
    )


def _groups(names: Iterable[str]) -> str:
    """`group a`, `5 groups (a, b, c and 2 more)`."""
    known = [named(name) for name in names]
    return f"group {known[0]}" if len(known) == 1 else f"{len(known):,} groups ({some(known, 3)})"


def of_groups(refused: Mapping[str, Refused]) -> Results[Resource, Any]:
    """What is refused of each group. Of several groups, each refusal names its group."""
    failures: Refused = {}
    for name, of_group in refused.items():
        for about, why in of_group.items():
            if len(refused) > 1 and about.kind != "group":
                about = Resource(about.kind, f"{about.name} of group {named(name)}")
            failures[about] = why
    return Results({}, failures)


def _requests(
    group: _Found, moved: Sequence[Reset]
) -> Iterator[tuple[type[OffsetsStep], Sequence[Reset]]]:
    """What to send for a group, in order."""
    to_set = [reset for reset in moved if reset.after is not None]
    if group.kind is GroupType.SHARE:
        yield AlterShareOffsets, to_set
        yield DeleteShareOffsets, _whole_topics(group, moved)
        return
    yield CommitOffsets, to_set
    yield DeleteOffsets, [reset for reset in moved if reset.after is None]


def _moved_past(moved: Sequence[Reset]) -> tuple[int, int]:
    """The numbers of records that are skipped, and that are read again.

    Offsets outside the range of a partition are not counted. These are upper bounds: not every
    offset in the range has a record."""
    shifts = [
        reset.span.nearest(reset.after) - reset.span.nearest(reset.before)
        for reset in moved
        if reset.before is not None and reset.after is not None and reset.span is not None
    ]
    return sum(s for s in shifts if s > 0), -sum(s for s in shifts if s < 0)


def _whole_topics(group: _Found, moved: Sequence[Reset]) -> list[Reset]:
    """The resets that delete: offsets of share groups are deleted by topic (KIP-932)."""
    gone = {partition.partition: partition for partition in moved if partition.after is None}
    whole: list[Reset] = []
    # A partition without a start offset, of which nothing was read yet, has none to lose.
    held = by_topic(each for each, now in group.now.items() if now.offset is not None or now.error)
    for topic in by_topic(gone):
        there = held[topic]
        if gone.keys() >= set(there):
            whole += [gone[partition] for partition in sorted(there)]
        else:
            group.refused[Resource("topic", topic)] = _by_topic_only(group.name, topic)
    return whole


def _by_topic_only(name: str, topic: str) -> Failure:
    return failure(
        INVALID_REQUEST,
        text=f"offsets of share group {named(name)} in topic {topic} can only be deleted for the"
        " whole topic",
        hint="Delete its offsets in all partitions of the topic.",
    )


def committed_of(cluster: Cluster, names: Sequence[str]) -> Results[str, Offsets]:
    """The offsets of groups of any type, in two rounds for all of them."""
    described = groups.describe(cluster, names)
    now = committed(cluster, {name: described[name].type for name in described.values})
    return Results(now.values, described.failures | now.failures)


def offsets_of(cluster: Cluster, names: Sequence[str]) -> Results[str, dict[TopicPartition, int]]:
    """The offsets of groups by partition; of a group without any, the failure says so."""
    now = committed_of(cluster, names)
    resets: Results[str, dict[TopicPartition, int]] = Results({}, dict(now.failures))
    empty = []
    for name, offsets in now.values.items():
        has = {each: at.offset for each, at in offsets.items() if at.offset is not None}
        if has:
            resets.values[name] = has
        else:
            empty.append(name)
    unseen = hidden(cluster) if empty else None
    resets.failures.update({name: _no_offsets(name, unseen) for name in empty})
    return resets
