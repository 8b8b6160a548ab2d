"""Tables and pages of groups: members, assignments, offsets and lag."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from kafka_shell.admin.activity.model import GroupActivity
from kafka_shell.admin.groups.model import (
    Group,
    GroupListing,
    GroupOffset,
    GroupTotals,
    GroupType,
    Member,
)
from kafka_shell.base.text import named
from kafka_shell.base.units import approximate_duration, counted
from kafka_shell.output.columns import summary
from kafka_shell.output.tables import Cell, Column, Page, draw_table
from kafka_shell.output.text import Role, Text, text

_STATES: dict[str, Role] = {"Stable": "good", "Empty": "dim", "Dead": "bad", "up": "good",
                            "not responding": "bad", "down": "bad"}  # fmt: skip


def state(name: str) -> Text:
    """The state of a group, or of a broker among them in `top`."""
    return text(name, _STATES.get(name, "warning"))


def number(value: float) -> str:
    """A number for people: one decimal below 10, `<0.1` if that would be none."""
    if 0 < abs(value) < 0.05:
        return "<0.1" if value > 0 else ">-0.1"
    return f"{value:.1f}" if 0 < abs(value) < 9.95 else f"{value:.0f}"


def change(row: GroupOffset | GroupActivity) -> Cell:
    """The change of the lag per second, with its sign."""
    value = row.change_per_s
    if value is None:
        return None
    role: Role = "warning" if value > 0 else "good" if value < 0 else "dim"
    return text(("+" if value >= 0.05 else "") + number(value), role)


def lag_cell(lag: int | None) -> Cell:
    """The lag of a group or partition, as far as it is known."""
    return None if lag is None else text(str(lag), "warning" if lag else "")


def time_lag(row: GroupOffset | GroupTotals | GroupActivity) -> Cell:
    """How long ago the oldest unread record was written: `3m20s`."""
    if row.time_lag_ms is None:
        return None
    return approximate_duration(row.time_lag_ms / 1000) if row.time_lag_ms else "0s"


def lag_note(unknown: int, out_of_range: int, partitions: int, stuck: int = 0) -> str:
    """How many of the partitions are stuck, or have an unknown lag, or a committed offset out of
    range."""
    counts = {
        "stuck": stuck, "lag unknown": unknown, "committed offset out of range": out_of_range,
    }  # fmt: skip
    of = f" of {counted(partitions, 'partition')}"
    return ", ".join(f"{what} in {count:,}{of}" for what, count in counts.items() if count)


def _assignment(member: Member) -> str:
    """The assignment of a member: `orders:0,1 payments:3`; the tasks in a streams group."""
    if member.tasks:
        grouped = groupby(member.tasks, lambda task: (task.role, task.subtopology))
        return " ".join(
            f"{role}:{subtopology}:{','.join(str(task.partition) for task in tasks)}"
            for (role, subtopology), tasks in grouped
        )
    by_topic = groupby(member.assignment, lambda partition: partition.topic)
    return " ".join(
        f"{topic}:{','.join(str(partition.partition) for partition in partitions)}"
        for topic, partitions in by_topic
    )


_OFFSET = (
    Column("TOPIC", lambda r: r.topic, role="name"),
    Column("PARTITION", lambda r: r.partition, "right"),
    Column("CURRENT-OFFSET", lambda r: r.offset, "right"),
    Column("LOG-END-OFFSET", lambda r: r.end, "right", overflow="drop"),
    Column("LAG", lambda r: lag_cell(r.lag), "right"),
    Column("TIME-LAG", time_lag, "right"),
    Column("CHANGE/S", change, "right"),
    Column(
        "NOTE",
        lambda r: ", ".join(filter(None, ("stuck" if r.stuck else "", r.note))),
        role="warning",
    ),
    Column("CLIENT-ID", lambda r: r.client_id, overflow="drop"),
    Column("HOST", lambda r: r.host, overflow="drop"),
    Column("MEMBER", lambda r: r.member_id, role="dim", overflow="drop"),
)
_MEMBER = (
    Column("CLIENT-ID", lambda m: m.client_id, role="name"),
    Column("HOST", lambda m: m.host),
    Column("INSTANCE", lambda m: m.instance_id),
    Column("PARTITIONS", lambda m: len(m.tasks or m.assignment), "right"),
    Column("ASSIGNMENT", _assignment, overflow="wrap", least=16),
    Column("NOTE", lambda m: None if m.target is None else "moving", role="warning"),
    Column("EPOCH", lambda m: m.epoch, "right", overflow="drop"),
    Column("MEMBER", lambda m: m.id, role="dim", overflow="drop"),
)
_TOTALS = (
    Column("GROUP", lambda g: named(g.name), role="name"),
    Column("STATE", lambda g: state(g.state)),
    Column("TYPE", lambda g: g.type.value),
    Column("MEMBERS", lambda g: g.members, "right"),
    Column("PARTITIONS", lambda g: g.partitions, "right"),
    Column("LAG", lambda g: lag_cell(g.lag), "right"),
    Column("TIME-LAG", time_lag, "right"),
    Column("NOTE", lambda g: lag_note(g.unknown, g.out_of_range, g.partitions), role="warning"),
    Column("COORDINATOR", lambda g: g.coordinator, "right", overflow="drop"),
    Column("ASSIGNOR", lambda g: g.assignor, overflow="drop"),
    Column("EPOCH", lambda g: g.epoch, "right", overflow="drop"),
)
COLUMNS: dict[type, tuple[Column, ...]] = {
    GroupListing: (
        Column("GROUP", lambda g: named(g.name), role="name"),
        Column("TYPE", lambda g: g.type.value),
        Column("STATE", lambda g: state(g.state)),
        Column("PROTOCOL", lambda g: g.protocol),
        Column("COORDINATOR", lambda g: g.coordinator, "right"),
    ),
    GroupTotals: _TOTALS,
    GroupOffset: (Column("GROUP", lambda r: named(r.group), role="name"), *_OFFSET),
    Member: (Column("GROUP", lambda m: named(m.group), role="name"), *_MEMBER),
}


def _heading(group: Group, width: int | None) -> Iterator[Text]:
    rows = group.offsets or ()
    behind = sum(bool(row.known_lag) for row in rows)
    unknown = sum(row.known_lag is None for row in rows)
    lag = "" if group.lag is None else f"lag {group.lag:,}"
    if group.lag and len(rows) > 1:
        lag += f" in {behind} of {counted(len(rows), 'partition')}"
    if unknown:
        where = f"unknown in {unknown:,}"
        lag += f", {where}" if lag else f"lag {where} of {counted(len(rows), 'partition')}"
    yield from summary(
        width,
        text(f"group {named(group.name)}", "heading"),
        state(group.state),
        group.type.value + (f" ({group.protocol})" if _is_not_consumer(group) else ""),
        counted(len(group.members), "member"),
        text(lag, "warning" if group.lag or unknown else ""),
        text(lag_note(0, sum(row.out_of_range for row in rows), len(rows)), "warning"),
        f"assignor {group.assignor}" if group.assignor else "",
        f"coordinator {group.coordinator}",
        text(_epochs(group), "dim"),
    )


def _is_not_consumer(group: Group) -> bool:
    """Whether the members are not consumers, such as Kafka Connect workers."""
    return group.type is GroupType.CLASSIC and group.protocol not in ("", "consumer")


def _epochs(group: Group) -> str:
    if group.epoch is None:
        return ""
    if group.assignment_epoch in (None, group.epoch):
        return f"epoch {group.epoch}"
    return f"epoch {group.epoch}, assigned {group.assignment_epoch}"


def group_page(group: Group, width: int | None) -> Iterator[Text]:
    """A group: totals, offsets with lag, members with assignments."""
    yield from _heading(group, width)
    if group.offsets:
        yield Text()
        yield from draw_table(_OFFSET[:8], group.offsets, width=width)
    if group.members:
        yield Text()
        yield from draw_table(_MEMBER, group.members, width=width)


def group_pages(groups: Sequence[Group], width: int | None) -> Iterator[Text]:
    """For several groups a table of totals first, then a page for each."""
    if len(groups) > 1:
        yield from draw_table(_TOTALS, [GroupTotals.of(group) for group in groups], width=width)
        yield Text()
    for number, group in enumerate(groups):
        if number:
            yield Text()
        yield from group_page(group, width)


PAGES: dict[type, Page] = {Group: group_page}
SEQUENCES = {Group: group_pages}
ROWS = {Group: lambda group: group.offsets or ()}
