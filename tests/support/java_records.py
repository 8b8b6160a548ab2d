"""Records written by Kafka's Java producer, in the JVM of the tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kafka_shell.admin.records.model import NewRecord
from tests.support.jvm_tools import java

_BYTES = "org.apache.kafka.common.serialization.ByteArraySerializer"


@contextmanager
def producer(bootstrap: str, **configs: str) -> Iterator[Any]:
    """A Java producer of bytes; `batch_size="1"` sets batch.size."""
    properties = java().java.util.Properties()
    properties.put("bootstrap.servers", bootstrap)
    properties.put("key.serializer", _BYTES)
    properties.put("value.serializer", _BYTES)
    # With more, a batch that a broker refuses because it has not created the log of a new topic yet
    # is overtaken by the next one, and its sequence numbers are out of order in all its retries.
    properties.put("max.in.flight.requests.per.connection", "1")
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
