"""The verdict on stopping brokers, from constructed states."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_shell.admin.cluster.model import Quorum, QuorumReplica
from kafka_shell.admin.cluster.restart.judge import (
    ClusterState,
    RestartCheck,
    Verdict,
    check_each,
    check_together,
)
from kafka_shell.admin.partitions.model import TopicPartition
from kafka_shell.base.results import Failure
from kafka_shell.wire.model import Partition

RACKS = {1: "a", 2: "b", 3: "c", 4: "a"}
DENIED = Failure("TOPIC_AUTHORIZATION_FAILED", "not authorized", 29, "requires DESCRIBE")


def partition(
    *replicas: int, isr: tuple[int, ...] | None = None, leader: int | None = -1, topic: str = "t"
) -> Partition:
    in_sync = replicas if isr is None else isr
    return Partition(topic, 0, replicas[0] if leader == -1 else leader, 0, replicas, in_sync)


def state(*partitions: Partition, least: int = 2, **more: Any) -> ClusterState:
    topics = {each.topic: least for each in partitions}
    given: dict[str, Any] = {"minimum": topics, "brokers": RACKS} | more
    return ClusterState(partitions=partitions, **given)


def verdict(found: ClusterState, *brokers: int) -> RestartCheck:
    (check,) = check_together(found, brokers).checks
    return check


def checks(check: RestartCheck) -> set[str]:
    return {reason.check for reason in check.reasons}


def quorum(*voters: int, leader: int = 1, behind: dict[int, int] | None = None) -> Quorum:
    late = behind or {}
    return Quorum(
        leader, 1, 10,
        tuple(
            QuorumReplica(
                id, "leader" if id == leader else "voter", 10, 0, behind_ms=late.get(id, 0)
            )
            for id in voters
        ),
    )  # fmt: skip


def test_three_replicas_survive_one_broker_and_not_two() -> None:
    found = state(partition(1, 2, 3))
    assert verdict(found, 1).verdict is Verdict.SAFE
    both = verdict(found, 1, 2)
    assert both.verdict is Verdict.UNSAFE
    assert checks(both) == {"under-min-isr"}
    assert checks(verdict(found, 1, 2, 3)) == {"offline"}


def test_a_single_replica_goes_offline() -> None:
    assert checks(verdict(state(partition(2), least=1), 2)) == {"offline"}
    assert verdict(state(partition(2), least=1), 1).verdict is Verdict.SAFE


def test_the_minimum_is_capped_at_the_number_of_replicas() -> None:
    """Since Kafka 3.7: with two replicas and a minimum of three, two are required."""
    found = state(partition(1, 2), least=3)
    assert checks(verdict(found, 1)) == {"under-min-isr"}
    assert checks(verdict(state(partition(1), least=3, capped=True), 2)) == set()


def test_a_replica_that_is_not_in_sync_counts_as_gone() -> None:
    found = state(partition(1, 2, 3, isr=(1, 2)))
    assert verdict(found, 1).verdict is Verdict.UNSAFE
    lagging = verdict(found, 3)
    assert lagging.verdict is Verdict.RISKY, "stopping it changes nothing, but it is recovering"
    assert checks(lagging) == {"under-replicated"}


def test_a_broker_that_does_not_respond_counts_as_gone() -> None:
    found = state(partition(1, 2, 3), silent=frozenset({3}), brokers={1: "a", 2: "b"})
    check = verdict(found, 1)
    assert check.verdict is Verdict.UNSAFE
    assert checks(check) == {"under-min-isr", "under-replicated", "brokers"}


@pytest.mark.parametrize("lost", ["silent", "behind"])
def test_a_broker_that_may_serve_others_is_not_stopped_as_if_it_were_gone(lost: str) -> None:
    """It does not respond to this client, or lags, but is still the last in-sync replica."""
    found = state(partition(1, 2, 3, isr=(3,), leader=3), least=1, **{lost: frozenset({3})})
    check = verdict(found, 3)
    assert check.verdict is Verdict.UNSAFE
    assert "offline" in checks(check)


def test_two_replicas_leave_one_and_two_racks_leave_one() -> None:
    assert checks(verdict(state(partition(1, 2), least=1), 1)) == {"single-replica"}
    same_rack = verdict(state(partition(1, 4, 2), least=1), 2)
    assert checks(same_rack) == {"racks"}
    assert same_rack.verdict is Verdict.RISKY


def test_a_reassignment_should_end_first() -> None:
    moving = frozenset({TopicPartition("t", 0)})
    assert checks(verdict(state(partition(1, 2, 3), moving=moving), 1)) == {"moves"}


def test_the_quorum_keeps_its_majority_or_not() -> None:
    whole = state(quorum=quorum(1, 2, 3))
    assert verdict(whole, 2).verdict is Verdict.SAFE
    assert verdict(whole, 1).controller
    assert checks(verdict(whole, 1, 2)) == {"quorum"}
    late = state(quorum=quorum(1, 2, 3, behind={3: 60_000}))
    assert checks(verdict(late, 2)) == {"quorum"}, "voter 3 has not caught up"
    assert verdict(late, 3).verdict is Verdict.SAFE, "without voter 3, two are left as before"
    assert verdict(state(quorum=quorum(101, 102)), 1).verdict is Verdict.SAFE, "no voter is stopped"


@pytest.mark.parametrize(
    "more",
    [
        {"minimum": {}},
        {"unread": {"metadata quorum": DENIED}},
        {"stored": {1: DENIED}},
        {"stored": {1: frozenset({"hidden"})}},
    ],
    ids=lambda more: str(next(iter(more))),
)
def test_what_could_not_be_read_is_never_safe(more: dict[str, Any]) -> None:
    check = verdict(state(partition(1, 2, 3), **more), 1)
    assert check.verdict is Verdict.UNKNOWN, check.reasons
    assert all("not checked" in reason.summary for reason in check.reasons)


def test_unsafe_is_worse_than_unknown() -> None:
    check = verdict(state(partition(1), unread={"metadata quorum": DENIED}), 1)
    assert check.verdict is Verdict.UNSAFE
    assert [reason.verdict for reason in check.reasons] == [Verdict.UNSAFE, Verdict.UNKNOWN]


def test_each_broker_alone_and_what_moves() -> None:
    found = state(
        partition(1, 2, 3), partition(2, 3, 1, topic="__consumer_offsets"),
        partition(2, 3, 1, topic="__transaction_state"),
    )  # fmt: skip
    one, two, three = check_each(found, [1, 2, 3]).checks
    assert (one.leaders, two.leaders, three.leaders) == (1, 2, 0)
    assert (two.groups, two.transactions, two.replicas) == (1, 1, 3)


def test_a_broker_that_is_down_is_named() -> None:
    """Before: only its partitions were, as not in sync."""
    there = state(partition(1, 2, 3), down=frozenset({3, 4}), brokers={1: "a", 2: "b"})
    found = verdict(there, 1)
    assert "broker 3 is down: its replicas count as unavailable" in [
        reason.summary for reason in found.reasons
    ], "broker 4 has no replicas"
