"""Samples of a real broker while producers and consumers run."""

from __future__ import annotations

from uuid import uuid4

import pytest

from kafka_shell.admin.activity.model import GroupActivity, TopicActivity
from kafka_shell.admin.activity.sample import (
    broker_rates,
    group_rates,
    sample_groups,
    sample_topics,
    sizes_request,
    topic_rates,
)
from kafka_shell.admin.partitions import log_dirs
from kafka_shell.admin.partitions.model import LATEST, TopicPartition
from kafka_shell.admin.records import offsets
from kafka_shell.admin.records.offsets import offsets_request
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.requests import Node
from tests.support.changes import done, make_topic
from tests.support.group_data import commit, filled, forget
from tests.support.produced_records import fill
from tests.support.waiting import wait_for


def of(rows: list[TopicActivity], name: str) -> TopicActivity:
    return next(row for row in rows if row.name == name)


def ends(cluster: Cluster, topic: str) -> list[int | None]:
    return [each.end for each in sample_topics(cluster).topics[topic].partitions.values()]


def test_the_bytes_read_are_what_the_messages_say(sandbox: Sandbox, cluster: Cluster) -> None:
    topic = make_topic(cluster, f"activity-{uuid4().hex[:6]}", 3)
    fill(sandbox.bootstrap, topic, 7, partition=1)
    wait_for("its partitions answer", lambda: ends(cluster, topic) == [0, 7, 0])
    partitions = [TopicPartition(topic, number) for number in range(3)]
    read = cluster.send(offsets_request({topic: [0, 1, 2]}, LATEST), Node(1))
    listed = offsets.list_offsets(cluster, dict.fromkeys(partitions, LATEST))
    assert read == {(topic, n): (0, listed[each].offset) for n, each in enumerate(partitions)}
    assert read[topic, 1] == (0, 7)
    found = cluster.send(sizes_request(), Node(1))
    described = log_dirs.describe(cluster, [1], partitions)
    sizes = {(r.topic, r.partition): r.size for dir in described[1] for r in dir.replicas}
    assert {key: found.replicas[key] for key in sizes} == sizes
    assert found.total == sum(found.replicas.values()) and not found.refused


def test_the_rates_are_what_was_produced(sandbox: Sandbox, cluster: Cluster) -> None:
    topic = make_topic(cluster, f"activity-{uuid4().hex[:6]}", 2)
    wait_for("both partitions answer", lambda: ends(cluster, topic) == [0, 0])
    before = sample_topics(cluster)
    fill(sandbox.bootstrap, topic, 2_000, size=100)
    fill(sandbox.bootstrap, topic, 1_000, size=100, partition=1)
    after = sample_topics(cluster)
    seconds = after.at - before.at
    row = of(topic_rates(before, after), topic)
    assert row.records_per_s == pytest.approx(3_000 / seconds, rel=1e-3)
    assert row.bytes_per_s is not None
    assert 3_000 * 100 <= row.bytes_per_s * seconds <= 3_000 * 200, "with a header a batch"
    assert row.size == pytest.approx(row.bytes_per_s * seconds, abs=seconds)
    (broker,) = broker_rates(before, after)
    assert (broker.id, broker.state) == (1, "up")
    assert broker.records_per_s is not None and broker.records_per_s >= row.records_per_s
    assert broker.leaders == broker.replicas == broker.in_sync > 0
    idle = of(topic_rates(after, sample_topics(cluster)), topic)
    assert (idle.records_per_s, idle.bytes_per_s) == (0, 0)


def test_a_topic_that_is_made_again_has_no_rates(sandbox: Sandbox, cluster: Cluster) -> None:
    topic = f"activity-{uuid4().hex[:6]}"
    first = sample_topics(cluster)
    make_topic(cluster, topic)
    wait_for("it answers", lambda: ends(cluster, topic) == [0])
    second = sample_topics(cluster)
    new = of(topic_rates(first, second), topic)
    assert (new.records_per_s, new.note) == (None, "new")
    done(topic_changes.plan_delete(cluster, [topic]), cluster)
    wait_for("it is gone", lambda: topic not in sample_topics(cluster).topics)
    make_topic(cluster, topic)
    fill(sandbox.bootstrap, topic, 50)
    row = of(topic_rates(second, sample_topics(cluster)), topic)
    assert (row.records_per_s, row.bytes_per_s, row.note) == (None, None, "recreated")


def test_the_lag_of_a_group_and_its_change(sandbox: Sandbox, cluster: Cluster) -> None:
    topic, group = f"activity-{uuid4().hex[:6]}", f"activity-group-{uuid4().hex[:6]}"
    filled(sandbox, cluster, topic)  # ten records in each of two partitions
    commit(cluster, group, topic, 2, 4)
    before = sample_groups(cluster)
    (row,) = [each for each in group_rates(None, before) if each.name == group]
    assert (row.lag, row.change_per_s, row.partitions, row.unknown) == (14, None, 2, 0)
    commit(cluster, group, topic, 8, 10)
    after = sample_groups(cluster, [group])
    (row,) = group_rates(before, after)
    seconds = after.at - before.at
    assert row.lag == 2
    assert row.change_per_s == pytest.approx(-12 / seconds, rel=1e-2)
    assert row.records_per_s == pytest.approx(12 / seconds, rel=1e-2)
    assert row.catch_up_s == pytest.approx(2 * seconds / 12, rel=2e-2, abs=1e-2)
    forget(cluster, group)


def test_a_consumer_that_has_not_committed_has_no_lag(sandbox: Sandbox, cluster: Cluster) -> None:
    from kafka import KafkaConsumer

    topic, group = f"activity-{uuid4().hex[:6]}", f"activity-group-{uuid4().hex[:6]}"
    filled(sandbox, cluster, topic)
    consumer = KafkaConsumer(
        topic, bootstrap_servers=sandbox.bootstrap, group_id=group, enable_auto_commit=False
    )
    try:
        row = _when_assigned(cluster, group, consumer)
    finally:
        consumer.close()
    assert (row.lag, row.unknown, row.partitions, row.catch_up_s) == (None, 2, 2, None)
    assert row.members == 1
    forget(cluster, group)


def _when_assigned(cluster: Cluster, group: str, consumer: object) -> GroupActivity:
    def row() -> GroupActivity | None:
        consumer.poll(timeout_ms=1_000)  # type: ignore[attr-defined]
        rows = group_rates(None, sample_groups(cluster))
        return next((row for row in rows if row.name == group and row.partitions), None)

    found = wait_for(f"group {group} has partitions", row)
    assert found is not None
    return found
