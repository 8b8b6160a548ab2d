"""Logs that no producer can write: a billion offsets, and old message formats. The segments are
written while the broker is stopped."""

from __future__ import annotations

import struct
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.codecs import NONE
from kafka_shell.admin.records.encode import ProducerId, encode_batch
from kafka_shell.admin.records.model import NewRecord, Record
from kafka_shell.admin.records.read import Position, Reading, spans
from kafka_shell.sandbox.cluster import start, wipe
from kafka_shell.sandbox.state import SandboxOptions
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import KEPT, connect, make_topic
from tests.support.read_records import last_records
from tests.support.sandbox_brokers import start_broker, stop_broker
from tests.support.waiting import wait_for

FAR = 1_000_000_000
GAP, OLD, SMALL = "segments.gap", "segments.old", "segments.small"
NOW = int(time.time() * 1000)


def batch(offset: int, values: Sequence[bytes]) -> bytes:
    """A batch of message format v2 with its offset, as a leader writes it."""
    records = [NewRecord(None, value) for value in values]
    raw = encode_batch(records, now=NOW, codec=NONE, producer=ProducerId(-1, -1), sequence=-1)
    # Neither the offset nor the leader epoch (0) is covered by the checksum.
    return struct.pack(">q", offset) + raw[8:12] + struct.pack(">i", 0) + raw[16:]


def message(magic: int, offset: int, value: bytes) -> bytes:
    """A message of format v0 or v1 (KIP-32)."""
    head = struct.pack(">bb", magic, 0) + (struct.pack(">q", NOW) if magic else b"")
    body = head + struct.pack(">i", -1) + struct.pack(">i", len(value)) + value
    return struct.pack(">qiI", offset, 4 + len(body), zlib.crc32(body)) + body


def write(folder: Path, segments: dict[int, bytes]) -> None:
    """Replace the log of a partition by these segments, by their base offsets."""
    for file in folder.glob("0*"):
        file.unlink()
    for base, raw in segments.items():
        (folder / f"{base:020}.log").write_bytes(raw)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A broker with such logs."""
    folder = tmp_path_factory.mktemp("segments")
    sandbox = start(SandboxOptions(folder, port=0))
    try:
        with connect(sandbox) as before:
            for topic in (GAP, OLD, SMALL):
                make_topic(before, topic, configs=KEPT)
        stop_broker(folder, 1)
        where = {
            topic: next(path for path in folder.rglob(f"{topic}-0") if path.is_dir())
            for topic in (GAP, OLD, SMALL)
        }
        write(where[GAP], {0: batch(0, [b"a", b"b", b"c"]),
                           FAR: batch(FAR, [b"%d" % number for number in range(7)])})  # fmt: skip
        write(where[SMALL], {0: batch(0, [b"a", b"b", b"c"])})
        write(where[OLD], {0: message(0, 0, b"v0") + message(1, 1, b"v1")})
        start_broker(folder, 1)
        with connect(sandbox) as after:
            wait_for(
                "the partitions have a leader",
                lambda: all(found(after, topic).ok for topic in where),
            )
            yield after
    finally:
        wipe(folder)


def found(cluster: Cluster, topic: str, start: Position | None = None):  # type: ignore[no-untyped-def]
    """The offsets of the topic's partition."""
    return spans(cluster, [TopicPartition(topic, 0)], *([start] if start else []))


def last(cluster: Cluster, topic: str, count: int) -> list[Record]:
    """Its last records."""
    return last_records(Reading(cluster, found(cluster, topic)), count)


def test_a_log_of_a_billion_offsets_is_read_across_its_gap(cluster: Cluster) -> None:
    newest = last(cluster, GAP, 10)
    assert [each.offset for each in newest] == [0, 1, 2, *range(FAR, FAR + 7)]
    assert [each.offset for each in last(cluster, GAP, 3)] == [FAR + 4, FAR + 5, FAR + 6]
    whole = [each for block in Reading(cluster, found(cluster, GAP)).ordered() for each in block]
    assert whole == newest
    middle = Reading(cluster, found(cluster, GAP, Position(offset=500)))
    assert next(each.offset for block in middle.ordered() for each in block) == FAR


def test_its_last_records_are_found_from_its_end(cluster: Cluster) -> None:
    reading = Reading(cluster, found(cluster, GAP))
    assert len(last_records(reading, 3)) == 3
    assert reading.scanned == 7, "records before the last batch were read"


def test_old_message_formats_are_refused(cluster: Cluster) -> None:
    reading = Reading(cluster, found(cluster, OLD))
    assert [each for block in reading.ordered() for each in block] == []
    (why,) = reading.failures.values()
    assert "message format v0; only v2" in why.message, why
