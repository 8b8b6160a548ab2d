"""Records written and read by Kafka's own Java clients, in the JVM of the tools."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kafka_shell.admin.records.model import NewRecord, Record
from tests.jvm_tools import java

_PATIENCE_S = 30.0
_BYTES = "org.apache.kafka.common.serialization.ByteArraySerializer"


@contextmanager
def producer(bootstrap: str, **configs: str) -> Iterator[Any]:
    """A Java producer of bytes; `batch_size="1"` sets batch.size."""
    properties = java().java.util.Properties()
    properties.put("bootstrap.servers", bootstrap)
    properties.put("key.serializer", _BYTES)
    properties.put("value.serializer", _BYTES)
    for name, value in configs.items():
        properties.put(name.replace("_", "."), value)
    made = java().org.apache.kafka.clients.producer.KafkaProducer(properties)
    try:
        yield made
    finally:
        made.close()


def send(producer: Any, topic: str, records: Iterable[NewRecord]) -> None:
    """Send the records and wait until all are written."""
    pending = [producer.send(_record(topic, each)) for each in records]
    producer.flush()
    for each in pending:
        each.get()


def write(bootstrap: str, topic: str, records: Iterable[NewRecord], **configs: str) -> None:
    """Write the records with a producer of their own."""
    with producer(bootstrap, **configs) as made:
        send(made, topic, records)


def _record(topic: str, record: NewRecord) -> Any:
    headers = java().org.apache.kafka.common.header.internals.RecordHeaders()
    for key, value in record.headers:
        headers.add(key, value)
    return java().org.apache.kafka.clients.producer.ProducerRecord(
        topic, record.partition, record.timestamp, record.key, record.value, headers
    )


def consume(bootstrap: str, topic: str, count: int, *, committed: bool = False) -> list[Record]:
    """The records that Java's consumer reads from a topic with so many, by partition and offset."""
    consumer = _consumer(bootstrap, committed)
    found: list[Record] = []
    try:
        partitions = java().java.util.ArrayList()
        for each in consumer.partitionsFor(topic):
            partitions.add(java().org.apache.kafka.common.TopicPartition(topic, each.partition()))
        consumer.assign(partitions)
        consumer.seekToBeginning(partitions)
        until = time.monotonic() + _PATIENCE_S
        while len(found) < count and time.monotonic() < until:
            found += _poll(consumer, 500)
        found += _poll(consumer, 100)  # none is left
    finally:
        consumer.close()
    assert len(found) == count, f"Java's consumer has {len(found)} records"
    return sorted(found, key=lambda each: (each.partition, each.offset))


def _consumer(bootstrap: str, committed: bool) -> Any:
    properties = java().java.util.Properties()
    properties.put("bootstrap.servers", bootstrap)
    for name in ("key.deserializer", "value.deserializer"):
        properties.put(name, _BYTES.replace("Serializer", "Deserializer"))
    properties.put("isolation.level", "read_committed" if committed else "read_uncommitted")
    return java().org.apache.kafka.clients.consumer.KafkaConsumer(properties)


def _poll(consumer: Any, milliseconds: int) -> list[Record]:
    polled = consumer.poll(java().java.time.Duration.ofMillis(milliseconds))
    return [_read(record) for each in polled.partitions() for record in polled.records(each)]


def _read(record: Any) -> Record:
    return Record(
        record.topic(), record.partition(), record.offset(), record.timestamp(),
        record.timestampType().toString(), record.key(), record.value(),
        tuple((header.key(), header.value()) for header in record.headers().toArray()),
    )  # fmt: skip
