"""Produce records with kafka-python."""

from __future__ import annotations

from collections.abc import Sequence

from kafka import KafkaProducer


def fill(
    bootstrap: str,
    topic: str,
    count: int,
    *,
    partition: int = 0,
    size: int = 10,
    times: Sequence[int] = (),
    **settings: object,
) -> None:
    """`count` records of `size` bytes; the n-th at `times[n]` (ms since the epoch), where given.

    `settings` are kafka-python's, of a login say.
    """
    settings |= {"bootstrap_servers": bootstrap, "batch_size": 64_000, "linger_ms": 5}
    producer = KafkaProducer(**settings)
    try:
        sent = [
            producer.send(
                topic,
                value=b"x" * size,
                partition=partition,
                timestamp_ms=times[number] if times else None,
            )
            for number in range(count)
        ]
        for each in sent:
            each.get(timeout=30)
    finally:
        producer.close()
