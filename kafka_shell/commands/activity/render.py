"""Tables of activity: rates, lag and the time to catch up."""

from __future__ import annotations

from kafka_shell.admin.activity.model import BrokerActivity, GroupActivity, TopicActivity
from kafka_shell.base.units import approximate_bytes, approximate_duration, approximate_rate
from kafka_shell.commands.groups.render import change, lag_cell, lag_note, number, state, time_lag
from kafka_shell.output.tables import Cell, Column
from kafka_shell.output.text import Text, text


def rate(value: float | None, missing: int = 0) -> Cell:
    """Records per second: `1204`, `0.4`; `1204+` if partitions are missing from it."""
    if value is None:
        return None
    return text(number(value), "" if value else "dim") + _more(missing)


def _more(missing: int) -> Text:
    return text("+", "warning") if missing else Text()


def bytes_rate(value: float | None, missing: int) -> Cell:
    """Bytes per second: `1.4MB/s`; `1.4MB/s+` if partitions are missing from it."""
    if value is None:
        return None
    return text(approximate_rate(value), "" if value else "dim") + _more(missing)


def size(value: int | None, missing: int = 0) -> Cell:
    """Bytes: `1.4 GiB`; `1.4 GiB+` if partitions are missing from it."""
    return None if value is None else text(approximate_bytes(value)) + _more(missing)


def catch_up(row: GroupActivity) -> Cell:
    """The time until there is no lag: `3m20s`; `never` if it does not shrink."""
    if row.lag == 0 or row.change_per_s is None:
        return None
    if row.catch_up_s is None:
        return text("never", "warning")
    return approximate_duration(row.catch_up_s)


def group_note(row: GroupActivity) -> str:
    """How many partitions have an unknown lag, and why."""
    counts = lag_note(row.unknown, row.out_of_range, row.partitions, row.stuck)
    return ": ".join(filter(None, (counts, row.note)))


def in_sync(row: BrokerActivity) -> Cell:
    """The number of replicas in sync."""
    return text(str(row.in_sync), "bad" if row.in_sync < row.replicas else "")


COLUMNS: dict[type, tuple[Column, ...]] = {
    TopicActivity: (
        Column("TOPIC", lambda row: row.name, role="name", overflow="wrap", least=16),
        Column("RECORDS/S", lambda row: rate(row.records_per_s, row.not_measured), "right"),
        Column("BYTES/S", lambda row: bytes_rate(row.bytes_per_s, row.bytes_not_measured), "right"),
        Column("SIZE", lambda row: size(row.size, row.size_not_read), "right"),
        Column("PARTITIONS", lambda row: row.partitions, "right"),
        Column("NOTE", lambda row: row.note, role="warning"),
    ),
    GroupActivity: (
        Column("GROUP", lambda row: row.name, role="name", overflow="wrap", least=16),
        Column("STATE", lambda row: state(row.state)),
        Column("MEMBERS", lambda row: row.members, "right", overflow="drop"),
        Column("PARTITIONS", lambda row: row.partitions, "right", overflow="drop"),
        Column("LAG", lambda row: lag_cell(row.lag), "right"),
        Column("TIME-LAG", time_lag, "right"),
        Column("CHANGE/S", change, "right"),
        Column("CATCH-UP", catch_up, "right"),
        Column("RECORDS/S", lambda row: rate(row.records_per_s), "right"),
        Column("NOTE", group_note, role="warning"),
    ),
    BrokerActivity: (
        Column("BROKER", lambda row: row.id, role="name"),
        Column("STATE", lambda row: state(row.state)),
        Column("RACK", lambda row: row.rack),
        Column("LEADERS", lambda row: row.leaders, "right"),
        Column("REPLICAS", lambda row: row.replicas, "right"),
        Column("IN-SYNC", in_sync, "right"),
        Column("RECORDS/S", lambda row: rate(row.records_per_s, row.not_measured), "right"),
        Column("BYTES/S", lambda row: bytes_rate(row.bytes_per_s, row.bytes_not_measured), "right"),
        Column("SIZE", lambda row: size(row.size), "right"),
    ),
}
