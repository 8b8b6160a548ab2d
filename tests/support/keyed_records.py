"""Records with keys, produced with kafka-python."""

from __future__ import annotations

from collections.abc import Sequence

from kafka import KafkaProducer


def produce(
    bootstrap: str,
    topic: str,
    keys: Sequence[bytes | None],
    *,
    partition: int | None = None,
    at: int | None = None,
    size: int = 20,
    idempotent: bool = True,
) -> None:
    """Produce a record for each key, in one batch for each partition."""
    producer = KafkaProducer(
        bootstrap_servers=bootstrap, acks="all", enable_idempotence=idempotent,
        linger_ms=60_000,  # a batch is sent by the flush, however slow the sends
    )  # fmt: skip
    try:
        for key in keys:
            producer.send(topic, value=b"x" * size, key=key, partition=partition, timestamp_ms=at)
        producer.flush(timeout=30)
    finally:
        producer.close()
