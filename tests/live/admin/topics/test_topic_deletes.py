"""Delete topics on real brokers: by ID, many at once, and topics that do not exist (KIP-4,
KIP-516)."""

from __future__ import annotations

import pytest

from kafka_shell.admin.topics import change as topic_changes
from kafka_shell.admin.topics.steps import DeleteTopics
from kafka_shell.advice import advise
from kafka_shell.base.plans import Effect, apply
from kafka_shell.wire import metadata_scan
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.model import Topic
from tests.support.changes import described, done, failures, make_topic, refusals
from tests.support.waiting import wait_for


@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_a_delete_without_a_timeout_deletes(cluster: Cluster, name: str, timeout_ms: int) -> None:
    make_topic(cluster, name)
    done(topic_changes.plan_delete(cluster, [name], timeout_ms=timeout_ms), cluster)
    wait_for("it is deleted", lambda: name not in metadata_scan.scan(cluster, [name]))


def test_deleting_goes_by_name_where_there_are_no_ids(cluster: Cluster, name: str) -> None:
    """Brokers before 2.8 have none; every broker still takes names."""
    make_topic(cluster, name)
    without = Topic(name, "", False, described(cluster, name).partitions)
    assert DeleteTopics((without,)).send(cluster, validate_only=False).ok
    assert name not in metadata_scan.scan(cluster)
    results = DeleteTopics((without,)).send(cluster, validate_only=False)
    assert failures(results) == {name: "UNKNOWN_TOPIC_OR_PARTITION"}


def test_an_internal_topic_is_deleted_with_a_warning(cluster: Cluster) -> None:
    from kafka import KafkaConsumer

    address = cluster.config.bootstrap[0]
    consumer = KafkaConsumer(bootstrap_servers=str(address), group_id="wakes-the-coordinator")
    consumer.subscribe(["nothing-here"])

    def is_there() -> bool:
        consumer.poll(timeout_ms=100)
        return "__consumer_offsets" in metadata_scan.scan(cluster)

    wait_for("the coordinator's topic is made", is_there)
    consumer.close()
    plan = advise(topic_changes.plan_delete(cluster, ["__consumer_offsets"]), cluster)
    assert "internal" in plan.advice.warnings[0]


def test_a_topic_that_metadata_does_not_mark_as_internal(cluster: Cluster) -> None:
    """Before: the topic of tiered storage was deleted, and got partitions, without a warning."""
    name = make_topic(cluster, "__remote_log_metadata")
    plan = advise(topic_changes.plan_delete(cluster, [name]), cluster)
    assert f"{name} is an internal topic" in plan.advice.warnings[0]
    more = advise(topic_changes.plan_partitions(cluster, [name], 2), cluster)
    assert more.advice.confirm and len(more.advice.warnings) == 1
    done(plan, cluster)


def test_many_are_deleted_and_gone_at_once(cluster: Cluster, name: str) -> None:
    names = [make_topic(cluster, f"{name}.{n}", n + 1) for n in range(3)]
    plan = topic_changes.plan_delete(cluster, [*names, names[0]])
    assert plan.effect is Effect.DESTROY
    assert [change.resource.name for change in plan.changes] == names, "twice is sent once"
    assert [change.before for change in plan.changes] == [
        "1 partition, replication factor 1",
        "2 partitions, replication factor 1",
        "3 partitions, replication factor 1",
    ]
    assert not any(change.reversible for change in plan.changes)
    done(plan, cluster)
    assert not set(names) & set(metadata_scan.scan(cluster).names)


def test_what_is_not_there_is_refused_and_the_rest_deleted(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name)
    plan = topic_changes.plan_delete(cluster, [f"{name}.gone", name])
    assert {k: why.name for k, why in refusals(plan).items()} == {
        f"{name}.gone": "UNKNOWN_TOPIC_OR_PARTITION"
    }
    assert plan.without_refused("UNKNOWN_TOPIC_OR_PARTITION").refused.ok
    assert apply(plan, cluster).ok
    assert name not in metadata_scan.scan(cluster)


def test_a_topic_that_vanished_between_fails_alone(cluster: Cluster, name: str) -> None:
    stays, goes = make_topic(cluster, f"{name}.stays"), make_topic(cluster, f"{name}.goes")
    plan = topic_changes.plan_delete(cluster, [stays, goes])
    done(topic_changes.plan_delete(cluster, [goes]), cluster)
    results = apply(plan, cluster)
    assert failures(results) == {goes: "UNKNOWN_TOPIC_ID"}
    (why,) = results.failures.values()
    assert goes in why.message and "no longer exists" in why.message
    assert stays not in metadata_scan.scan(cluster), "the other one is deleted all the same"


def test_a_topic_created_anew_between_is_not_lost(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name)
    plan = topic_changes.plan_delete(cluster, [name])
    done(topic_changes.plan_delete(cluster, [name]), cluster)
    make_topic(cluster, name, 2)
    results = apply(plan, cluster)
    assert failures(results) == {name: "UNKNOWN_TOPIC_ID"}
    assert len(described(cluster, name).partitions) == 2, "the new topic was deleted"
