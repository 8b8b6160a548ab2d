"""Records for Python programs: an iterator with a connection of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.model import Record
from kafka_shell.admin.records.read import FROM_EARLIEST, TO_LATEST, Position, Reading, spans
from kafka_shell.admin.records.tail import last
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.plan.results import Failure, Results

Blocks = Callable[[Reading], Iterator[list[Record]]]


class RecordStream:
    """Iterates over records. Each iteration reads again, through a connection of its own, so that
    other calls need not wait for it.

    `failures` are the partitions that could not be read, or not to their end: complete after the
    last record. `warnings` are what changed meanwhile, such as records that were deleted.
    """

    def __init__(
        self,
        connect: Callable[[], Cluster],
        partitions: Sequence[TopicPartition],
        start: Position | None,
        end: Position | None,
        committed: bool,
        blocks: Blocks = Reading.ordered,
    ) -> None:
        self.failures: dict[TopicPartition, Failure] = {}
        self.warnings: list[str] = []
        self._connect, self._blocks = connect, blocks
        self._partitions = partitions
        self._start, self._end = start or FROM_EARLIEST, end or TO_LATEST
        self._committed = committed

    def __iter__(self) -> Iterator[Record]:
        self.failures, self.warnings = {}, []
        warn = self.warnings.append
        with self._connect() as cluster:
            found = spans(
                cluster, self._partitions, self._start, self._end, committed=self._committed,
                warn=warn,
            )  # fmt: skip
            reading = Reading(cluster, Results(found.values), committed=self._committed, warn=warn)
            try:
                for block in self._blocks(reading):
                    yield from block
            finally:
                self.failures |= {**found.failures, **reading.failures}


def last_of(count: int) -> Blocks:
    """The last records of a reading."""
    return lambda reading: iter([last(reading, count)])
