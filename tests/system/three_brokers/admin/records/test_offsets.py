"""Offsets of partitions: earliest, latest, by time, and special timestamps, on Kafka 4.3 and
3.9."""

from __future__ import annotations

import pytest

from kafka_shell.admin.partitions.model import (
    EARLIEST,
    EARLIEST_PENDING_UPLOAD,
    LATEST,
    TopicPartition,
)
from kafka_shell.admin.records.delete import ranges
from kafka_shell.admin.records.offsets import list_offsets
from kafka_shell.base.errors import ShellError
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.metadata_scan import scan
from tests.support.changes import connect, make_topic
from tests.support.outages import silent
from tests.support.transactional_producer import HOUR_MS, hang


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


def test_a_silent_leader_is_waited_for_once(
    three_brokers: Sandbox, three: Cluster, name: str
) -> None:
    make_topic(three, name, assignment=((1,), (2,), (3,)))
    each = [TopicPartition(name, number) for number in range(3)]
    with silent(three_brokers) as two, connect(two) as cluster, cluster.within(2):
        found = ranges(cluster, each)
        with pytest.raises(ShellError) as late, cluster.within(0):
            scan(cluster)
    assert {where.partition for where in found.values} == {0, 1}, "others are not affected"
    assert "broker 3" in found.failures[each[2]].message
    assert late.value.message.startswith("timed out after waiting for the broker at ")
    others = two.bootstrap.split(",")
    assert not any(other in late.value.message for other in others), "it is the silent one"
