"""Topics whose records are copied, and what they hold."""

from __future__ import annotations

from uuid import uuid4

from kafka_shell.admin.records.model import NewRecord, Record
from kafka_shell.admin.records.write import Writer
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import make_topic

NOON = 1_769_860_800_000  # 2026-01-31T12:00Z


KEPT = (("retention.ms", "-1"),)


MANY = 42_000  # in three partitions


def named() -> str:
    return f"cp-{uuid4().hex[:8]}"


def _topic(cluster: Cluster, partitions: int = 3, factor: int = 1) -> str:
    return make_topic(cluster, named(), partitions, factor, configs=KEPT)


def fill(cluster: Cluster, topic: str, count: int, partitions: int = 3, size: int = 60) -> None:
    records = {
        partition: [
            NewRecord(b"k%d" % number, b"%d:%d " % (partition, number) + b"x" * size)
            for number in range(count // partitions)
        ]
        for partition in range(partitions)
    }
    assert all(each.failure is None for each in Writer(cluster, topic).write(records))


def contents(records: list[Record]) -> list[tuple[int, bytes | None, bytes | None]]:
    return [(each.partition, each.key, each.value) for each in records]
