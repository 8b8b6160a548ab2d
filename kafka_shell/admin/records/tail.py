"""The last records of partitions, read backwards in windows of offsets.

A window grows while the log has few records (compaction and transactions leave gaps), and shrinks
if it has many, so that the time does not depend on the size of the log.
"""

from __future__ import annotations

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.chunk import Span
from kafka_shell.admin.records.fetching import PARTITION_BYTES, fetching
from kafka_shell.admin.records.model import Record
from kafka_shell.admin.records.read import Reading, merge

_CHUNK_BYTES = 1 << 18  # of one response for one partition
_WINDOW_BYTES = 1 << 21  # of a window; with a filter 16 times as many
_GROWTH = 4


class _Tail:
    """The last records of one partition so far: all from offset `low` on."""

    def __init__(self, span: Span, count: int) -> None:
        assert span.end is not None
        self.first, self.low, self.width = span.start, span.end, count
        self.topic_id = span.topic_id
        self.records: list[Record] = []

    @property
    def window(self) -> Span:
        return Span(max(self.first, self.low - self.width), self.low, self.topic_id)


def last(reading: Reading, count: int) -> list[Record]:
    """The last records of the spans, at most `count`, in the order of their timestamps. Failures
    are added to those of the reading."""
    tails = {where: _Tail(span, count) for where, span in reading.spans.items()}
    while open_ := {
        where: tail
        for where, tail in tails.items()
        if tail.low > tail.first and len(tail.records) < count and where not in reading.ended
    }:
        _read_windows(reading, open_, count)
    blocks = merge([iter([tail.records]) for tail in tails.values()])
    found = [record for block in blocks for record in block]
    return found[-count:]


def _read_windows(reading: Reading, tails: dict[TopicPartition, _Tail], count: int) -> None:
    chunk_bytes = _CHUNK_BYTES if reading.keep is None else PARTITION_BYTES
    most = _WINDOW_BYTES if reading.keep is None else 16 * _WINDOW_BYTES
    found: dict[TopicPartition, list[Record]] = {where: [] for where in tails}
    sizes = dict.fromkeys(tails, 0)
    with fetching(
        reading.cluster,
        {where: tail.window for where, tail in tails.items()},
        committed=reading.committed,
        warn=reading.warn,
        partition_bytes=chunk_bytes,
    ) as source:
        while (chunk := source.chunk()) is not None:
            where = chunk.where
            sizes[where] += len(chunk.raw)
            if sizes[where] > most and tails[where].width > count:
                source.stop(where)
                continue
            for block in reading.blocks(source, chunk):
                found[where] += block
                del found[where][:-count]
        reading.ended |= source.failures
    for where, tail in tails.items():
        if sizes[where] > most and tail.width > count:
            tail.width = max(count, tail.width // _GROWTH)
            continue
        tail.records = (found[where] + tail.records)[-count:]
        tail.low = tail.window.start
        if sizes[where] < most // (2 * _GROWTH):
            tail.width *= _GROWTH
