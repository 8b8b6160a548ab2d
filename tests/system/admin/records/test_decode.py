"""Records of the Java producer are decoded: every field, with every codec."""

from __future__ import annotations

import random

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records import batches, codecs, decode
from kafka_shell.admin.records import read as log
from kafka_shell.admin.records.model import CREATE_TIME, LOG_APPEND_TIME, NewRecord
from kafka_shell.admin.topics.partitions import find
from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import java_records
from tests.support.changes import KEPT, make_topic

_SIZES = (0, 1, 62, 63, 64, 127, 128, 8191, 8192, 70_000)  # around the lengths of varints
_T0 = 1_700_000_000_000


def _odd_records() -> list[NewRecord]:
    """Sizes, times and headers around every boundary of the encoding."""
    source = random.Random(5)
    found = []
    for number, size in enumerate(_SIZES * 3):
        key = None if number % 3 == 0 else source.randbytes(_SIZES[number % len(_SIZES)] // 9)
        value = None if number % 7 == 5 else source.randbytes(size)
        headers = tuple(
            (f"h\u00e9-{each}", None if each % 3 == 2 else source.randbytes(each * 70))
            for each in range(number % 5)
        )
        time = _T0 + source.choice([0, -5, 63, 64, -64, -65, 10_000, -10_000_000, 90_000_000_000])
        found.append(NewRecord(key, value, headers, 0, time))
    return found


@pytest.mark.parametrize("codec", codecs.CODECS)
def test_every_field_is_as_written(
    codec: str, sandbox: Sandbox, cluster: Cluster, topic: str
) -> None:
    written = _odd_records()
    java_records.write(
        sandbox.bootstrap, topic, written,
        compression_type=codec, linger_ms="60000", batch_size="400000",  # one batch
    )  # fmt: skip
    found = log.read(cluster, topic)
    assert [each.offset for each in found] == list(range(len(written)))
    assert [
        (each.key, each.value, each.headers, each.timestamp, each.timestamp_type) for each in found
    ] == [(new.key, new.value, new.headers, new.timestamp, CREATE_TIME) for new in written]
    raw = _raw(cluster, topic)
    assert [
        value for batch, at in decode.data_batches(raw)
        for block in decode.values(batch, decode.body(raw, batch, at)) for value in block
    ] == [new.value for new in written]  # fmt: skip


def test_the_broker_writes_the_timestamps_if_the_topic_says_so(
    sandbox: Sandbox, cluster: Cluster, name: str
) -> None:
    make_topic(cluster, name, configs=(*KEPT, ("message.timestamp.type", LOG_APPEND_TIME)))
    java_records.write(sandbox.bootstrap, name, [NewRecord(None, b"v", timestamp=5)] * 2)
    for record in log.read(cluster, name):
        assert record.timestamp_type == LOG_APPEND_TIME
        assert record.timestamp > _T0


def test_a_changed_byte_is_found(sandbox: Sandbox, cluster: Cluster, topic: str) -> None:
    java_records.write(sandbox.bootstrap, topic, [NewRecord(b"key", b"value")])
    raw = _raw(cluster, topic)
    ((batch, _),) = batches.headers(raw)
    for at in (batches.HEADER_BYTES + 3, 17, 30, len(raw) - 1):
        wrong = bytearray(raw)
        wrong[at] ^= 1
        with pytest.raises(ShellError, match="batch at offset 0 is corrupt: its checksum") as error:
            decode.body(bytes(wrong), batch, 0)
        assert error.value.code == "CORRUPT_MESSAGE"


def test_records_that_do_not_fill_their_batch_are_corrupt(
    sandbox: Sandbox, cluster: Cluster, topic: str
) -> None:
    """Whatever bytes have a valid checksum: never an endless loop, a crash or wrong records."""
    java_records.write(sandbox.bootstrap, topic, _odd_records()[:9], linger_ms="60000")
    raw, where = _raw(cluster, topic), TopicPartition(topic, 0)
    batch, at = next(batches.headers(raw))
    data = decode.body(raw, batch, at)
    for wrong in (b"", data[:-1], data + b"\0", data[1:], b"\xff" * 50):
        for found in (decode.records(where, batch, wrong), decode.values(batch, wrong)):
            with pytest.raises(ShellError, match="corrupt"):
                list[object](found)


@pytest.mark.parametrize("magic", [0, 1])
def test_older_message_formats_are_refused(
    magic: int, sandbox: Sandbox, cluster: Cluster, topic: str
) -> None:
    """No broker since Kafka 3.0 writes them, so the one byte that names the format is changed."""
    java_records.write(sandbox.bootstrap, topic, [NewRecord(b"key", b"value")])
    raw = bytearray(_raw(cluster, topic))
    raw[16] = magic
    with pytest.raises(ShellError, match=f"message format v{magic}; only v2") as error:
        list(batches.headers(bytes(raw), strict=True))
    assert error.value.code == "UNSUPPORTED_FOR_MESSAGE_FORMAT"


def _raw(cluster: Cluster, topic: str) -> bytes:
    where = TopicPartition(topic, 0)
    leader = find(cluster, [where])[where].leader
    assert leader is not None
    return batches.fetch(cluster, leader, {where: 0}, 8 << 20)[where]
