"""Offsets of partitions: earliest, latest, by time, and special timestamps, on Kafka 4.3 and
3.9."""

from __future__ import annotations

import pytest

from kafka_shell.admin.partitions.model import (
    EARLIEST,
    EARLIEST_LOCAL,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    Offset,
    TopicPartition,
)
from kafka_shell.admin.records.offsets import list_offsets
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import make_topic
from tests.support.produced_records import fill

TIMES = (1_000_000_000_000, 1_000_000_003_000, 1_000_000_001_000, 1_000_000_002_000)


@pytest.fixture
def timed(cluster: Cluster, name: str) -> TopicPartition:
    """Four records in partition 1 of 2, the second of them the latest."""
    make_topic(cluster, name, 2, configs=(("retention.ms", "-1"),))
    bootstrap = ",".join(map(str, cluster.config.bootstrap))
    fill(bootstrap, name, 4, partition=1, times=TIMES)
    return TopicPartition(name, 1)


def test_every_kind_of_offset(cluster: Cluster, timed: TopicPartition) -> None:
    def at(time: int) -> Offset:
        found = list_offsets(cluster, {timed: time})
        assert found.ok, f"{time}: {found.failures}"
        return found[timed]

    assert at(EARLIEST).offset == 0
    assert at(LATEST).offset == 4
    assert at(LATEST).timestamp is None, "the end is not a record: it has no time"
    assert at(EARLIEST_LOCAL).offset == 0
    assert at(MAX_TIMESTAMP) == Offset(1, TIMES[1], 0)
    assert at(TIMES[0] + 1) == Offset(1, TIMES[1], 0), "the first of then or later"
    assert at(TIMES[1] + 1) == Offset(None), "nothing is later"
    assert at(LATEST_TIERED).offset is None, "nothing is tiered where there is no remote storage"


def test_several_partitions_each_with_its_own_time(cluster: Cluster, timed: TopicPartition) -> None:
    empty = TopicPartition(timed.topic, 0)
    found = list_offsets(cluster, {empty: MAX_TIMESTAMP, timed: LATEST})
    assert list(found.values) == [empty, timed], "in the order asked"
    assert (found[empty].offset, found[timed].offset) == (None, 4)


def test_what_is_not_there(cluster: Cluster, timed: TopicPartition) -> None:
    nowhere, beyond = TopicPartition("no-such-topic", 0), TopicPartition(timed.topic, 2)
    found = list_offsets(cluster, dict.fromkeys([nowhere, timed, beyond], LATEST))
    assert found[timed].offset == 4, "one that is not there spoils the others"
    assert found.failures[nowhere].name == "UNKNOWN_TOPIC_OR_PARTITION"
    why = found.failures[beyond]
    assert why.message == f"topic {timed.topic} has no partition 2"
    assert why.hint == "Use partitions 0 to 1."
