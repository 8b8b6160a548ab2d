"""How much is written to each partition, measured by log end offsets (ListOffsets, API key 2)."""

from __future__ import annotations

import time

from kafka_shell.admin.partitions.current_assignment import CurrentAssignment
from kafka_shell.admin.partitions.model import EARLIEST, LATEST, TopicPartition
from kafka_shell.admin.partitions.sizes import Sizes
from kafka_shell.admin.records.offsets import list_offsets
from kafka_shell.wire.connection import Cluster


def measure(
    cluster: Cluster, now: CurrentAssignment, sizes: Sizes, seconds: float
) -> dict[TopicPartition, float]:
    """Bytes per second written to each partition: its new records in this time, each counted with
    the average size in the log. Partitions without a known size or offset are left out."""
    led = [each for each, (leader, _) in now.current.items() if leader is not None]
    earliest = list_offsets(cluster, dict.fromkeys(led, EARLIEST)).values
    began = time.monotonic()
    first = list_offsets(cluster, dict.fromkeys(led, LATEST)).values
    time.sleep(seconds)
    took = time.monotonic() - began
    second = list_offsets(cluster, dict.fromkeys(led, LATEST)).values
    rates: dict[TopicPartition, float] = {}
    for each in first.keys() & second.keys() & earliest.keys():
        size = sizes.of(each, now.current[each][0])
        start, was, end = (row[each].offset for row in (earliest, first, second))
        if size is None or start is None or was is None or end is None or end <= start:
            continue
        rates[each] = (end - was) / took * size / (end - start)
    return rates
