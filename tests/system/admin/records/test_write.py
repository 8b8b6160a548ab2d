"""Records of the idempotent writer, as read by Kafka's own consumer."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records import batches, codecs, write
from kafka_shell.admin.records.model import CREATE_TIME, NewRecord, Record
from kafka_shell.admin.records.write import Writer
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire import error_codes as codes
from kafka_shell.wire.cluster import Cluster
from tests.support import java_consumer
from tests.support.changes import make_topic

NOON = 1_769_860_800_000  # 2026-01-31T12:00Z


def _without_offset(record: Record) -> NewRecord:
    return NewRecord(record.key, record.value, record.headers, record.partition, record.timestamp)


def _records() -> list[NewRecord]:
    source = random.Random(7)
    odd = [
        NewRecord(None, None, (), 0, NOON),
        NewRecord(b"", b"", (), 0, NOON + 5),
        NewRecord(b"tombstone", None, (), 0, NOON - 86_400_000),
        NewRecord(b"k", b"v", (("a", b"1"), ("a", None), ("", b""), ("größe", b"\xff")), 0, 0),
    ]
    return odd + [
        NewRecord(b"%d" % number, source.randbytes(source.randrange(4_000)), (), 0, NOON + number)
        for number in range(400)
    ]


@pytest.mark.parametrize("codec", range(5), ids=codecs.CODECS)
def test_java_reads_what_is_written(
    codec: int, sandbox: Sandbox, cluster: Cluster, name: str
) -> None:
    """Keys, values, headers and timestamps, in order, in each codec."""
    topic = make_topic(cluster, name, configs=(("retention.ms", "-1"),))
    records = _records()
    written = Writer(cluster, topic, codec).write({0: records})
    assert [(each.first, each.offset) for each in written if each.failure is None] == [
        (each.first, each.first) for each in written
    ]
    assert sum(each.count for each in written) == len(records)
    found = java_consumer.read(sandbox.bootstrap, topic)
    assert [_without_offset(each) for each in found] == records
    assert {each.timestamp_type for each in found} == {CREATE_TIME}
    where = TopicPartition(topic, 0)
    raw = batches.fetch(cluster, 1, {where: 0}, 8 << 20)[where]
    assert {header.codec for header, _ in batches.headers(raw)} == {codecs.CODECS[codec]}


def test_records_without_a_timestamp_have_that_of_writing(
    sandbox: Sandbox, cluster: Cluster, topic: str
) -> None:
    before = int(time.time() * 1000)
    Writer(cluster, topic).write({0: [NewRecord(b"k", b"v")]})
    (found,) = java_consumer.read(sandbox.bootstrap, topic)
    assert before <= found.timestamp <= time.time() * 1000


def test_many_batches_of_many_partitions_are_written_in_order(
    sandbox: Sandbox, cluster: Cluster, name: str
) -> None:
    make_topic(cluster, name, 5)
    records = {
        partition: [NewRecord(b"%d" % number, bytes(100_000)) for number in range(partition * 6)]
        for partition in range(5)
    }
    writer = Writer(cluster, name)
    for _ in range(2):
        written = writer.write(records)
        assert all(each.failure is None for each in written)
        assert sum(each.count for each in written) == 60
        assert len(written) == 9, "several batches"
    assert {(1, 6), (4, 24), (4, 32), (4, 40)} <= {
        (each.partition, each.offset) for each in written
    }
    found = java_consumer.read(sandbox.bootstrap, name, values=False)
    for partition, some in records.items():
        ours = [(each.offset, each.key) for each in found if each.partition == partition]
        assert ours == list(enumerate(each.key for each in some * 2))


def test_a_record_that_is_too_large_fails_alone(
    sandbox: Sandbox, cluster: Cluster, name: str
) -> None:
    """The batches of the others are divided until they fit."""
    make_topic(cluster, name, configs=(("max.message.bytes", "10000"),))
    values = [bytes(20_000) if number in (0, 77) else b"%d" % number * 300 for number in range(99)]
    written = Writer(cluster, name).write({0: [NewRecord(None, value) for value in values]})
    failed = {each.first: each for each in written if each.failure is not None}
    assert failed.keys() == {0, 77}
    assert failed[77].failure is not None
    assert failed[77].failure.name == "MESSAGE_TOO_LARGE" and failed[77].count == 1
    found = java_consumer.read(sandbox.bootstrap, name)
    assert [each.value for each in found] == [each for each in values if len(each) < 20_000]
    starts = {each.first: each.offset for each in written if each.failure is None}
    by_index = {first + n: (offset or 0) + n
                for first, offset in starts.items()
                for n in range(next(w.count for w in written if w.first == first))}  # fmt: skip
    assert [found[by_index[index]].value for index in sorted(by_index)] == [
        values[index] for index in sorted(by_index)
    ]


def test_batches_that_do_not_fit_into_a_segment_are_divided(
    old_sandbox: Sandbox, old_cluster: Cluster, name: str
) -> None:
    make_topic(old_cluster, name, configs=(("segment.bytes", "10000"),))
    values = [bytes(20_000) if number in (0, 77) else b"%d" % number * 300 for number in range(99)]
    written = Writer(old_cluster, name).write({0: [NewRecord(None, value) for value in values]})
    failed = {each.first: each.failure for each in written if each.failure is not None}
    assert failed.keys() == {0, 77}
    assert {why.name for why in failed.values()} == {"RECORD_LIST_TOO_LARGE"}
    found = java_consumer.read(old_sandbox.bootstrap, name)
    assert [each.value for each in found] == [each for each in values if len(each) < 20_000]


def test_ten_megabytes_are_written_where_they_are_allowed(
    sandbox: Sandbox, cluster: Cluster, name: str
) -> None:
    make_topic(cluster, name, configs=(("max.message.bytes", "20000000"),))
    value = random.Random(3).randbytes(10_000_000)
    (written, *_) = Writer(cluster, name).write({0: [NewRecord(b"k", value), NewRecord(b"k", b"")]})
    assert written.failure is None
    assert java_consumer.read(sandbox.bootstrap, name)[0].value == value


@pytest.mark.parametrize("names_records", [True, False])
def test_a_record_without_a_key_fails_alone_in_a_compacted_topic(
    sandbox: Sandbox,
    cluster: Cluster,
    name: str,
    names_records: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Brokers before Kafka 2.4 do not name the record."""
    if not names_records:
        _responding(monkeypatch, lambda row: setattr(row, "record_errors", []))
    make_topic(cluster, name, configs=(("cleanup.policy", "compact"),))
    keys = [None if number in (3, 5, 6) else b"%d" % number for number in range(10)]
    written = Writer(cluster, name).write({0: [NewRecord(key, b"v") for key in keys]})
    failed = {each.first: each.failure for each in written if each.failure is not None}
    assert failed.keys() == {3, 5, 6}
    assert {why.name for why in failed.values() if why} == {"INVALID_RECORD"}
    found = java_consumer.read(sandbox.bootstrap, name)
    assert [each.key for each in found] == [key for key in keys if key is not None]


