"""Records compressed by Java are decompressed here, and vice versa."""

from __future__ import annotations

import random
import struct

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records import batches, codecs
from kafka_shell.admin.records.model import NewRecord
from kafka_shell.admin.topics.partitions import find
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import crafted_batches, java_records
from tests.support.jvm_tools import run_tool

_ALL = pytest.mark.parametrize("codec", range(5), ids=codecs.CODECS)
_SINCE_CRC = 21  # of a batch, where its attributes are


def _words(count: int) -> list[bytes]:
    source = random.Random(11)
    return [b"%d " % number + source.choice([b"abc", b"\x00\xff"]) * source.randrange(99)
            for number in range(count)]  # fmt: skip


@_ALL
def test_what_java_compresses_is_read(
    codec: int, sandbox: Sandbox, cluster: Cluster, topic: str
) -> None:
    values = _words(3000)
    java_records.write(
        sandbox.bootstrap, topic, [NewRecord(b"key", value) for value in values],
        compression_type=codecs.CODECS[codec], linger_ms="100", batch_size="200000",
    )  # fmt: skip
    where = TopicPartition(topic, 0)
    raw = batches.fetch(cluster, _leader(cluster, where), {where: 0}, 8 << 20)[where]
    found = list(batches.headers(raw))
    assert {header.codec for header, _ in found} == {codecs.CODECS[codec]}
    plain = b""
    for header, at in found:
        batch = raw[at : at + header.size]
        assert codecs.crc32c(batch[_SINCE_CRC:]) == int.from_bytes(batch[17:21], "big")
        plain += codecs.decompress(codec, batch[batches.HEADER_BYTES :])
    at = 0
    for value in values:  # in order, and all of them
        at = plain.index(b"key" + _zigzag(len(value)) + value, at)


@_ALL
def test_what_is_compressed_here_is_read_by_java(
    codec: int, sandbox: Sandbox, cluster: Cluster, topic: str
) -> None:
    """The broker checks what it appends, and the console consumer prints it."""
    values = [b"%d " % number + b"text" * (number % 77) for number in range(4000)]
    where = TopicPartition(topic, 0)
    crafted_batches.produce(cluster, where, _batch(codec, values))
    done = run_tool(
        "org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", sandbox.bootstrap,
        "--topic", topic, "--partition", "0", "--offset", "earliest", "--timeout-ms", "20000",
        "--max-messages", str(len(values)),
    )  # fmt: skip
    assert done.stdout.splitlines() == [value.decode() for value in values], done.stderr


def _leader(cluster: Cluster, where: TopicPartition) -> int:
    leader = find(cluster, [where])[where].leader
    assert leader is not None
    return leader


def _zigzag(number: int) -> bytes:
    number, out = number << 1, bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _batch(codec: int, values: list[bytes]) -> bytes:
    """The values as one batch, compressed by codecs."""
    from kafka.record.default_records import DefaultRecordBatchBuilder

    builder = DefaultRecordBatchBuilder(
        magic=2, compression_type=0, is_transactional=0, producer_id=-1, producer_epoch=-1,
        base_sequence=-1, batch_size=8 << 20,
    )  # fmt: skip
    for number, value in enumerate(values):
        builder.append(number, 1_700_000_000_000, None, value, [])
    plain = bytes(builder.build())
    end = batches.HEADER_BYTES
    covered = struct.pack(">h", codec) + plain[23:end] + codecs.compress(codec, plain[end:])
    length = len(covered) + _SINCE_CRC - 12
    return (
        plain[:8]
        + struct.pack(">i", length)
        + plain[12:17]
        + struct.pack(">I", codecs.crc32c(covered))
        + covered
    )
