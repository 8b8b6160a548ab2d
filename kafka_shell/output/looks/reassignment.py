"""Where replicas go: plans, moves under way, throttles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...nouns.reassignment import (
    BrokerLoad,
    MoveSize,
    MoveState,
    MoveStatus,
    PartitionMove,
    Reassignment,
    Throttle,
)
from ...values import about_bytes, spell_duration, spell_rate
from ..page import Page, summary
from ..people import plural
from ..tables import Cell, Column, draw_table
from ..text import Role, Text, text


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers))


def _share(row: Reassignment | PartitionMove) -> str | None:
    """`45% of 1.2 GiB`, of all copies."""
    if row.size is None or row.copied is None:
        return None
    share = 100 if not row.size else min(99, 100 * row.copied // row.size)
    return f"{share}% of {about_bytes(row.size)}"


def _change(before: int, after: int) -> Cell:
    if before == after:
        return f"{after:,}"
    return text(f"{before:,} -> ") + text(f"{after:,}", "added")


def _bytes(load: BrokerLoad) -> Cell:
    if load.bytes_before is None:
        return None
    before = about_bytes(load.bytes_before)
    if load.bytes_after is None or load.bytes_after == load.bytes_before:
        return before
    return text(f"{before} -> ") + text(about_bytes(load.bytes_after), "added")


_STATUS: dict[MoveStatus, Role] = {
    MoveStatus.COMPLETED: "good",
    MoveStatus.IN_PROGRESS: "warning",
    MoveStatus.FAILED: "bad",
}


def _status(row: PartitionMove) -> Text:
    return text(row.status.name.lower().replace("_", " "), _STATUS[row.status])


def _rate(throttle: Throttle) -> str:
    if throttle.key.endswith(".rate") and throttle.value.isdigit():
        return spell_rate(int(throttle.value))
    return throttle.value


COLUMNS: dict[type, tuple[Column, ...]] = {
    Reassignment: (
        Column("TOPIC", lambda r: r.topic, role="name"),
        Column("PARTITION", lambda r: r.partition, "right"),
        Column("REPLICAS", lambda r: _ids(r.replicas)),
        Column("ADDING", lambda r: _ids(r.adding)),
        Column("REMOVING", lambda r: _ids(r.removing)),
        Column("COPIED", _share),
        Column("LAG", lambda r: r.lag, "right"),
    ),
    PartitionMove: (
        Column("TOPIC", lambda r: r.topic, role="name"),
        Column("PARTITION", lambda r: r.partition, "right"),
        Column("STATUS", _status),
        Column("REPLICAS", lambda r: _ids(r.replicas)),
        Column("WANTED", lambda r: None if r.wanted is None else _ids(r.wanted)),
        Column("COPIED", _share),
        Column("LAG", lambda r: r.lag, "right"),
        Column("NOTE", lambda r: r.note, give="wrap"),
    ),
    BrokerLoad: (
        Column("BROKER", lambda b: b.broker, "right"),
        Column("RACK", lambda b: b.rack),
        Column("REPLICAS", lambda b: _change(b.replicas_before, b.replicas_after), "right"),
        Column("LEADERS", lambda b: _change(b.leaders_before, b.leaders_after), "right"),
        Column("BYTES", _bytes, "right"),
        Column("TO-COPY", lambda b: about_bytes(b.incoming) if b.incoming else None, "right"),
    ),
    Throttle: (
        Column("RESOURCE", lambda t: t.resource, role="name"),
        Column("KEY", lambda t: t.key),
        Column("VALUE", _rate, give="wrap"),
    ),
}


def move_size_page(size: MoveSize, width: int | None) -> Iterator[Text]:
    """How much a move is, in a line."""
    to_copy = plural(size.copies, "copy", "copies") + " to make"
    if size.bytes is None:
        weight = "their bytes are not known" if size.copies else ""
    else:
        weight = f"{about_bytes(size.bytes)} to move" if size.copies else ""
    throttle = "" if size.throttle is None else f"throttle {spell_rate(size.throttle)}"
    least = f"at least {spell_duration(size.seconds * 1000)}" if size.seconds else ""
    yield from summary(
        width,
        text("move", "heading"),
        plural(size.partitions, "partition"),
        to_copy if size.copies else "nothing to copy",
        weight,
        throttle,
        least,
    )


def state_page(state: MoveState, width: int | None) -> Iterator[Text]:
    """Each partition, then the throttles that are left behind."""
    yield from draw_table(COLUMNS[PartitionMove], state.partitions, width=width)
    for about, why in state.not_read:
        hint = f" ({why.hint})" if why.hint else ""
        yield text(f"throttles not read: {about}: {why.message}{hint}", "warning")
    if not state.throttles:
        return
    if state.partitions:
        yield Text()
    yield text("throttles that no move needs (lift them: verify-reassign-partitions --finish)",
               "warning")  # fmt: skip
    yield from draw_table(COLUMNS[Throttle], state.throttles, width=width)


PAGES: dict[type, Page] = {MoveSize: move_size_page, MoveState: state_page}
ROWS = {MoveState: lambda state: state.partitions}
