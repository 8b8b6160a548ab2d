"""Transactions on a real broker: ongoing, hanging, aborted and fenced."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_shell.admin.partitions.model import LATEST, TopicPartition
from kafka_shell.admin.records.offsets import list_offsets
from kafka_shell.admin.topics.partitions import without_leader
from kafka_shell.admin.transactions import (
    change as transaction_changes,
)
from kafka_shell.admin.transactions import (
    producers,
)
from kafka_shell.admin.transactions import (
    read as transactions,
)
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import Effect, StepInterrupted
from kafka_shell.base.results import Failure, Results
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.codec import Message
from tests.support.changes import done, make_topic, refusals
from tests.support.transactional_producer import HOUR_MS, Producer, hang
from tests.support.waiting import wait_for


def last_stable(cluster: Cluster, each: TopicPartition) -> int | None:
    return list_offsets(cluster, {each: LATEST}, committed=True)[each].offset


def end(cluster: Cluster, each: TopicPartition) -> int | None:
    return list_offsets(cluster, {each: LATEST})[each].offset


def test_an_id_without_a_coordinator_is_a_failure_soon(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: after a minute, the limit of a single request."""
    Producer.start(cluster, name)
    decode = Message.decode

    def without_coordinator(self: Message, version: int, body: memoryview) -> Any:
        response = decode(self, version, body)
        if self.name == "FindCoordinator":
            for row in response.coordinators:
                row.error_code = 15
        return response

    monkeypatch.setattr(Message, "decode", without_coordinator)
    with cluster.within(3600):  # it is not asked for as long
        told = transactions.describe(cluster, [name])
    assert told.failures[name].name == "COORDINATOR_NOT_AVAILABLE"


