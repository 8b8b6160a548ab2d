"""Fence producers while their coordinators move."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.admin.transactions import change as transaction_changes
from kafka_shell.admin.transactions import read as transactions
from kafka_shell.base.errors import ShellError
from kafka_shell.base.plans import apply
from kafka_shell.base.structs import replace
from kafka_shell.wire.cluster import Cluster
from kafka_shell.wire.requests import Call, Coordinator, CoordinatorKind
from tests.support.changes import done, make_topic, misroute
from tests.support.transactional_producer import Producer
from tests.support.waiting import wait_for


def misrouted(cluster: Cluster, transactional_id: str) -> None:
    misroute(cluster, Coordinator(CoordinatorKind.TRANSACTION, transactional_id))


def test_the_new_coordinator_fences(three: Cluster, name: str) -> None:
    """Before: the same broker was asked for twenty seconds, and the producer was not fenced."""
    producer = Producer.start(three, name)
    plan = transaction_changes.plan_fence(three, [name])
    misrouted(three, name)
    done(plan, three)
    (told,) = transactions.describe(three, [name])
    assert told.producer_epoch > producer.epoch or told.producer_id != producer.producer_id


def test_an_active_producer_is_fenced_after_the_question(three: Cluster, name: str) -> None:
    """It may have another epoch by then."""
    Producer.start(three, name)
    plan = transaction_changes.plan_fence(three, [name])
    producer = Producer.start(three, name)
    (step,) = plan.steps
    assert step.reread(three) == step
    done(plan, three)
    (told,) = transactions.describe(three, [name])
    assert told.producer_epoch > producer.epoch or told.producer_id != producer.producer_id
    gone = transaction_changes.FenceProducers((replace(told, transactional_id=f"{name}-x"),))
    with pytest.raises(ShellError, match="cannot re-read transactional ID"):
        gone.reread(three)


def test_a_producer_that_was_fenced_is_not_lost(
    three: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The coordinator of one producer has moved, and then no broker answers."""
    first, second = f"{name}-a", f"{name}-b"
    for each in (first, second):
        Producer.start(three, each)
    plan = transaction_changes.plan_fence(three, [first, second])
    misrouted(three, second)
    send_all, rounds = Cluster.send_all, 0

    def once(self: Cluster, calls: Sequence[Call]) -> list[object]:
        nonlocal rounds
        rounds += 1
        if rounds > 1:
            raise ShellError("no broker can be reached", code="no-broker")
        return send_all(self, calls)

    monkeypatch.setattr(Cluster, "send_all", once)
    results = apply(plan, three)
    assert [change.resource.name for change in results.values] == [first]
    assert {change.resource.name: why.name for change, why in results.failures.items()} == {
        second: "no-broker"
    }


@pytest.mark.parametrize(
    ("state", "wanted"),
    [("PrepareAbort", "outcome-unknown"), ("PrepareCommit", "CONCURRENT_TRANSACTIONS")],
)
def test_a_fenced_producer_whose_transaction_is_still_being_aborted_is_not_called_active(
    three: Cluster, name: str, monkeypatch: pytest.MonkeyPatch, state: str, wanted: str
) -> None:
    """As long as a partition of the transaction has no leader that responds."""
    where = TopicPartition(make_topic(three, name), 0)
    producer = Producer.start(three, name)
    producer.add(where)
    producer.write(where)
    plan = transaction_changes.plan_fence(three, [name])
    monkeypatch.setattr(transaction_changes, "FAILOVER_S", 0.0)  # it is aborted within milliseconds
    describe = transactions.describe
    monkeypatch.setattr(
        transactions,
        "describe",
        lambda *given: describe(*given).map(lambda each: replace(each, state=state)),
    )
    ((_, why),) = apply(plan, three).failures.items()
    assert why.name == wanted
    fenced = "it is unknown whether the producer is fenced"
    assert (fenced in why.message) == (state == "PrepareAbort")
    wait_for("it is aborted", lambda: describe(three, [name])[name].state == "CompleteAbort")
    with pytest.raises(AssertionError):
        producer.write(where)
