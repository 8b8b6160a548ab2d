"""Log dirs, offsets, elections."""

from __future__ import annotations

from collections.abc import Iterator

from ...nouns.partitions import (
    DiskUse,
    ElectionStatus,
    LeaderStatus,
    LogDirUse,
    OffsetRange,
    PartitionOffset,
    ReplicaOnDisk,
)
from ...values import about_bytes
from ..page import Page, summary
from ..people import local_time, plural
from ..tables import NOTHING, Cell, Column, draw_table
from ..text import Role, Text, text

_FULL = 0.9  # of a volume


def _size(count: int | None) -> str | None:
    return None if count is None else about_bytes(count)


_STATES: dict[str, Role] = {"cordoned": "warning", "offline": "bad"}


def _usable(use: LogDirUse) -> Cell:
    if use.usable is None or not use.total:
        return _size(use.usable)
    full = use.usable < (1 - _FULL) * use.total
    return text(about_bytes(use.usable), "warning" if full else "")


_STATUS: dict[str, Role] = {"completed": "good", "in progress": "warning", "failed": "bad"}

COLUMNS: dict[type, tuple[Column, ...]] = {
    PartitionOffset: (
        Column("TOPIC", lambda o: o.topic, role="name"),
        Column("PARTITION", lambda o: o.partition, "right"),
        # The answer stays, also where nothing was found anywhere.
        Column("OFFSET", lambda o: NOTHING if o.offset is None else o.offset, "right"),
        Column("TIMESTAMP", lambda o: None if o.timestamp is None else local_time(o.timestamp)),
        Column("EPOCH", lambda o: o.leader_epoch, "right", "dim", give="drop"),
    ),
    OffsetRange: (
        Column("TOPIC", lambda o: o.topic, role="name"),
        Column("PARTITION", lambda o: o.partition, "right"),
        Column("EARLIEST", lambda o: o.earliest, "right"),
        Column("LATEST", lambda o: o.latest, "right"),
        Column("RECORDS", lambda o: o.records, "right"),
    ),
    LogDirUse: (
        Column("BROKER", lambda u: u.broker, "right", "name"),
        Column("DIR", lambda u: u.path, give="cut", least=16),
        Column("STATE", lambda u: text(u.state, _STATES.get(u.state, ""))),
        Column("REPLICAS", lambda u: u.replicas, "right"),
        Column("INCOMING", lambda u: u.incoming or None, "right"),
        Column("SIZE", lambda u: about_bytes(u.size), "right"),
        Column("USABLE", _usable, "right"),
        Column("TOTAL", lambda u: _size(u.total), "right", give="drop"),
    ),
    ReplicaOnDisk: (
        Column("BROKER", lambda r: r.broker, "right"),
        Column("TOPIC", lambda r: r.topic, role="name"),
        Column("PARTITION", lambda r: r.partition, "right"),
        Column("SIZE", lambda r: about_bytes(r.size), "right"),
        Column("LAG", lambda r: r.offset_lag or None, "right"),
        Column("FUTURE", lambda r: text("yes", "warning") if r.future else None),
        Column("DIR", lambda r: r.path),
    ),
    DiskUse: (
        Column("BROKER", lambda u: u.broker, "right", "name"),
        Column("TOPIC", lambda u: u.topic, role="name"),
        Column("PARTITION", lambda u: u.partition, "right"),
        Column("REPLICAS", lambda u: u.replicas, "right"),
        Column("SIZE", lambda u: about_bytes(u.size), "right"),
        Column("LARGEST", lambda u: about_bytes(u.largest), "right"),
    ),
    LeaderStatus: (
        Column("TOPIC", lambda s: s.topic, role="name"),
        Column("PARTITION", lambda s: s.partition, "right"),
        Column("STATUS", lambda s: text(s.status, _STATUS.get(s.status, ""))),
        Column("LEADER", lambda s: NOTHING if s.leader is None else s.leader, "right"),
        Column("PREFERRED", lambda s: s.preferred, "right"),
        Column("REASON", lambda s: s.reason, give="wrap"),
    ),
}


def election_page(status: ElectionStatus, width: int | None) -> Iterator[Text]:
    """Counts, then what is not completed; all of it where nothing is."""
    rows = status.partitions
    counts = {name: sum(each.status == name for each in rows) for name in _STATUS}
    said = (f"{count:,} {name}" for name, count in counts.items() if count)
    yield from summary(width, text(plural(len(rows), "partition"), "heading"), *said)
    left = [each for each in rows if each.status != "completed"]
    if left:
        yield Text()
        yield from draw_table(COLUMNS[LeaderStatus], left, width=width)


PAGES: dict[type, Page] = {ElectionStatus: election_page}
ROWS = {ElectionStatus: lambda status: status.partitions}
