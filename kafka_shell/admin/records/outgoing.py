"""Batches on their way to a partition, and what became of their records."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from kafka_shell.admin.records.encode import ProducerId, encoded_size
from kafka_shell.admin.records.model import NewRecord
from kafka_shell.admin.wire.failures import MAY_STILL_HAPPEN
from kafka_shell.common.structs import replace
from kafka_shell.plan.results import Failure

OUTCOME_UNKNOWN = "outcome-unknown"
NOT_SENT = "not-sent"

_BATCH_BYTES = 900_000  # below the default max.message.bytes (1,048,588)


class Written(Struct, frozen=True):
    """The result of writing consecutive records to one partition: `count` records, from index
    `first` of the input. `offset` is that of the first one; None if it failed, or if the leader no
    longer has it."""

    partition: int
    first: int
    count: int
    offset: int | None = None
    failure: Failure | None = None

    @property
    def unknown(self) -> bool:
        """Whether the records may have been written or not."""
        return self.failure is not None and self.failure.name == OUTCOME_UNKNOWN


class WriteInterrupted(KeyboardInterrupt):
    """Ctrl-C while records were written. `written` is what became of all of them."""

    def __init__(self, written: list[Written]) -> None:
        super().__init__()
        self.written = written


class Batch(Struct):
    """Records to write with one sequence number. If `whole`, they are not split."""

    first: int
    records: Sequence[NewRecord]
    size: int
    whole: bool = False
    producer: ProducerId | None = None  # set when it is first sent, with `sequence` and `until`
    sequence: int = 0
    until: float = 0.0
    maybe: bool = False  # whether it may have been written
    why: Failure | None = None  # it is not written yet


def may_be_sent(why: Failure) -> bool:
    """Whether a request may have been processed although its connection failed."""
    return why.name == OUTCOME_UNKNOWN or why.message.endswith(MAY_STILL_HAPPEN)


def failed(partition: int, batch: Batch) -> Written:
    """A batch that was not written, or perhaps written, for the reason it has."""
    assert batch.why is not None
    why = batch.why
    if batch.maybe:
        message = f"sent, but not acknowledged: {why.message.removesuffix(MAY_STILL_HAPPEN)}"
        why = Failure(OUTCOME_UNKNOWN, message, why.code, why.hint, why.see)
    elif why.name == "deadline":
        why = replace(why, name=NOT_SENT)
    return Written(partition, batch.first, len(batch.records), None, why)


def unsent(partition: int, batch: Batch, why: str) -> Written:
    failed = Failure(NOT_SENT, f"not sent: {why}")
    return Written(partition, batch.first, len(batch.records), None, failed)


def batches_of(records: Sequence[NewRecord], whole: bool) -> list[Batch]:
    """The records as batches, each of a size that brokers accept by default."""
    made: list[Batch] = []
    first, size = 0, 0
    for index, record in enumerate(records):
        more = encoded_size(record)
        if index > first and size + more > _BATCH_BYTES and not whole:
            made.append(Batch(first, records[first:index], size))
            first, size = index, 0
        size += more
    made.append(Batch(first, records[first:], size, whole))
    return made


def part(batch: Batch, begin: int, end: int | None) -> Batch:
    records = batch.records[begin:end]
    size = sum(map(encoded_size, records))
    return Batch(batch.first + begin, records, size, until=batch.until)
