"""Tables of transactions and producers, and the page of hanging transactions."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_shell.admin.transactions.model import (
    HangingSearch,
    HangingTransaction,
    ProducerState,
    Transaction,
    TransactionListing,
    Unread,
)
from kafka_shell.base.text import positional
from kafka_shell.base.units import counted, format_duration
from kafka_shell.output.columns import summary
from kafka_shell.output.humanize import local_time
from kafka_shell.output.resource_kinds import hint_of
from kafka_shell.output.tables import Cell, Column, Page, draw_table
from kafka_shell.output.text import Role, Text, text, wrap

_STATES: dict[str, Role] = {"Ongoing": "good", "Dead": "bad", "PrepareEpochFence": "warning"}
_UNREAD_SHOWN = 5


def _state(state: str) -> Text:
    return text(state, _STATES.get(state, ""))


def _time(moment: int | None) -> Cell:
    return None if moment is None else local_time(moment)


def _duration(milliseconds: int | None) -> Cell:
    """A duration rounded to about three digits; JSON has the exact value."""
    if milliseconds is None:
        return None

    unit = next((u for u in (3_600_000, 60_000, 1_000) if milliseconds >= 100 * u), 1)
    return format_duration(milliseconds // unit * unit)


COLUMNS: dict[type, tuple[Column, ...]] = {
    TransactionListing: (
        Column("TRANSACTIONAL-ID", lambda t: t.transactional_id, role="name"),
        Column("COORDINATOR", lambda t: t.coordinator, "right"),
        Column("PRODUCER-ID", lambda t: t.producer_id, "right"),
        Column("STATE", lambda t: _state(t.state)),
    ),
    Transaction: (
        Column("TRANSACTIONAL-ID", lambda t: t.transactional_id, role="name"),
        Column("STATE", lambda t: _state(t.state)),
        Column("COORDINATOR", lambda t: t.coordinator, "right"),
        Column("PRODUCER-ID", lambda t: t.producer_id, "right"),
        Column("EPOCH", lambda t: t.producer_epoch, "right"),
        Column("TIMEOUT", lambda t: _duration(t.timeout_ms), "right"),
        Column("STARTED", lambda t: _time(t.started)),
        Column("RUNNING", lambda t: _duration(t.duration_ms), "right"),
        Column("PARTITIONS", lambda t: ",".join(map(str, t.partitions)), overflow="wrap"),
    ),
    ProducerState: (
        Column("TOPIC", lambda p: p.topic, role="name"),
        Column("PARTITION", lambda p: p.partition, "right"),
        Column("PRODUCER-ID", lambda p: p.producer_id, "right"),
        Column("EPOCH", lambda p: p.producer_epoch, "right"),
        Column("COORDINATOR-EPOCH", lambda p: p.coordinator_epoch, "right", overflow="drop"),
        Column("LAST-SEQUENCE", lambda p: p.last_sequence, "right", overflow="drop"),
        Column("LAST-WRITE", lambda p: _time(p.last_timestamp)),
        Column("OPEN-SINCE-OFFSET", lambda p: p.transaction_start, "right", "warning"),
    ),
    HangingTransaction: (
        Column("TOPIC", lambda h: h.topic, role="name"),
        Column("PARTITION", lambda h: h.partition, "right"),
        Column("START-OFFSET", lambda h: h.start_offset, "right"),
        Column("PRODUCER-ID", lambda h: h.producer_id, "right"),
        Column("EPOCH", lambda h: h.producer_epoch, "right"),
        Column("COORDINATOR-EPOCH", lambda h: h.coordinator_epoch, "right", overflow="drop"),
        Column("LAST-WRITE", lambda h: _time(h.last_timestamp), overflow="drop"),
        Column("IDLE", lambda h: _duration(h.duration_ms), "right"),
        Column("TRANSACTIONAL-ID", lambda h: h.transactional_id),
    ),
    Unread: (
        Column("TOPIC", lambda u: u.topic, role="name"),
        Column("PARTITION", lambda u: u.partition, "right"),
        Column("ERROR", lambda u: u.error, role="bad"),
        Column("MESSAGE", lambda u: u.message, overflow="wrap"),
    ),
}


def hanging_page(search: HangingSearch, width: int | None) -> Iterator[Text]:
    """Hanging transactions, the command to abort one, doubts, and partitions not searched."""
    searched = f"in {counted(search.searched, 'partition')}" if search.searched else ""
    if search.found:
        verdict = text(counted(len(search.found), "hanging transaction"), "bad")
    elif search.unread and not search.searched:
        verdict = text("no partition could be searched", "bad")
    else:
        verdict = text("no hanging transactions", "good" if search.ok else "")
    yield from summary(width, verdict, text(searched, "dim"))
    if search.found:
        yield Text()
        yield from draw_table(COLUMNS[HangingTransaction], search.found, width=width)
        yield Text()
        first = search.found[0]
        where = positional("--topic", str(first.topic_partition))
        line = f"abort-transaction {where} --start-offset {first.start_offset}"
        yield text(f"To abort one: {line}", "hint")
    for doubt in search.doubts:
        yield from wrap(text(doubt, "warning"), width or 10_000)
    if search.unread:
        yield Text()
        yield text(f"not searched: {search.unread_count}", "bad")
        shown = search.unread[:_UNREAD_SHOWN]
        yield from draw_table(COLUMNS[Unread], shown, width=width)
        for hint in filter(None, dict.fromkeys(map(hint_of, shown))):
            yield text(hint, "hint")


PAGES: dict[type, Page] = {HangingSearch: hanging_page}
ROWS = {HangingSearch: lambda search: search.found}
