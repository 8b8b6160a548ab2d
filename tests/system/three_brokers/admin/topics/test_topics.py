"""Create, describe and delete topics and add partitions on real brokers (KIP-4)."""

from __future__ import annotations

from kafka_shell.admin.topics import (
    change as topic_changes,
)
from kafka_shell.admin.topics import read as topics
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import described, done, make_topic


def test_replicas_keep_their_order(three: Cluster, name: str) -> None:
    placed = ((3, 1), (2, 3), (1, 2))
    make_topic(three, name, assignment=placed)
    topic = described(three, name)
    assert tuple(partition.replicas for partition in topic.partitions) == placed
    assert [partition.leader for partition in topic.partitions] == [3, 2, 1]


def test_new_partitions_are_placed(three: Cluster, name: str) -> None:
    make_topic(three, name, assignment=((1, 2), (2, 3)))
    plan = topic_changes.plan_partitions(
        three, [name], 4, assignment=((1, 2), (2, 3), (3, 1), (3, 2))
    )
    assert plan.changes[0].note == "new on 3:1,3:2"
    done(plan, three)
    assert [p.replicas for p in described(three, name).partitions] == [
        (1, 2), (2, 3), (3, 1), (3, 2),
    ]  # fmt: skip


def test_topics_of_different_sizes_are_placed_by_one_assignment(three: Cluster, name: str) -> None:
    make_topic(three, f"{name}.one", assignment=((1, 2),))
    make_topic(three, f"{name}.two", assignment=((1, 2), (2, 3)))
    placed = ((1, 2), (2, 3), (3, 1))
    done(
        topic_changes.plan_partitions(three, [f"{name}.one", f"{name}.two"], 3, assignment=placed),
        three,
    )
    for topic in topics.describe(three, [f"{name}.one", f"{name}.two"]):
        assert tuple(p.replicas for p in topic.partitions) == placed, topic.name


def test_a_created_topic_is_known_to_the_broker_asked_next(three: Cluster, name: str) -> None:
    for n in range(5):
        make_topic(three, f"{name}.{n}", 6, 3)
        topic = described(three, f"{name}.{n}")
        assert all(partition.leader is not None for partition in topic.partitions)
        done(topic_changes.plan_partitions(three, [topic.name], 9), three)
        assert len(described(three, topic.name).partitions) == 9
        done(topic_changes.plan_delete(three, [topic.name]), three)
        assert topic.name not in metadata_scan.scan(three)
