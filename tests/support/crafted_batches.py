"""Record batches that no producer of Kafka writes, but a broker stores."""

from __future__ import annotations

import struct
from typing import Any

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records import codecs
from kafka_shell.admin.topics.partitions import find
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.requests import Node
from tests.support.waiting import wait_for


def varint(number: int) -> bytes:
    """A signed integer of a record (zigzag)."""
    left, out = (number << 1) ^ (number >> 63), bytearray()
    while left > 127:
        out.append(left & 127 | 128)
        left >>= 7
    return bytes([*out, left])


def record(content: bytes, offset: int = 0, timestamp: int = 0) -> bytes:
    """A record with this key, value and headers, as encoded. Offset and timestamp are those after
    the base of the batch."""
    body = b"\0" + varint(timestamp) + varint(offset) + content
    return varint(len(body)) + body


def value(content: bytes, offset: int = 0, timestamp: int = 0) -> bytes:
    """A record with this value."""
    return record(varint(-1) + varint(len(content)) + content + varint(0), offset, timestamp)


def batch(records: bytes, count: int = 1, *, codec: int = codecs.NONE, base: int = 0) -> bytes:
    """A batch with these uncompressed records, and a number of them that may be wrong."""
    return packed(codecs.compress(codec, records), count, codec, base)


def packed(
    data: bytes,
    count: int,
    codec: int,
    base: int = 0,
    *,
    last: int | None = None,
    times: tuple[int, int] = (0, 0),
) -> bytes:
    """A batch with these bytes as compressed records. `codec` may contain other attributes, `last`
    is the last offset after the base, and `times` are its base and largest timestamp."""
    last = max(0, count - 1) if last is None else last
    covered = struct.pack(">hiqqqhii", codec, last, *times, -1, -1, -1, count) + data
    checksum = codecs.crc32c(covered).to_bytes(4, "big")
    return struct.pack(">qiib", base, len(covered) + 9, 0, 2) + checksum + covered


def produce(cluster: Cluster, where: TopicPartition, batches: bytes) -> None:
    """Append batches as they are. The topic may be a moment old."""
    from kafka.protocol.producer import ProduceRequest

    kind = ProduceRequest.TopicProduceData
    partition = kind.PartitionProduceData(index=where.partition, records=batches)
    request = ProduceRequest(
        transactional_id=None, acks=-1, timeout_ms=10_000,
        topic_data=[kind(name=where.topic, partition_data=[partition])],
    )  # fmt: skip
    row: Any = None

    def leads() -> bool:
        nonlocal row
        leader = find(cluster, [where])[where].leader
        if leader is not None:
            answer = cluster.send(request, Node(leader), highest=9)
            (row,) = answer.responses[0].partition_responses
        return row is not None and row.error_code not in (3, 6)

    wait_for(f"a broker leads {where}", leads)
    assert row.error_code == 0, f"{row.error_code} {row.error_message}"