def test_a_transaction_that_cannot_be_read_again_has_not_ended(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_topic(cluster, name)
    each = TopicPartition(name, 0)
    hang(cluster, each, f"{name}-lost", HOUR_MS)
    search = transactions.find_hanging(cluster, partitions=[each])
    plan = transaction_changes.plan_abort(cluster, search.found)
    with monkeypatch.context() as patch:
        patch.setattr(producers, "find", lambda cluster, wanted: _leaderless(each))
        with pytest.raises(ShellError, match="cannot re-read the producers of partition"):
            plan.steps[0].reread(cluster)
    done(plan, cluster)


def _leaderless(each: TopicPartition) -> Results[TopicPartition, Any]:
    return Results({}, {each: without_leader(each)})


def test_a_state_that_no_broker_knows_is_an_error(cluster: Cluster) -> None:
    with pytest.raises(ShellError, match="unknown transaction state Open"):
        transactions.list_transactions(cluster, states=["Open"])


def test_an_id_is_listed_by_its_pattern(cluster: Cluster, name: str) -> None:
    Producer.start(cluster, f"{name}-a")
    Producer.start(cluster, f"{name}-b")
    listed = transactions.list_transactions(cluster, pattern=f"{name}-[ax]")
    assert [row.transactional_id for rows in listed for row in rows] == [f"{name}-a"]


def test_what_was_written_lately_is_left_alone(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name)
    each = TopicPartition(name, 0)
    start = hang(cluster, each, f"{name}-fresh", ago_ms=120_000)
    assert transactions.find_hanging(cluster, partitions=[each]).found == ()
    search = transactions.find_hanging(cluster, partitions=[each], max_timeout_ms=60_000)
    assert [one.start_offset for one in search.found] == [start]
    done(transaction_changes.plan_abort(cluster, search.found), cluster)


def test_ctrl_c_does_not_change_the_outcome_of_an_abort(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is pressed after the leaders have responded."""
    each = TopicPartition(make_topic(cluster, name), 0)
    hang(cluster, each, f"{name}-lost", HOUR_MS)
    plan = transaction_changes.plan_abort(
        cluster, transactions.find_hanging(cluster, partitions=[each]).found
    )

    def press(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(transaction_changes, "wait_until_visible", press)
    with pytest.raises(StepInterrupted) as caught:
        plan.steps[0].send(cluster, validate_only=False)
    assert tuple(caught.value.outcomes.values) == plan.changes
    assert last_stable(cluster, each) == end(cluster, each)


def test_a_transaction_that_ends_meanwhile_is_not_hanging(cluster: Cluster, name: str) -> None:
    """Before: one that ended between the two requests was no longer listed by its coordinator, so
    it was reported as hanging."""
    make_topic(cluster, name)
    producer, each = Producer.start(cluster, name), TopicPartition(name, 0)
    producer.add(each)
    producer.write(each)
    candidates = producers.describe(cluster, [each])[each]
    assert [state.transaction_start for state in candidates] == [0]
    producer.end(commit=True)
    wait_for("it is committed", lambda: last_stable(cluster, each) == end(cluster, each))
    assert transactions.only_hanging(cluster, candidates) == ((), {})


def test_a_transaction_is_listed_and_described_while_it_runs(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, 2)
    producer = Producer.start(cluster, name, timeout_ms=45_000)
    first, second = TopicPartition(name, 0), TopicPartition(name, 1)
    producer.add(first, second)
    producer.write(first)

    listed = transactions.list_transactions(cluster, producer_ids=[producer.producer_id])
    assert listed.ok, listed.failures
    (row,) = [row for rows in listed for row in rows]
    assert (row.transactional_id, row.state, row.coordinator) == (name, "Ongoing", 1)
    ids = transactions.list_transactions(cluster, states=["Ongoing"], longer_than_ms=60_000)
    assert name not in [row.transactional_id for rows in ids for row in rows], "it just began"

    (told,) = transactions.describe(cluster, [name])
    assert told.state == "Ongoing"
    assert (told.producer_id, told.producer_epoch) == (producer.producer_id, producer.epoch)
    assert told.timeout_ms == 45_000
    assert told.partitions == (first, second)
    assert told.duration_ms is not None and 0 <= told.duration_ms < 60_000

    producer.end(commit=True)

    def over() -> bool:  # its markers are written after EndTxn's answer
        (told,) = transactions.describe(cluster, [name])
        return (told.partitions, told.duration_ms) == ((), None)

    wait_for("the transaction is over", over)


def test_what_a_partition_remembers_of_a_producer(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name)
    each = TopicPartition(name, 0)
    producer = Producer.start(cluster, name)
    producer.add(each)
    offset = producer.write(each)
    (state,) = producers.describe(cluster, [each], broker=1)[each]
    assert (state.producer_id, state.producer_epoch) == (producer.producer_id, producer.epoch)
    assert (state.last_sequence, state.transaction_start) == (0, offset)
    assert state.coordinator_epoch is None, "no transaction of it has ended yet"
    producer.end(commit=False)


def test_names_that_are_not_there_are_failures_of_their_own(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name)
    gone = TopicPartition(f"{name}.gone", 0)
    none = TopicPartition(name, 7)
    here = TopicPartition(name, 0)
    found = producers.describe(cluster, [here, gone, none])
    assert list(found.values) == [here]
    assert {each: why.name for each, why in found.failures.items()} == {
        gone: "UNKNOWN_TOPIC_OR_PARTITION",
        none: "UNKNOWN_TOPIC_OR_PARTITION",
    }
    told = transactions.describe(cluster, [f"{name}-nobody"])
    assert told.failures[f"{name}-nobody"].name == "TRANSACTIONAL_ID_NOT_FOUND"
    plan = transaction_changes.plan_fence(cluster, [f"{name}-nobody"])
    assert refusals(plan)[f"{name}-nobody"].name == "TRANSACTIONAL_ID_NOT_FOUND"
    assert plan.steps == (), "asking for its epoch would create it"


def test_a_hanging_transaction_is_found_and_aborted(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name, 2)
    each = TopicPartition(name, 1)
    start = hang(cluster, each, f"{name}-lost", HOUR_MS)
    assert last_stable(cluster, each) == start, "readers of committed records stop here"

    search = transactions.find_hanging(cluster, topics=[name])
    (found,) = search.found
    assert (found.topic_partition, found.start_offset) == (each, start)
    assert found.transactional_id == f"{name}-lost"
    assert found.duration_ms is not None and found.duration_ms >= HOUR_MS
    assert (search.searched, search.doubts, search.unread, search.ok) == (2, (), (), False)
    by_broker = transactions.find_hanging(cluster, broker=1)
    assert each in [one.topic_partition for one in by_broker.found]

    plan = transaction_changes.plan_abort(cluster, [found])
    assert plan.effect is Effect.DESTROY
    assert plan.advice.warnings == ()
    assert not plan.changes[0].reversible
    done(plan, cluster)
    assert last_stable(cluster, each) == end(cluster, each), "the last stable offset has not moved"
    assert transactions.find_hanging(cluster, partitions=[each]).ok
    with pytest.raises(ShellError, match="ended while waiting"):
        plan.steps[0].reread(cluster)


def test_a_transaction_that_its_coordinator_knows_does_not_hang(
    cluster: Cluster, name: str
) -> None:
    make_topic(cluster, name)
    each = TopicPartition(name, 0)
    producer = Producer.start(cluster, name)
    producer.add(each)
    offset = producer.write(each, ago_ms=HOUR_MS)
    assert transactions.find_hanging(cluster, partitions=[each]).ok
    found = transaction_changes.find_open(cluster, each, offset)
    assert not isinstance(found, Failure)
    (warning,) = transaction_changes.plan_abort(cluster, [found]).advice.warnings
    assert f"is not hanging (transactional ID {name}, Ongoing)" in warning
    assert "to abort it in all partitions, fence the producer" in warning
    wrong = transaction_changes.find_open(cluster, each, offset + 5)
    assert isinstance(wrong, Failure)
    assert f"open transaction: {offset}." in wrong.hint
    producer.end(commit=False)


def test_a_fenced_producer_can_do_no_more(cluster: Cluster, name: str) -> None:
    make_topic(cluster, name)
    each = TopicPartition(name, 0)
    producer = Producer.start(cluster, name, timeout_ms=45_000)
    producer.add(each)
    producer.write(each)
    plan = transaction_changes.plan_fence(cluster, [name])
    (change,) = plan.changes
    assert "Ongoing transaction is aborted" in change.note
    done(plan, cluster)
    with pytest.raises(AssertionError, match="error 47"):  # INVALID_PRODUCER_EPOCH
        producer.write(each)
    assert last_stable(cluster, each) == end(cluster, each)
    (told,) = transactions.describe(cluster, [name])
    assert not told.under_way
    assert told.producer_epoch > producer.epoch or told.producer_id != producer.producer_id
    assert told.timeout_ms == 45_000, "fencing leaves the timeout as it was"
