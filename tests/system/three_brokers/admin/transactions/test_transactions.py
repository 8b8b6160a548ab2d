"""Transactions on a real broker: ongoing, hanging, aborted and fenced."""

from __future__ import annotations

from kafka_shell.admin.partitions.model import LATEST, TopicPartition
from kafka_shell.admin.records.offsets import list_offsets
from kafka_shell.admin.transactions import (
    change as transaction_changes,
)
from kafka_shell.admin.transactions import (
    producers,
)
from kafka_shell.admin.transactions import (
    read as transactions,
)
from kafka_shell.base.structs import replace
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support.changes import connect, done, make_topic
from tests.support.transactional_producer import HOUR_MS, Producer, hang


def last_stable(cluster: Cluster, each: TopicPartition) -> int | None:
    return list_offsets(cluster, {each: LATEST}, committed=True)[each].offset


def end(cluster: Cluster, each: TopicPartition) -> int | None:
    return list_offsets(cluster, {each: LATEST})[each].offset


def test_a_pattern_is_an_error_on_a_broker_that_knows_none(old_cluster: Cluster) -> None:
    listed = transactions.list_transactions(old_cluster, pattern="a.*")
    assert not listed.ok
    assert "transactional_id_pattern" in str(listed.failures[1]) or "3.9" in str(listed.failures[1])


def test_replicas_and_coordinators_of_three_brokers(three_brokers: Sandbox, name: str) -> None:
    with connect(three_brokers) as cluster:
        make_topic(cluster, name, assignment=((1, 2), (2, 3), (3, 1)))
        each = TopicPartition(name, 1)
        start = hang(cluster, each, f"{name}-lost", HOUR_MS)
        search = transactions.find_hanging(cluster, topics=[name])
        assert [one.start_offset for one in search.found] == [start]
        assert transactions.find_hanging(cluster, topics=[name], broker=3).searched == 2
        refused = producers.describe(cluster, [each], broker=1).failures[each]
        assert refused.message == f"broker 1 has no replica of partition {each}"
        ids = [f"{name}-{number}" for number in range(12)]
        for transactional_id in ids:
            Producer.start(cluster, transactional_id)
        told = transactions.describe(cluster, ids)
        assert list(told.values) == ids
        assert len({one.coordinator for one in told}) > 1, "they have several coordinators"
        done(transaction_changes.plan_abort(cluster, search.found), cluster)
        assert last_stable(cluster, each) == end(cluster, each)


def test_a_coordinator_that_is_not_asked_may_know_the_transaction(
    three_brokers: Sandbox, name: str
) -> None:
    """health does not ask a broker that does not respond: what it coordinates is not hanging."""
    with connect(three_brokers) as cluster:
        producer = Producer.start(cluster, name)
        (known,) = transactions.describe(cluster, [name])
        make_topic(cluster, name, assignment=((known.coordinator % 3 + 1,),))
        each = TopicPartition(name, 0)
        producer.add(each)
        producer.write(each, ago_ms=HOUR_MS)
        without = replace(cluster.config, avoid=frozenset({known.coordinator}))
        with Cluster(without) as others:
            search = transactions.find_hanging(others, topics=[name])
        assert search.found == (), "a live transaction"
        assert ["no leader that responds" in one.message for one in search.unread] == [True]
        producer.end(commit=False)
