"""Records read are the same as those of Kafka's own consumer."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records import codecs, delete
from kafka_shell.admin.records import fetching as fetching_module
from kafka_shell.admin.records.fetching import Span, fetching
from kafka_shell.admin.records.model import NewRecord, Record
from kafka_shell.admin.records.read import FROM_EARLIEST, TO_LATEST, Position, Reading, spans
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.base.results import Results
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import java_consumer, java_records
from tests.support.changes import KEPT, connect, done, make_topic
from tests.support.read_records import last_records
from tests.support.waiting import wait_for

_T0 = 1_700_000_000_000


def _reading(
    cluster: Cluster,
    topic: str,
    partitions: int = 1,
    start: Position = FROM_EARLIEST,
    end: Position = TO_LATEST,
    *,
    committed: bool = False,
) -> Reading:
    wheres = [TopicPartition(topic, number) for number in range(partitions)]
    found = spans(cluster, wheres, start, end, committed=committed)
    assert found.ok, found.failures
    return Reading(cluster, found, committed=committed, warn=pytest.fail)


def _all(reading: Reading) -> list[Record]:
    found = [record for block in reading.ordered() for record in block]
    assert not reading.failures
    assert reading.done == reading.offsets
    return found


def _by_partition(records: Sequence[Record]) -> list[Record]:
    return sorted(records, key=lambda each: (each.partition, each.offset))


def _by_time(records: Sequence[Record]) -> bool:
    times = [record.timestamp for record in records]
    return times == sorted(times)


def _mixed(partitions: int, count: int) -> list[NewRecord]:
    source = random.Random(count)
    return [
        NewRecord(
            None if number % 5 == 0 else b"k%d" % source.randrange(50),
            None if number % 11 == 3 else b"v" * source.randrange(300) + b"%d" % number,
            (("trace", b"t%d" % number), ("empty", b""), ("none", None))[: number % 4],
            number % partitions,
            _T0 + number // 3,
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("codec", codecs.CODECS)
def test_records_are_those_of_kafkas_own_consumer(
    codec: str, sandbox: Sandbox, cluster: Cluster, name: str
) -> None:
    """Of four partitions, one of them empty."""
    make_topic(cluster, name, 4, configs=KEPT)
    java_records.write(
        sandbox.bootstrap, name, _mixed(3, 500), compression_type=codec, linger_ms="20",
        batch_size="4000",
    )  # fmt: skip
    found = _all(_reading(cluster, name, 4))
    assert _by_partition(found) == java_consumer.read(sandbox.bootstrap, name)
    assert len(found) == 500
    assert _by_time(found)
    reading = _reading(cluster, name, 4)
    assert reading.count() == reading.scanned == reading.done == 500
    fast = [value for block in _reading(cluster, name, 4).values() for value in block]
    assert sorted(map(repr, fast)) == sorted(repr(each.value) for each in found)


@pytest.mark.parametrize("committed", [False, True])
def test_transactions_are_those_of_kafkas_own_consumer(
    committed: bool, sandbox: Sandbox, cluster: Cluster, name: str
) -> None:
    """Committed, aborted and open ones of two producers, between records without a transaction."""
    make_topic(cluster, name, 2, configs=KEPT)
    configs = {"linger_ms": "0", "batch_size": "200", "transactional_id": name}
    other = configs | {"transactional_id": f"{name}-2"}
    written = 0

    def records(count: int) -> list[NewRecord]:
        nonlocal written
        written += count
        return [NewRecord(b"k", b"%d" % number, (), number % 2) for number in range(count)]

    with (
        java_records.producer(sandbox.bootstrap, **configs) as one,
        java_records.producer(sandbox.bootstrap, **other) as two,
        java_records.producer(sandbox.bootstrap) as plain,
    ):
        one.initTransactions()
        two.initTransactions()
        for round in range(6):
            one.beginTransaction()
            two.beginTransaction()
            java_records.send(one, name, records(20))
            java_records.send(two, name, records(10))
            java_records.send(plain, name, records(4))
            java_records.send(one, name, records(2))
            one.abortTransaction() if round % 2 else one.commitTransaction()
            two.abortTransaction() if round % 3 else two.commitTransaction()
        two.beginTransaction()
        java_records.send(two, name, records(6))  # stays open
        java_records.send(plain, name, records(8))  # after the last stable offset
        reading = _reading(cluster, name, 2, committed=committed)
        found = _all(reading)
        visible = 3 * 22 + 2 * 10 + 6 * 4 if committed else written
        assert _by_partition(found) == java_consumer.read(
            sandbox.bootstrap, name, committed=committed
        )
        assert len(found) == visible
        assert _reading(cluster, name, 2, committed=committed).count() == visible
        newest = last_records(_reading(cluster, name, 2, committed=committed), 7)
        # Which of several records with one timestamp are the newest is not defined.
        assert [r.timestamp for r in newest] == [r.timestamp for r in found[-7:]]
        for partition in {r.partition for r in newest}:
            offsets = [r.offset for r in newest if r.partition == partition]
            every = [r.offset for r in found if r.partition == partition]
            assert offsets == every[-len(offsets) :]
        two.abortTransaction()


def test_the_last_records_before_a_wide_gap(sandbox: Sandbox, cluster: Cluster, topic: str) -> None:
    """An aborted transaction is a gap for read_committed. Nothing else of the log is read."""
    java_records.write(
        sandbox.bootstrap, topic, [NewRecord(b"k", b"old %d" % n) for n in range(3000)],
        batch_size="2000",
    )  # fmt: skip
    configs = {"transactional_id": topic, "batch_size": "2000"}
    with java_records.producer(sandbox.bootstrap, **configs) as aborting:
        aborting.initTransactions()
        aborting.beginTransaction()
        java_records.send(aborting, topic, [NewRecord(None, b"gone")] * 3000)
        aborting.abortTransaction()
    java_records.write(sandbox.bootstrap, topic, [NewRecord(b"k", b"new")])
    wait_for(  # the coordinator writes the marker after it has responded to the producer
        "the transaction has ended",
        lambda: _reading(cluster, topic, committed=True).spans == _reading(cluster, topic).spans,
    )
    reading = _reading(cluster, topic, committed=True)
    found = last_records(reading, 5)
    assert [each.value for each in found] == [b"old 2996", b"old 2997", b"old 2998", b"old 2999",
                                             b"new"]  # fmt: skip
    assert not reading.failures
    everything = last_records(_reading(cluster, topic, committed=True), 100_000)
    assert len(everything) == 3001


def test_a_record_of_10_mb_between_small_ones(
    sandbox: Sandbox, cluster: Cluster, name: str
) -> None:
    make_topic(cluster, name, 3, configs=(*KEPT, ("max.message.bytes", str(12 << 20))))
    large = random.Random(2).randbytes(10 << 20)
    for values in ([b"a"] * 30, [large] * 3, [b"b"] * 30):
        java_records.write(
            sandbox.bootstrap, name,
            [NewRecord(b"k", value, (), number % 3) for number, value in enumerate(values)],
            max_request_size=str(12 << 20), buffer_memory=str(64 << 20),
        )  # fmt: skip
    found = _all(_reading(cluster, name, 3))
    assert [each.value for each in found if each.partition == 1] == [b"a"] * 10 + [large] + [
        b"b"
    ] * 10
    assert len(found) == 63
    newest = last_records(_reading(cluster, name, 3), 33)
    assert sum(each.value == large for each in newest) == 3


def test_a_thousand_partitions(sandbox: Sandbox, cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, 1000, configs=KEPT)
    records = [NewRecord(b"%d" % number, b"v", (), number % 1000, _T0 + number)
               for number in range(0, 4000, 17)]  # fmt: skip
    java_records.write(sandbox.bootstrap, name, records, linger_ms="50")
    found = _all(_reading(cluster, name, 1000))
    assert [each.key for each in found] == [new.key for new in records]
    newest = last_records(_reading(cluster, name, 1000), 10)
    assert [each.key for each in newest] == [new.key for new in records[-10:]]


def test_positions_are_offsets_and_times(sandbox: Sandbox, cluster: Cluster, topic: str) -> None:
    java_records.write(
        sandbox.bootstrap, topic,
        [NewRecord(None, b"%d" % n, timestamp=_T0 + n * 1000) for n in range(100)],
        batch_size="200",
    )  # fmt: skip
    where = TopicPartition(topic, 0)
    done(delete.plan_delete(cluster, {where: 20}), cluster)
    warnings: list[str] = []

    def offsets(start: Position, end: Position) -> list[int]:
        found = spans(cluster, [where], start, end, warn=warnings.append)
        records = [r.offset for block in Reading(cluster, found).ordered() for r in block]
        assert records == list(range(found[where].start, found[where].end or 0))
        return records

    assert offsets(FROM_EARLIEST, TO_LATEST) == list(range(20, 100))
    assert offsets(Position(offset=30), Position(offset=40)) == list(range(30, 40))
    assert offsets(Position(time=_T0 + 29_500), Position(time=_T0 + 40_000)) == list(range(30, 40))
    assert offsets(TO_LATEST, TO_LATEST) == []
    assert offsets(Position(time=_T0 + 99_001), TO_LATEST) == []
    assert offsets(Position(offset=50), Position(offset=40)) == []
    assert not warnings
    assert offsets(Position(offset=5), Position(offset=22)) == [20, 21]
    assert warnings == [f"partition {where} starts at offset 20, not 5"]
    assert offsets(Position(offset=500), TO_LATEST) == []
    assert warnings[1:] == [f"partition {where} ends at offset 100, before 500"]


def test_records_deleted_while_reading_are_skipped_with_a_warning(
    sandbox: Sandbox, cluster: Cluster, topic: str
) -> None:
    records = [NewRecord(None, b"%d" % number) for number in range(100)]
    java_records.write(sandbox.bootstrap, topic, records, batch_size="200")
    where = TopicPartition(topic, 0)
    warnings: list[str] = []
    reading = Reading(cluster, spans(cluster, [where]), warn=warnings.append)
    done(delete.plan_delete(cluster, {where: 60}), cluster)
    assert [each.offset for each in _all(reading)] == list(range(60, 100))
    (warning,) = warnings
    assert "offsets 0 to 59 were deleted; reading from offset 60" in warning


def _recreate(cluster: Cluster, topic: str, partitions: int = 1) -> None:
    done(topic_changes.plan_delete(cluster, [topic]), cluster)
    make_topic(cluster, topic, partitions)


def test_a_topic_that_is_created_again_is_followed_from_its_beginning(
    sandbox: Sandbox, cluster: Cluster, topic: str
) -> None:
    where, warnings = TopicPartition(topic, 0), list[str]()
    java_records.write(sandbox.bootstrap, topic, [NewRecord(None, b"old")] * 3)
    with connect(sandbox) as own:
        reading = Reading(own, Results({where: Span(1)}), warn=warnings.append)
        blocks = reading.arriving()
        old = [*next(blocks)]
        while len(old) < 2:
            old += next(blocks)
        assert [each.offset for each in old] == [1, 2]
        _recreate(cluster, topic)
        java_records.write(sandbox.bootstrap, topic, [NewRecord(None, b"new")] * 5)
        found: list[Record] = []
        while len(found) < 5:
            found += next(blocks)
        blocks.close()  # type: ignore[attr-defined]
    assert [(each.offset, each.value) for each in found] == [(n, b"new") for n in range(5)]
    assert warnings == [f"topic {topic} was deleted and recreated; reading it from its beginning"]


def test_new_partitions_of_a_topic_are_followed(
    sandbox: Sandbox, cluster: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching_module, "_GROWTH_S", 0.2)
    where, warnings = TopicPartition(topic, 0), list[str]()
    java_records.write(sandbox.bootstrap, topic, [NewRecord(None, b"first")])
    with connect(sandbox) as own:
        reading = Reading(own, Results({where: Span(0)}), warn=warnings.append, grows=[topic])
        blocks = reading.arriving()
        assert [each.value for each in next(blocks)] == [b"first"]
        done(topic_changes.plan_partitions(cluster, [topic], 3), cluster)
        java_records.write(sandbox.bootstrap, topic, [NewRecord(None, b"new", (), 2)])
        assert [(each.partition, each.offset) for each in next(blocks)] == [(2, 0)]
        blocks.close()  # type: ignore[attr-defined]
    assert warnings == [f"topic {topic} has 3 partitions now; reading all"]


def test_records_of_a_topic_that_was_created_again_are_not_taken_for_the_old_ones(
    sandbox: Sandbox, cluster: Cluster, topic: str
) -> None:
    where = TopicPartition(topic, 0)
    large = [NewRecord(None, bytes(1000))] * 500  # of which a response has some 60
    java_records.write(sandbox.bootstrap, topic, large, batch_size="2000")
    with (
        connect(sandbox) as own,
        own.within(30),
        fetching(own, {where: Span(0, 500)}, partition_bytes=1) as source,
    ):
        first = source.chunk()
        assert first is not None and first.next < 100
        _recreate(cluster, topic)
        java_records.write(sandbox.bootstrap, topic, large, batch_size="2000")
        while (chunk := source.chunk()) is not None:
            assert chunk.next < 200, "more than was requested before"
    assert source.failures[where].message == (
        f"partition {where}: topic {topic} was deleted and recreated"
    )


def test_new_records_arrive_until_it_is_closed(
    sandbox: Sandbox, cluster: Cluster, topic: str
) -> None:
    with java_records.producer(sandbox.bootstrap) as producer:
        java_records.send(producer, topic, [NewRecord(None, b"before")])
        where = TopicPartition(topic, 0)
        reading = Reading(cluster, Results({where: Span(1)}))
        blocks = reading.arriving()
        for number in range(3):
            java_records.send(producer, topic, [NewRecord(None, b"%d" % number)] * 2)
            found: list[Record] = []
            while len(found) < 2:
                found += next(blocks)
            assert [each.value for each in found] == [b"%d" % number] * 2
        blocks.close()  # type: ignore[attr-defined]
    assert cluster.api_versions()  # the connection can be used again
