"""Reassignments on three real brokers: planned, throttled, followed and canceled."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from kafka_shell.admin.partitions import progress as move_progress
from kafka_shell.admin.partitions import sizes as move_sizes
from kafka_shell.admin.partitions.in_progress import under_way
from kafka_shell.admin.partitions.model import (
    BrokerLoad,
    Move,
    MoveSize,
    MoveStatus,
    Reassignment,
    TopicPartition,
)
from kafka_shell.admin.partitions.reassignment import plan_cancel, plan_move, state
from kafka_shell.admin.partitions.throttles import ThrottleRecord
from kafka_shell.admin.records.read import append
from kafka_shell.base.plans import apply
from kafka_shell.sandbox.state import Sandbox
from kafka_shell.wire.cluster import Cluster
from tests.support import reassigned_topics
from tests.support.changes import connect
from tests.support.reassigned_topics import MB, Filled, placed, replicas, to
from tests.support.waiting import wait_for


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def filled(three_brokers: Sandbox, cluster: Cluster) -> Filled:
    return Filled(three_brokers, cluster)


@pytest.fixture(autouse=True)
def restored(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a test leaves, the next one does not see."""
    monkeypatch.setattr(move_sizes, "SAMPLE_S", 0.2)
    yield
    reassigned_topics.restore(cluster)


def test_a_move_is_followed_to_its_end_and_its_throttle_is_gone(
    filled: Filled, cluster: Cluster
) -> None:
    (topic,) = filled.topics(1)
    plan = plan_move(cluster, to(topic, (2, 3), (1, 3)), throttle=1)
    assert all(step.reread(cluster).changes == step.changes for step in plan.steps)
    told: list[tuple[str, int, int | None]] = []

    def tell(task: str, done: int, total: int | None) -> None:
        if not told:
            # One fetch of 1 MB, then seconds of nothing.
            reassigned_topics.release(cluster, MB // 10)
        elif total and 0 < done < total:
            reassigned_topics.release(cluster)
        told.append((task, done, total))

    assert plan.following.follow is not None
    follow = plan.following.follow
    assert apply(plan.followed(follow=lambda cluster, _: follow(cluster, tell)), cluster).ok
    assert replicas(cluster, topic) == [(2, 3), (1, 3)]
    assert reassigned_topics.throttles(cluster, topic) == {}, "a throttle outlived its move"
    (task,) = {task for task, _, _ in told}
    assert task in ("Moving 2 partitions", "Moving 1 partition"), "the empty one may be there first"
    assert any(total and 0 < done < total for _, done, total in told), f"no progress: {told}"
    assert told[-1][1] == told[-1][2], "the progress did not end"


def test_a_plan_tells_what_each_broker_gets(filled: Filled, cluster: Cluster) -> None:
    (topic,) = filled.topics(1)
    plan = plan_move(cluster, to(topic, (3, 2), (2, 1)), throttle=MB)
    size, *loads = plan.advice.figures
    assert isinstance(size, MoveSize)
    assert (size.partitions, size.copies, size.throttle) == (1, 1, MB)
    assert size.bytes and size.bytes > MB and size.seconds == -(-size.bytes // MB)
    by_id = {load.broker: load for load in loads if isinstance(load, BrokerLoad)}
    assert [by_id[id].rack for id in (1, 2, 3)] == ["rack-a", "rack-b", "rack-c"]
    assert by_id[3].replicas_after == by_id[3].replicas_before + 1
    assert by_id[1].replicas_after == by_id[1].replicas_before - 1
    assert by_id[3].leaders_after == by_id[3].leaders_before + 1
    assert by_id[3].incoming == size.bytes
    assert by_id[3].bytes_after == (by_id[3].bytes_before or 0) + size.bytes
    assert [change.before for change in plan.unchanged] == ["2,1"], "what is there is told"


def test_a_move_under_way_is_listed_with_what_is_copied(filled: Filled, cluster: Cluster) -> None:
    """And cancelled. Controllers list the target first, and then what is removed."""
    (held,) = filled.topics(1)
    plan = plan_move(cluster, to(held, (2, 3)), throttle=1, record=ThrottleRecord())
    assert apply(plan.followed(waits=False), cluster).ok
    wait_for("the move is listed", lambda: reassigned_topics.moving(cluster, held) == {0: (3,)})

    def listed() -> Reassignment:
        (row,) = move_progress.with_sizes(cluster, list(under_way(cluster, [held])))
        return row

    wait_for("broker 3 has the replica", lambda: listed().lag is not None)
    row = listed()
    assert (row.adding, row.removing, row.before, row.after) == ((3,), (1,), (2, 1), (2, 3))
    assert row.size and row.copied is not None and row.copied < row.size
    # A record is 50 kB: an offset that the copy lacks is one of those.
    assert row.lag and row.copied < row.lag * 50_000 + row.copied <= row.size, str(row)
    (verified,) = state(cluster, to(held, (2, 3))).partitions
    assert (verified.status, verified.code) == (MoveStatus.IN_PROGRESS, 0)
    cancel = plan_cancel(cluster, [TopicPartition(held, 0)], to(held, (1, 2)))
    assert all(step.reread(cluster).changes == step.changes for step in cancel.steps)
    assert apply(cancel, cluster).ok
    assert replicas(cluster, held)[0] == (1, 2), "it is not back in its order"
    assert cancel.steps[0].send(cluster, validate_only=False).ok, "it is where it should be"
    assert reassigned_topics.throttles(cluster, held) == {}


def test_a_throttle_below_the_inflow_is_warned_about(
    three_brokers: Sandbox, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(move_sizes, "SAMPLE_S", 1.0)
    topic = placed(cluster, (1, 2))
    stop, written = threading.Event(), threading.Event()

    def write() -> None:
        with connect(three_brokers) as own:
            while not stop.is_set():
                append(own, topic, [(None, bytes(50_000))])
                written.set()

    leader = [Move(TopicPartition(topic, 0), (1, 2), (2, 3), 1)]
    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert written.wait(30)
        (said,) = move_sizes.too_slow(cluster, leader, 10_000, [leader])
        assert "throttle 10kB/s is too low, as broker 3" in said
        assert move_sizes.too_slow(cluster, leader, 10_000, [[], leader]), "the second batch"
        assert not move_sizes.too_slow(cluster, leader, 10_000, [[], []]), "others are moved"
    finally:
        stop.set()
        writer.join()
    assert not move_sizes.too_slow(cluster, leader, 10_000, [leader]), "nobody writes"
