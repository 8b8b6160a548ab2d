"""Which records of a window an interrupted copy has written, by the batches of its producers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.chunk import Span
from kafka_shell.admin.records.encode import sequences_between
from kafka_shell.admin.records.fetching import fetching
from kafka_shell.admin.records.model import NewRecord, Record
from kafka_shell.admin.records.offsets import leader_log_end
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import as_error
from kafka_shell.errors import ShellError


class ProducedBatches(Struct, frozen=True):
    """The producer of batches in one partition, the sequence number of its first record, and an
    offset that is not after it."""

    producer: int
    epoch: int
    sequence: int
    start: int


def written(
    cluster: Cluster, where: TopicPartition, topic_id: str, marks: Sequence[ProducedBatches]
) -> list[Record]:
    """The records of these producers that a partition of the target has, in their order.

    Raises ShellError if it is not known: what is not among them is written again.
    """
    if not marks:
        return []
    first = {(mark.producer, mark.epoch): mark.sequence for mark in marks}
    # Also batches that are not replicated yet: they stay if their followers return.
    span = Span(min(mark.start for mark in marks), leader_log_end(cluster, where), topic_id)
    found: list[Record] = []
    expected: dict[tuple[int, int], int] = {}  # records up to the last batch
    with fetching(cluster, {where: span}) as reading:
        while (chunk := reading.chunk()) is not None:
            for batch, at in chunk.batches(empty=True):
                producer = (batch.producer_id, batch.producer_epoch)
                sequence = first.get(producer)
                if sequence is None:
                    continue
                passed = sequences_between(sequence, batch.base_sequence)
                if passed >= 0:
                    found += chain.from_iterable(chunk.records(batch, at))
                    expected[producer] = passed + batch.last_offset - batch.base_offset + 1
    for why in reading.failures.values():
        raise as_error(why)
    # Compaction keeps the last batch of a producer, if only its header.
    unseen = first.keys() - expected.keys()
    if len(found) < sum(expected.values()) or (reading.lost and unseen):
        raise ShellError(
            f"partition {where}: records of the interrupted copy were deleted from the target,"
            " so it is not known which it has written",
            hint="Nothing was sent. Compare both topics, and copy what is missing.",
            code="incomplete",
        )
    return found


def without(
    records: Sequence[Record], found: Sequence[Record], new: Callable[[Record], NewRecord]
) -> list[Record]:
    """The records that are not among those that were found, which have the same order."""
    places: dict[tuple[Any, ...], deque[int]] = {}
    for number, each in enumerate(found):
        places.setdefault(_content(each), deque()).append(number)
    left: list[Record] = []
    at = 0
    for record in records:
        positions = places.get(_content(new(record)), deque())
        while positions and positions[0] < at:  # of records that the source no longer has
            positions.popleft()
        if positions:
            at = positions.popleft() + 1
        else:
            left.append(record)
    return left


def _content(record: NewRecord | Record) -> tuple[Any, ...]:
    return record.key, record.value, record.headers
