"""Records as read by Kafka's Java consumer, in the JVM of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafka_shell.admin.records.model import Record
from tests.support.jvm_tools import java

_BYTES = "org.apache.kafka.common.serialization.ByteArrayDeserializer"


def read(
    bootstrap: str, topic: str, *, committed: bool = True, values: bool = True
) -> list[Record]:
    """All records of a topic, by partition and offset; without `values` those are None."""
    properties = java().java.util.Properties()
    for name, value in {
        "bootstrap.servers": bootstrap,
        "key.deserializer": _BYTES,
        "value.deserializer": _BYTES,
        "isolation.level": "read_committed" if committed else "read_uncommitted",
        "check.crcs": "true",
        "client.id": "java-consumer",
    }.items():
        properties.put(name, value)
    consumer = java().org.apache.kafka.clients.consumer.KafkaConsumer(properties)
    try:
        partitions = java().java.util.ArrayList()
        for row in consumer.partitionsFor(topic):
            partitions.add(java().org.apache.kafka.common.TopicPartition(topic, row.partition()))
        consumer.assign(partitions)
        consumer.seekToBeginning(partitions)
        found = sorted(
            _all(consumer, partitions, values), key=lambda each: (each.partition, each.offset)
        )
    finally:
        consumer.close()
    return found


def _all(consumer: Any, partitions: Any, values: bool) -> Iterator[Record]:
    ends = consumer.endOffsets(partitions)
    while any(consumer.position(each) < ends.get(each) for each in partitions):
        rows = consumer.poll(java().java.time.Duration.ofMillis(200)).iterator()
        while rows.hasNext():
            yield _record(rows.next(), values)


def _record(row: Any, values: bool) -> Record:
    return Record(
        row.topic(),
        row.partition(),
        row.offset(),
        row.timestamp(),
        str(row.timestampType().toString()),
        row.key(),
        row.value() if values else None,
        tuple((each.key(), each.value()) for each in row.headers().toArray()),
    )
