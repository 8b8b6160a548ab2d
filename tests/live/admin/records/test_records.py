"""Delete records before an offset, a time or the end; refused offsets; concurrent writes."""

from __future__ import annotations

import pytest

from kafka_shell.admin.partitions.model import LATEST, TopicPartition
from kafka_shell.admin.records import delete as records
from kafka_shell.admin.records.offsets import ranges
from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Effect
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import done, make_topic, refusals
from tests.support.produced_records import fill

NOON = 1_000_000_000_000


@pytest.fixture
def filled(cluster: Cluster, name: str) -> TopicPartition:
    """Ten records, one a second."""
    make_topic(cluster, name, configs=(("retention.ms", "-1"),))
    bootstrap = ",".join(map(str, cluster.config.bootstrap))
    fill(bootstrap, name, 10, times=[NOON + 1000 * second for second in range(10)])
    return TopicPartition(name, 0)


def first(cluster: Cluster, partition: TopicPartition) -> int:
    return ranges(cluster, [partition])[partition].earliest


def test_a_topic_created_anew_is_left_alone(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name)
    fill(",".join(map(str, cluster.config.bootstrap)), name, 2)
    [step] = records.plan_delete(cluster, {TopicPartition(name, 0): 1}).steps
    assert step.reread(cluster) == step
    done(topic_changes.plan_delete(cluster, [name]), cluster)
    make_topic(cluster, name)
    with pytest.raises(ShellError, match="recreated"):
        step.reread(cluster)


def test_to_an_offset_then_to_a_time_then_to_the_end(
    cluster: Cluster, filled: TopicPartition
) -> None:
    plan = records.plan_delete(cluster, {filled: 3})
    assert plan.effect is Effect.DESTROY
    [change] = plan.changes
    assert (change.before, change.after, change.note) == (0, 3, "deletes up to 3 records")
    assert not change.reversible
    done(plan, cluster)
    assert first(cluster, filled) == 3

    plan = records.plan_delete_before(cluster, [filled], NOON + 4500)
    assert [change.after for change in plan.changes] == [5], "the first record of then or later"
    done(plan, cluster)
    assert first(cluster, filled) == 5

    plan = records.plan_delete_before(cluster, [filled], NOON + 60_000)
    assert [change.after for change in plan.changes] == [10], "all of it is older"
    done(records.plan_delete(cluster, {filled: LATEST}), cluster)
    left = ranges(cluster, [filled])[filled]
    assert (left.earliest, left.latest, left.max_records) == (10, 10, 0)


def test_what_comes_after_the_plan_stays(cluster: Cluster, filled: TopicPartition) -> None:
    plan = records.plan_delete(cluster, {filled: LATEST})
    fill(",".join(map(str, cluster.config.bootstrap)), filled.topic, 2)
    done(plan, cluster)
    assert ranges(cluster, [filled])[filled].max_records == 2


def test_nothing_to_delete_is_told_and_not_sent(cluster: Cluster, filled: TopicPartition) -> None:
    plan = records.plan_delete_before(cluster, [filled], NOON)
    assert not plan.steps
    assert [change.note for change in plan.unchanged] == ["no change: no records before 0"]


def test_offsets_that_are_not_there_are_refused(cluster: Cluster, filled: TopicPartition) -> None:
    gone = TopicPartition("no-such-topic", 0)
    plan = records.plan_delete(cluster, {filled: 11, gone: 1})
    assert not plan.steps
    refused = refusals(plan)
    assert refused[str(filled)].name == "OFFSET_OUT_OF_RANGE"
    assert "out of range 0 to 10" in refused[str(filled)].message
    assert refused[str(gone)].name == "UNKNOWN_TOPIC_OR_PARTITION"


def test_a_compacted_topic_keeps_its_records(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, configs=(("cleanup.policy", "compact"), ("retention.ms", "-1")))
    partition = TopicPartition(name, 0)
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=",".join(map(str, cluster.config.bootstrap)))
    producer.send(name, key=b"k", value=b"v").get(timeout=30)
    producer.close()
    plan = records.plan_delete(cluster, {partition: 1})
    step = records.DeleteRecords((records.Cut(partition, 0, 1),), ())
    assert plan.steps == (), "Before: a plan that brokers always refuse"
    for why in (
        *plan.refused.failures.values(),
        *step.send(cluster, validate_only=False).failures.values(),
    ):
        assert why.name == "POLICY_VIOLATION"
        assert "a topic that is only compacted cannot be deleted" in why.message, why
