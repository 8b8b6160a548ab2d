"""The log of one partition, read to its end or appended to (API keys 0, 1 and 22).

For small topics with records of this program.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.chunk import Span
from kafka_shell.admin.records.fetching import fetching
from kafka_shell.admin.records.model import NewRecord, Record
from kafka_shell.admin.records.offsets import ranges
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.failures import as_error
from kafka_shell.errors import ShellError


def read(cluster: Cluster, topic: str, partition: int = 0) -> tuple[Record, ...]:
    """Every record, from the log start offset to the high watermark as it is now.

    Raises ShellError for an unknown topic, without READ on it, without a leader, or if the end is
    not reached. Never returns a part of the records.
    """
    where = TopicPartition(topic, partition)
    span = ranges(cluster, [where])
    for why in span.failures.values():
        raise as_error(why)
    limits = span[where]
    found: list[Record] = []
    with fetching(cluster, {where: Span(limits.earliest, limits.latest)}) as reading:
        while (chunk := reading.chunk()) is not None:
            for batch, at in chunk.batches():
                found += chain.from_iterable(chunk.records(batch, at))
    for why in reading.failures.values():
        raise as_error(why)
    if reading.lost:
        raise ShellError(
            f"topic {topic} partition {partition}: records were deleted while they were read",
            hint="Try again.",
            code="incomplete",
        )
    return tuple(found)


def append(
    cluster: Cluster,
    topic: str,
    records: Sequence[tuple[bytes | None, bytes | None]],
    partition: int = 0,
) -> int:
    """Append the records as one batch, all or none, to every in-sync replica; the first's offset.

    Raises ShellError without WRITE, with too few in-sync replicas until the deadline, or if the
    outcome is unknown at the deadline ("outcome-unknown").
    """
    from kafka_shell.admin.records.write import Writer

    (written,) = Writer(cluster, topic).write(
        {partition: [NewRecord(key, value) for key, value in records]}, whole=True
    )
    if written.failure is not None:
        raise as_error(written.failure)
    return written.offset or 0
