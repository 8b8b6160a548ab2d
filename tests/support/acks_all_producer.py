"""A producer with acks=all that writes continuously and records what was acknowledged."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from confluent_kafka import KafkaError, Message, Producer
from kafka import KafkaConsumer
from kafka.structs import TopicPartition

from kafka_shell.sandbox.state import Sandbox

_PAUSE_S = 0.03  # between two records
# A request for each record would keep brokers and this process busier than all else, and
# kafka-python's producer looks for brokers that are down without a pause.
_LINGER_MS = 200


class AcksAllProducer:
    """The values that were acknowledged so far, by topic."""

    def __init__(self, sandbox: Sandbox, topics: Sequence[str]) -> None:
        self._bootstrap = sandbox.bootstrap
        self._topics = topics
        self._acknowledged: dict[str, set[bytes]] = {topic: set() for topic in topics}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def __len__(self) -> int:
        return min(map(len, self._acknowledged.values()))

    def _write(self) -> None:
        producer = Producer({
            "bootstrap.servers": self._bootstrap, "acks": "all", "linger.ms": _LINGER_MS,
            "request.timeout.ms": 5_000, "message.timeout.ms": 20_000, "log_level": 0,
        })  # fmt: skip
        number = 0
        while not self._end.wait(_PAUSE_S):
            value = b"%d" % (number := number + 1)
            for topic in self._topics:
                with suppress(BufferError):  # too many wait for brokers that are down
                    producer.produce(topic, value, on_delivery=self._delivered)
            producer.poll(0)
        producer.flush(30)

    def _delivered(self, error: KafkaError | None, record: Message) -> None:
        if error is None:
            self._acknowledged[record.topic()].add(record.value())

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        self._thread.join()

    def lost(self) -> dict[str, set[bytes]]:
        """By topic, the values that were acknowledged and cannot be read."""
        return {topic: lost for topic in self._topics if (lost := self._lost(topic))}

    def _lost(self, topic: str) -> set[bytes]:
        consumer = KafkaConsumer(
            bootstrap_servers=self._bootstrap.split(","), enable_auto_commit=False,
            auto_offset_reset="earliest",
        )  # fmt: skip
        numbers = consumer.partitions_for_topic(topic) or ()
        partitions = [TopicPartition(topic, number) for number in numbers]
        consumer.assign(partitions)
        ends = consumer.end_offsets(partitions)
        found: set[bytes] = set()
        while any(consumer.position(each) < ends[each] for each in partitions):
            for records in consumer.poll(timeout_ms=1_000).values():
                found.update(record.value for record in records)
        consumer.close()
        return self._acknowledged[topic] - found


@contextmanager
def acks_all_producer(sandbox: Sandbox, *topics: str) -> Iterator[AcksAllProducer]:
    """Records are written to the topics until the block ends; none that was acknowledged is
    lost."""
    writer = AcksAllProducer(sandbox, topics)
    writer.start()
    try:
        yield writer
    finally:
        writer.stop()
    assert len(writer) > 0, "nothing was acknowledged"
    assert not (lost := writer.lost()), f"acknowledged records are lost: {lost}"
