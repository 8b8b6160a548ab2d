"""Tables and pages of log directories, offsets, elections and reassignments."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_shell.admin.partitions.model import (
    BrokerLoad,
    DiskUse,
    ElectionStatus,
    GoalScore,
    LeaderStatus,
    LogDirUse,
    MoveSize,
    MoveState,
    MoveStatus,
    OffsetRange,
    PartitionMove,
    PartitionOffset,
    Reassignment,
    ReplicaOnDisk,
    Throttle,
    TopicLoad,
    TopicLoads,
)
from kafka_shell.base.units import approximate_bytes, counted, format_duration, format_rate
from kafka_shell.output.columns import summary
from kafka_shell.output.humanize import comma_list, local_time
from kafka_shell.output.tables import NOTHING, Cell, Column, Page, Rows, draw_table
from kafka_shell.output.text import Role, Text, text

_PREFERRED = "PREFERRED-LEADERS"
_FULL = 0.9  # of a volume
_MOST_TOPICS = 20  # in the figures of a plan


def _size(count: int | None) -> str | None:
    return None if count is None else approximate_bytes(count)


def _at_least(use: DiskUse, total: str) -> str:
    """`1.2 GiB`, or `1.2 GiB+` if not all replicas were read."""
    return f"{total}+" if use.unread_replicas else total


_STATES: dict[str, Role] = {"cordoned": "warning", "offline": "bad"}


def _usable(use: LogDirUse) -> Cell:
    if use.usable is None or not use.total:
        return _size(use.usable)
    full = use.usable < (1 - _FULL) * use.total
    return text(approximate_bytes(use.usable), "warning" if full else "")


_ELECTION_STATUS: dict[str, Role] = {"completed": "good", "in progress": "warning", "failed": "bad"}

COLUMNS: dict[type, tuple[Column, ...]] = {
    PartitionOffset: (
        Column("TOPIC", lambda o: o.topic, role="name"),
        Column("PARTITION", lambda o: o.partition, "right"),
        # NOTHING keeps the column even if it is empty in all rows.
        Column("OFFSET", lambda o: NOTHING if o.offset is None else o.offset, "right"),
        Column("TIMESTAMP", lambda o: None if o.timestamp is None else local_time(o.timestamp)),
        Column("EPOCH", lambda o: o.leader_epoch, "right", "dim", overflow="drop"),
    ),
    OffsetRange: (
        Column("TOPIC", lambda o: o.topic, role="name"),
        Column("PARTITION", lambda o: o.partition, "right"),
        Column("EARLIEST", lambda o: o.earliest, "right"),
        Column("LATEST", lambda o: o.latest, "right"),
        Column("MAX-RECORDS", lambda o: o.max_records, "right"),
    ),
    LogDirUse: (
        Column("BROKER", lambda u: u.broker, "right", "name"),
        Column("DIR", lambda u: u.path, overflow="cut-start", least=16),
        Column("STATE", lambda u: text(u.state, _STATES.get(u.state, ""))),
        Column("REPLICAS", lambda u: NOTHING if u.replicas is None else u.replicas, "right"),
        Column("INCOMING", lambda u: u.incoming or None, "right"),
        Column("SIZE", lambda u: NOTHING if u.size is None else approximate_bytes(u.size), "right"),
        Column("USABLE", _usable, "right"),
        Column("TOTAL", lambda u: _size(u.total), "right"),
    ),
    ReplicaOnDisk: (
        Column("BROKER", lambda r: r.broker, "right"),
        Column("TOPIC", lambda r: r.topic, role="name"),
        Column("PARTITION", lambda r: r.partition, "right"),
        Column("SIZE", lambda r: approximate_bytes(r.size), "right"),
        Column("LAG", lambda r: r.offset_lag or None, "right"),
        Column("FUTURE", lambda r: text("yes", "warning") if r.future else None),
        Column("DIR", lambda r: r.path, overflow="cut-start", least=16),
    ),
    DiskUse: (
        Column("BROKER", lambda u: u.broker, "right", "name"),
        Column("TOPIC", lambda u: u.topic, role="name"),
        Column("PARTITION", lambda u: u.partition, "right"),
        Column("REPLICAS", lambda u: _at_least(u, str(u.replicas)), "right"),
        Column("SIZE", lambda u: _at_least(u, approximate_bytes(u.size)), "right"),
        Column("LARGEST", lambda u: _at_least(u, approximate_bytes(u.largest)), "right"),
    ),
    LeaderStatus: (
        Column("TOPIC", lambda s: s.topic, role="name"),
        Column("PARTITION", lambda s: s.partition, "right"),
        Column("STATUS", lambda s: text(s.status, _ELECTION_STATUS.get(s.status, ""))),
        Column("LEADER", lambda s: NOTHING if s.leader is None else s.leader, "right"),
        Column("PREFERRED", lambda s: s.preferred, "right"),
        Column("REASON", lambda s: s.reason, overflow="wrap"),
    ),
}


def election_page(status: ElectionStatus, width: int | None) -> Iterator[Text]:
    """Counts by status, then the partitions that are not completed."""
    rows = status.partitions
    counts = {name: sum(row.status == name for row in rows) for name in _ELECTION_STATUS}
    statuses = (f"{count:,} {name}" for name, count in counts.items() if count)
    yield from summary(width, text(counted(len(rows), "partition"), "heading"), *statuses)
    incomplete = [row for row in rows if row.status != "completed"]
    if incomplete:
        yield Text()
        yield from draw_table(COLUMNS[LeaderStatus], incomplete, width=width)


PAGES: dict[type, Page] = {ElectionStatus: election_page}
ROWS: dict[type, Rows] = {ElectionStatus: lambda status: status.partitions}


def _share(row: Reassignment | PartitionMove) -> str | None:
    """The copied part of all replicas: `45% of 1.2 GiB`."""
    if row.size is None or row.copied is None:
        return None
    share = 100 if not row.size else min(99, 100 * row.copied // row.size)
    return f"{share}% of {approximate_bytes(row.size)}"


def _waiting_for(row: Reassignment) -> Cell:
    """The broker that is down."""
    return None if row.waiting_for is None else text(f"broker {row.waiting_for}", "bad")


def _change(before: int, after: int) -> Cell:
    if before == after:
        return f"{after:,}"
    return text(f"{before:,} -> ") + text(f"{after:,}", "added")


def _bytes(load: BrokerLoad) -> Cell:
    if load.bytes_before is None:
        return None
    before = approximate_bytes(load.bytes_before)
    if load.bytes_after is None or load.bytes_after == load.bytes_before:
        return before
    return text(f"{before} -> ") + text(approximate_bytes(load.bytes_after), "added")


def _scores(score: GoalScore) -> Cell:
    before, after = f"{score.before:,.4g}", f"{score.after:,.4g}"
    if before == after:
        return before
    return text(f"{before} -> ") + text(after, "added" if score.after < score.before else "removed")


def _by_broker(before: dict[int, int], after: dict[int, int]) -> Cell:
    """`1:6 -> 1:2 2:2 3:2`: counts by broker ID."""
    was, now = (" ".join(f"{id}:{count}" for id, count in side.items()) for side in (before, after))
    return was if was == now else text(f"{was} -> ") + text(now, "added")


_MOVE_STATUS: dict[MoveStatus, Role] = {
    MoveStatus.COMPLETED: "good",
    MoveStatus.IN_PROGRESS: "warning",
    MoveStatus.FAILED: "bad",
}


def _status(row: PartitionMove) -> Text:
    return text(row.status.name.lower().replace("_", " "), _MOVE_STATUS[row.status])


def _rate(throttle: Throttle) -> str:
    if throttle.key.endswith(".rate") and throttle.value.isdigit():
        return format_rate(int(throttle.value))
    return throttle.value


def _throttle_note(throttle: Throttle) -> str | None:
    if not throttle.down:
        return None
    return f"{throttle.resource} is down; --finish removes the throttle when the broker is up again"


COLUMNS |= {
    Reassignment: (
        Column("TOPIC", lambda r: r.topic, role="name"),
        Column("PARTITION", lambda r: r.partition, "right"),
        Column("REPLICAS", lambda r: comma_list(r.replicas)),
        Column("ADDING", lambda r: comma_list(r.adding)),
        Column("REMOVING", lambda r: comma_list(r.removing)),
        Column("COPIED", _share),
        Column("LAG", lambda r: r.lag, "right"),
        Column("WAITING-FOR", _waiting_for, "right"),
    ),
    PartitionMove: (
        Column("TOPIC", lambda r: r.topic, role="name"),
        Column("PARTITION", lambda r: r.partition, "right"),
        Column("STATUS", _status),
        Column("REPLICAS", lambda r: comma_list(r.replicas)),
        Column("TARGET", lambda r: None if r.wanted is None else comma_list(r.wanted)),
        Column("COPIED", _share),
        Column("LAG", lambda r: r.lag, "right"),
        Column("NOTE", lambda r: r.note, overflow="wrap"),
    ),
    BrokerLoad: (
        Column("BROKER", lambda b: b.broker, "right"),
        Column("RACK", lambda b: b.rack),
        Column("REPLICAS", lambda b: _change(b.replicas_before, b.replicas_after), "right"),
        Column(_PREFERRED, lambda b: _change(b.leaders_before, b.leaders_after), "right"),
        Column("BYTES", _bytes, "right"),
        Column("TO-COPY", lambda b: approximate_bytes(b.incoming) if b.incoming else None, "right"),
    ),
    GoalScore: (
        Column("GOAL", lambda s: s.goal, role="name"),
        Column("SCORE", _scores, "right"),
    ),
    TopicLoad: (
        Column("TOPIC", lambda t: t.topic, role="name"),
        Column(
            "REPLICAS", lambda t: _by_broker(t.replicas_before, t.replicas_after), overflow="wrap"
        ),
        Column(
            _PREFERRED, lambda t: _by_broker(t.leaders_before, t.leaders_after), overflow="wrap"
        ),
    ),
    Throttle: (
        Column("RESOURCE", lambda t: t.resource, role="name"),
        Column("KEY", lambda t: t.key),
        Column("VALUE", _rate, overflow="wrap"),
        Column("NOTE", _throttle_note, overflow="wrap"),
    ),
}


def move_size_page(size: MoveSize, width: int | None) -> Iterator[Text]:
    """The size of a reassignment in one line."""
    to_copy = counted(size.copies, "replica") + " to copy"
    if size.bytes is None:
        weight = "size unknown" if size.copies else ""
    else:
        weight = f"{approximate_bytes(size.bytes)} to copy" if size.copies else ""
    throttle = "" if size.throttle is None else f"throttle {format_rate(size.throttle)}"
    about = f"about {format_duration(size.seconds * 1000)}" if size.seconds else ""
    yield from summary(
        width,
        text("move", "heading"),
        counted(size.partitions, "partition"),
        to_copy if size.copies else "nothing to copy",
        weight,
        f"{size.batches:,} batches" if size.batches > 1 else "",
        throttle,
        about,
    )


def state_page(state: MoveState, width: int | None) -> Iterator[Text]:
    """The partitions, then leftover throttles."""
    yield from draw_table(COLUMNS[PartitionMove], state.partitions, width=width)
    for about, failure in state.not_read:
        hint = f" ({failure.hint})" if failure.hint else ""
        yield text(f"throttles not read: {about}: {failure.message}{hint}", "warning")
    if not state.throttles:
        return
    if state.partitions:
        yield Text()
    yield text("leftover throttles (to remove them, run verify-reassign-partitions --finish)",
               "warning")  # fmt: skip
    yield from draw_table(COLUMNS[Throttle], state.throttles, width=width)


def topics_page(loads: TopicLoads, width: int | None) -> Iterator[Text]:
    """The topics by broker; of very many only the first."""
    yield from draw_table(COLUMNS[TopicLoad], loads.topics[:_MOST_TOPICS], width=width)
    rest = len(loads.topics) - _MOST_TOPICS
    if rest > 0:
        more = f"... and {counted(rest, 'topic')} more"
        yield text(f"{more} (for the full list, use --dry-run --output json)", "dim")


PAGES |= {MoveSize: move_size_page, MoveState: state_page, TopicLoads: topics_page}
ROWS |= {MoveState: lambda state: state.partitions, TopicLoads: lambda loads: loads.topics}
