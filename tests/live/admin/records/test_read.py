"""Records read are the same as those of Kafka's own consumer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records import fetching as fetching_module
from kafka_shell.admin.records.fetching import Span, fetching
from kafka_shell.admin.records.model import NewRecord, Record
from kafka_shell.admin.records.read import TO_LATEST, Reading, merge, spans
from kafka_shell.admin.records.write import Writer
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.runner import CallsInFlight
from tests.support.changes import connect, done, make_topic
from tests.support.read_records import last_records


def _by_time(records: Sequence[Record]) -> bool:
    times = [record.timestamp for record in records]
    return times == sorted(times)


def _recreate(cluster: Cluster, topic: str, partitions: int = 1) -> None:
    done(topic_changes.plan_delete(cluster, [topic]), cluster)
    make_topic(cluster, topic, partitions)


def test_each_partition_of_a_topic_that_is_created_again_is_followed_from_its_beginning(
    sandbox: Sandbox, cluster: Cluster, topic: str
) -> None:
    """Also if one is looked up earlier than the other."""
    done(topic_changes.plan_partitions(cluster, [topic], 2), cluster)
    wheres = [TopicPartition(topic, number) for number in range(2)]
    old, new = ([NewRecord(None, value)] * 9 for value in (b"old", b"new"))
    Writer(cluster, topic).write({0: old[:3], 1: old[:3]})
    with (
        connect(sandbox) as own,
        own.within(30),
        fetching(own, dict.fromkeys(wheres, Span(0))) as source,
    ):
        chunk = source.chunk(wheres[0])
        assert chunk is not None and chunk.next == 3
        _recreate(cluster, topic, 2)
        Writer(cluster, topic).write({0: new, 1: new})
        chunk = source.chunk(wheres[0])  # the other has a chunk that was not taken yet
        assert chunk is not None and (chunk.start, chunk.next) == (0, 9)
        found = [chunk for _ in range(2) if (chunk := source.chunk(wheres[1]))]
    assert [(each.start, each.next) for each in found] == [(0, 3), (0, 9)]


def test_a_topic_that_is_created_again_before_it_is_followed_is_read_from_its_beginning(
    sandbox: Sandbox, cluster: Cluster, topic: str
) -> None:
    where, warnings = TopicPartition(topic, 0), list[str]()
    Writer(cluster, topic).write({0: [NewRecord(None, b"old")] * 3})
    with connect(sandbox) as own:
        ends = spans(own, [where], TO_LATEST).map(lambda span: replace(span, end=None))
        assert ends[where].start == 3
        _recreate(cluster, topic)
        Writer(cluster, topic).write({0: [NewRecord(None, b"new")] * 5})
        blocks = Reading(own, ends, warn=warnings.append).arriving()
        assert [each.offset for each in next(blocks)] == list(range(5))
        blocks.close()  # type: ignore[attr-defined]
    assert warnings == [f"topic {topic} was deleted and recreated; reading it from its beginning"]


def test_the_last_records_are_not_those_of_a_topic_that_was_created_again(
    sandbox: Sandbox, cluster: Cluster, topic: str
) -> None:
    where = TopicPartition(topic, 0)
    Writer(cluster, topic).write({0: [NewRecord(None, b"old")] * 3})
    with connect(sandbox) as own:
        reading = Reading(own, spans(own, [where]))
        _recreate(cluster, topic)
        Writer(cluster, topic).write({0: [NewRecord(None, b"new")] * 5})
        assert last_records(reading, 2) == []
    assert reading.failures[where].message == (
        f"partition {where}: topic {topic} was deleted and recreated"
    )


_TIMES = st.lists(st.lists(st.lists(st.integers(0, 50), max_size=5), max_size=5), max_size=5)


@given(_TIMES)
def test_merging_keeps_the_order_of_each_source(sources: list[list[list[int]]]) -> None:
    def blocks(partition: int) -> Iterator[list[Record]]:
        offset = 0
        for times in sources[partition]:
            yield [
                Record("t", partition, offset + n, time, "CreateTime", None, None)
                for n, time in enumerate(times)
            ]
            offset += len(times)

    merged = [r for block in merge([blocks(n) for n in range(len(sources))]) for r in block]
    for partition, source in enumerate(sources):
        times = [time for block in source for time in block]
        own = [r for r in merged if r.partition == partition]
        assert [r.offset for r in own] == list(range(len(times)))
    if all(sorted(flat) == flat for flat in ([t for b in s for t in b] for s in sources)):
        assert _by_time(merged)


def test_the_others_are_read_when_the_partition_that_was_asked_for_fails(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails while its leader is looked up, with no request in flight."""
    monkeypatch.setattr(fetching_module, "PATIENCE_S", 0.5)
    gone, other = TopicPartition(f"{name}.gone", 0), TopicPartition(make_topic(cluster, name), 0)
    Writer(cluster, name).write({0: [NewRecord(b"k", b"v")]})
    with fetching(cluster, {gone: Span(0, 1), other: Span(0, 1)}) as reading:
        assert reading.chunk(gone) is None
        assert reading.failures.keys() == {gone}
        assert reading.chunk(other) is not None


def test_a_leader_that_refuses_a_valid_offset_does_not_stop_reading_for_ever(
    cluster: Cluster, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OFFSET_OUT_OF_RANGE, although ListOffsets returns a range with the offset."""
    Writer(cluster, topic).write({0: [NewRecord(None, b"x")]})
    monkeypatch.setattr(fetching_module, "PATIENCE_S", 1.0)
    take = CallsInFlight.take

    def refusing(self: CallsInFlight) -> tuple[Any, Any]:
        key, response = take(self)
        response.responses[0].partitions[0].error_code = 1
        return key, response

    monkeypatch.setattr(CallsInFlight, "take", refusing)
    where = TopicPartition(topic, 0)
    with fetching(cluster, {where: Span(0, 1)}) as source:
        assert source.chunk() is None
        assert "offset 0 is out of range of its leader" in source.failures[where].message
