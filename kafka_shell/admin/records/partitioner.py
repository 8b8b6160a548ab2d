"""The partition of a record, chosen as Kafka's Java producer chooses it."""

from __future__ import annotations

import random
from collections.abc import Sequence

from kafka_shell.admin.records.model import NewRecord

_STICKY_BYTES = 1 << 16  # without keys, so many bytes go to one partition before the next one


def partition_of(key: bytes, partitions: int) -> int:
    """The partition of a key in a topic with so many partitions: its murmur2 hash decides."""
    from kafka.partitioner.default import murmur2

    hashed: int = murmur2(key)
    return (hashed & 0x7FFFFFFF) % partitions


class Partitioner:
    """Chooses partitions: the record's own, else that of its key, else one of those that can be
    written (`available`), which changes from time to time (KIP-480)."""

    def __init__(self, partitions: int, available: Sequence[int]) -> None:
        self._partitions = partitions
        self._available = available or range(partitions)
        self._sticky, self._bytes = random.choice(self._available), 0

    def __call__(self, record: NewRecord) -> int:
        if record.partition is not None:
            return record.partition
        if record.key is not None:
            return partition_of(record.key, self._partitions)
        if self._bytes >= _STICKY_BYTES:
            self._sticky, self._bytes = random.choice(self._available), 0
        self._bytes += len(record.value or b"") + 1
        return self._sticky
