"""Moves of replicas between three real brokers: throttled, looked at, followed, cancelled."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from kafka_shell.admin.configs import change as config_changes
from kafka_shell.admin.configs.model import ConfigAlteration, ConfigOp, ConfigResource, ResourceType
from kafka_shell.admin.partitions import (
    progress as move_progress,
)
from kafka_shell.admin.partitions import (
    reassignment,
)
from kafka_shell.admin.partitions import (
    sizes as move_sizes,
)
from kafka_shell.admin.partitions import (
    targets as move_targets,
)
from kafka_shell.admin.partitions.model import (
    BrokerLoad,
    Move,
    MoveSize,
    MoveStatus,
    TopicPartition,
)
from kafka_shell.admin.partitions.progress import state
from kafka_shell.admin.partitions.reassignment import plan_cancel, plan_move
from kafka_shell.admin.partitions.steps import MoveReplicas
from kafka_shell.admin.partitions.throttle_configs import FOLLOWER_REPLICAS
from kafka_shell.admin.partitions.throttle_ledger import Setting
from kafka_shell.admin.partitions.throttle_lift import LiftThrottle
from kafka_shell.admin.partitions.throttles import SetThrottle, settings_for
from kafka_shell.admin.partitions.throttles_left import find, to_lift
from kafka_shell.admin.wire.connection import Cluster
from kafka_shell.errors import ShellError
from kafka_shell.plan.apply import apply
from kafka_shell.plan.model import Change, Plan, Resource
from kafka_shell.plan.results import Results
from kafka_shell.sandbox.state import Sandbox
from tests import moving
from tests.admin.helpers import connect, make_topic, refusals, wait_for
from tests.admin.test_rights import log_in
from tests.moving import MB, fill, placed, replicas, to

SLOW = 200_000  # bytes a second: whatever is throttled to it is still under way when looked at


@pytest.fixture(scope="module")
def cluster(three_brokers: Sandbox) -> Iterator[Cluster]:
    with connect(three_brokers) as cluster:
        yield cluster


@pytest.fixture
def slow(three_brokers: Sandbox, cluster: Cluster) -> Iterator[str]:
    """A topic on brokers 1 and 2 whose first partition is on its slow way to 2 and 3."""
    topic = placed(cluster, (1, 2), (2, 1))
    fill(three_brokers, topic, 6 * MB)
    plan = plan_move(cluster, {TopicPartition(topic, 0): (2, 3)}, throttle=SLOW)
    start(plan, cluster)
    assert moving.moving(cluster, topic) == {0: (3,)}
    yield topic
    apply(plan_cancel(cluster, [TopicPartition(topic, 0)]), cluster)
    assert lift_what_is_left(plan, cluster).ok


def start(plan: Plan, cluster: Cluster) -> None:
    """What is not waited for."""
    assert plan.refused.ok, plan.refused.failures
    assert apply(replace(plan, follow=None, afterwards=()), cluster).ok


def lift_what_is_left(plan: Plan, cluster: Cluster) -> Results[Change, Change]:
    """Of a move's throttle and others', with what a shell that started it knows."""
    settings = [
        each for step in plan.steps if isinstance(step, SetThrottle) for each in step.settings
    ]
    recorded = {(each.resource, each.key): each for each in settings}
    left, _ = to_lift(find(cluster, recorded=recorded), recorded)
    return LiftThrottle(left).send(cluster, validate_only=False)


# -- moving ----------------------------------------------------------------------------------------


def test_a_move_is_followed_to_its_end_and_its_throttle_is_gone(
    three_brokers: Sandbox, cluster: Cluster
) -> None:
    topic = placed(cluster, (1, 2), (2, 1))
    fill(three_brokers, topic, 6 * MB)
    plan = plan_move(cluster, to(topic, (2, 3), (1, 3)), throttle=MB // 2)
    assert all(step.again(cluster).changes == step.changes for step in plan.steps)
    told: list[tuple[str, int, int | None]] = []
    assert plan.follow is not None
    follow = plan.follow
    plan = replace(plan, follow=lambda cluster, _: follow(cluster, lambda *each: told.append(each)))
    assert apply(plan, cluster).ok
    assert replicas(cluster, topic) == [(2, 3), (1, 3)]
    assert moving.throttles(cluster, topic) == {}, "a throttle outlived its move"
    assert {task for task, _, _ in told} == {"Moving 2 partitions"}
    assert any(total and 0 < done < total for _, done, total in told), f"no progress: {told}"
    assert told[-1][1] == told[-1][2], "the progress did not end"
    assert plan.fresh is not None
    rows = plan.fresh(cluster).partitions
    assert [(row.status, row.code) for row in rows] == [(MoveStatus.COMPLETED, 1)] * 2


def test_a_plan_tells_what_each_broker_gets(three_brokers: Sandbox, cluster: Cluster) -> None:
    topic = placed(cluster, (1, 2), (1, 2))
    fill(three_brokers, topic, 4 * MB)
    plan = plan_move(cluster, to(topic, (3, 2), (1, 2)), throttle=MB)
    size, *loads = plan.figures
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
    assert [change.before for change in plan.unchanged] == ["1,2"], "what is there is told"


def test_only_what_is_concerned_is_throttled(slow: str, cluster: Cluster) -> None:
    assert moving.throttles(cluster, slow) == {
        "broker 1 leader.replication.throttled.rate": str(SLOW),
        "broker 2 leader.replication.throttled.rate": str(SLOW),
        "broker 3 follower.replication.throttled.rate": str(SLOW),
        f"topic {slow} leader.replication.throttled.replicas": "0:1,0:2",
        f"topic {slow} follower.replication.throttled.replicas": "0:3",
    }


def test_what_stood_there_before_a_throttle_is_put_back(
    three_brokers: Sandbox, cluster: Cluster
) -> None:
    topic = placed(cluster, (1, 2), (2, 1))
    key = "follower.replication.throttled.replicas"
    broker, of_topic = (
        ConfigResource(ResourceType.BROKER, "3"),
        ConfigResource(ResourceType.TOPIC, topic),
    )
    before = {broker: (moving.RATE, "7000000"), of_topic: (key, "1:1")}
    for resource, (name, value) in before.items():
        wish = {resource: [ConfigAlteration(name, ConfigOp.SET, value)]}
        assert apply(config_changes.plan_alter(cluster, wish), cluster).ok
    try:
        assert apply(plan_move(cluster, to(topic, (1, 3)), throttle=2 * MB), cluster).ok
        assert moving.throttles(cluster, topic) == {
            f"broker 3 {moving.RATE}": "7000000",
            f"topic {topic} {key}": "1:1",
        }
    finally:
        for resource, (name, _) in before.items():
            wish = {resource: [ConfigAlteration(name, ConfigOp.DELETE)]}
            assert apply(config_changes.plan_alter(cluster, wish), cluster).ok


def test_where_nothing_is_moved_no_throttle_stays(cluster: Cluster) -> None:
    topic = placed(cluster, (1, 2))
    move = Move(TopicPartition(topic, 0), (1, 2), (1, 3), 1)
    settings = settings_for(cluster, [move], MB)
    assert SetThrottle(settings).send(cluster, validate_only=False).ok
    wrong = MoveReplicas((replace(move, after=(1, 99)),), settings)
    failed = wrong.send(cluster, validate_only=False).failures
    assert [why.name for why in failed.values()] == ["INVALID_REPLICA_ASSIGNMENT"]
    assert moving.throttles(cluster, topic) == {}


def test_a_partition_that_is_refused_does_not_keep_the_throttle_of_the_others(
    cluster: Cluster,
) -> None:
    topic = placed(cluster, (1, 2), (1, 2))
    plan = plan_move(cluster, to(topic, (1, 3), (1, 3)), throttle=MB)
    throttle, step = plan.steps
    assert isinstance(step, MoveReplicas)
    moves = (step.moves[0], replace(step.moves[1], after=(1, 99)))
    plan = replace(plan, steps=(throttle, replace(step, moves=moves)),
                   follow=move_progress.Follow(moves))  # fmt: skip
    failed = apply(plan, cluster).failures
    assert [change.resource.name for change in failed] == [f"{topic}:1"]
    assert replicas(cluster, topic) == [(1, 3), (1, 2)]
    assert moving.throttles(cluster, topic) == {}


# -- under way -------------------------------------------------------------------------------------


def test_a_move_under_way_is_listed_with_what_is_copied(slow: str, cluster: Cluster) -> None:
    (row,) = move_progress.with_sizes(cluster, list(move_progress.under_way(cluster, [slow])))
    assert (row.adding, row.removing, row.before, row.after) == ((3,), (1,), (2, 1), (2, 3)) or (
        set(row.before) == {1, 2} and set(row.after) == {2, 3}
    )
    assert row.size and row.copied is not None and row.copied < row.size
    # A record is 50 kB: an offset that the copy lacks is one of those.
    assert row.lag and row.copied < row.lag * 50_000 + row.copied <= row.size, str(row)
    (verified,) = state(cluster, to(slow, (2, 3))).partitions
    assert (verified.status, verified.code) == (MoveStatus.IN_PROGRESS, 0)


def test_a_cancelled_move_is_undone_with_its_throttle(slow: str, cluster: Cluster) -> None:
    partitions = [TopicPartition(slow, 0), TopicPartition(slow, 1)]
    plan = plan_cancel(cluster, partitions, to(slow, (1, 2)))
    assert all(step.again(cluster).changes == step.changes for step in plan.steps)
    assert [str(change.resource) for change in plan.unchanged] == [f"partition {slow}:1"]
    assert apply(plan, cluster).ok
    wait_for("it is back, in its order", lambda: replicas(cluster, slow)[0] == (1, 2))
    assert not moving.moving(cluster, slow)
    assert moving.throttles(cluster, slow) == {}
    (row,) = state(cluster, to(slow, (2, 3))).partitions
    assert (row.status, row.code) == (MoveStatus.FAILED, -1), "it is not where it should be"


def test_a_partition_that_moves_is_refused_but_for_the_way_back(
    slow: str, cluster: Cluster
) -> None:
    refused = refusals(plan_move(cluster, to(slow, (1, 3))))
    assert refused[f"{slow}:0"].name == "REASSIGNMENT_IN_PROGRESS"
    assert "--additional" in refused[f"{slow}:0"].hint
    assert apply(plan_move(cluster, to(slow, (1, 2))), cluster).ok
    wait_for("it is back, in its order", lambda: replicas(cluster, slow)[0] == (1, 2))
    assert moving.throttles(cluster, slow) == {}


def test_the_throttle_of_a_move_under_way_is_raised(slow: str, cluster: Cluster) -> None:
    plan = plan_move(cluster, to(slow, (2, 3)), throttle=50 * MB, additional=True)
    assert [change.note for change in plan.unchanged] == ["no change: it is on its way there"]
    assert not any(isinstance(step, MoveReplicas) for step in plan.steps), "it was sent again"
    assert apply(plan, cluster).ok
    assert replicas(cluster, slow)[0] == (2, 3)
    assert moving.throttles(cluster, slow) == {}


def test_a_throttle_that_another_move_needs_stays(slow: str, cluster: Cluster) -> None:
    other = placed(cluster, (1, 2))
    set_throttle = plan_move(cluster, to(other, (1, 3)), throttle=SLOW).steps[0]
    assert isinstance(set_throttle, SetThrottle)
    assert set_throttle.send(cluster, validate_only=False).ok
    lift = LiftThrottle(set_throttle.settings)  # as if that move had ended
    assert lift.send(cluster, validate_only=False).ok
    left = moving.throttles(cluster, slow, other)
    assert left[f"broker 3 {moving.RATE}"] == str(SLOW), "the other move was let loose"
    assert not [what for what in left if other in what], "its own replicas are still throttled"
    assert not find(cluster).values, "a throttle in use was taken for a leftover"


def test_a_follower_is_told_when_somebody_cancels(slow: str, cluster: Cluster) -> None:
    wanted = Move(TopicPartition(slow, 0), (1, 2), (2, 3))
    told = threading.Event()

    def cancel(*_: object) -> None:
        if not told.is_set():
            told.set()
            apply(plan_cancel(cluster, [wanted.partition]), cluster)

    with pytest.raises(ShellError, match="nothing moves it any more"):
        move_progress.Follow((wanted,))(cluster, cancel)


# -- refusals and warnings -------------------------------------------------------------------------


def test_what_cannot_be_is_refused_each_on_its_own(cluster: Cluster) -> None:
    topic = placed(cluster, (1, 2), (2, 1), (1, 2), (2, 1))
    wanted = to(topic, (1, 9), (), (1, 1), (3, 1)) | {TopicPartition(topic, 7): (1,)}
    plan = plan_move(cluster, wanted)
    found = {name.rpartition(":")[2]: why.name for name, why in refusals(plan).items()}
    wrong = "INVALID_REPLICA_ASSIGNMENT"
    assert found == {"0": wrong, "1": wrong, "2": wrong, "7": "UNKNOWN_TOPIC_OR_PARTITION"}
    assert [change.after for change in plan.changes] == ["3,1"]
    kept = plan_move(cluster, {TopicPartition(topic, 3): (1,)}, keep_factor=True)
    assert [why.name for why in refusals(kept).values()] == ["INVALID_REPLICATION_FACTOR"]


def test_a_throttle_below_the_inflow_is_warned_about(
    three_brokers: Sandbox, cluster: Cluster
) -> None:
    topic = placed(cluster, (1, 2))
    stop, written = threading.Event(), threading.Event()

    def write() -> None:
        while not stop.is_set():
            fill(three_brokers, topic, MB // 2)
            written.set()

    leader = [Move(TopicPartition(topic, 0), (1, 2), (2, 3), 1)]
    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert written.wait(30)
        (said,) = move_sizes.too_slow(cluster, leader, 10_000)
        assert "the throttle of 10kB/s is below what is written: broker 3" in said
    finally:
        stop.set()
        writer.join()
    assert not move_sizes.too_slow(cluster, leader, 10_000), "nobody writes"


# -- what the planner is asked ---------------------------------------------------------------------


def test_a_topic_is_spread_over_the_brokers_named(cluster: Cluster) -> None:
    topic = placed(cluster, (1,), (1,), (1,), (1,))
    wanted, refused = move_targets.spread_over(reassignment.layout(cluster), [topic], {2, 3})
    assert not refused
    assert apply(plan_move(cluster, wanted), cluster).ok
    assert sorted(replicas(cluster, topic)) == [(2,), (2,), (3,), (3,)]


def test_a_broker_is_drained_of_what_can_go(cluster: Cluster) -> None:
    topic, full = placed(cluster, (1, 2), (3, 2)), placed(cluster, (1, 2, 3))
    now = reassignment.layout(cluster)
    wanted, refused = move_targets.drained(now, 2, [topic, full])
    assert set(refused) == {Resource("topic", full)}
    assert apply(plan_move(cluster, wanted), cluster).ok
    assert [set(each) for each in replicas(cluster, topic)] == [{1, 3}, {1, 3}]


def test_a_replication_factor_is_raised_into_the_other_racks(cluster: Cluster) -> None:
    topic = placed(cluster, (1,), (2,))
    now = reassignment.layout(cluster)
    wanted, _ = move_targets.with_factor(now, [topic], 3)
    assert apply(plan_move(cluster, wanted), cluster).ok
    assert [each[0] for each in replicas(cluster, topic)] == [1, 2]
    assert [set(each) for each in replicas(cluster, topic)] == [{1, 2, 3}] * 2
    with pytest.raises(ShellError, match="3 brokers are up"):
        move_targets.with_factor(now, [topic], 4)


def test_an_old_broker_moves_too(old_sandbox: Sandbox) -> None:
    with connect(old_sandbox) as old:
        topic = make_topic(old, "move.old")
        plan = plan_move(old, to(topic, (1,)))
        assert [change.note for change in plan.unchanged] == ["no change: it is there already"]
        assert plan_cancel(old, [TopicPartition(topic, 0)]).steps == ()
        assert state(old, to(topic, (1,))).ok
    again = Move(TopicPartition(topic, 0), (1,), (1,), 1)
    assert MoveReplicas((again,)).send(old, validate_only=False).ok, "its API has version 0 only"


def test_who_may_not_is_told_which_permission_is_missing(secure_sandbox: Sandbox) -> None:
    move = Move(TopicPartition("move.denied", 0), (1,), (1,))
    with log_in(secure_sandbox, "alice") as alice, log_in(secure_sandbox, "admin") as admin:
        with pytest.raises(ShellError) as denied:
            move_progress.under_way(alice)
        assert denied.value.code == "CLUSTER_AUTHORIZATION_FAILED"
        assert denied.value.hint == "It takes Describe on the cluster."
        with pytest.raises(ShellError) as denied:
            MoveReplicas((move,)).send(alice, validate_only=False)
        assert denied.value.hint == "It takes Alter on the cluster."
        topic = make_topic(admin, "move.denied")
        of_topic = ConfigResource(ResourceType.TOPIC, topic)
        settings = (Setting(of_topic, FOLLOWER_REPLICAS, None, "0:1"),)
        with pytest.raises(ShellError, match=f"throttle topic {topic} could not be set"):
            SetThrottle(settings).send(alice, validate_only=False)
