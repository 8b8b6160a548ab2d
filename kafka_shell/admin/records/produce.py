"""Plans that write records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from kafka_shell.admin.records.codecs import NONE
from kafka_shell.admin.records.model import NewRecord, Numbered
from kafka_shell.admin.records.write import (
    OF_ONE_RECORD,
    Partitioner,
    Tally,
    WriteInterrupted,
    Writer,
    Written,
)
from kafka_shell.admin.steps import BaseStep, refused_of
from kafka_shell.admin.topics import read as topics
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import (
    Bookkeeping,
    Change,
    Effect,
    Monitor,
    Outcomes,
    Plan,
    Resource,
    StepInterrupted,
)
from kafka_shell.base.results import Failure
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.error_codes import UNKNOWN_TOPIC_OR_PARTITION
from kafka_shell.wire.failures import failure
from kafka_shell.wire.model import Topic


class WriteRecords(Struct, BaseStep, frozen=True):
    """Writes records to one topic, each list of `source` at once. `count` is their number, if it is
    known before."""

    topic: str
    partitions: int
    available: tuple[int, ...]
    source: Iterable[Sequence[Numbered]]
    count: int | None
    codec: int
    monitor: Monitor

    @property
    def changes(self) -> tuple[Change, ...]:
        after = "all of the input" if self.count is None else self.count
        return (
            Change(
                Resource("topic", self.topic), "write", "records", None, after, reversible=False,
                records=self.count or 0,
            ),
        )  # fmt: skip

    def send(self, cluster: Cluster, *, validate_only: bool) -> Outcomes:
        tally: Tally[int] = Tally(self.topic, "write", "line")
        writer = Writer(cluster, self.topic, self.codec)
        partitioner = Partitioner(self.partitions, self.available)
        try:
            for window in self.source:
                written = self._write(writer, partitioner, window, tally)
                self.monitor.report("writing records", tally.total, self.count)
                if any(stops(each) for each in written):
                    tally.skip(None if self.count is None else self.count - tally.total)
                    break
        except KeyboardInterrupt:
            # Ctrl-C is how an input like that of `tail -f` ends.
            complete = self.count is None and tally.total
            raise StepInterrupted(tally.results() if complete else tally.interrupted()) from None
        except ShellError as error:  # an invalid line, or no connection
            return tally.end(error)
        return tally.results()

    def _write(
        self,
        writer: Writer,
        partitioner: Partitioner,
        window: Sequence[Numbered],
        tally: Tally[int],
    ) -> list[Written]:
        records: dict[int, list[NewRecord]] = {}
        lines: dict[int, list[int]] = {}
        for line, record in window:
            partition = partitioner(record)
            if not 0 <= partition < self.partitions:
                tally.fail(no_partition(self.topic, partition, self.partitions), None, [line])
                continue
            records.setdefault(partition, []).append(record)
            lines.setdefault(partition, []).append(line)
        try:
            written = writer.write(records)
        except WriteInterrupted as interrupted:
            tally.add(interrupted.written, lines)
            raise
        tally.add(written, lines)
        return written


def stops(written: Written) -> bool:
    """Whether nothing more is to be written after this outcome."""
    why = written.failure
    return why is not None and why.code not in OF_ONE_RECORD


def no_partition(topic: str, number: int, partitions: int) -> Failure:
    """The failure of a record for a partition that the topic does not have."""
    hint = "It has only partition 0." if partitions == 1 else f"Use 0 to {partitions - 1}."
    text = f"topic {topic} has no partition {number}"
    return failure(UNKNOWN_TOPIC_OR_PARTITION, text=text, hint=hint)


def plan_write(
    cluster: Cluster,
    topic: str,
    source: Iterable[Sequence[Numbered]],
    *,
    count: int | None = None,
    codec: int = NONE,
) -> Plan:
    """Write records to a topic (API keys 0 and 22), without a partition to that of their key.

    `source` is read when the plan is applied, one list at a time, so that memory is bounded;
    `count` is the number of records in it, if known. The results are the offsets: of each record if
    they are few, else of each partition.
    """
    found = topics.describe(cluster, [topic])
    if found.failures:
        return Plan(Effect.CHANGE, (), refused=refused_of("topic", found.failures))
    monitor = Monitor()
    step = WriteRecords(
        topic, len(found[topic].partitions), available(found[topic]), source, count, codec, monitor
    )
    return Plan(Effect.CHANGE, (step,), bookkeeping=Bookkeeping(monitor=monitor))


def available(topic: Topic) -> tuple[int, ...]:
    """The partitions of a topic that have a leader."""
    return tuple(each.partition for each in topic.partitions if each.leader is not None)