def test_a_producer_that_the_leader_forgot_is_replaced(
    sandbox: Sandbox, cluster: Cluster, topic: str
) -> None:
    """The records of a producer can be deleted, and with them what the leader knows of it."""
    writer = Writer(cluster, topic)
    writer.write({0: [NewRecord(b"a", b"")]})
    writer._sequences[0].next = 5  # the leader expects 1
    (written,) = writer.write({0: [NewRecord(b"b", b"")]})
    assert (written.offset, written.failure) == (1, None)
    assert [each.key for each in java_consumer.read(sandbox.bootstrap, topic)] == [b"a", b"b"]


def test_sequence_numbers_continue_at_zero(sandbox: Sandbox, cluster: Cluster, topic: str) -> None:
    last = (1 << 31) - 1
    writer = Writer(cluster, topic)
    writer._sequence(0).next = last - 3  # the first one that a leader receives may be any
    for count in (2, 5, 1):
        (written,) = writer.write({0: [NewRecord(b"k", b"%d" % n) for n in range(count)]})
        assert written.failure is None
    assert writer._sequence(0).next == 4
    assert len(java_consumer.read(sandbox.bootstrap, topic)) == 8


def _responding(monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], None]) -> None:
    """What leaders respond for a partition is changed."""
    own = Writer._rows

    def changed(self: Writer, response: Any) -> dict[int, Any]:
        rows = own(self, response)
        for row in rows.values():
            change(row)
        return rows

    monkeypatch.setattr(Writer, "_rows", changed)


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        (codes.NOT_LEADER_OR_FOLLOWER, "outcome-unknown"),
        (codes.KAFKA_STORAGE_ERROR, "outcome-unknown"),
        (codes.UNKNOWN_TOPIC_OR_PARTITION, "outcome-unknown"),
        (codes.NOT_ENOUGH_REPLICAS, "NOT_ENOUGH_REPLICAS"),
    ],
)
def test_what_a_former_leader_may_have_written_is_not_called_failed(
    cluster: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch, code: int, wanted: str
) -> None:
    """It wrote the batch, and ceased to be the leader while it waited for the replicas."""
    monkeypatch.setattr(write, "_DELIVERY_S", 0.5)
    _responding(monkeypatch, lambda row: setattr(row, "error_code", code))
    (written,) = Writer(cluster, topic).write({0: [NewRecord(b"k", b"v")]})
    assert written.failure is not None and written.failure.name == wanted
