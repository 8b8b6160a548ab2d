"""A producer with acks=all that writes all the time, and remembers what was acknowledged."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

from kafka_shell.sandbox.state import Sandbox

_PAUSE_S = 0.03  # between two records


class Writing:
    """The values that were acknowledged so far."""

    def __init__(self, sandbox: Sandbox, topic: str) -> None:
        self._bootstrap = sandbox.bootstrap.split(",")
        self._topic = topic
        self._acknowledged: list[bytes] = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def __len__(self) -> int:
        return len(self._acknowledged)

    def _write(self) -> None:
        producer = KafkaProducer(
            bootstrap_servers=self._bootstrap, acks="all", enable_idempotence=False, retries=5,
            request_timeout_ms=5_000, delivery_timeout_ms=20_000, max_block_ms=5_000,
        )  # fmt: skip
        number = 0
        while not self._end.wait(_PAUSE_S):
            value = b"%d" % (number := number + 1)
            try:
                sent = producer.send(self._topic, value)
            except KafkaError:
                continue
            sent.add_callback(lambda _, value=value: self._acknowledged.append(value))
        producer.flush(30)
        producer.close(timeout=5)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        self._thread.join()

    def lost(self) -> set[bytes]:
        """The values that were acknowledged and cannot be read."""
        consumer = KafkaConsumer(
            bootstrap_servers=self._bootstrap, enable_auto_commit=False,
            auto_offset_reset="earliest",
        )  # fmt: skip
        numbers = consumer.partitions_for_topic(self._topic) or ()
        partitions = [TopicPartition(self._topic, number) for number in numbers]
        consumer.assign(partitions)
        ends = consumer.end_offsets(partitions)
        found: set[bytes] = set()
        while any(consumer.position(each) < ends[each] for each in partitions):
            for records in consumer.poll(timeout_ms=1_000).values():
                found.update(record.value for record in records)
        consumer.close()
        return set(self._acknowledged) - found


@contextmanager
def writing(sandbox: Sandbox, topic: str) -> Iterator[Writing]:
    """Records are written to the topic until the block ends; none that was acknowledged is lost."""
    writer = Writing(sandbox, topic)
    writer.start()
    try:
        yield writer
    finally:
        writer.stop()
    assert len(writer) > 0, "nothing was acknowledged"
    lost = writer.lost()
    assert not lost, f"{len(lost)} of {len(writer)} acknowledged records are lost"
