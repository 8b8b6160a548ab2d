"""Record batches of many partitions from one Fetch (API key 1), and their headers.

A header is 61 bytes (message format v2, KIP-98): codec, counts, sizes, timestamps and producer.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from msgspec import Struct

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.codecs import codec_name
from kafka_shell.admin.records.offsets import partition_rows, topic_rows
from kafka_shell.admin.steps import row_failure
from kafka_shell.base.errors import ShellError
from kafka_shell.base.results import Failure, Results
from kafka_shell.base.structs import Resource
from kafka_shell.base.waits import REPORTED_S
from kafka_shell.wire import messages
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.requests import Call, Node

NAMED = 12  # the last version of Fetch with topic names
IDENTIFIED = 13  # with topic IDs (KIP-516, Kafka 3.1)
_ANSWER_BYTES = 16 << 20

# offset, length, leader epoch, magic, crc, attributes, last offset delta, base timestamp,
# max timestamp, producer ID, producer epoch, base sequence, records
_HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_BYTES = _HEADER.size
_LOG_OVERHEAD = 12
_MAGIC = 2
_MAGIC_AT = 16


class Batch(Struct, frozen=True):
    """One record batch's header; `size` is all of its bytes, `timestamp` milliseconds."""

    base_offset: int
    size: int
    attributes: int
    last_offset: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records: int

    @property
    def codec(self) -> str:
        """none, gzip, snappy, lz4, zstd."""
        return codec_name(self.attributes & 0x07)

    @property
    def append_time(self) -> bool:
        """Whether the broker wrote the timestamps."""
        return bool(self.attributes & 0x08)

    @property
    def first_timestamp(self) -> int:
        """The timestamp of the first record. If the broker wrote the timestamps, all records have
        the largest: `base_timestamp` is still the producer's."""
        return self.max_timestamp if self.append_time else self.base_timestamp

    @property
    def complete(self) -> bool:
        """Whether compaction has removed none of its records."""
        return self.records == self.last_offset - self.base_offset + 1

    @property
    def transactional(self) -> bool:
        """Whether it belongs to a transaction."""
        return bool(self.attributes & 0x10)

    @property
    def control(self) -> bool:
        """Whether it is a control batch: a transaction marker, not records."""
        return bool(self.attributes & 0x20)


def headers(raw: bytes, *, strict: bool = False) -> Iterator[tuple[Batch, int]]:
    """The headers of all complete batches with their positions. Older message formats are left
    out, or raise ShellError if `strict`."""
    at = 0
    while at + _HEADER.size <= len(raw):
        length = int.from_bytes(raw[at + 8 : at + 12], "big")
        size = length + _LOG_OVERHEAD
        if length <= 0 or at + size > len(raw):
            return
        if raw[at + _MAGIC_AT] == _MAGIC:
            (
                base, _, _, _, _, attributes, delta, base_timestamp, max_timestamp,
                producer_id, producer_epoch, sequence, records,
            ) = _HEADER.unpack_from(raw, at)  # fmt: skip
            yield (
                Batch(
                    base, size, attributes, base + delta, base_timestamp, max_timestamp,
                    producer_id, producer_epoch, sequence, records,
                ),
                at,
            )  # fmt: skip
        elif strict:
            raise ShellError(
                f"the batch at offset {int.from_bytes(raw[at : at + 8], 'big')} has message format"
                f" v{raw[at + _MAGIC_AT]}; only v2 (since Kafka 0.11) can be read",
                code="UNSUPPORTED_FOR_MESSAGE_FORMAT",
            )
        at += size


# -- fetching --------------------------------------------------------------------------------------


def fetch(
    cluster: Cluster, leader: int, at: Mapping[TopicPartition, int], partition_bytes: int
) -> Results[TopicPartition, bytes]:
    """The batches at these offsets, from one request that does not wait for records. Partitions
    whose batch does not fit into the response are empty."""
    request = fetch_request(at, partition_bytes)
    call = Call(request, Node(leader), highest=NAMED, change=False, check=False)
    response = _fetch(cluster, call)
    if isinstance(response, Failure):
        return Results({}, dict.fromkeys(at, response))
    rows = partition_rows(response.responses, name="topic")

    def outcome(where: TopicPartition) -> bytes | Failure:
        about = f"partition {where}"
        why = row_failure(rows.get(where), about, requires=f"READ on topic {where.topic}")
        return why or bytes(rows[where].records or b"")

    return Results.collect((where, outcome(where)) for where in at)


def _fetch(cluster: Cluster, call: Call) -> Any:
    """The response to a Fetch, or a Failure. A throttled response has no topics: the request is
    repeated after the throttle time, until the deadline."""
    for _ in cluster.attempts():
        (response,) = cluster.send_all([call])
        if isinstance(response, Failure) or response.error_code or not held_back(response):
            return response
        wait_out(cluster, response)
    return THROTTLED


THROTTLED = Failure(
    "throttled",
    "a quota throttled the responses until the deadline",
    see=Resource("effective-quota"),
)


def held_back(answer: Any) -> bool:
    """Whether a Fetch response is throttled: a throttle time and no topics."""
    return bool(answer.throttle_time_ms) and not answer.responses


def wait_out(cluster: Cluster, answer: Any) -> None:
    """Sleep for the throttle time of the response, at most until the deadline, and for no longer
    than a call without a deadline may take. Report it if it is long."""
    most = cluster.config.call_timeout
    pause = cluster.time_left(min(answer.throttle_time_ms / 1000, most))
    if pause >= REPORTED_S:
        cluster.report_wait("a quota, which throttles the responses")
    try:
        time.sleep(pause)
    finally:
        cluster.report_wait("")


def fetch_request(
    at: Mapping[TopicPartition, int],
    partition_bytes: int,
    wait_ms: int = 0,
    *,
    committed: bool = False,
    most_bytes: int = _ANSWER_BYTES,
    ids: Mapping[str, UUID] | None = None,
) -> Any:
    """A Fetch of these offsets; the first batch of the first one is complete, whatever its size.

    With `committed`, up to the last stable offset, and the response lists aborted transactions.
    With `ids` of all topics it can be sent with version IDENTIFIED, to read no other topic of the
    same name.
    """
    kind = messages.FetchRequest.FetchTopic
    request = messages.FetchRequest(
        replica_id=-1,
        max_wait_ms=wait_ms,
        min_bytes=1 if wait_ms else 0,
        max_bytes=most_bytes,
        isolation_level=1 if committed else 0,
        session_id=0,
        session_epoch=-1,
        topics=topic_rows(
            kind,
            kind.FetchPartition,
            {
                where: {"fetch_offset": offset, "partition_max_bytes": partition_bytes}
                for where, offset in at.items()
            },
            name="topic",
            index="partition",
        ),
        forgotten_topics_data=[],
        rack_id="",
    )
    if ids:
        for topic in request.topics:
            topic.topic_id = ids[topic.topic]
    return request
