"""Follow partitions while brokers stop or hang: no record is lost or read twice."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.records.fetching import Span
from kafka_shell.admin.records.model import NewRecord, Record
from kafka_shell.admin.records.read import Reading
from kafka_shell.admin.topics.partitions import leaders
from kafka_shell.base.results import Results
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import java_records
from tests.support.changes import connect, make_topic
from tests.support.outages import frozen, processes, start_all, wait_until_back

_BEFORE, _MEANWHILE = 300, 600


@contextmanager
def _killed(sandbox: Sandbox, broker: int) -> Iterator[None]:
    pid = processes(sandbox)[broker]
    assert pid
    try:
        os.kill(pid, signal.SIGKILL)
        yield
    finally:
        start_all(sandbox)
        wait_until_back(sandbox)


def _values(first: int, count: int) -> list[NewRecord]:
    return [NewRecord(None, b"%d" % n, (), n % 3) for n in range(first, first + count)]


@pytest.mark.parametrize("outage", [_killed, frozen])
def test_the_leader_of_a_partition_dies_while_it_is_followed(
    outage: object, three_brokers: Sandbox, three: Cluster, name: str
) -> None:
    make_topic(three, name, 3, 3, configs=(("min.insync.replicas", "2"),))
    wheres = [TopicPartition(name, number) for number in range(3)]
    found: list[Record] = []
    with (
        connect(three_brokers) as mine,
        java_records.producer(
            three_brokers.bootstrap, linger_ms="5", batch_size="500", request_timeout_ms="5000"
        ) as producer,
    ):
        blocks = Reading(mine, Results(dict.fromkeys(wheres, Span(0)))).arriving()
        java_records.send(producer, name, _values(0, _BEFORE))
        while len(found) < _BEFORE:
            found += next(blocks)
        leader = leaders(three, wheres)[wheres[0]]
        writer = threading.Thread(
            target=java_records.send, args=(producer, name, _values(_BEFORE, _MEANWHILE))
        )
        with outage(three_brokers, leader):  # type: ignore[operator]
            writer.start()
            while len(found) < _BEFORE + _MEANWHILE:
                found += next(blocks)
        writer.join()
    assert sorted(int(each.value or b"") for each in found) == list(range(_BEFORE + _MEANWHILE))
    for where in wheres:
        offsets = [each.offset for each in found if each.partition == where.partition]
        assert offsets == list(range(len(offsets)))


def test_a_partition_without_a_leader_is_reported_and_the_others_are_read(
    three_brokers: Sandbox, three: Cluster, name: str
) -> None:
    from kafka_shell.admin.records.read import spans

    make_topic(three, name, assignment=((1,), (2,), (3,)))
    java_records.write(three_brokers.bootstrap, name, _values(0, 30))
    wheres = [TopicPartition(name, number) for number in range(3)]
    with connect(three_brokers) as mine, _killed(three_brokers, 2), mine.within(60):
        reading = Reading(mine, spans(mine, wheres))
        found = [each for block in reading.ordered() for each in block]
        assert {each.partition for each in found} == {0, 2}
        assert len(found) == 20
        assert list(reading.failures) == [wheres[1]]
