"""The records of the demo data, and the committed offsets of its groups.

Apart from timestamps, records are the same at every run: random values are seeded by topic name.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random
from typing import Any

from msgspec.json import encode

from kafka_shell.admin.groups.model import Reset
from kafka_shell.admin.groups.steps import CommitOffsets
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.topics.model import NewTopic
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.endpoint import ConnectionConfig
from kafka_shell.errors import ShellError
from kafka_shell.plan.results import Failure
from kafka_shell.sandbox.demo.company import GROUPS, DemoGroup
from kafka_shell.sandbox.demo.contents import FEEDS, Feed

End = int
Ends = Mapping[str, Mapping[int, End]]
_SEED = "kafka.sh"
_DAY_S = 86_400.0
_PRODUCE_S = 30.0


# -- producing -------------------------------------------------------------------------------------


def produce(connection: ConnectionConfig, topics: Sequence[NewTopic]) -> dict[str, dict[int, End]]:
    """Produce the records of these empty topics and return the end offset of each partition.

    Raises ShellError with the topics whose records could not be produced.
    """
    ends = {new.name: dict.fromkeys(range(new.partitions or 0), 0) for new in topics}
    for gzip in (False, True):
        feeds = [feed for feed in FEEDS if feed.topic in ends and feed.gzip is gzip]
        if feeds:
            _produce(connection, feeds, "gzip" if gzip else None, ends)
    return ends


def _client(connection: ConnectionConfig) -> dict[str, Any]:
    """Return the connection options for kafka-python clients."""
    options: dict[str, Any] = {
        "bootstrap_servers": [str(address) for address in connection.bootstrap],
        "security_protocol": connection.security_protocol,
    }
    if connection.tls.ca_file:
        options["ssl_cafile"] = connection.tls.ca_file
    if connection.sasl is not None:
        password = connection.sasl.password
        options |= {
            "sasl_mechanism": connection.sasl.mechanism,
            "sasl_plain_username": connection.sasl.username,
            "sasl_plain_password": password.reveal() if password else "",
        }
    return options


def _produce(
    connection: ConnectionConfig,
    feeds: Sequence[Feed],
    compression: str | None,
    ends: dict[str, dict[int, End]],
) -> None:
    from kafka import KafkaProducer
    from kafka.errors import KafkaError

    producer = KafkaProducer(
        **_client(connection),
        client_id="demo",
        compression_type=compression,
        linger_ms=5,
        batch_size=1 << 17,
        max_block_ms=_PRODUCE_S * 1000,
    )
    try:
        # The first record of a topic waits for its metadata, so metadata is fetched in parallel.
        with ThreadPoolExecutor(len(feeds)) as pool:
            list(pool.map(producer.partitions_for, [feed.topic for feed in feeds]))
        sent = [
            (feed.topic, producer.send(feed.topic, **record))
            for feed in feeds
            for record in _records(feed, len(ends[feed.topic]))
        ]
        producer.flush(timeout=_PRODUCE_S)
    except KafkaError as error:
        raise _failed(
            "records", {"the records": Failure(type(error).__name__, str(error))}
        ) from None
    finally:
        with suppress(KafkaError):  # what is left cannot be written
            producer.close(timeout=1)
    lost: dict[str, Failure] = {}
    for topic, future in sent:
        if future.succeeded():
            end = ends[topic]
            end[future.value.partition] = max(end[future.value.partition], future.value.offset + 1)
        else:
            reason = "no response" if future.exception is None else str(future.exception)
            lost[f"topic {topic}"] = Failure("NOT_PRODUCED", reason)
    if lost:
        raise _failed("records", lost)


def _records(feed: Feed, partitions: int) -> Iterator[dict[str, Any]]:
    """Yield the records of a feed as arguments of `send`, oldest first."""
    random = Random(f"{_SEED} {feed.topic}")
    now = time.time()
    step = (feed.since - feed.until) * _DAY_S / feed.count
    for number in range(feed.count):
        key, value = feed.make(random, number)
        age = feed.since * _DAY_S - number * step
        yield {
            "key": None if key is None else key.encode(),
            "value": value if value is None or isinstance(value, bytes) else encode(value),
            # Without a key the partitioner chooses a random partition without a seed.
            "partition": random.randrange(partitions) if key is None else None,
            "timestamp_ms": int((now - age) * 1000),
        }


# -- committing ------------------------------------------------------------------------------------


def commit(cluster: Cluster, ends: Ends) -> None:
    """Commit the offsets of all groups in new topics without joining the groups.

    Raises ShellError with the failures.
    """
    failed: dict[str, Failure] = {}
    for group, readings in GROUPS.items():
        resets = tuple(_resets(readings, ends))
        if resets:
            outcomes = CommitOffsets(group, resets).send(cluster, validate_only=False)
            failed |= {f"group {group}": why for why in outcomes.failures.values()}
    if failed:
        raise _failed("offsets", failed)


def _resets(readings: Iterable[DemoGroup], ends: Ends) -> Iterator[Reset]:
    for reading in readings:
        for partition, end in ends.get(reading.topic, {}).items():
            if not reading.partitions or partition in reading.partitions:
                where = TopicPartition(reading.topic, partition)
                yield Reset(where, None, int(end * reading.share))


def _failed(what: str, failed: Mapping[str, Failure]) -> ShellError:
    reasons = "; ".join(f"{name}: {why}" for name, why in failed.items())
    return ShellError(f"cannot create the {what} of the demo data: {reasons}", code="demo-data")
