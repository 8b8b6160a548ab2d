"""Records as read by this program: for many records, Java's consumer would take minutes."""

from __future__ import annotations

from itertools import chain

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.fetching import fetching
from kafka_shell.admin.records.model import Record
from kafka_shell.admin.records.read import Reading, last, spans
from kafka_shell.wire.cluster import Cluster


def read_all(cluster: Cluster, topic: str, partitions: int = 3) -> list[Record]:
    """All records of a topic, by partition and offset."""
    wanted = spans(cluster, [TopicPartition(topic, number) for number in range(partitions)]).values
    found: list[Record] = []
    with fetching(cluster, wanted) as reading:
        while (chunk := reading.chunk()) is not None:
            for batch, at in chunk.batches():
                found += chain.from_iterable(chunk.records(batch, at))
    assert not reading.failures
    return sorted(found, key=lambda each: (each.partition, each.offset))


def last_records(reading: Reading, count: int) -> list[Record]:
    """The last records of a reading."""
    return list(chain.from_iterable(last(reading, count)))
