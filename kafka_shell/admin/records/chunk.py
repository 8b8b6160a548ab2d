"""What is read of a partition: a span of offsets, in chunks of record batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Protocol

from msgspec import Struct

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.batches import Batch
from kafka_shell.admin.records.decode import body, data_batches, records
from kafka_shell.admin.records.model import Record
from kafka_shell.admin.wire.uuids import uuid_of


class Filter(Protocol):
    """Which records to return. `may_keep` is asked first, with the bytes of a whole batch: False
    if no record of it can be kept, so that the batch need not be decoded."""

    def may_keep(self, data: bytes) -> bool: ...
    def keeps(self, record: Record) -> bool: ...


class Span(Struct, frozen=True):
    """Offsets of a partition: from `start` up to, not including, `end`; None has no end.
    `topic_id` is the ID of their topic, if known: a topic that is created again has a new ID."""

    start: int
    end: int | None = None
    topic_id: str = ""


class Chunk(Struct, frozen=True):
    """The batches of one response for a partition. Some may begin before `start`, or continue after
    `end`; `next` is the offset after them, at most `end`. `aborted` are the transactions to leave
    out: producer ID and first offset."""

    where: TopicPartition
    raw: bytes
    start: int
    end: int | None
    next: int
    aborted: tuple[tuple[int, int], ...] = ()

    def batches(self, *, empty: bool = False) -> Iterator[tuple[Batch, int]]:
        """The batches with records in the span, with their positions. With `empty`, also those of
        which compaction has left only the header."""
        for batch, at in data_batches(self.raw, self.aborted):
            if self.end is not None and batch.base_offset >= self.end:
                return
            if batch.last_offset >= self.start and (batch.records or empty):
                yield batch, at

    def whole(self, batch: Batch) -> bool:
        """Whether all records of the batch are in the span."""
        return batch.base_offset >= self.start and (
            self.end is None or batch.last_offset < self.end
        )

    def records(self, batch: Batch, at: int, keep: Filter | None = None) -> Iterator[list[Record]]:
        """The records of a batch that are in the span, and that the filter keeps, in blocks."""
        data = body(self.raw, batch, at)
        if keep is not None and not keep.may_keep(data):
            return
        for found in records(self.where, batch, data):
            if not self.whole(batch):
                end = batch.last_offset + 1 if self.end is None else self.end
                found = [record for record in found if self.start <= record.offset < end]
            yield found if keep is None else list(filter(keep.keeps, found))


class PartitionState:
    """How far a partition has been read, and what was received but not returned yet."""

    def __init__(self, span: Span) -> None:
        self.next = span.start
        self.end = span.end
        self.topic_id = uuid_of(span.topic_id) if span.topic_id else None  # of what is read
        self.leader: int | None = None
        self.queue: deque[Chunk] = deque()
        self.turn = 0  # of its last response with records
        self.retry_at = 0.0
        self.troubled_since: float | None = None

    @property
    def complete(self) -> bool:
        return self.end is not None and self.next >= self.end
