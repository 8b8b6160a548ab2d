"""Offsets of partitions: earliest, latest, by time, and special timestamps, on Kafka 4.3 and
3.9."""

from __future__ import annotations

import pytest

from kafka_shell.admin.partitions.model import (
    EARLIEST,
    EARLIEST_LOCAL,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    Offset,
    TopicPartition,
)
from kafka_shell.admin.records.delete import ranges
from kafka_shell.admin.records.offsets import list_offsets
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.admin.wire.metadata_scan import scan
from kafka_shell.errors import ShellError
from kafka_shell.sandbox.state import Sandbox
from tests.support.changes import make_topic
from tests.support.outages import frozen
from tests.support.produced_records import fill
from tests.support.transactional_producer import HOUR_MS, hang

TIMES = (1_000_000_000_000, 1_000_000_003_000, 1_000_000_001_000, 1_000_000_002_000)


@pytest.fixture
def filled(either: Cluster, name: str) -> TopicPartition:
    """Four records in partition 1 of 2, the second of them the latest."""
    make_topic(either, name, 2, configs=(("retention.ms", "-1"),))
    bootstrap = ",".join(map(str, either.config.bootstrap))
    fill(bootstrap, name, 4, partition=1, times=TIMES)
    return TopicPartition(name, 1)


def test_every_kind_of_offset(either: Cluster, filled: TopicPartition) -> None:
    def at(time: int) -> Offset:
        found = list_offsets(either, {filled: time})
        assert found.ok, f"{time}: {found.failures}"
        return found[filled]

    assert at(EARLIEST).offset == 0
    assert at(LATEST).offset == 4
    assert at(LATEST).timestamp is None, "the end is not a record: it has no time"
    assert at(EARLIEST_LOCAL).offset == 0
    assert at(MAX_TIMESTAMP) == Offset(1, TIMES[1], 0)
    assert at(TIMES[0] + 1) == Offset(1, TIMES[1], 0), "the first of then or later"
    assert at(TIMES[1] + 1) == Offset(None), "nothing is later"
    assert at(LATEST_TIERED).offset is None, "nothing is tiered where there is no remote storage"


def test_several_partitions_each_with_its_own_time(either: Cluster, filled: TopicPartition) -> None:
    empty = TopicPartition(filled.topic, 0)
    found = list_offsets(either, {empty: MAX_TIMESTAMP, filled: LATEST})
    assert list(found.values) == [empty, filled], "in the order asked"
    assert (found[empty].offset, found[filled].offset) == (None, 4)


def test_what_is_not_there(either: Cluster, filled: TopicPartition) -> None:
    nowhere, beyond = TopicPartition("no-such-topic", 0), TopicPartition(filled.topic, 2)
    found = list_offsets(either, dict.fromkeys([nowhere, filled, beyond], LATEST))
    assert found[filled].offset == 4, "one that is not there spoils the others"
    assert found.failures[nowhere].name == "UNKNOWN_TOPIC_OR_PARTITION"
    why = found.failures[beyond]
    assert why.message == f"topic {filled.topic} has no partition 2"
    assert why.hint == "Its partitions are 0 to 1."


def test_a_broker_too_old_for_one_constant_answers_the_rest(
    old_cluster: Cluster, name: str
) -> None:
    make_topic(old_cluster, name, 2)
    new, old = TopicPartition(name, 0), TopicPartition(name, 1)
    found = list_offsets(old_cluster, {new: EARLIEST_PENDING_UPLOAD, old: EARLIEST})
    assert found[old].offset == 0
    assert found.failures[new].name == "unsupported-version"
    said = found.failures[new].message
    assert (
        "(Kafka 3.9) does not support listing the earliest offset that is not in remote storage yet"
        in said
    )


def test_the_last_stable_offset(cluster: Cluster, name: str) -> None:
    partition = TopicPartition(make_topic(cluster, name), 0)
    start = hang(cluster, partition, f"{name}-open", HOUR_MS)
    end = list_offsets(cluster, {partition: LATEST})[partition].offset
    stable = list_offsets(cluster, {partition: LATEST}, committed=True)[partition].offset
    assert end is not None and end > start
    assert stable == start, "the end for read_committed is where the open transaction begins"


def test_a_leader_that_hangs_is_waited_for_once(
    three: Cluster, three_brokers: Sandbox, name: str
) -> None:
    make_topic(three, name, assignment=((1,), (2,), (3,)))
    each = [TopicPartition(name, number) for number in range(3)]
    assert ranges(three, each).ok
    with frozen(three_brokers, 2), three.within(2):
        found = ranges(three, each)
        with pytest.raises(ShellError) as late, three.within(0):
            scan(three)
    assert {where.partition for where in found.values} == {0, 2}, "others are not affected"
    assert "broker 2" in found.failures[each[1]].message
    assert "broker 2" in late.value.message, "the time was used for this broker"
